# SPDX-License-Identifier: Apache-2.0

# Threads that build an index's graph: how many there are, that what they build is whole, and that a session which ends among them takes nobody along.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run ();
use Test::More;
use Time::HiRes qw(time usleep);

my $node = PostgreSQL::Test::Cluster->new('threads');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nmax_wal_size = 2GB\nmaintenance_work_mem = 256MB\nmax_worker_processes = 0\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION pigment;
	CREATE TABLE items AS SELECT n AS id, array_agg(random())::vector(64) AS v FROM generate_series(1, 20000) n, generate_series(1, 64) d GROUP BY n;
});
my $create = 'CREATE INDEX items_v ON items USING pigment (v) WITH (kind = hnsw);';

# Begins statements, each a transaction, in a session of its own; returns it and the process of its backend.
sub begin
{
	my ($statements) = @_;
	my ($out, $told) = ('', '');
	my $session = IPC::Run::start([ 'psql', '-X', '-q', '-A', '-t', '-d', $node->connstr('postgres'), '-c', 'SELECT pg_backend_pid()', map { ('-c', $_) } split(/; */, $statements) ],
		'<', \undef, '>', \$out, '2>', \$told, IPC::Run::timeout(120));
	$session->pump until $out =~ /(\d+)\n/;
	return ($session, $1, \$told);
}

sub threads_of
{
	my ($pid) = @_;
	return scalar(() = glob("/proc/$pid/task/*"));
}

# The most threads that a backend had while statements ran.
sub most_threads
{
	my ($statements) = @_;
	my ($session, $pid, $told) = begin($statements);
	my $most = 1;
	while (-d "/proc/$pid")
	{
		my $now = threads_of($pid);
		$most = $now if $now > $most;
		usleep(2000);
	}
	$session->finish;
	is($$told, '', "no complaint about: $statements");
	return $most;
}

my $whole = "SELECT live_rows FROM pigment.check('items_v')";

# By workers allowed: the threads that build, the leader among them.
for my $workers (0, 1, 3)
{
	is(most_threads("SET max_parallel_maintenance_workers = $workers; $create"), $workers + 1, "$workers workers allowed, so many threads more");
	is($node->safe_psql('postgres', $whole), 20000, 'their index is whole');
	my $recall = $node->safe_psql('postgres', q{
		SET enable_seqscan = off;
		SELECT sum((SELECT count(*) FROM (SELECT id FROM items ORDER BY v <-> q.v LIMIT 10) f JOIN
			(SELECT id FROM items ORDER BY (v <-> q.v) + 0 LIMIT 10) t USING (id))) / 1000.0
		FROM (SELECT v FROM items WHERE id % 200 = 7) q});
	cmp_ok($recall, '>=', 0.95, "and finds the nearest: $recall of ten");
	$node->safe_psql('postgres', 'DROP INDEX items_v');
}
$node->safe_psql('postgres', 'ALTER TABLE items SET (parallel_workers = 1)');
is(most_threads("SET max_parallel_maintenance_workers = 3; $create"), 2, 'a table has a number of its own');
is(most_threads('SET max_parallel_maintenance_workers = 3; REINDEX INDEX items_v'), 2, 'REINDEX has threads too');
$node->safe_psql('postgres', 'ALTER TABLE items RESET (parallel_workers); INSERT INTO items SELECT * FROM items LIMIT 5000');
is(most_threads("SET max_parallel_maintenance_workers = 2; SELECT pigment.merge('items_v')"), 3, 'so has pigment.merge');
is($node->safe_psql('postgres', $whole), 25000, 'a merge by threads is whole');
is(most_threads("SET max_parallel_maintenance_workers = 3; DELETE FROM items WHERE id > 100 AND id < 5000"), 1, 'no thread outlives its statement');
is(most_threads('SET max_parallel_maintenance_workers = 3; VACUUM items'), 1, 'nobody waits for VACUUM');
$node->safe_psql('postgres', 'DROP INDEX items_v');

# Sessions that end while threads build: cancelled, terminated, or because their client went.
my $interrupted = 0;
for my $round (1 .. 18)
{
	my $how = qw(pg_cancel_backend pg_terminate_backend client)[ $round % 3 ];
	my ($session, $pid) = begin("SET max_parallel_maintenance_workers = 3; SET client_connection_check_interval = '10ms'; $create");
	my $start = time;
	usleep(500) until threads_of($pid) > 1 || time - $start > 60;
	usleep(rand(200000));
	my $had = threads_of($pid);
	if ($how eq 'client')
	{
		$session->signal('KILL');
	}
	else
	{
		$node->safe_psql('postgres', "SELECT $how($pid)");
	}
	$session->finish;
	$interrupted++ if $had > 1;
	usleep(500) while -d "/proc/$pid" && time - $start < 60;
	ok(!-d "/proc/$pid", "round $round, $how among $had threads: the backend has ended");
	$node->safe_psql('postgres', 'DROP INDEX IF EXISTS items_v');
}
cmp_ok($interrupted, '>=', 12, "$interrupted builds were interrupted in a loop of threads");
$node->safe_psql('postgres', "SET max_parallel_maintenance_workers = 3; $create");
is($node->safe_psql('postgres', $whole), $node->safe_psql('postgres', 'SELECT count(*) FROM items'), 'the next build is whole');
$node->stop;
my $log = slurp_file($node->logfile);
like($log, qr/canceling statement due to user request/, 'some were cancelled');
like($log, qr/terminating connection due to administrator command/, 'some were terminated');
like($log, qr/connection to client lost/, 'the clients of some went');
unlike($log, qr/TRAP|PANIC|terminated by signal|is damaged|is corrupted/, 'and no session fell over');
done_testing();
