# SPDX-License-Identifier: Apache-2.0

# A streaming standby replays everything, compares each replayed page with the primary's (wal_consistency_checking), answers like the
# primary, and goes on after its promotion.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use PigmentTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run ();
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', q{
	wal_consistency_checking = 'all'
	autovacuum_naptime = 1s
	max_wal_size = 1GB
	pigment.pending_list_limit = 64kB
});
$primary->start;
my $standby = standby_of($primary);
# readers wait for nobody, replay waits for readers
$standby->append_conf('postgresql.conf', 'max_standby_streaming_delay = -1');
$standby->start;

create_tables($primary);
$primary->wait_for_catchup($standby);
my $load = start_load($primary, 4, write_scripts(PostgreSQL::Test::Utils::tempdir()));
my $reads = 0;
while ($load->{handle}->pumpable)
{
	my ($result, $output, $errors) = $standby->psql('postgres', q{
		SET enable_seqscan = off;
		SELECT count(*) FROM (SELECT id FROM items ORDER BY v <-> '[1,2,3,4,5,6,7,8]' LIMIT 100) x;
	});
	if ($result != 0 || $output ne '100') { fail("a reader on the standby: $output $errors"); last; }
	# nothing keeps replay from what is checked, and nothing is found all the same
	($result, $output, $errors) = $standby->psql('postgres', q{SELECT * FROM unnest('{items_filter,wide_ip}'::regclass[]) i, pigment.differences(i)});
	if ($result != 0 || $output ne '') { fail("a check on the standby: $output $errors"); last; }
	$reads++;
	$load->{handle}->pump_nb;
}
cmp_ok($reads, '>', 3, 'the standby was read during replay');
cmp_ok(finish_load($load), '>', 50, 'the load did something');

$primary->safe_psql('postgres', 'ALTER SYSTEM SET autovacuum = off');
$primary->reload;
$primary->safe_psql('postgres', 'VACUUM items, wide');
$primary->wait_for_catchup($standby);
compare($primary, 'primary');
compare($standby, 'standby');
for my $index (qw(items_l2 items_cosine wide_ip))
{
	my $query = "SELECT s, c FROM pigment.stats('$index') s, pigment.check('$index') c";
	is($standby->safe_psql('postgres', $query), $primary->safe_psql('postgres', $query), "$index has the same pages on both");
}

# A scan on the standby, across merges and the reuse of pages. Nothing is deleted, so no conflict but that of pages can come.
$primary->safe_psql('postgres', q{
	CREATE TABLE quiet (id int, v vector(8)) WITH (autovacuum_enabled = off);
	INSERT INTO quiet SELECT n, random_vector(8) FROM generate_series(1, 3000) n;
	CREATE INDEX quiet_v ON quiet USING pigment (v);
});

# Starts a session with a cursor that has given its first row; when $primary has reused pages, the rest is asked for.
sub scan_across_reuse
{
	my ($name) = @_;
	my ($in, $out, $errors) = ('', '', '');
	my $count = $primary->safe_psql('postgres', 'SELECT count(*) FROM quiet');
	$primary->wait_for_catchup($standby);
	my $session = IPC::Run::start([ 'psql', '-X', '-A', '-t', '-d', $standby->connstr('postgres') ], '<', \$in, '>', \$out, '2>', \$errors,
		IPC::Run::timeout(120));
	$in .= q{
		SET enable_seqscan = off;
		SET enable_sort = off;
		BEGIN ISOLATION LEVEL REPEATABLE READ;
		DECLARE rows CURSOR FOR SELECT id FROM quiet ORDER BY v <-> '[1,2,3,4,5,6,7,8]';
		FETCH 1 FROM rows;
		\echo began
};
	$session->pump until $out =~ /began/;
	my ($written, $largest, $pages, $free) = (0, 0);
	# Rows stay below the 8,192 from which on a segment has a graph: with one it has eight times the pages.
	for (1 .. 12)
	{
		$primary->safe_psql('postgres', q{INSERT INTO quiet SELECT n, random_vector(8) FROM generate_series(1, 100) n});
		($pages, my $segment, $free) = split /\|/, $primary->safe_psql('postgres', q{
			SELECT pigment.merge('quiet_v');
			SELECT pages, segment, retired + free FROM pigment.check('quiet_v')}) =~ s/^1\n//r;
		$written += $segment;
		$largest = $segment if $segment > $largest;
	}
	# the segment that is there, the one that the last merge replaced, and the small ones of flushes, lists and pending pages
	my $most = int(2.5 * $largest) + 20;
	cmp_ok($written, '>', 2 * $most, "$name: merges wrote $written pages");
	cmp_ok($pages, '<=', $most, "$name: they used pages again: the index has $pages, its segment up to $largest, and $free are retired or free");
	$in .= "MOVE FORWARD ALL FROM rows;\nCOMMIT;\n\\q\n";
	return ($session, \$out, \$errors, $count - 1);
}

my ($session, $out, $errors, $count) = scan_across_reuse('replay waits');
$session->finish;
like($$out, qr/^MOVE $count$/m, 'replay that waits: the scan ends as it began') or diag($$errors);
$standby->append_conf('postgresql.conf', 'max_standby_streaming_delay = 200ms');
$standby->reload;
($session, $out, $errors, $count) = scan_across_reuse('replay goes on');
$primary->wait_for_catchup($standby);
$session->finish;
like($$errors, qr/conflict with recovery/, 'replay that goes on: the scan is cancelled') or diag($$out);
cmp_ok($standby->safe_psql('postgres', q{SELECT confl_snapshot FROM pg_stat_database_conflicts WHERE datname = 'postgres'}), '>=', 1,
	'it is a conflict of snapshots');
is($standby->safe_psql('postgres', q{SET enable_seqscan = off; SELECT count(*) FROM (SELECT id FROM quiet ORDER BY v <-> '[1,2,3,4,5,6,7,8]') o}),
	$primary->safe_psql('postgres', 'SELECT count(*) FROM quiet'), 'a scan afterwards gives all rows');
is($standby->safe_psql('postgres', q{SELECT s, c FROM pigment.stats('quiet_v') s, pigment.check('quiet_v') c}),
	$primary->safe_psql('postgres', q{SELECT s, c FROM pigment.stats('quiet_v') s, pigment.check('quiet_v') c}), 'quiet_v has the same pages on both');
my ($refused, undef, $why) = $standby->psql('postgres', q{SELECT pigment.merge('quiet_v')});
like($why, qr/recovery is in progress/, 'nobody merges on a standby');

$standby->promote;
$standby->safe_psql('postgres', q{
	INSERT INTO items (v) SELECT random_vector(8) FROM generate_series(1, 200);
	INSERT INTO wide (v) SELECT random_vector(3000) FROM generate_series(1, 5);
	DELETE FROM items WHERE id % 5 = 0;
});
$standby->safe_psql('postgres', 'VACUUM items');
compare($standby, 'promoted');
# a record that did not replay to the same page would have stopped the standby
unlike(slurp_file($standby->logfile), qr/inconsistent page found|PANIC/, 'every replayed page was the same');
$standby->stop;
$primary->stop;
done_testing();
