# SPDX-License-Identifier: Apache-2.0
#
# Collections survive pg_dump and restore, in every format, and give the same answers afterwards; what DROP EXTENSION
# takes and what it leaves.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('dump');
$node->init;
$node->start;

$node->safe_psql('postgres', 'CREATE ROLE keeper; CREATE ROLE reader; CREATE DATABASE source');
$node->safe_psql('source', <<'SQL');
CREATE EXTENSION pigment;
GRANT CREATE, USAGE ON SCHEMA public TO keeper;
CREATE SCHEMA "Odd schema" AUTHORIZATION keeper;
SET client_min_messages = warning;
SELECT pigment.create_tenant('acme');
SELECT pigment.create_database('prod', 'acme');
SELECT pigment.create_database('default_database', 'acme');
SET ROLE keeper;
CREATE FUNCTION public.halves(texts text[], purpose text) RETURNS vector[] LANGUAGE sql AS
	$$SELECT array_agg(format('[%s,0.5]', length(t))::public.vector) FROM unnest(texts) t$$;
SELECT pigment.create_collection('plain');
SELECT pigment.create_collection('cos', '{"hnsw:space": "cosine", "note": "a \"quoted\" \\ note"}');
SELECT pigment.create_collection('inner', configuration => '{"hnsw": {"space": "ip", "ef_search": 77}}', schema => 'Odd schema', table_name => 'Odd "table"');
SELECT pigment.create_collection('lex', embedding_function => 'pigment.lexical_v1', tenant => 'acme', database => 'prod');
SELECT pigment.create_collection('own', embedding_function => 'public.halves', tenant => 'acme', database => 'prod');
SELECT pigment.create_collection('empty');
SELECT pigment.create_collection('ranked', configuration => '{"text_index": {"analyzer": {"language": "english", "stop_words": ["3,14", "it''s"]}, "k1": 1.5}}');
GRANT SELECT ON plain TO reader;
SELECT pigment.add(c, (SELECT array_agg('r' || i ORDER BY i) FROM generate_series(1, 300) i),
	(SELECT array_agg(ARRAY[i % 7, sin(i), cos(i)]::real[]::vector ORDER BY i) FROM generate_series(1, 300) i),
	(SELECT array_agg('document ' || i ORDER BY i) FROM generate_series(1, 300) i),
	(SELECT array_agg(jsonb_build_object('n', i, 'f', i / 4.0, 'tags', ARRAY['a', 'b' || i % 3], 'even', i % 2 = 0) ORDER BY i) FROM generate_series(1, 300) i))
FROM unnest('{plain,cos,inner,ranked}'::text[]) c;
SELECT pigment.delete('plain', where_metadata => '{"n": {"$lt": 10}}');
SELECT pigment.upsert('plain', '{r300,r5}', '{"[1,2,3]","[4,5,6]"}');
SELECT pigment.add('lex', '{a,b}', documents => '{"one cat","two dogs"}', tenant => 'acme', database => 'prod');
SELECT pigment.add('own', '{a,b}', documents => '{"one cat","two dogs"}', tenant => 'acme', database => 'prod');
SELECT pigment.modify_collection('cos', 'cosine');
ALTER TABLE cos RENAME TO renamed;
SQL

# Everything that a user can see of it, as text.
my $questions = <<'SQL';
SELECT id, tenant, database, name, metadata, configuration, space, dimension, embedding_function, relation FROM pigment.collections ORDER BY name;
SELECT * FROM pigment.databases ORDER BY tenant, name;
SELECT * FROM pigment.tenants ORDER BY name;
SELECT 'plain', * FROM pigment.get('plain', include => '{documents,metadatas,uris,embeddings}');
SELECT q.* FROM unnest('{plain,cosine,inner}'::text[]) c, LATERAL pigment.query(c, '{"[1,0.5,0.25]","[0,0,0]","[3,1,1]"}'::vector[], 20, '{"even": true}', '{"$contains": "1"}') q;
SELECT q.* FROM unnest('{lex,own}'::text[]) c, LATERAL pigment.query(c, query_texts => '{cat}', tenant => 'acme', database => 'prod') q;
SELECT count(*) FROM pigment.query('empty', '[1]'::vector);
SELECT * FROM pigment.search_text('ranked', '{documents 7*}', 50, '{"even": true}');
SELECT c.relname, r.rolname, c.relacl FROM pg_class c JOIN pg_roles r ON r.oid = c.relowner JOIN pigment.collections p ON p.relation = c.oid ORDER BY 1;
SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%USING pigment%' ORDER BY 1;
SQL
my $before = $node->safe_psql('source', $questions);
like($before, qr/cosine.*Odd schema/s, 'there is something to compare');

my $folder = $node->basedir;
my %restores = (
	plain => sub {
		$node->command_ok([ 'pg_dump', '-d', $node->connstr('source'), '-f', "$folder/plain.sql" ], 'dump as SQL');
		$node->command_ok([ 'psql', '-q', '-X', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($_[0]), '-f', "$folder/plain.sql" ], 'restore SQL');
	},
	custom => sub {
		$node->command_ok([ 'pg_dump', '-Fc', '-d', $node->connstr('source'), '-f', "$folder/custom" ], 'dump in custom format');
		$node->command_ok([ 'pg_restore', '-e', '-d', $node->connstr($_[0]), "$folder/custom" ], 'restore custom format');
	},
	parallel => sub {
		$node->command_ok([ 'pg_dump', '-Fd', '-j2', '-d', $node->connstr('source'), '-f', "$folder/directory" ], 'dump in directory format');
		$node->command_ok([ 'pg_restore', '-e', '-j2', '-d', $node->connstr($_[0]), "$folder/directory" ], 'restore with two jobs');
	},
	inserts => sub {
		$node->command_ok([ 'pg_dump', '--inserts', '-d', $node->connstr('source'), '-f', "$folder/inserts.sql" ], 'dump as INSERTs');
		$node->command_ok([ 'psql', '-q', '-X', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr($_[0]), '-f', "$folder/inserts.sql" ], 'restore INSERTs');
	});
foreach my $format (sort keys %restores)
{
	my $database = "copy_$format";
	$node->safe_psql('postgres', "CREATE DATABASE $database TEMPLATE template0");
	$restores{$format}->($database);
	is($node->safe_psql($database, $questions), $before, "$format: catalog, records and answers are the same");
	is($node->safe_psql($database, q{SELECT pigment.add('plain', '{fresh}', '{"[0,0,0]"}'); SELECT id FROM pigment.get('plain') OFFSET 291}),
		"(1,0)\nr5\nfresh", "$format: writing goes on where it was");
	is($node->safe_psql($database, q{DROP TABLE renamed; SELECT count(*) FROM pigment.list_collections()}),
		'4', "$format: a dropped table leaves the catalog");
}

# A dump of a dump is the same dump.
$node->command_ok([ 'pg_dump', '-d', $node->connstr('source'), '-f', "$folder/first.sql" ], 'dump again');
$node->safe_psql('postgres', 'CREATE DATABASE again TEMPLATE template0');
$node->command_ok([ 'psql', '-q', '-X', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('again'), '-f', "$folder/first.sql" ], 'restore once more');
$node->command_ok([ 'pg_dump', '-d', $node->connstr('again'), '-f', "$folder/second.sql" ], 'dump the restored database');
my @dumps = map { my $text = slurp_file("$folder/$_.sql"); $text =~ s/^\\(un)?restrict .*$//mg; $text } qw(first second);
is($dumps[1], $dumps[0], 'dump, restore, dump: no difference');

# The same with the types in a schema whose name needs care.
$node->safe_psql('postgres', 'CREATE DATABASE moved TEMPLATE template0; CREATE DATABASE moved_copy TEMPLATE template0');
$node->safe_psql('moved', <<'SQL');
CREATE SCHEMA "100% types";
CREATE EXTENSION pigment SCHEMA "100% types";
SET search_path = "100% types", public;
SELECT pigment.create_collection(c, configuration => jsonb_build_object('hnsw', jsonb_build_object('space', s)), schema => 'public')
FROM (VALUES ('far', 'l2'), ('round', 'cosine'), ('inner', 'ip')) v (c, s);
SELECT pigment.add(c, '{a,b,c}', '{"[1,2]","[0,0]","[-3,1]"}', '{x,y,z}', ARRAY['{"n": 1}', NULL, '{"n": 2.5}']::jsonb[]) FROM unnest('{far,round,inner}'::text[]) c;
SELECT pigment.upsert('far', '{c,d}', '{"[5,5]","[6,6]"}');
SELECT pigment.update('far', '{a}', metadatas => ARRAY['{"n": 7}']::jsonb[]);
SELECT pigment.create_collection('words', embedding_function => 'pigment.lexical_v1', schema => 'public');
SELECT pigment.add('words', '{a}', documents => '{some words}');
SELECT pigment.create_collection('ranked', configuration => '{"text_index": {"analyzer": {"language": "english"}}}', schema => 'public');
SELECT pigment.add('ranked', '{a,b}', '{"[1]","[2]"}', '{foxes run,the dog}');
SELECT pigment.modify_collection('ranked', new_configuration => '{"text_index": {"k1": 2}}');
SQL
my $moved = q{SELECT c, q.* FROM unnest('{far,round,inner}'::text[]) c, LATERAL pigment.query(c, '{"[1,1]","[0,0]"}'::"100% types".vector[], 3, '{"n": {"$ne": 1}}', include => '{embeddings,distances}') q;
	SELECT id, score FROM pigment.search_text('ranked', '{fox,+d*}', operator => 'all');
	SELECT * FROM pigment.peek('words'); SELECT id, distance FROM pigment.query('words', query_texts => '{words}')};
my $answers = $node->safe_psql('moved', $moved);
like($answers, qr/round\|1\|1\|b\|1\|.*^a\|0\.\d+\nb\|0/ms, 'the types may lie in any schema');
$node->command_ok([ 'pg_dump', '-d', $node->connstr('moved'), '-f', "$folder/moved.sql" ], 'dump that');
$node->command_ok([ 'psql', '-q', '-X', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('moved_copy'), '-f', "$folder/moved.sql" ], 'restore it');
is($node->safe_psql('moved_copy', $moved), $answers, 'it answers as before');

# default-rows: they come with the extension, also where they had been deleted.
$node->safe_psql('again', q{DROP TABLE plain, renamed, "Odd schema"."Odd ""table""", empty, ranked; SELECT pigment.delete_tenant('default_tenant')});
is($node->safe_psql('again', 'SELECT name FROM pigment.list_tenants()'), 'acme', 'the default tenant can be deleted');
$node->command_ok([ 'pg_dump', '-d', $node->connstr('again'), '-f', "$folder/without.sql" ], 'dump without it');
$node->safe_psql('postgres', 'CREATE DATABASE without TEMPLATE template0');
$node->command_ok([ 'psql', '-q', '-X', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('without'), '-f', "$folder/without.sql" ], 'restore that');
is($node->safe_psql('without', 'SELECT name FROM pigment.list_tenants()'), "acme\ndefault_tenant", '... and is back after a restore');

# The extension goes only when its users are given up, and then takes vectors and indexes and leaves the rest.
my ($status, $out, $error) = $node->psql('source', 'DROP EXTENSION pigment');
isnt($status, 0, 'DROP EXTENSION is refused while there are collections');
like($error, qr/depends on type vector/, '... because of their columns');
$node->safe_psql('source', 'DROP EXTENSION pigment CASCADE');
is($node->safe_psql('source', q{SELECT string_agg(attname, ' ' ORDER BY attnum) FROM pg_attribute WHERE attrelid = 'plain'::regclass AND attnum > 0 AND NOT attisdropped}),
	'id ordinal document metadata uri', 'CASCADE leaves ids, documents, metadata and uris');
is($node->safe_psql('source', q{SELECT count(*) FROM pg_event_trigger}), '0', '... and no event trigger');
$node->safe_psql('source', 'DROP TABLE plain; CREATE EXTENSION pigment');
is($node->safe_psql('source', 'SELECT count(*) FROM pigment.list_collections()'), '0', 'a new extension begins empty');

$node->stop;
done_testing();
