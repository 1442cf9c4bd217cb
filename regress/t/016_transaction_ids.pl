# SPDX-License-Identifier: Apache-2.0

# Transaction ids that begin anew: pages that retired before are used again after, and no earlier than a snapshot from before allows.

use strict;
use warnings;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('main');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\npigment.pending_list_limit = 64kB\nmax_wal_size = 1GB\n");

# ---- A server some hundred transactions before the end of the ids, as pg_upgrade makes one ----
my $near = 2**32 - 400;
$node->start;
$node->run_log([ 'vacuumdb', '--all', '--freeze', '-h', $node->host, '-p', $node->port ]);
$node->stop;
command_ok([ 'pg_resetwal', '-x', $near, '-u', $near, $node->data_dir ], 'the next transaction id is near the end');
# what it does not make itself
my $segment = sprintf '%04X', $near / (32 * 4 * 8192);
open my $file, '>', $node->data_dir . "/pg_xact/$segment" or die $!;
print $file "\0" x (32 * 8192);
close $file;
$node->start;
$node->safe_psql('postgres', qq{UPDATE pg_database SET datfrozenxid = '$near'; UPDATE pg_class SET relfrozenxid = '$near' WHERE relfrozenxid <> '0'});

my $row = 'n, ARRAY[n % 17, n % 19, n % 23, n % 29, n % 31, n % 37, n % 41, 1], n % 7';
$node->safe_psql('postgres', qq{
	CREATE EXTENSION pigment;
	CREATE TABLE items (id int, v vector(8), grp int);
	INSERT INTO items SELECT $row FROM generate_series(1, 3000) n;
	CREATE INDEX items_v ON items USING pigment (v, grp) WITH (full_vectors = f32)});
my $query = q{'[3,1,4,1,5,9,2,6]'};
my $by_index = 'SET enable_seqscan = off; SET enable_sort = off; SET pigment.target_recall = 1;';
my $by_table = 'SET enable_indexscan = off; SET enable_bitmapscan = off;';
my $questions = join ';', map { "SELECT id FROM items WHERE grp = $_ ORDER BY v <-> $query, id LIMIT 100" } 0 .. 6;

sub agrees
{
	my ($name) = @_;
	my ($status, $leaked, $errors) = $node->psql('postgres', q{SELECT leaked FROM pigment.check('items_v')});
	is("$status $leaked", '0 0', "$name: the index is sound, and no page is lost") or diag($errors);
	is($node->safe_psql('postgres', "$by_index $questions"), $node->safe_psql('postgres', "$by_table $questions"), "$name: it has the answers of the table");
	return;
}

# Merges that replace the segment, each with transactions of its own; how many pages the index has then, and how many of them wait, or are free.
sub merge_often
{
	my ($times) = @_;
	my $last = $node->safe_psql('postgres', 'SELECT max(id) FROM items');
	$node->safe_psql('postgres', join ';', map {
		my $first = $last + 20 * $_ + 1;
		"INSERT INTO items SELECT $row FROM generate_series($first, $first + 19) n; DELETE FROM items WHERE id IN ($first, $first + 7); SELECT pigment.merge('items_v')"
	} 0 .. $times - 1);
	return split /\|/, $node->safe_psql('postgres', q{SELECT pages, retired, free FROM pigment.check('items_v')});
}

# A scan that has given its first row; returns what ends it and looks at the others.
sub begin_scan
{
	my ($name) = @_;
	my ($in, $out, $errors) = ('', '', '');
	my $count = $node->safe_psql('postgres', 'SELECT count(*) - 1 FROM items');
	my $session = IPC::Run::start([ 'psql', '-X', '-A', '-t', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$out, '2>', \$errors,
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	$in .= qq{
		$by_index
		BEGIN ISOLATION LEVEL REPEATABLE READ;
		DECLARE rows CURSOR FOR SELECT id FROM items ORDER BY v <-> $query;
		FETCH 1 FROM rows;
		\\echo began
};
	$session->pump until $out =~ /began/;
	return sub {
		$in .= "MOVE FORWARD ALL FROM rows;\nCOMMIT;\n\\q\n";
		$session->finish;
		like($out, qr/^MOVE $count$/m, "$name has all its rows") or diag($errors);
	};
}

agrees('before the end');
# without a scan pages are used again
my ($pages, $retired, $free) = merge_often(20);
cmp_ok($pages, '<', 100, "before the end: pages are used again, there are $pages");
my $scan = begin_scan('a scan that began before the end');
($pages, $retired, $free) = merge_often(10);
cmp_ok($retired, '>', 200, "before the end: $retired pages wait for a scan");
is($free, 0, 'before the end: none is used again');
$node->safe_psql('postgres', 'SELECT pg_current_xact_id();' x 500);
is($node->safe_psql('postgres', 'SELECT pg_current_xact_id()::text::numeric >= 4294967296'), 't', 'transaction ids have begun anew');
($pages, $retired, $free) = merge_often(10);
cmp_ok($retired, '>', 400, "begun anew: $retired pages wait for a scan");
agrees('begun anew');
$scan->();
my ($now_pages, $now_retired, $now_free) = merge_often(10);
cmp_ok($now_pages, '<', $pages + 50, "begun anew: pages are used again, there are $now_pages, there were $pages");
cmp_ok($now_retired, '<', 100, "begun anew: $now_retired pages wait");
cmp_ok($now_free, '>', 400, "begun anew: $now_free pages are free, those that retired before too");
$scan = begin_scan('a scan that began after the end');
($now_pages, $now_retired, $now_free) = merge_often(10);
cmp_ok($now_retired, '>', 200, "begun anew: $now_retired pages wait for another scan");
$scan->();
agrees('begun anew, after the scans');
$node->stop('immediate');
$node->start;
$node->safe_psql('postgres', 'VACUUM items');
agrees('after a crash');

# ---- Snapshots that are too old, up to PostgreSQL 16 ----
# What such a snapshot sees may be gone. A page tells that is younger: then a scan complains, and gives nothing. Here nothing is gone that it saw.
if ($node->pg_version < 17)
{
	$node->append_conf('postgresql.conf', 'old_snapshot_threshold = 0');
	$node->restart;
	$node->safe_psql('postgres', qq{
		CREATE TABLE one AS SELECT 1 AS x;
		CREATE TABLE gone (LIKE items);
		INSERT INTO gone SELECT $row FROM generate_series(1, 3000) n;
		CREATE INDEX gone_v ON gone USING pigment (v, grp) WITH (full_vectors = f32);
		DELETE FROM items WHERE id % 100 = 1;
		DELETE FROM gone WHERE id % 100 = 1});
	# segments have deletion pages by now, which are only written to
	$node->safe_psql('postgres', 'VACUUM items, gone; DELETE FROM items WHERE id % 100 = 2; DELETE FROM gone');
	my %scans = map { ("$_ by distance" => "SELECT count(*) FROM (SELECT id FROM $_ ORDER BY v <-> $query) s", "$_ by a condition" => "SELECT count(*) FROM $_ WHERE grp >= 0") } qw(items gone);
	my %sessions;
	for my $name (sort keys %scans)
	{
		my ($in, $out, $errors) = ('', '', '');
		my $session = IPC::Run::start([ 'psql', '-X', '-A', '-t', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$out, '2>', \$errors,
			IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
		$in .= "$by_index\nBEGIN ISOLATION LEVEL REPEATABLE READ;\nSELECT x FROM one;\n\\echo began\n";
		$session->pump until $out =~ /began/;
		$sessions{$name} = { session => $session, in => \$in, out => \$out, errors => \$errors };
	}
	# the server calls snapshots old after five seconds at the earliest
	sleep 6;
	$node->safe_psql('postgres', 'VACUUM items, gone');
	is($node->safe_psql('postgres', q{SELECT segments FROM pigment.stats('gone_v')}), 0, 'old snapshots: nothing is left of an index');
	for my $name (sort keys %scans)
	{
		my $session = $sessions{$name};
		${ $session->{in} } .= "$scans{$name};\n\\q\n";
		$session->{session}->finish;
		like(${ $session->{errors} }, qr/ERROR:  snapshot too old/, "old snapshots: a scan of $name complains") or diag(${ $session->{out} });
	}
	agrees('after old snapshots');
}
$node->stop;
done_testing();
