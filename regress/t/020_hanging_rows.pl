# SPDX-License-Identifier: Apache-2.0

# Pending rows hang on the graph of a segment, once a background worker has found out where: scans look at few of them and find what is near; on a
# standby, after a crash, while rows come and go, and where the segment or the rows go.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use PigmentTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
	autovacuum = off
	log_min_messages = debug1
	max_wal_size = 1GB
	wal_consistency_checking = 'all'
	pigment.background_merge = on
	pigment.target_recall = 0.97
});
$node->start;
my $standby = standby_of($node);
$standby->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION pigment;
	CREATE FUNCTION random_vector(dim int, size float8) RETURNS float8[] LANGUAGE sql VOLATILE AS
		'SELECT array_agg((random() - 0.5) * size) FROM generate_series(1, dim)';
	CREATE TABLE middle AS SELECT n, random_vector(32, 4) AS v FROM generate_series(1, 60) n;
	CREATE TABLE source AS
		SELECT i.n AS id, (SELECT array_agg(a + b) FROM unnest(m.v, random_vector(32, 2 + 0 * i.n)) u (a, b))::vector AS v
		FROM generate_series(1, 24000) i (n), middle m WHERE m.n = i.n % 60 + 1;
	CREATE TABLE asked AS SELECT id AS number, v FROM source WHERE id > 23900;
});

sub rows
{
	my ($table, $count, $first) = @_;
	return "INSERT INTO $table SELECT id, v FROM source WHERE id >= $first AND id < $first + $count;";
}

# With a graph of 12,000 rows, and 3,000 that are pending.
sub make_table
{
	my ($table, $kind) = @_;
	$node->safe_psql('postgres', "CREATE $kind TABLE $table (id int, v vector(32));" . rows($table, 12000, 1)
		. "CREATE INDEX ${table}_v ON $table USING pigment (v);" . rows($table, 3000, 12001));
	return;
}

my $running = q{FROM pg_stat_activity WHERE backend_type = 'pigment merge'};

sub asked_for
{
	my ($table) = @_;
	my $oid = $node->safe_psql('postgres', "SELECT '${table}_v'::regclass::oid");
	return scalar(() = slurp_file($node->logfile) =~ /registering background worker "pigment merge of index $oid"/g);
}

# What a session that is new looks at for one query.
sub rows_scored
{
	my ($server, $table) = @_;
	return $server->safe_psql('postgres', "SELECT FROM $table ORDER BY v <-> (SELECT v FROM asked WHERE number = 23901) LIMIT 10;
		SELECT rows_scored FROM pigment.last_scan()");
}

# Has a scan ask for a worker, and waits until its part is there.
sub hangs
{
	my ($table, $most, $name) = @_;
	for (1 .. 200)
	{
		last if rows_scored($node, $table) < $most;
		$node->poll_query_until('postgres', "SELECT count(*) = 0 $running");
	}
	cmp_ok(rows_scored($node, $table), '<', $most, "$name: a scan looks at few rows");
	return;
}

# Of 100 queries the ten nearest, by the index as it is set and exactly.
sub finds
{
	my ($server, $table, $name) = @_;
	my $nearest = "SELECT a.number, o.id FROM asked a, LATERAL (SELECT id FROM $table ORDER BY v <-> a.v LIMIT 10) o";
	my $found = $server->safe_psql('postgres', "WITH found AS MATERIALIZED ($nearest),
		exact AS MATERIALIZED (SELECT a.number, o.id FROM asked a, LATERAL (SELECT id FROM (SELECT id, v <-> a.v AS d FROM $table OFFSET 0) t ORDER BY d LIMIT 10) o)
		SELECT count(*) FROM found JOIN exact USING (number, id)");
	cmp_ok($found, '>=', 970, "$name: what is near is found");
	return;
}

sub is_whole
{
	my ($server, $table, $name) = @_;
	my ($status, undef, $errors) = $server->psql('postgres', "SELECT * FROM pigment.check('${table}_v')");
	is($status, 0, "$name: the index is sound and has the rows of its table") or diag($errors);
	my $digest = "SELECT count(*), md5(string_agg(d::text, ' ' ORDER BY k)) FROM (SELECT row_number() OVER () AS k, d FROM
		(SELECT v <-> (SELECT v FROM asked WHERE number = 23902) AS d FROM $table ORDER BY v <-> (SELECT v FROM asked WHERE number = 23902)) o) n";
	my $by_index = $server->safe_psql('postgres', "SET pigment.target_recall = 1; SET enable_seqscan = off; SET enable_sort = off; $digest");
	is($by_index, $server->safe_psql('postgres', "SET enable_indexscan = off; $digest"), "$name: the index gives the rows in order");
	return;
}

sub stats_of
{
	my ($table, $what) = @_;
	return $node->safe_psql('postgres', "SELECT $what FROM pigment.stats('${table}_v')");
}

# ---- A part, and one that follows ----
my $since = -s $node->logfile;
make_table('kept', '');
cmp_ok(rows_scored($node, 'kept'), '>', 3000, 'before: a scan looks at all pending rows');
ok($node->wait_for_log(qr/registering background worker "pigment merge of index/, $since), 'before: it asks for a worker');
hangs('kept', 1500, 'hanging');
my $asked = asked_for('kept');
finds($node, 'kept', 'hanging');
is(asked_for('kept'), $asked, 'hanging: and asks for no worker any more');
is_whole($node, 'kept', 'hanging');
is(stats_of('kept', 'pending_rows, segments'), '3000|1', 'hanging: rows are pending as they were');
cmp_ok($node->safe_psql('postgres', q{SELECT overflow FROM pigment.check('kept_v')}), '>', 0, 'hanging: pages say where');
$node->safe_psql('postgres', rows('kept', 2800, 15001));
cmp_ok(rows_scored($node, 'kept'), '>', 2800, 'rows that come: a scan looks at all of these');
hangs('kept', 1500, 'a part that follows');
finds($node, 'kept', 'a part that follows');
$node->safe_psql('postgres', 'DELETE FROM kept WHERE id % 7 = 0; UPDATE kept SET id = id WHERE id % 11 = 0');
finds($node, 'kept', 'dead rows among them');
is_whole($node, 'kept', 'dead rows among them');

# ---- Elsewhere, and after a crash ----
$node->wait_for_catchup($standby);
cmp_ok(rows_scored($standby, 'kept'), '<', 3500, 'standby: rows hang there too');
finds($standby, 'kept', 'standby');
is_whole($standby, 'kept', 'standby');
$node->stop('immediate');
$node->start;
cmp_ok(rows_scored($node, 'kept'), '<', 3500, 'after a crash: rows hang as they did');
finds($node, 'kept', 'after a crash');

# ---- What they hang on goes with the rows, or with the segment ----
$node->safe_psql('postgres', 'VACUUM kept');
cmp_ok(stats_of('kept', 'pending_rows'), '<', 100, 'VACUUM: few rows are pending');
is($node->safe_psql('postgres', q{SELECT overflow, leaked FROM pigment.check('kept_v')}), '0|0', 'VACUUM: what they hung on is gone, and no page lost');
finds($node, 'kept', 'VACUUM');
make_table('merged', '');
hangs('merged', 1500, 'before a merge');
$node->safe_psql('postgres', q{SELECT pigment.merge('merged_v')});
is($node->safe_psql('postgres', q{SELECT overflow, leaked FROM pigment.check('merged_v')}), '0|0', 'a merge: what they hung on is gone, and no page lost');
is_whole($node, 'merged', 'a merge');
# flushes and merges take turns with looking what rows hang on
make_table('growing', '');
for my $round (0 .. 19)
{
	$node->safe_psql('postgres', "SET pigment.pending_list_limit = '512kB';" . rows('growing', 900, 1 + 1000 * $round)
		. 'SELECT FROM growing ORDER BY v <-> (SELECT v FROM asked WHERE number = 23901) LIMIT 10');
}
$node->poll_query_until('postgres', "SELECT count(*) = 0 $running");
cmp_ok(asked_for('growing'), '>', 0, 'rows that come: workers are asked for');
finds($node, 'growing', 'rows that come');
is_whole($node, 'growing', 'rows that come');
$node->safe_psql('postgres', 'VACUUM growing');
is($node->safe_psql('postgres', q{SELECT leaked FROM pigment.check('growing_v')}), '0', 'rows that come: no page is lost');

# ---- Where nobody is asked ----
make_table('light', 'UNLOGGED');
hangs('light', 1500, 'unlogged');
is_whole($node, 'light', 'unlogged');
make_table('alone', '');
$node->safe_psql('postgres', 'SET pigment.background_merge = off; SELECT FROM alone ORDER BY v <-> (SELECT v FROM asked WHERE number = 23901) LIMIT 10');
is(asked_for('alone'), 0, 'off: no worker is asked for');
my $passing = $node->safe_psql('postgres', 'CREATE TEMPORARY TABLE passing (id int, v vector(32));' . rows('passing', 12000, 1)
	. 'CREATE INDEX passing_v ON passing USING pigment (v);' . rows('passing', 3000, 12001)
	. q{SELECT FROM passing ORDER BY v <-> (SELECT v FROM asked WHERE number = 23901) LIMIT 10; SELECT 'passing_v'::regclass::oid});
unlike(slurp_file($node->logfile), qr/registering background worker "pigment merge of index \Q$passing\E"/, 'a temporary table: no worker is asked for');
# FATAL is what the standby is told while the server starts
my @errors = grep { /(?:WARNING|ERROR|PANIC): / } split /\n/, substr(slurp_file($node->logfile), $since);
is("@errors", '', 'nothing is logged as an error');
$node->wait_for_catchup($standby);
unlike(slurp_file($standby->logfile), qr/inconsistent page found|PANIC|registering background worker "pigment/, 'standby: no worker ran there, and every page was the same');
$standby->stop;
$node->stop;
done_testing();
