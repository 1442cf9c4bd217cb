# SPDX-License-Identifier: Apache-2.0

# The server is stopped as by a power failure, 30 times, while clients insert, update, delete and vacuum. After each recovery the
# indexes are sound and agree with their tables. Recovery itself compares each page with what the server had (wal_consistency_checking).

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use PigmentTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(usleep);

my $rounds = 30;
my $compared_each = 5;
my $node = PostgreSQL::Test::Cluster->new('crash');
$node->init(extra => ['--data-checksums']);
$node->append_conf('postgresql.conf', q{
	wal_consistency_checking = 'all'
	autovacuum_naptime = 1s
	checkpoint_timeout = 30s
	max_wal_size = 1GB
	shared_buffers = 16MB
	pigment.pending_list_limit = 64kB
});
$node->start;
create_tables($node);
$node->safe_psql('postgres', q{
	CREATE UNLOGGED TABLE forgotten (id int, v vector(2));
	CREATE INDEX forgotten_v ON forgotten USING pigment (v);
	INSERT INTO forgotten SELECT n, ARRAY[n, n] FROM generate_series(1, 500) n;
});
my @scripts = write_scripts(PostgreSQL::Test::Utils::tempdir());
my $seed = time ^ $$;
note("seed $seed");
srand($seed);

my ($done, $leaked) = (0, 0);
for my $round (1 .. $rounds)
{
	my $load = start_load($node, 60, @scripts);
	usleep(200_000 + int(rand(800_000)));
	$node->safe_psql('postgres', 'REINDEX INDEX items_cosine') if $round % 10 == 2;
	$node->stop('immediate');
	$done += finish_load($load);
	$node->start;
	# every index is checked each time, with its table; now and then all that they answer is compared
	my ($rows, $found, $found_without, $without, $lost) = split /\n/, $node->safe_psql('postgres', q{
		SELECT count(*) FROM items;
		SET enable_seqscan = off;
		SET enable_sort = off;
		SELECT count(*) FROM (SELECT id FROM items ORDER BY v <-> '[1,2,3,4,5,6,7,8]') o;
		SELECT count(*) FROM (SELECT id FROM items WHERE note IS NULL ORDER BY v <+> '[1,2,3,4,5,6,7,8]') o;
		RESET enable_seqscan;
		SET enable_indexscan = off;
		SET enable_bitmapscan = off;
		SELECT count(*) FROM items WHERE note IS NULL;
		SELECT sum((pigment.check(i)).leaked) FROM unnest('{items_l2,items_cosine,items_filter,wide_ip}'::regclass[]) i;
	});
	cmp_ok($rows, '>', 100, "round $round: rows are there after recovery");
	is("$found $found_without", "$rows $without", "round $round: and in the indexes");
	$leaked += $lost;
	if ($round % $compared_each == 0)
	{
		compare($node, "round $round");
		no_page_is_lost($node, "round $round");
	}

	# an unlogged table is empty after a crash, and its index works
	is($node->safe_psql('postgres', q{
		SET enable_seqscan = off;
		SELECT count(*) FROM forgotten;
		SELECT count(*) FROM (SELECT id FROM forgotten ORDER BY v <-> '[1,1]') x;
		INSERT INTO forgotten SELECT n, ARRAY[n, n] FROM generate_series(1, 500) n;
		SELECT id FROM forgotten ORDER BY v <-> '[77,77]' LIMIT 1;
		SELECT live_rows FROM pigment.check('forgotten_v');
	}), "0\n0\n77\n500", "round $round: the unlogged index starts anew");
}

cmp_ok($done, '>=', $rounds, "$rounds crashes, after $done transactions; they left $leaked pages behind");

# A last crash after work without load
$node->safe_psql('postgres', 'DELETE FROM items WHERE id % 4 = 0');
$node->safe_psql('postgres', 'VACUUM items, wide');
$node->stop('immediate');
$node->start;
compare($node, 'at the end');
$node->stop;

# Without WAL for a table made in the same transaction: the index is synced with it.
$node->append_conf('postgresql.conf', "wal_level = minimal\nmax_wal_senders = 0\nwal_skip_threshold = 0\n");
$node->start;
$node->safe_psql('postgres', q{
	BEGIN;
	CREATE TABLE fresh AS SELECT n AS id, ARRAY[n, 1]::vector AS v FROM generate_series(1, 2000) n;
	CREATE INDEX fresh_v ON fresh USING pigment (v);
	INSERT INTO fresh SELECT n, ARRAY[n, 1] FROM generate_series(2001, 2500) n;
	COMMIT;
	INSERT INTO fresh SELECT n, ARRAY[n, 1] FROM generate_series(2501, 3000) n;
});
$node->stop('immediate');
$node->start;
is($node->safe_psql('postgres', q{
	SET enable_seqscan = off;
	SELECT live_rows FROM pigment.check('fresh_v');
	SELECT string_agg(id::text, ' ') FROM (SELECT id FROM fresh ORDER BY v <-> '[2501,1]' LIMIT 2) x;
}), "3000\n2501 2500", 'an index built without WAL is there after a crash');
$node->stop;
command_ok([ 'pg_checksums', '--check', '-D', $node->data_dir ], 'no page has a wrong checksum');
done_testing();
