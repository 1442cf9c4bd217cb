# SPDX-License-Identifier: Apache-2.0

# What administrators do to a database with indexes: two-phase commit, tablespaces, moves of tables, dumps, recovery to a point in time,
# pg_upgrade; and what others may not do: see rows that row security hides, or have their functions run in place of the server's.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(has_archiving => 1, allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
	autovacuum = off
	max_prepared_transactions = 10
	wal_consistency_checking = 'all'
	max_wal_size = 1GB
	pigment.pending_list_limit = 64kB
});
$node->start;
$node->backup('base');
my $row = q{n, n % 7, ARRAY['t' || n % 5, 't' || n % 11], 'word' || n % 9 || ' and word' || n % 13 || ' No. ' || n,
	jsonb_build_object('n', n, 'kind', 'k' || n % 6), CASE WHEN n % 10 <> 0 THEN ARRAY[n % 17, n % 19, n % 23, n % 29, n % 31, n % 37, n % 41, 1] END,
	ARRAY[n % 43, n % 47, n % 53, 1], ARRAY[n % 3, 0, n % 5 - 2, n % 37 / 20]};
$node->safe_psql('postgres', qq{
	CREATE EXTENSION pigment;
	CREATE TABLE things (id int PRIMARY KEY, grp int, tags text[], body text, doc jsonb, v vector(8), h halfvec(4), s sparsevec(4));
	INSERT INTO things SELECT $row FROM generate_series(1, 3000) n;
	CREATE INDEX things_all ON things USING pigment (v, grp, tags, body text_trgm_ops, doc);
	CREATE INDEX things_cosine ON things USING pigment (v vector_cosine_ops) WITH (kind = spann) WHERE grp <> 3;
	CREATE INDEX things_half ON things USING pigment (h halfvec_l1_ops, grp);
	CREATE INDEX things_sparse ON things USING pigment (s sparsevec_ip_ops, grp);
	CREATE INDEX things_length ON things USING pigment ((l2_normalize(v)));
	CREATE INDEX things_text ON things USING pigment (body text_bm25_ops (language = 'english'));
});

my $query = q{'[3,1,4,1,5,9,2,6]'};
# Each with what its plan must have.
my @questions = (
	[ "SELECT id FROM things ORDER BY v <-> $query, id LIMIT 15", 'Index Scan using things_all' ],
	[ "SELECT id FROM things WHERE grp = 4 AND doc ->> 'kind' = 'k2' ORDER BY v <-> $query, id LIMIT 15", 'Index Scan using things_all' ],
	[ "SELECT id FROM things WHERE v <-> $query < 20 ORDER BY v <-> $query, id", 'Index Scan using things_all' ],
	[ "SELECT count(*), sum(id) FROM things WHERE tags && '{t3}' AND grp = ANY ('{1,2}')", 'Bitmap Index Scan on things_all' ],
	[ "SELECT count(*), sum(id) FROM things WHERE body LIKE '%77%' AND v IS NULL", 'Bitmap Index Scan on things_all' ],
	[ "SELECT count(*), sum(id) FROM things WHERE (doc ->> 'n')::int > 900", 'Bitmap Index Scan on things_all' ],
	[ "SELECT id FROM things WHERE grp <> 3 ORDER BY v <=> $query, id LIMIT 15", 'Index Scan using things_cosine' ],
	[ "SELECT id FROM things WHERE v IS NOT NULL AND grp <> 3 ORDER BY 1 - (v <=> $query) DESC, id LIMIT 15", 'Index Scan using things_cosine' ],
	[ "SELECT id FROM things ORDER BY h <+> '[1,2,3,4]', id LIMIT 15", 'Index Scan using things_half' ],
	[ "SELECT id FROM things ORDER BY s <#> '{1:1,3:-2}/4', id LIMIT 15", 'Index Scan using things_sparse' ],
	[ "SELECT id FROM things ORDER BY l2_normalize(v) <-> '[0,0,0,0,0,1,0,0]', id LIMIT 15", 'Index Scan using things_length' ],
	[ "SELECT n, x.id FROM generate_series(1, 3) n, LATERAL (SELECT id FROM things WHERE grp = n ORDER BY v <-> array_fill(n, ARRAY[8])::vector, id LIMIT 4) x ORDER BY n, x.id",
		'Index Scan using things_all' ]);
my $by_index = 'SET enable_seqscan = off; SET enable_sort = off; SET pigment.target_recall = 1;';
my $by_table = 'SET enable_indexscan = off; SET enable_bitmapscan = off; SET enable_indexonlyscan = off;';
my $all = join ';', map { $$_[0] } @questions;
my $ranked = q{SELECT id, round((body <@> to_bm25query('things_text', 'word3 word7'))::numeric, 4) FROM things ORDER BY body <@> to_bm25query('things_text', 'word3 word7'), id LIMIT 20};

# Every index is sound and has the rows of its table; what is asked by indexes has the answers of the tables.
sub agrees
{
	my ($server, $name, $database) = @_;
	$database //= 'postgres';
	my ($status, undef, $errors) = $server->psql($database, q{
		SELECT pigment.check(c.oid) FROM pg_class c JOIN pg_am a ON a.oid = relam AND amname = 'pigment' WHERE relkind = 'i'});
	is($status, 0, "$name: indexes are sound and have the rows of their tables") or diag($errors);
	is($server->safe_psql($database, "$by_index $all"), $server->safe_psql($database, "$by_table $all"), "$name: they give the answers of the table");
	return;
}

# A power failure.
sub crash
{
	my ($server) = @_;
	$server->stop('immediate');
	$server->start;
	return;
}

for my $question (@questions)
{
	like($node->safe_psql('postgres', "$by_index EXPLAIN (COSTS OFF) $$question[0]"), qr/$$question[1]/, "an index is asked: $$question[0]");
}
agrees($node, 'at first');

# ---- Two-phase commit ----
for my $name (qw(kept dropped))
{
	my $first = $name eq 'kept' ? 3001 : 4001;
	my $odd = $name eq 'kept' ? 1 : 2;
	$node->safe_psql('postgres', qq{
		BEGIN;
		INSERT INTO things SELECT $row FROM generate_series($first, $first + 799) n;
		DELETE FROM things WHERE id % 10 = $odd AND id <= 3000;
		UPDATE things SET v = ARRAY[1,2,3,4,5,6,7,id] WHERE id % 50 = $odd + 2 AND id <= 3000;
		CREATE TABLE $name (v vector(2));
		INSERT INTO $name SELECT ARRAY[n, 1] FROM generate_series(1, 100) n;
		CREATE INDEX ON $name USING pigment (v);
		PREPARE TRANSACTION '$name';
	});
}
my $before = $node->safe_psql('postgres', 'SELECT count(*), sum(id) FROM things');
is($before, '3000|4501500', '2PC: what is prepared is not seen');
agrees($node, '2PC, prepared');
# their entries are pending, and become segments, while nobody knows how they end
$node->safe_psql('postgres', q{SELECT pigment.merge('things_all'), pigment.merge('things_cosine')});
$node->safe_psql('postgres', qq{VACUUM things; INSERT INTO things SELECT $row FROM generate_series(5001, 5200) n});
agrees($node, '2PC, merged');
crash($node);
is($node->safe_psql('postgres', 'SELECT count(*) FROM pg_prepared_xacts'), '2', '2PC: prepared transactions outlive a crash');
agrees($node, '2PC, after a crash');
$node->safe_psql('postgres', q{COMMIT PREPARED 'kept'});
crash($node);
$node->safe_psql('postgres', q{ROLLBACK PREPARED 'dropped'});
agrees($node, '2PC, after their ends');
crash($node);
is($node->safe_psql('postgres', q{
	SELECT count(*), count(*) FILTER (WHERE id BETWEEN 3001 AND 3800), count(*) FILTER (WHERE id BETWEEN 4001 AND 4800),
		count(*) FILTER (WHERE id % 10 = 1 AND id <= 3000), count(*) FILTER (WHERE id % 10 = 2 AND id <= 3000) FROM things}),
	'3700|800|0|0|300', '2PC: what was committed is there, and nothing of what was rolled back');
is($node->safe_psql('postgres', q{SELECT live_rows, to_regclass('dropped') IS NULL FROM pigment.check('kept_v_idx')}), '100|t', '2PC: so are indexes that were built in it');
$node->safe_psql('postgres', 'VACUUM things');
agrees($node, '2PC, after VACUUM');
is($node->safe_psql('postgres', q{SELECT leaked FROM pigment.check('things_all')}), '0', '2PC: no page is lost');

# ---- Tablespaces ----
my %spaces = map { $_ => PostgreSQL::Test::Utils::tempdir() } qw(one two);
$node->safe_psql('postgres', "CREATE TABLESPACE $_ LOCATION '$spaces{$_}'") for sort keys %spaces;
$node->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE light (id int, v vector(2));
	INSERT INTO light SELECT n, ARRAY[n, 1] FROM generate_series(1, 500) n;
	CREATE INDEX light_v ON light USING pigment (v) TABLESPACE two;
});
for my $move ('ALTER INDEX things_all SET TABLESPACE one', 'ALTER TABLE things SET TABLESPACE two; ALTER TABLE light SET TABLESPACE one; ALTER INDEX light_v SET TABLESPACE one',
	'ALTER INDEX ALL IN TABLESPACE one SET TABLESPACE two', 'REINDEX (TABLESPACE one) INDEX CONCURRENTLY things_all', 'REINDEX (TABLESPACE one) TABLE things')
{
	$node->safe_psql('postgres', $_) for split /; /, $move;
	$node->safe_psql('postgres', q{UPDATE things SET grp = grp + 1 WHERE id % 40 = 7});
	crash($node);
	agrees($node, $move);
	is($node->safe_psql('postgres', q{
		SET enable_seqscan = off;
		SELECT live_rows FROM pigment.check('light_v');
		INSERT INTO light SELECT n, ARRAY[n, 1] FROM generate_series(1, 500) n;
		SELECT id FROM light ORDER BY v <-> '[77,1]' LIMIT 1}), "0\n77", "$move: an unlogged index starts anew there");
}
is($node->safe_psql('postgres', q{SELECT string_agg(relname, ' ' ORDER BY relname) FROM pg_class JOIN pg_tablespace t ON t.oid = reltablespace WHERE spcname = 'one' AND relkind = 'i' AND relname LIKE 'things%'}),
	'things_all things_cosine things_half things_length things_pkey things_sparse things_text', 'tablespaces: indexes are where they were put');
$node->safe_psql('postgres', $_)
	for 'DROP TABLE light', 'ALTER TABLE ALL IN TABLESPACE two SET TABLESPACE pg_default', 'ALTER INDEX ALL IN TABLESPACE one SET TABLESPACE pg_default',
	'ALTER INDEX ALL IN TABLESPACE two SET TABLESPACE pg_default', 'CHECKPOINT', 'DROP TABLESPACE one', 'DROP TABLESPACE two';

# ---- New files for tables ----
for my $move ('CLUSTER things USING things_pkey', 'VACUUM FULL things', 'ALTER TABLE things ALTER id TYPE bigint', 'BEGIN; TRUNCATE things; ROLLBACK',
	'ALTER TABLE things SET UNLOGGED; ALTER TABLE things SET LOGGED')
{
	$node->safe_psql('postgres', $move);
	$node->safe_psql('postgres', q{UPDATE things SET grp = grp + 1 WHERE id % 40 = 9});
	crash($node);
	agrees($node, $move);
}

# ---- Row security ----
$node->safe_psql('postgres', q{
	CREATE ROLE reader;
	GRANT CREATE, USAGE ON SCHEMA public TO reader;
	GRANT SELECT, UPDATE ON things TO reader;
	ALTER TABLE things ENABLE ROW LEVEL SECURITY;
	CREATE POLICY thirds ON things USING (grp % 3 = 1);
	CREATE VIEW allowed AS SELECT * FROM things WHERE grp % 3 = 1;
	SET ROLE reader;
	CREATE FUNCTION spy(x int) RETURNS bool LANGUAGE plpgsql COST 0.0001 AS $$ BEGIN RAISE NOTICE 'saw %', x; RETURN true; END $$;
});
for my $question (@questions, [$ranked])
{
	my $text = $$question[0];
	(my $model = $text) =~ s/FROM things\b/FROM allowed/g;
	$model =~ s/\(SELECT id FROM things/(SELECT id FROM allowed/g;
	my $expected = $node->safe_psql('postgres', $text eq $ranked ? $model : "$by_table $model");
	like($expected, qr/\d/, "row security: there is something to see: $text");
	is($node->safe_psql('postgres', "$by_index SET ROLE reader; $text"), $expected, "row security: $text");
	is($node->safe_psql('postgres', "$by_index SET ROLE reader; SET plan_cache_mode = force_generic_plan; PREPARE q AS $text; EXECUTE q"), $expected, '... prepared');
	is($node->safe_psql('postgres', "$by_index SET ROLE reader; BEGIN; DECLARE c CURSOR FOR $text; FETCH ALL FROM c"), $expected, '... by a cursor');
}
is($node->safe_psql('postgres', "$by_index SET ROLE reader; SELECT id FROM things ORDER BY v <-> $query LIMIT 5 FOR UPDATE"),
	$node->safe_psql('postgres', "$by_table SELECT id FROM allowed ORDER BY v <-> $query LIMIT 5"), 'row security: FOR UPDATE');
for my $condition ("spy(grp) ORDER BY v <-> $query LIMIT 30", "spy(grp) AND grp = ANY ('{1,2,3}')", "v <-> $query < 20 AND spy(grp)", "tags && '{t3}' AND spy(grp)",
	"spy(grp) AND body LIKE '%77%'")
{
	my ($status, undef, $told) = $node->psql('postgres', "$by_index SET ROLE reader; SELECT id FROM things WHERE $condition");
	my @seen = $told =~ /saw (\d+)/g;
	cmp_ok(scalar @seen, '>', 5, "row security: a function of the reader's sees rows: $condition");
	is(scalar(grep { $_ % 3 != 1 } @seen), 0, '... and none that is hidden');
}
$node->safe_psql('postgres', q{DROP VIEW allowed; DROP POLICY thirds ON things; ALTER TABLE things DISABLE ROW LEVEL SECURITY; DROP OWNED BY reader; DROP ROLE reader});

# ---- Dump and restore ----
$node->safe_psql('postgres', q{
	CREATE TABLE kinds (id int PRIMARY KEY, v vector, h halfvec(3), s sparsevec(100000), b bit(6));
	INSERT INTO kinds VALUES (1, '[1e-38,-3.4028235e38,0.1]', '[65504,-6e-8,0.33325]', '{1:1.5,100000:-2}/100000', '101010'), (2, '[-0,0,1]', NULL, '{}/100000', NULL), (3, NULL, NULL, NULL, NULL);
	CREATE INDEX kinds_v ON kinds USING pigment (v vector_ip_ops) WITH (kind = hnsw, m = 20, ef_construction = 80);
	CREATE TABLE parts (id int, v vector(3)) PARTITION BY RANGE (id);
	CREATE TABLE low PARTITION OF parts FOR VALUES FROM (0) TO (100);
	CREATE TABLE high PARTITION OF parts FOR VALUES FROM (100) TO (1000);
	CREATE INDEX parts_v ON parts USING pigment (v, id);
	INSERT INTO parts SELECT n, ARRAY[n % 7, n % 11, n] FROM generate_series(1, 400) n;
	CREATE MATERIALIZED VIEW means AS SELECT grp, avg(v) AS mean FROM things GROUP BY grp;
	CREATE INDEX means_x ON means USING pigment (mean);
	SET client_min_messages = warning;
	SELECT pigment.create_collection('docs');
	SELECT pigment.add('docs', (SELECT array_agg('d' || i ORDER BY i) FROM generate_series(1, 200) i), (SELECT array_agg(ARRAY[i % 7, sin(i)]::real[]::vector ORDER BY i) FROM generate_series(1, 200) i),
		metadatas => (SELECT array_agg(jsonb_build_object('n', i) ORDER BY i) FROM generate_series(1, 200) i));
	SELECT pigment.fork_collection('docs', 'branch');
	SELECT pigment.delete('docs', '{d1,d2}');
	SELECT pigment.upsert('branch', '{d3,new}', '{"[9,9]","[8,8]"}');
	VACUUM ANALYZE;
});
my $contents = q{
	SELECT md5(string_agg(t::text, ' ' ORDER BY id)) FROM things t;
	SELECT * FROM kinds ORDER BY id;
	SELECT encode(vector_send(v), 'hex'), encode(halfvec_send(h), 'hex'), encode(sparsevec_send(s), 'hex') FROM kinds ORDER BY id;
	SELECT id FROM parts ORDER BY v <-> '[1,2,150]', id LIMIT 9;
	SELECT grp FROM means ORDER BY mean <-> '[9,9,9,9,9,9,9,9]', grp;
	SELECT c, q.* FROM unnest('{docs,branch}'::text[]) c, LATERAL pigment.query(c, '[1,0.5]'::vector, 12, '{"n": {"$lt": 90}}') q;
	SELECT c, count(*), md5(string_agg(g::text, ' ')) FROM unnest('{docs,branch}'::text[]) c, LATERAL pigment.get(c, include => '{metadatas,embeddings}') g GROUP BY c ORDER BY c;
	SELECT indexdef FROM pg_indexes WHERE indexdef LIKE '%USING pigment%' ORDER BY 1;} . "$by_index $ranked";
my $folder = PostgreSQL::Test::Utils::tempdir();
my $answers = $node->safe_psql('postgres', $contents);
$node->safe_psql('postgres', 'CREATE DATABASE restored TEMPLATE template0');
$node->command_ok([ 'pg_dump', '-d', $node->connstr('postgres'), '-f', "$folder/dump.sql" ], 'dump');
$node->command_ok([ 'psql', '-q', '-X', '-v', 'ON_ERROR_STOP=1', '-d', $node->connstr('restored'), '-f', "$folder/dump.sql" ], 'restore');
is($node->safe_psql('restored', $contents), $answers, 'restore: contents and answers are the same');
agrees($node, 'restore', 'restored');
$node->safe_psql('postgres', "COPY kinds TO '$folder/kinds' (FORMAT binary)");
$node->safe_psql('restored', "TRUNCATE kinds; COPY kinds FROM '$folder/kinds' (FORMAT binary)");
is($node->safe_psql('restored', $contents), $answers, 'COPY in binary format: so they are');

# ---- Names that others made ----
my $trapped = q{
	CREATE EXTENSION IF NOT EXISTS pigment;
	CREATE SCHEMA evil;
	SET check_function_bodies = off;
	SET client_min_messages = warning;
	-- a function or an operator for each of the server's, of the same types, or of those that fit better where it takes any
	CREATE FUNCTION pg_temp.spelled(types oid[]) RETURNS text LANGUAGE sql AS $$
		SELECT coalesce(string_agg(pg_temp.type_of(t), ', ' ORDER BY k), '') FROM unnest(types) WITH ORDINALITY u (t, k) $$;
	CREATE FUNCTION pg_temp.type_of(type oid) RETURNS text LANGUAGE sql AS $$
		SELECT CASE WHEN type::regtype::text IN ('anyarray', 'anycompatiblearray') THEN 'text[]'
			WHEN type::regtype::text IN ('anyelement', 'anynonarray', 'anycompatible', 'anycompatiblenonarray') THEN 'text'
			ELSE format_type(type, NULL) END $$;
	DO $$
	DECLARE
		f record;
		made int := 0;
	BEGIN
		FOR f IN SELECT proname, pg_temp.spelled(proargtypes::oid[]) AS arguments, pg_temp.type_of(prorettype) AS result, proretset FROM pg_proc p
			WHERE pronamespace = 'pg_catalog'::regnamespace AND prokind = 'f' AND provariadic = 0 LOOP
			BEGIN
				EXECUTE format('CREATE FUNCTION evil.%I(%s) RETURNS %s %s LANGUAGE plpgsql AS %L', f.proname, f.arguments, CASE WHEN f.proretset THEN 'SETOF' END, f.result,
					format('BEGIN RAISE %L; END', 'trapped in ' || f.proname));
				made := made + 1;
			EXCEPTION WHEN OTHERS THEN NULL;  -- of types that no function in this language takes
			END;
		END LOOP;
		FOR f IN SELECT o.oid, oprname, pg_temp.type_of(oprleft) AS l, pg_temp.type_of(oprright) AS r, pg_temp.type_of(oprresult) AS result, oprleft <> 0 AS is_binary FROM pg_operator o
			WHERE oprnamespace = 'pg_catalog'::regnamespace LOOP
			BEGIN
				EXECUTE format('CREATE FUNCTION evil.trap_%s(%s) RETURNS %s LANGUAGE plpgsql AS %L', f.oid, CASE WHEN f.is_binary THEN f.l || ', ' END || f.r, f.result,
					format('BEGIN RAISE %L; END', 'trapped in operator ' || f.oprname));
				EXECUTE format('CREATE OPERATOR evil.%s (%s RIGHTARG = %s, FUNCTION = evil.trap_%s)', f.oprname, CASE WHEN f.is_binary THEN 'LEFTARG = ' || f.l || ',' END, f.r, f.oid);
				made := made + 1;
			EXCEPTION WHEN OTHERS THEN NULL;
			END;
		END LOOP;
		FOR f IN SELECT relname FROM pg_class WHERE relnamespace IN ('pg_catalog'::regnamespace, 'pigment'::regnamespace) AND relkind IN ('r', 'v') LOOP
			EXECUTE format('CREATE TABLE evil.%I (x int)', f.relname);
			made := made + 1;
		END LOOP;
		IF made < 3000 THEN RAISE 'only % traps', made; END IF;
	END $$;
	CREATE TABLE public.goods (id int PRIMARY KEY, v public.vector(2), h public.halfvec(2), grp int, tags text[], body text, doc jsonb, s public.sparsevec(2));
	INSERT INTO public.goods SELECT n, ARRAY[n, 1], ARRAY[n, 1], n % 5, ARRAY['t' || n % 3], 'word' || n % 7, jsonb_build_object('n', n), ARRAY[n % 9, 1] FROM generate_series(1, 500) n;
};
$node->safe_psql('postgres', 'CREATE DATABASE hostile TEMPLATE template0');
$node->safe_psql('hostile', $trapped);
my ($status, undef, $errors) = $node->psql('hostile', q{SET search_path = evil, pg_catalog, public; SELECT 1 + 1}, on_error_stop => 1);
like($errors, qr/trapped in operator \+/, 'search_path: the traps work');
my @failed;
for my $call (
	q{CREATE INDEX goods_all ON public.goods USING pigment (v public.vector_l2_ops, grp, tags, body public.text_trgm_ops, doc)},
	q{CREATE INDEX goods_half ON public.goods USING pigment (h public.halfvec_cosine_ops)},
	q{CREATE INDEX goods_sparse ON public.goods USING pigment (s public.sparsevec_cosine_ops)},
	q{CREATE INDEX goods_expression ON public.goods USING pigment ((public.l2_normalize(v)))},
	q{CREATE INDEX goods_text ON public.goods USING pigment (body public.text_bm25_ops)},
	q{INSERT INTO public.goods VALUES (501, '[1,2]', '[1,2]', 3, '{a}', 'b', '{"n": 1}')},
	q{SELECT id FROM public.goods WHERE grp OPERATOR(pg_catalog.=) 3 AND tags OPERATOR(pg_catalog.&&) '{t1}'::text[] ORDER BY v OPERATOR(public.<->) '[3,1]'::public.vector LIMIT 5},
	q{SELECT id FROM public.goods WHERE body OPERATOR(pg_catalog.~~) '%rd3%'::text AND doc OPERATOR(pg_catalog.@>) '{"n": 3}'::jsonb},
	q{SELECT id FROM public.goods ORDER BY body OPERATOR(public.<@>) public.to_bm25query('public.goods_text'::regclass, 'word3'::text) LIMIT 3},
	q{SELECT id FROM public.goods ORDER BY s OPERATOR(public.<=>) '{1:3}/2'::public.sparsevec LIMIT 3},
	q{SELECT public.avg(v), public.sum(v), public.avg(h) FROM public.goods},
	q{SELECT v::public.halfvec, v::real[], v::text, public.subvector(v, 1, 1), public.l2_normalize(h), public.cosine_distance(v, v) FROM public.goods LIMIT 1},
	q{SELECT pigment.check(i), pigment.stats(i), pigment.merge(i) FROM ROWS FROM (pg_catalog.unnest('{public.goods_all,public.goods_text}'::regclass[])) i},
	q{SELECT * FROM pigment.segments}, q{SELECT pigment.last_scan()}, q{VACUUM ANALYZE public.goods}, q{REINDEX TABLE public.goods}, q{CLUSTER public.goods USING goods_pkey},
	q{SELECT pigment.create_tenant('acme')}, q{SELECT pigment.create_database('prod', 'acme')}, q{SELECT pigment.list_databases(tenant => 'acme')}, q{SELECT pigment.list_tenants()},
	q{SELECT pigment.create_collection('docs', schema => 'public')}, q{SELECT pigment.create_collection('words', embedding_function => 'pigment.lexical_v1', schema => 'public')},
	q{SELECT pigment.add('docs', '{a,b,c}', '{"[1,2]","[2,1]","[0,1]"}', '{x,y,z}', ARRAY['{"n": 1, "l": ["a"]}', '{"n": 2.5}', NULL]::jsonb[], '{u,v,w}')},
	q{SELECT pigment.add('words', '{a}', documents => '{some words}')}, q{SELECT pigment.query('words', query_texts => '{words}')},
	q{SELECT pigment.upsert('docs', '{a,d}', '{"[3,2]","[2,4]"}')}, q{SELECT pigment.update('docs', '{b}', metadatas => ARRAY['{"n": 7}']::jsonb[])},
	q{SELECT pigment.get('docs', where_metadata => '{"$or": [{"n": {"$gt": 1}}, {"l": {"$contains": "a"}}]}', where_document => '{"$contains": "y"}', order_by => '[{"key": "n"}]')},
	q{SELECT pigment.query('docs', '[1,1]'::public.vector, 2, '{"n": {"$in": [7, 2]}}', '{"$regex": "[xy]"}')}, q{SELECT pigment.count('docs', where_metadata => '{"n": 7}'), pigment.peek('docs')},
	q{SELECT pigment.contains('docs', '{a,q}'), pigment.facets('docs', '{n}')}, q{SELECT pigment.modify_collection('docs', 'papers')}, q{SELECT pigment.fork_collection('papers', 'fork', 'public')},
	q{SELECT pigment.list_collections(), pigment.count_collections(), pigment.get_collection('papers')}, q{SELECT pigment.delete('papers', where_metadata => '{"n": 7}')},
	q{ALTER TABLE public.docs RENAME TO texts}, q{SELECT pigment.delete_collection('papers')}, q{DROP TABLE public.words}, q{SELECT pigment.delete_tenant('acme')})
{
	($status, undef, $errors) = $node->psql('hostile', "SET client_min_messages = warning; SET enable_seqscan = off; SET search_path = evil, pg_catalog, public, pg_temp; $call", on_error_stop => 1);
	unlike($errors, qr/trapped/, "search_path: no trap is called: $call");
	push @failed, "$call: $errors" if $status != 0;
}
is("@failed", '', 'search_path: and every call works');
$node->safe_psql('postgres', 'DROP DATABASE hostile');

# ---- Recovery to a point in time ----
$node->safe_psql('postgres', q{SELECT pigment.merge('things_all'); DELETE FROM things WHERE id % 9 = 0; VACUUM things});
my $xid = $node->safe_psql('postgres', qq{
	BEGIN; INSERT INTO things SELECT $row FROM generate_series(6001, 6500) n; SELECT pg_current_xact_id(); COMMIT});
my $then = $node->safe_psql('postgres', $contents);
$node->safe_psql('postgres', q{DELETE FROM things WHERE id % 2 = 0; VACUUM things; SELECT pigment.merge('things_all'); DROP INDEX things_cosine; TRUNCATE kinds; SELECT pg_switch_wal()});
my $past = PostgreSQL::Test::Cluster->new('past');
$past->init_from_backup($node, 'base', has_restoring => 1, standby => 0);
$past->append_conf('postgresql.conf', "recovery_target_xid = '$xid'\nrecovery_target_action = 'promote'\nmax_prepared_transactions = 10");
$past->start;
ok($past->poll_query_until('postgres', 'SELECT NOT pg_is_in_recovery()'), 'PITR: recovery ends');
is($past->safe_psql('postgres', $contents), $then, 'PITR: contents and answers are those of the transaction');
agrees($past, 'PITR');
$past->safe_psql('postgres', qq{INSERT INTO things SELECT $row FROM generate_series(7001, 7500) n; SELECT pigment.merge('things_all')});
agrees($past, 'PITR, written to');

# ---- pg_upgrade, which takes the files of indexes as they are ----
$past->stop;
my $new = PostgreSQL::Test::Cluster->new('new');
$new->init;
my $bindir = $new->config_data('--bindir');
chdir $folder;
command_ok([ 'pg_upgrade', '--no-sync', '-d', $past->data_dir, '-D', $new->data_dir, '-b', $bindir, '-B', $bindir, '-s', $new->host, '-p', $past->port, '-P', $new->port ],
	'pg_upgrade');
$new->start;
agrees($new, 'pg_upgrade');
$new->safe_psql('postgres', qq{INSERT INTO things SELECT $row FROM generate_series(8001, 8500) n; DELETE FROM things WHERE id % 8 = 1; VACUUM things; SELECT pigment.merge('things_all')});
agrees($new, 'pg_upgrade, written to');
$new->stop;
$node->stop;
unlike(slurp_file($_->logfile), qr/inconsistent page found|PANIC/, $_->name . ': every replayed page was the same') for $node, $past;
done_testing();
