# SPDX-License-Identifier: Apache-2.0

# What grows with what: the WAL of updates with the vector's bytes, VACUUM with the table, the memory of a scan with work_mem. All of it is counted, no
# time is taken.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('costs');
$node->init;
# without full_page_writes it does not matter when a checkpoint was
$node->append_conf('postgresql.conf', "autovacuum = off\nfull_page_writes = off\ncheckpoint_timeout = 1h\nmaintenance_work_mem = 64MB\nshared_buffers = 32MB\nmax_wal_size = 1GB\n");
$node->start;
$node->safe_psql('postgres', 'CREATE EXTENSION pigment');

# ---- WAL of updates ----
my ($dimensions, $rows) = (384, 500);
my $bytes = 4 * $dimensions;
$node->safe_psql('postgres', qq{
	CREATE TABLE notes (id int PRIMARY KEY, v vector($dimensions), kind int, seen int) WITH (fillfactor = 40);
	INSERT INTO notes SELECT n, (SELECT array_agg(sin(n * k)) FROM generate_series(1, $dimensions) k), n % 7, 0 FROM generate_series(1, 2000) n;
	CREATE INDEX notes_v ON notes USING pigment (v, kind);
	CREATE TABLE plain (LIKE notes) WITH (fillfactor = 40);
	INSERT INTO plain SELECT * FROM notes;
	VACUUM FREEZE notes, plain;
});

# Bytes of WAL for a row of an update.
sub wal_of
{
	my ($table, $set, $from) = @_;
	my ($before, $after) = split /\n/, $node->safe_psql('postgres', qq{
		SELECT pg_current_wal_insert_lsn() - '0/0';
		UPDATE $table SET $set WHERE id BETWEEN $from AND $from + $rows - 1;
		SELECT pg_current_wal_insert_lsn() - '0/0'});
	return ($after - $before) / $rows;
}
my $seen = 'seen = seen + 1';
my $kind = 'kind = kind + 1';
my $moved = 'v = l2_normalize(v + v)';
my %wal = (
	seen => wal_of('notes', $seen, 1), kind => wal_of('notes', $kind, 501), moved => wal_of('notes', $moved, 1001),
	plain_seen => wal_of('plain', $seen, 1), plain_kind => wal_of('plain', $kind, 501), plain_moved => wal_of('plain', $moved, 1001));

# What the index adds to the table's own is no more than $most, of what no index would have added.
sub adds
{
	my ($update, $most, $name) = @_;
	my $added = $wal{$update} - $wal{"plain_$update"};
	cmp_ok($added, '<=', $most, sprintf("$name: %d bytes a row", $added));
	return;
}
adds('seen', 20, 'WAL of an update of a column that is in no index');
adds('kind', 1.25 * $bytes, "WAL of an update beside a vector of $bytes bytes");
adds('moved', 1.25 * $bytes, "WAL of an update of a vector of $bytes bytes");
$node->safe_psql('postgres', 'DROP TABLE notes, plain');

# ---- VACUUM ----
# Pages that a VACUUM looked at.
sub pages_of_vacuum
{
	my (undef, undef, $said) = $node->psql('postgres', 'VACUUM (VERBOSE, INDEX_CLEANUP ON) items', on_error_stop => 1);
	my ($hits, $reads) = $said =~ /buffer usage: (\d+) hits, (\d+) / or die $said;
	return $hits + $reads;
}
my $row = 'n, ARRAY[' . join(', ', map { "n % $_" } 17, 19, 23, 29, 31, 37, 41, 43, 47, 53, 59, 61, 67, 71, 73) . ', 1], n % 100';
# What is deleted first, and what then.
my %vacuums = ('a tenth of the rows' => [ 'id % 10 = 0' ], 'half of the rows' => [ 'id % 10 IN (1, 3, 5, 7)' ]);
my @rows = (9000, 36000);
for my $count (@rows)
{
	$node->safe_psql('postgres', qq{
		DROP TABLE IF EXISTS items;
		CREATE TABLE items (id int, v vector(16), kind int);
		INSERT INTO items SELECT $row FROM generate_series(1, $count) n;
		CREATE INDEX items_v ON items USING pigment (v, kind);
		VACUUM items});
	my $pages = $node->safe_psql('postgres', q{SELECT (pg_relation_size('items') + pg_relation_size('items_v')) / current_setting('block_size')::int});
	for my $name (sort keys %vacuums)
	{
		$node->safe_psql('postgres', "DELETE FROM items WHERE $vacuums{$name}[0]");
		push @{ $vacuums{$name} }, pages_of_vacuum() / $pages;
	}
	is($node->safe_psql('postgres', q{SELECT deleted_rows FROM pigment.stats('items_v')}), 0, "$count rows: VACUUM has merged what was half empty");
}
for my $name (sort keys %vacuums)
{
	my (undef, @looked_at) = @{ $vacuums{$name} };
	my $times = $looked_at[1] / $looked_at[0];
	cmp_ok($times, '<', 1.3, sprintf("VACUUM after deleting $name looks at pages in proportion to those that there are: %.2f and %.2f times as many", @looked_at));
}

# ---- Memory of scans ----
$node->safe_psql('postgres', qq{
	INSERT INTO items SELECT $row FROM generate_series(100001, 200000) n;
	SELECT pigment.merge('items_v')});
$node->safe_psql('postgres', q{
	-- private resident kilobytes of this backend
	CREATE FUNCTION resident() RETURNS int LANGUAGE sql VOLATILE AS
		$$ SELECT substring(pg_read_file('/proc/self/status') FROM 'RssAnon:\s+(\d+)')::int $$});

# How many kilobytes a scan that gives many rows takes more than one that gives few, looked at as the rows come.
sub kilobytes_of_scan
{
	my ($work_mem) = @_;
	my $scan = sub {
		my ($limit) = @_;
		return qq{SELECT count(*), max(CASE WHEN n % 1000 = 0 THEN resident() END) FROM (SELECT row_number() OVER () AS n FROM
			(SELECT id FROM items WHERE kind < 90 ORDER BY v <-> array_fill(9, ARRAY[16])::vector LIMIT $limit) x) y;};
	};
	my @lines = split /\n/, $node->safe_psql('postgres', "SET enable_seqscan = off; SET enable_sort = off; SET work_mem = '$work_mem';" . $scan->(1000) x 5 . $scan->(105000));
	my ($few, $many) = map { (split /\|/)[1] } @lines[-2, -1];
	is((split /\|/, $lines[-1])[0], 105000, "$work_mem: all rows that were asked for come");
	return $many - $few;
}
my $small = kilobytes_of_scan('64kB');
cmp_ok($small, '<', 400, "work_mem of 64 kB: 105,000 rows take $small kB");
my $large = kilobytes_of_scan('64MB');
cmp_ok($large, '>', 400, "work_mem of 64 MB: $large kB, which would have been seen");
$node->stop;
done_testing();
