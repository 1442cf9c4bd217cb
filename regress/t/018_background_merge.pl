# SPDX-License-Identifier: Apache-2.0

# Segments that inserts leave are merged by a background worker: when it is asked for and when not, what it gives way to, and what ends it.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use PigmentTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init(allows_streaming => 1);
$node->append_conf('postgresql.conf', q{
	autovacuum = off
	deadlock_timeout = 100ms
	log_min_messages = debug1
	log_autovacuum_min_duration = -1
	max_prepared_transactions = 2
	max_wal_size = 1GB
	restart_after_crash = on
	wal_consistency_checking = 'all'
	pigment.background_merge = on
	pigment.pending_list_limit = 64kB
});
$node->start;
my $standby = standby_of($node);
$standby->start;

my $setup = q{
	CREATE EXTENSION pigment;
	CREATE FUNCTION random_vector(dim int) RETURNS vector LANGUAGE sql VOLATILE AS
		'SELECT array_agg(random())::vector FROM generate_series(1, dim)';
	CREATE TABLE source AS SELECT n AS id, random_vector(64) AS v FROM generate_series(1, 30000) n;
};
my $near = '[' . join(',', (0.5) x 64) . ']';
$node->safe_psql('postgres', $setup);

sub rows
{
	my ($table, $count, $first) = @_;
	$first //= 1;
	return "INSERT INTO $table SELECT id, v FROM source WHERE id >= $first AND id < $first + $count;";
}

sub table_of { my ($table, $kind) = @_; return "CREATE $kind TABLE $table (id int, v vector(64)); CREATE INDEX ${table}_v ON $table USING pigment (v);"; }

# How many workers an index was ever given, by the log.
sub asked_for
{
	my ($table) = @_;
	my $oid = $node->safe_psql('postgres', "SELECT '${table}_v'::regclass::oid");
	return scalar(() = slurp_file($node->logfile) =~ /registering background worker "pigment merge of index $oid"/g);
}

my $running = q{FROM pg_stat_activity WHERE backend_type = 'pigment merge'};

sub wait_for_end
{
	my ($name) = @_;
	ok($node->poll_query_until('postgres', "SELECT count(*) = 0 $running"), "$name: the worker ends");
	return;
}

# A worker that was asked for last may not have begun.
sub few_are_left
{
	my ($table, $name) = @_;
	ok($node->poll_query_until('postgres', "SELECT segments <= 8 AND NOT EXISTS (SELECT $running) FROM pigment.stats('${table}_v')"),
		"$name: few segments are left, and no worker")
		or diag(segments($table) . ' segments, ' . asked_for($table) . ' workers asked for; at work: '
			. $node->safe_psql('postgres', "SELECT coalesce(string_agg(concat_ws(' ', backend_type, state, wait_event, query), '; '), 'none') FROM pg_stat_activity WHERE pid <> pg_backend_pid()"));
	return;
}

sub segments
{
	my ($table) = @_;
	return $node->safe_psql('postgres', "SELECT segments FROM pigment.stats('${table}_v')");
}

sub segment_numbers_of
{
	my ($table) = @_;
	return "SELECT string_agg(segment::text, ',' ORDER BY segment) FROM pigment.segments WHERE index = '${table}_v'::regclass AND segment IS NOT NULL";
}

sub segment_numbers { return $node->safe_psql('postgres', segment_numbers_of(@_)); }

# Every page and row is right, and the index gives the rows of the table in order.
sub is_whole
{
	my ($server, $table, $name) = @_;
	my ($status, undef, $errors) = $server->psql('postgres', "SELECT * FROM pigment.check('${table}_v')");
	is($status, 0, "$name: the index is sound and has the rows of its table") or diag($errors);
	my $digest = "SELECT count(*), md5(string_agg(d::text, ' ' ORDER BY k)) FROM (SELECT row_number() OVER () AS k, d FROM
		(SELECT v <-> '$near' AS d FROM $table ORDER BY v <-> '$near') o) n";
	my $by_index = $server->safe_psql('postgres', "SET pigment.target_recall = 1; SET enable_seqscan = off; SET enable_sort = off; $digest");
	is($by_index, $server->safe_psql('postgres', "SET enable_indexscan = off; $digest"), "$name: the index gives the rows in order");
	return;
}

# A table for which a worker is at a merge that takes seconds; returns its process id.
sub start_merge
{
	my ($table, $database) = @_;
	$database //= 'postgres';
	my $pid = '';
	for (1 .. 5)
	{
		$node->safe_psql($database, "DROP TABLE IF EXISTS $table; " . table_of($table, '') . 'SET pigment.background_merge = off;' . rows($table, 20000)
			. 'SET pigment.background_merge = on;' . rows($table, 1500, 20001));
		$pid = $node->safe_psql($database, qq{
			DO \$\$ BEGIN FOR i IN 1 .. 200 LOOP
				PERFORM pg_stat_clear_snapshot();
				EXIT WHEN EXISTS (SELECT $running AND query = 'background merge of index public.${table}_v');
				PERFORM pg_sleep(0.005);
			END LOOP; END \$\$;
			SELECT pid $running AND query = 'background merge of index public.${table}_v'});
		last if $pid ne '';
	}
	isnt($pid, '', "$table: a worker merges and shows what");
	return $pid;
}

# What has been logged since is no error.
sub logs_no_error
{
	my ($since, $name) = @_;
	my @errors = grep { /(?:WARNING|ERROR|FATAL|PANIC): / } split /\n/, substr(slurp_file($node->logfile), $since);
	is("@errors", '', "$name: nothing is logged as an error");
	return;
}

# ---- Inserts alone ----
my $since = -s $node->logfile;
$node->safe_psql('postgres', table_of('kept', '') . 'SET pigment.background_merge = off;' . rows('kept', 20000));
cmp_ok(segments('kept'), '>', 8, 'off: inserts leave segments');
is(asked_for('kept'), 0, 'off: no worker is asked for');
$node->safe_psql('postgres', table_of('merged', ''));
$node->safe_psql('postgres', rows('merged', 1000, 1000 * $_ + 1)) for 0 .. 29;
few_are_left('merged', 'on');
cmp_ok(asked_for('merged'), '>', 0, 'on: inserts ask for a worker');
is_whole($node, 'merged', 'on');
is($node->safe_psql('postgres', q{SELECT sum(rows) FROM pigment.segments WHERE index = 'merged_v'::regclass}), '30000', 'on: no row is lost');
$node->safe_psql('postgres', table_of('light', 'UNLOGGED'));
$node->safe_psql('postgres', rows('light', 1000, 1000 * $_ + 1)) for 0 .. 19;
few_are_left('light', 'unlogged');
is_whole($node, 'light', 'unlogged');
# a role that cannot log in, and what a database sets
$node->safe_psql('postgres', q{
	CREATE ROLE nobody NOLOGIN;
	ALTER DATABASE postgres SET search_path = nowhere;
	ALTER DATABASE postgres SET default_transaction_isolation = 'serializable';
});
$node->safe_psql('postgres', 'SET search_path = public;' . table_of('owned', '') . 'ALTER TABLE owned OWNER TO nobody');
$node->safe_psql('postgres', 'SET search_path = public;' . rows('owned', 1000, 1000 * $_ + 1)) for 0 .. 19;
$node->safe_psql('postgres', 'ALTER DATABASE postgres RESET ALL');
few_are_left('owned', 'an owner without login');
is_whole($node, 'owned', 'an owner without login');
logs_no_error($since, 'inserts');

# ---- Several sessions ----
my $folder = PostgreSQL::Test::Utils::tempdir();
append_to_file("$folder/insert.sql", "\\set first random(1, 29000)\n" . rows('crowded', 600, ':first') . "\n");
append_to_file("$folder/look.sql", "INSERT INTO seen SELECT count(*) $running AND query LIKE '%crowded_v';\n\\sleep 3 ms\n");
$node->safe_psql('postgres', table_of('crowded', '') . 'CREATE TABLE seen (workers int)');
$node->command_ok([ 'pgbench', '--no-vacuum', '--client=5', '--transactions=60', '-h', $node->host, '-p', $node->port,
	'-f', "$folder/insert.sql\@1", '-f', "$folder/look.sql\@4", 'postgres' ], 'sessions insert at once');
is($node->safe_psql('postgres', 'SELECT max(workers) FROM seen'), '1', 'several sessions: a worker at a time');
# what came last may have found another at it
$node->safe_psql('postgres', rows('crowded', 1200));
few_are_left('crowded', 'several sessions');
is_whole($node, 'crowded', 'several sessions');
logs_no_error($since, 'several sessions');

# ---- What comes during a merge that takes long ----
# Inserts cannot flush while somebody merges: who merges does, or scans would look at ever more pending rows.
$node->safe_psql('postgres', table_of('growing', '') . 'SET pigment.background_merge = off; SET pigment.pending_list_limit = \'4MB\';' . rows('growing', 30000)
	. 'INSERT INTO growing SELECT id + 30000 * n, random_vector(64) FROM source, generate_series(1, 2) n');  # enough for a second
for my $merging (q{SELECT pigment.merge('growing_v')}, 'VACUUM (INDEX_CLEANUP on) growing')
{
	my $session = $node->background_psql('postgres');
	my $before = segment_numbers('growing');
	$session->query_until(qr/begins/, "\\echo begins\n$merging;\n\\echo ends\n");
	# In one session, a few rows at a time: the merge takes a second or two. Read in this order: it was not over when there was a segment more.
	my $numbers = segment_numbers_of('growing');
	my $flushed = $node->safe_psql('postgres', qq{
		SET pigment.background_merge = off;
		CREATE TEMPORARY TABLE seen AS SELECT false AS flushed;
		DO \$\$
		DECLARE
			first int;
			now text;
		BEGIN
			FOR i IN 1 .. 600 LOOP
				first := 1 + floor(random() * 29000);
				INSERT INTO growing SELECT id, v FROM source WHERE id >= first AND id < first + 200;
				COMMIT;
				now := ($numbers);
				EXIT WHEN now <> '$before';
			END LOOP;
			UPDATE seen SET flushed = now LIKE '$before,%';
		END \$\$;
		SELECT flushed FROM seen});
	is($flushed, 't', "$merging: rows that come meanwhile are flushed before it ends") or diag("$before, " . segment_numbers('growing'));
	$session->quit;
	is_whole($node, 'growing', $merging);
	# for the next: there is one segment, and half of its rows go, so that VACUUM rewrites it and no small one before
	$node->safe_psql('postgres', q{SELECT pigment.merge('growing_v')});
	$node->safe_psql('postgres', 'DELETE FROM growing WHERE id % 2 = 0');
}
logs_no_error($since, 'what comes during a merge');

# ---- The standby ----
$node->wait_for_catchup($standby);
is_whole($standby, 'merged', 'standby');
my $pages = q{SELECT s, c FROM pigment.stats('merged_v') s, pigment.check('merged_v') c};
is($standby->safe_psql('postgres', $pages), $node->safe_psql('postgres', $pages), 'standby: it has the same pages');
$standby->stop;
$node->poll_query_until('postgres', q{SELECT NOT active FROM pg_replication_slots}) or die 'the standby is stopped, its slot in use';
$node->safe_psql('postgres', q{SELECT pg_drop_replication_slot('standby')});
unlike(slurp_file($standby->logfile), qr/inconsistent page found|PANIC|registering background worker "pigment/, 'standby: no worker ran there, and every page was the same');

# ---- What a worker would not see, or could not lock ----
$node->safe_psql('postgres', 'BEGIN;' . table_of('fresh', '') . rows('fresh', 20000) . 'COMMIT');
is(asked_for('fresh'), 0, 'an index of the same transaction: no worker is asked for');
$node->safe_psql('postgres', 'BEGIN; TRUNCATE fresh;' . rows('fresh', 20000) . 'COMMIT');
$node->safe_psql('postgres', 'BEGIN; SAVEPOINT a; REINDEX INDEX fresh_v; RELEASE a;' . rows('fresh', 10000) . 'COMMIT');
is(asked_for('fresh'), 0, 'a file of the same transaction: no worker is asked for');
$node->safe_psql('postgres', 'BEGIN; LOCK TABLE fresh IN SHARE ROW EXCLUSIVE MODE;' . rows('fresh', 10000) . 'COMMIT');
is(asked_for('fresh'), 0, 'a locked table: no worker is asked for');
my ($segments, $temporary) = split /\n/, $node->safe_psql('postgres', table_of('passing', 'TEMPORARY') . rows('passing', 20000)
	. q{SELECT segments > 8 FROM pigment.stats('passing_v'); SELECT 'passing_v'::regclass::oid});
is($segments, 't', 'a temporary table: segments are left');
unlike(slurp_file($node->logfile), qr/registering background worker "pigment merge of index $temporary"/, 'a temporary table: no worker is asked for');
$node->safe_psql('postgres', 'BEGIN; SAVEPOINT a;' . rows('fresh', 2000) . 'ROLLBACK TO a; COMMIT');
few_are_left('fresh', 'a savepoint rolled back');
cmp_ok(asked_for('fresh'), '>', 0, 'a savepoint rolled back: a worker is asked for');
$node->safe_psql('postgres', 'BEGIN;' . rows('fresh', 2000) . 'ROLLBACK');
$node->safe_psql('postgres', 'BEGIN;' . rows('fresh', 2000) . q{PREPARE TRANSACTION 'two'});
few_are_left('fresh', 'rolled back and prepared');
$node->safe_psql('postgres', q{COMMIT PREPARED 'two'});
is_whole($node, 'fresh', 'rolled back and prepared');

# ---- Who waits for its locks ----
$since = -s $node->logfile;
for my $command ('TRUNCATE busy', 'REINDEX INDEX busy_v', 'REINDEX INDEX CONCURRENTLY busy_v', 'ALTER TABLE busy ADD COLUMN w int', 'VACUUM busy', q{SELECT pigment.merge('busy_v')})
{
	start_merge('busy');
	my $begin = time;
	my ($status, undef, $errors) = $node->psql('postgres', $command);
	is($status, 0, "$command while it merges") or diag($errors);
	note(sprintf '%s: %.1f s', $command, time - $begin);
	wait_for_end($command);
	is_whole($node, 'busy', $command);
}
start_merge('busy');
$node->safe_psql('postgres', 'DROP TABLE busy');
wait_for_end('DROP TABLE');
start_merge('busy');
$node->safe_psql('postgres', 'DROP INDEX busy_v');
wait_for_end('DROP INDEX');
like(substr(slurp_file($node->logfile), $since), qr/LOG:  background merge of index \d+ was cancelled/, 'it gives way');
logs_no_error($since, 'others wait for its locks');
$node->safe_psql('postgres', 'CREATE DATABASE other');
$node->safe_psql('other', $setup);
start_merge('busy', 'other');
$node->safe_psql('postgres', 'DROP DATABASE other');
wait_for_end('DROP DATABASE');

# ---- What ends it ----
my $pid = start_merge('busy');
$node->safe_psql('postgres', "SELECT pg_cancel_backend($pid)");
wait_for_end('cancelled');
is_whole($node, 'busy', 'cancelled');
$pid = start_merge('busy');
$node->safe_psql('postgres', "SELECT pg_terminate_backend($pid)");
wait_for_end('terminated');
is_whole($node, 'busy', 'terminated');
$node->safe_psql('postgres', rows('busy', 1500));
few_are_left('busy', 'asked again');
is($node->safe_psql('postgres', q{SELECT leaked FROM pigment.check('busy_v')}), '0', 'asked again: what was cancelled has left no page');
$pid = start_merge('busy');
my $killed = -s $node->logfile;
kill 'KILL', $pid;
# until it knows, it takes whoever comes, and has him die
$node->wait_for_log(qr/all server processes terminated; reinitializing/, $killed);
ok($node->poll_query_until('postgres', q{SELECT pg_postmaster_start_time() IS NOT NULL AND NOT pg_is_in_recovery()}), 'killed: the server begins anew');
is($node->safe_psql('postgres', "SELECT count(*) $running"), '0', 'killed: the worker does not');
is_whole($node, 'busy', 'killed');
$node->safe_psql('postgres', 'VACUUM busy');
is($node->safe_psql('postgres', q{SELECT leaked FROM pigment.check('busy_v')}), '0', 'killed: VACUUM finds the pages that it left');
start_merge('busy');
$node->stop('fast');
pass('a server that is stopped does not wait for it');

# ---- No place for another worker ----
$node->append_conf('postgresql.conf', 'max_worker_processes = 1');
$since = -s $node->logfile;
$node->start;
is_whole($node, 'busy', 'stopped');
# the only place is that of the launcher of logical replication
$node->safe_psql('postgres', table_of('left_alone', '') . rows('left_alone', 20000));
like(substr(slurp_file($node->logfile), $since), qr/no background worker is free to merge index "left_alone_v"/, 'no place: a worker is asked for');
cmp_ok(segments('left_alone'), '>', 8, 'no place: inserts go on, and segments are left');
$node->safe_psql('postgres', 'VACUUM left_alone');
cmp_ok(segments('left_alone'), '<=', 8, 'no place: VACUUM merges them');
is_whole($node, 'left_alone', 'no place');
logs_no_error($since, 'no place');
$node->stop;
done_testing();
