# SPDX-License-Identifier: Apache-2.0

# Indexes are created and rebuilt concurrently, some of the builds cancelled, while clients insert, update, delete and vacuum: at
# the end every index agrees with its table.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use PigmentTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = PostgreSQL::Test::Cluster->new('concurrent');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum_naptime = 1s\nmax_wal_size = 1GB\n");
$node->start;
create_tables($node);
my $load = start_load($node, 9, write_scripts(PostgreSQL::Test::Utils::tempdir()));
my ($built, $cancelled) = (0, 0);

sub run_or_fail
{
	my ($statement) = @_;
	my ($result, $output, $errors) = $node->psql('postgres', $statement);
	is($result, 0, "under load: $statement") or diag($errors);
	return;
}

# the load goes on after the last build, and is compared with what that left
my $start = time;
while (time - $start < 6)
{
	my ($result, $output, $errors) = $node->psql('postgres', "SET statement_timeout = 20;\nREINDEX INDEX CONCURRENTLY items_l2");
	$cancelled++ if $errors =~ /canceling statement/;
	# what a cancelled build left behind
	my $left = $node->safe_psql('postgres', 'SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid');
	run_or_fail("DROP INDEX $_") for split /\n/, $left;
	run_or_fail('REINDEX INDEX CONCURRENTLY items_l2');
	run_or_fail('DROP INDEX CONCURRENTLY items_cosine');
	run_or_fail('CREATE INDEX CONCURRENTLY items_cosine ON items USING pigment (v vector_cosine_ops) WHERE id % 3 <> 0');
	$built++;
	$load->{handle}->pump_nb;
}
cmp_ok(finish_load($load), '>', 100, 'the load did something');
cmp_ok($built, '>', 1, "$built rounds of builds under load, $cancelled builds cancelled");
compare($node, 'after concurrent builds');
$node->safe_psql('postgres', 'VACUUM items, wide');
compare($node, 'after vacuum');
$node->stop;
done_testing();
