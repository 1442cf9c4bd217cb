# SPDX-License-Identifier: Apache-2.0

# What the TAP tests share: a standby, tables with indexes, a load of clients, and the comparison of index and table.

package PigmentTest;

use strict;
use warnings;
use Exporter 'import';
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

our @EXPORT = qw(standby_of create_tables write_scripts start_load finish_load compare no_page_is_lost);

# A standby of $primary, not yet started. Its log is kept until the standby has it: checkpoints would take it from one that falls behind.
sub standby_of
{
	my ($primary) = @_;
	$primary->safe_psql('postgres', q{SELECT pg_create_physical_replication_slot('standby', true)});
	$primary->backup('base');
	my $standby = PostgreSQL::Test::Cluster->new('standby');
	$standby->init_from_backup($primary, 'base', has_streaming => 1);
	$standby->append_conf('postgresql.conf', q{primary_slot_name = 'standby'});
	return $standby;
}

# Table "items": several entries to a page. Table "wide": entries larger than a page.
sub create_tables
{
	my ($node) = @_;
	$node->safe_psql('postgres', q{
		CREATE EXTENSION pigment;
		CREATE TABLE items (id bigserial PRIMARY KEY, v vector(8), note int,
			body text GENERATED ALWAYS AS ('note ' || md5(note::text) || repeat(' No. ' || note::text, note % 5)) STORED,
			s sparsevec(8) GENERATED ALWAYS AS (v::sparsevec(8)) STORED);
		CREATE TABLE wide (id bigserial PRIMARY KEY, v vector(3000));
		CREATE FUNCTION random_vector(dim int) RETURNS vector LANGUAGE sql VOLATILE AS
			'SELECT array_agg((random() * 20)::int - 10)::vector FROM generate_series(1, dim)';
		INSERT INTO items (v, note)
			SELECT CASE WHEN n % 20 = 0 THEN NULL WHEN n % 33 = 0 THEN array_fill(0, ARRAY[8])::vector ELSE random_vector(8) END, n
			FROM generate_series(1, 3000) n;
		INSERT INTO wide (v) SELECT random_vector(3000) FROM generate_series(1, 30);
		CREATE INDEX items_l2 ON items USING pigment (v);
		CREATE INDEX items_cosine ON items USING pigment (v vector_cosine_ops) WHERE id % 3 <> 0;
		CREATE INDEX items_filter ON items USING pigment (note, v vector_l1_ops, body text_trgm_ops, s sparsevec_ip_ops) WITH (full_vectors = f32);
		CREATE INDEX wide_ip ON wide USING pigment (v vector_ip_ops);
	});
	return;
}

# Writes pgbench scripts; returns the arguments that name them, each with its weight.
sub write_scripts
{
	my ($folder) = @_;
	my $some = 'SELECT id FROM items ORDER BY id OFFSET (random() * 2500)::int LIMIT';
	my %scripts = (
		insert => [ 20, 'INSERT INTO items (v, note) SELECT random_vector(8), n FROM generate_series(1, 20) n;' ],
		single => [ 20, 'INSERT INTO items (v) VALUES (CASE WHEN random() < 0.1 THEN NULL ELSE random_vector(8) END);' ],
		update => [ 20, "UPDATE items SET v = random_vector(8) WHERE id IN ($some 2);" ],
		note => [ 20, "UPDATE items SET note = note + 1 WHERE id IN ($some 2);" ],
		delete => [ 10, "DELETE FROM items WHERE id IN ($some 40);" ],
		abort => [ 5, "BEGIN;\nINSERT INTO items (v) SELECT random_vector(8) FROM generate_series(1, 10);\nROLLBACK;" ],
		search => [ 10, "\\set a random(-10, 10)\nSELECT id FROM items ORDER BY v <-> '[:a,2,3,4,5,6,7,8]' LIMIT 10;" ],
		wide => [ 3, "INSERT INTO wide (v) VALUES (random_vector(3000));\nDELETE FROM wide WHERE id IN (SELECT id FROM wide ORDER BY id LIMIT 1);" ],
		wide_again => [ 3, "UPDATE wide SET id = nextval('wide_id_seq') WHERE id IN (SELECT id FROM wide ORDER BY random() LIMIT 2);" ],
		vacuum => [ 1, 'VACUUM items;' ],
		merge_l2 => [ 1, "SELECT pigment.merge('items_l2');" ],
		merge_filter => [ 1, "SELECT pigment.merge('items_filter');" ],
		merge_wide => [ 1, "SELECT pigment.merge('wide_ip');" ],
		vacuum_wide => [ 1, 'VACUUM wide;' ]);
	my @arguments;
	for my $name (sort keys %scripts)
	{
		my ($weight, $text) = @{ $scripts{$name} };
		append_to_file("$folder/$name.sql", "$text\n");
		push @arguments, '-f', "$folder/$name.sql\@$weight";
	}
	return @arguments;
}

# Starts clients that go on for `seconds` or until the server goes away.
sub start_load
{
	my ($node, $seconds, @scripts) = @_;
	my %load = (output => '', errors => '');
	my @command = ('pgbench', '--no-vacuum', '--client=5', '--jobs=1', "--time=$seconds", '--max-tries=100',
		'-h', $node->host, '-p', $node->port, @scripts, 'postgres');
	$load{handle} = IPC::Run::start(\@command, '<', \undef, '>', \$load{output}, '2>', \$load{errors});
	return \%load;
}

# Waits for their end; returns how many transactions they had done.
sub finish_load
{
	my ($load) = @_;
	$load->{handle}->finish;
	my ($done) = $load->{output} =~ /number of transactions actually processed: (\d+)/;
	note('load: ' . ($done // 0) . ' transactions; ' . substr($load->{errors}, -300));
	return $done // 0;
}

# Index and table agree: the check is clean, and an index scan gives what a sort gives.
sub compare
{
	my ($node, $name) = @_;
	my $near = q{'[1,2,3,-4,5,6,7,8]'};
	for my $case ([ 'items', 'items_l2', "v <-> $near", 'true' ],
		[ 'items', 'items_cosine', "v <=> $near", '(id % 3) <> 0' ],
		[ 'items', 'items_filter', "v <+> $near", '(note > 500)' ],
		[ 'items', 'items_filter', "v <+> $near", '(note IS NULL)' ],
		[ 'items', 'items_filter', "v <+> $near", q{(body ~~ '%9a%')} ],
		[ 'items', 'items_filter', "v <+> $near", q{(body ~* 'no. 1(23|45)')} ],
		[ 'items', 'items_filter', q{s <#> '{1:0.5,3:-2,8:1}/8'}, 'true' ],
		[ 'wide', 'wide_ip', q{v <#> '[} . join(',', map { $_ % 7 - 3 } 1 .. 3000) . q{]'}, 'true' ])
	{
		my ($table, $index, $distance, $condition) = @$case;
		my ($result, $census, $errors) = $node->psql('postgres', "SELECT * FROM pigment.check('$index')");
		is($result, 0, "$name: $index is sound") or diag($errors);
		note("$index: $census");
		my $statement = "SELECT id, $distance AS d FROM $table WHERE $condition ORDER BY $distance";
		my $plan = $node->safe_psql('postgres', "SET enable_seqscan = off; SET enable_sort = off; EXPLAIN (COSTS OFF) $statement");
		like($plan, qr/^Index Scan using $index/, "$name: $index serves the order");
		my $digest = "SELECT count(*), count(DISTINCT id), md5(string_agg(coalesce(d::text, '-') || ' ', '' ORDER BY k)),
				md5(string_agg(id || ' ' || coalesce(d::text, '-') || ' ', '' ORDER BY id))
			FROM (SELECT row_number() OVER () AS k, id, d FROM ($statement) o) n";
		my $by_index = $node->safe_psql('postgres', "SET pigment.target_recall = 1; SET enable_seqscan = off; SET enable_sort = off; $digest");
		my $by_sort = $node->safe_psql('postgres', "SET enable_indexscan = off; $digest");
		is($by_index, $by_sort, "$name: $index gives the rows of $table in order");
	}
	return;
}

# What a crash or a cancelled merge left behind, VACUUM finds: every page serves for something, or is known to serve for nothing. It is told to come to
# indexes, which it passes by where few rows are dead.
sub no_page_is_lost
{
	my ($node, $name) = @_;
	$node->safe_psql('postgres', 'VACUUM (INDEX_CLEANUP on) items, wide');
	for my $index (qw(items_l2 items_cosine items_filter wide_ip))
	{
		is($node->safe_psql('postgres', "SELECT leaked, meta + segment + deletion + pending + overflow + retired + free - pages
			FROM pigment.check('$index')"), '0|0', "$name: $index has lost no page");
	}
	return;
}

1;
