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
use Test::More;

my $primary = PostgreSQL::Test::Cluster->new('primary');
$primary->init(allows_streaming => 1);
$primary->append_conf('postgresql.conf', q{
	wal_consistency_checking = 'all'
	autovacuum_naptime = 1s
	max_wal_size = 1GB
});
$primary->start;
$primary->backup('base');
my $standby = PostgreSQL::Test::Cluster->new('standby');
$standby->init_from_backup($primary, 'base', has_streaming => 1);
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
