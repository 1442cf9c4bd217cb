# SPDX-License-Identifier: Apache-2.0

# A tablespace that is full, while an index is built, written to, merged and vacuumed: what fails says so, what is there stays, and with space again
# everything goes on. And a /dev/shm that is too small for a parallel query: a build does without. Both are disks in memory, in namespaces of our own.

use strict;
use warnings;
use FindBin;
use Test::More;

my $disk;

# before the modules take the test's output for themselves
BEGIN
{
	$disk = "$ENV{TESTDATADIR}/small_disk";
	if (!$ENV{PIGMENT_IN_NAMESPACES})
	{
		mkdir $disk or die "$disk: $!";
		# root of one namespace mounts; the server runs as the user that it is, in another
		my $mount = 'mount -t tmpfs -o size=24m,mode=0700 tmpfs "$1" && mount -t tmpfs -o size=2m,mode=1777 tmpfs /dev/shm';
		my @enter = ('unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', "$mount && shift && exec \"\$@\"", 'sh', $disk,
			'unshare', '--user', "--map-user=$>", '--map-group=' . ($) + 0));
		plan skip_all => 'no user and mount namespaces here' if system(@enter, 'true') != 0;
		$ENV{PIGMENT_IN_NAMESPACES} = 1;
		exec @enter, $^X, (map { "-I$_" } @INC), "$FindBin::RealBin/$FindBin::RealScript" or die $!;
	}
}

use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;

my $node = PostgreSQL::Test::Cluster->new('small');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\ncheckpoint_timeout = 1h\npigment.pending_list_limit = 64kB\ndynamic_shared_memory_type = posix\n");
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION pigment;
	CREATE TABLESPACE small LOCATION '$disk';
	CREATE TABLE items (id int PRIMARY KEY, v vector(64), kind int);
	CREATE FUNCTION vector_of(n int) RETURNS vector LANGUAGE sql AS 'SELECT array_agg(sin(n * k))::vector FROM generate_series(1, 64) k';
	INSERT INTO items SELECT n, vector_of(n), n % 7 FROM generate_series(1, 10000) n;
});
my $build = 'CREATE INDEX items_v ON items USING pigment (v, kind) WITH (full_vectors = f32) TABLESPACE small';

sub fill_disk
{
	open my $file, '>>', "$disk/filler" or die $!;
	for my $size (1 << 20, 4096)
	{
		1 while defined(my $written = syswrite $file, "\1" x $size);
	}
	close $file;
	return;
}

# Leaves this much of the filler away.
sub free_disk
{
	my ($megabytes) = @_;
	truncate "$disk/filler", (-s "$disk/filler") - ($megabytes << 20) or die $!;
	return;
}

# A statement that has no space says so, and of what.
sub is_full
{
	my ($statement, $name, $said) = @_;
	my ($status, undef, $errors) = $node->psql('postgres', "\\set VERBOSITY verbose\n$statement", on_error_stop => 1);
	isnt($status, 0, "$name fails where the disk is full");
	like($errors, $said // qr{ERROR:  53100: could not extend file "pg_tblspc/.*: No space left on device}, "$name says that the disk is full");
	return;
}
my $refused = qr/ERROR:  53100: no space to flush or merge index "items_v"\nDETAIL:  It takes some \d+ kB, and \d+ kB are left/;

# kB.
sub left_on_disk { return (split ' ', `df --output=avail -k $disk | tail -1`)[0] }

my $by_index = 'SET enable_seqscan = off; SET enable_sort = off; SET pigment.target_recall = 1;';
my $by_table = 'SET enable_indexscan = off; SET enable_bitmapscan = off;';
my $questions = join ';', map { "SELECT id FROM items WHERE kind = $_ ORDER BY v <-> vector_of($_), id LIMIT 50" } 1 .. 3;

# The index is sound, has every row of the table and the table's answers.
sub is_whole
{
	my ($name) = @_;
	my ($status, undef, $errors) = $node->psql('postgres', q{SELECT pigment.check('items_v'), pigment.check('grown_v')});
	is($status, 0, "$name: indexes are sound and have the rows of their tables") or diag($errors);
	is($node->safe_psql('postgres', "$by_index $questions"), $node->safe_psql('postgres', "$by_table $questions"), "$name: it has the answers of the table");
	return;
}

sub has_all_pages
{
	my ($name) = @_;
	is_whole($name);
	is($node->safe_psql('postgres', q{SELECT i.leaked + g.leaked FROM pigment.check('items_v', false) i, pigment.check('grown_v', false) g}), 0, "$name: no page is lost");
	return;
}

# ---- Builds ----
fill_disk;
free_disk(2);
is_full($build, 'a build');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_class WHERE relname = 'items_v'}), 0, 'a build that failed leaves no index');
cmp_ok(left_on_disk, '>', 1800, 'a build that failed gives its space back');
unlink "$disk/filler" or die $!;
# the graph of all rows of "grown" takes several times what its small segments take, which have none
$node->safe_psql('postgres', qq{
	$build;
	CREATE TABLE grown (id int, v vector(8));
	CREATE INDEX grown_v ON grown USING pigment (v) WITH (kind = hnsw) TABLESPACE small;
	INSERT INTO grown SELECT n, ARRAY[n % 17, n % 19, n % 23, n % 29, n % 31, n % 37, n % 41, 1] FROM generate_series(1, 10000) n});
has_all_pages('built');

# ---- Writes ----
fill_disk;
is_full('INSERT INTO items SELECT n, vector_of(n), n % 7 FROM generate_series(10001, 11000) n', 'an insert');
is($node->safe_psql('postgres', 'SELECT max(id) FROM items'), 10000, 'an insert that failed leaves nothing');
is_full(q{SELECT pigment.merge('items_v')}, 'a merge');
$node->safe_psql('postgres', 'DELETE FROM items WHERE id % 10 = 0');
is_whole('full');
is_full('VACUUM items', 'the first VACUUM of a segment');
is_whole('full, not vacuumed');
# Some space, and not enough: what asks first leaves it to others.
free_disk(1);
$node->safe_psql('postgres', q{INSERT INTO items SELECT n, vector_of(n), n % 7 FROM generate_series(10001, 10100) n; DELETE FROM items WHERE id % 4 = 1});
is_full(q{SELECT pigment.merge('items_v')}, 'a merge that is too large', $refused);
my ($vacuumed, undef, $warned) = $node->psql('postgres', 'VACUUM items', on_error_stop => 1);
is($vacuumed, 0, 'VACUUM goes on where a merge is due and too large');
like($warned, qr/WARNING:  no space to flush or merge index "items_v"/, 'VACUUM says that there is no space to merge');
cmp_ok(left_on_disk, '>', 700, 'merges that are too large leave the space that there is');
is_whole('not merged');
# What begins nevertheless takes it.
is_full(q{SELECT pigment.merge('grown_v')}, 'a merge whose graph is larger than what it is made of');
is_whole('merged in part');
crash();
is_whole('merged in part, after a crash');
unlink "$disk/filler" or die $!;
$node->safe_psql('postgres', q{
	INSERT INTO items SELECT n, vector_of(n), n % 7 FROM generate_series(10101, 12000) n;
	UPDATE items SET kind = kind + 1 WHERE id % 10 = 1});
is_whole('space again');
$node->safe_psql('postgres', 'VACUUM items, grown');
has_all_pages('space again, vacuumed');
$node->safe_psql('postgres', q{SELECT pigment.merge('items_v')});
has_all_pages('space again, merged');
# Pages that retired serve again where there are no others.
fill_disk;
my ($merged, undef, $why) = $node->psql('postgres', "INSERT INTO items SELECT n, vector_of(n), n % 7 FROM generate_series(20001, 20010) n; SELECT pigment.merge('items_v')", on_error_stop => 1);
is($merged, 0, 'a full disk: a merge has the pages that the one before gave back') or diag($why);
has_all_pages('full, merged');
unlink "$disk/filler" or die $!;

# ---- Shared memory ----
my ($status, undef, $errors) = $node->psql('postgres', q{
	CREATE TABLE numbers AS SELECT n FROM generate_series(1, 200000) n;
	ANALYZE numbers;
	SET work_mem = '64MB'; SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET enable_mergejoin = off;
	SELECT count(*) FROM numbers a JOIN numbers b USING (n)}, on_error_stop => 1);
like($errors, qr/could not resize shared memory segment/, 'there is too little shared memory for a parallel query');
$node->safe_psql('postgres', q{
	SET maintenance_work_mem = '256MB'; SET max_parallel_maintenance_workers = 4; SET min_parallel_table_scan_size = 0;
	REINDEX INDEX items_v});
has_all_pages('built with little shared memory');
$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|terminated by signal/, 'the server went on');
done_testing();

# A power failure.
sub crash
{
	$node->stop('immediate');
	$node->start;
	return;
}
