# SPDX-License-Identifier: Apache-2.0

# Indexes are created and rebuilt concurrently, some of the builds cancelled, while clients insert, update, delete and vacuum: at
# the end every index agrees with its table. Checks meanwhile find nothing. The module is there from the server's start, as in no other test.

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
$node->append_conf('postgresql.conf', "shared_preload_libraries = 'pigment'\nautovacuum_naptime = 1s\nmax_wal_size = 1GB\npigment.pending_list_limit = 64kB\n");
$node->start;
is($node->safe_psql('postgres', 'SHOW pigment.pending_list_limit'), '64kB', 'a session that has not used the module knows its settings');
create_tables($node);
my $load_seconds = 12;
my $load = start_load($node, $load_seconds, write_scripts(PostgreSQL::Test::Utils::tempdir()));
my ($built, $cancelled) = (0, 0);

sub run_or_fail
{
	my ($statement) = @_;
	my ($result, $output, $errors) = $node->psql('postgres', $statement);
	is($result, 0, "under load: $statement") or diag($errors);
	return;
}

# the load goes on after the last build, and is compared with what that left; a busy machine takes longer for two rounds
my $start = time;
while (time - $start < 6 || ($built < 2 && time - $start < $load_seconds))
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
	for my $index (qw(items_filter wide_ip))
	{
		is($node->safe_psql('postgres', "SELECT count(*) FROM pigment.differences('$index')"), '0', "under load: $index has what its table has");
	}
	$load->{handle}->pump_nb;
}
cmp_ok(finish_load($load), '>', 100, 'the load did something');
cmp_ok($built, '>', 1, "$built rounds of builds under load, $cancelled builds cancelled");
compare($node, 'after concurrent builds');
$node->safe_psql('postgres', 'VACUUM items, wide');
compare($node, 'after vacuum');
no_page_is_lost($node, 'after vacuum');
my ($segments, $reused) = split /\|/, $node->safe_psql('postgres', q{
	SELECT segments, retired_pages + free_pages > 0 FROM pigment.stats('items_filter')});
cmp_ok($segments, '<', 24, "$segments segments are left after merges under load");
is($reused, 't', 'pages were retired under load');

# Merges that are cancelled: what they wrote is found, what they were to replace is there.
my $cancelled_merges = 0;
for my $round (1 .. 40)
{
	my $timeout = 1 + $round % 10;
	my ($result, $output, $errors) = $node->psql('postgres', qq{
		UPDATE items SET note = $round WHERE id % 7 = $round % 7;
		SET statement_timeout = $timeout;
		SELECT pigment.merge('items_filter')});
	$cancelled_merges++ if $errors =~ /canceling statement/;
}
note("$cancelled_merges merges were cancelled");
cmp_ok($cancelled_merges, '>', 0, 'merges were cancelled');
compare($node, 'after merges that were cancelled');
no_page_is_lost($node, 'after merges that were cancelled');

# A column without a declared dimension: clients insert two of them, and mostly roll back. What is left has one.
$node->safe_psql('postgres', 'CREATE TABLE loose (id bigserial, v vector); CREATE INDEX loose_v ON loose USING pigment (v);');
my $folder = PostgreSQL::Test::Utils::tempdir();
append_to_file("$folder/loose.sql", q{DO $$ BEGIN
	INSERT INTO loose (v) VALUES (array_fill(1, ARRAY[2 + (random() < 0.5)::int]));
	IF random() < 0.95 THEN RAISE 'back'; END IF;
EXCEPTION WHEN raise_exception OR data_exception THEN NULL; END $$;
});
append_to_file("$folder/empty.sql", "DELETE FROM loose;\n");
append_to_file("$folder/search.sql", q{DO $$ BEGIN
	PERFORM id FROM loose ORDER BY v <-> '[1,2]' LIMIT 3;
EXCEPTION WHEN data_exception OR serialization_failure THEN NULL; END $$;
});
finish_load(start_load($node, 4, '-f', "$folder/loose.sql\@20", '-f', "$folder/empty.sql\@2", '-f', "$folder/search.sql\@5"));
my $check = $node->safe_psql('postgres', q{SELECT count(DISTINCT vector_dims(v)) <= 1 FROM loose; SELECT live_rows >= 0 FROM pigment.check('loose_v');});
is($check, "t\nt", 'all rows of the index have one dimension');
my $dimensions = $node->safe_psql('postgres', q{
	TRUNCATE loose;
	DO $$ BEGIN
		FOR i IN 1 .. 20 LOOP
			BEGIN
				INSERT INTO loose (v) VALUES (array_fill(1, ARRAY[i]));
				RAISE 'back';
			EXCEPTION WHEN raise_exception THEN NULL; END;
		END LOOP;
	END $$;
	SELECT dimension FROM pigment.stats('loose_v');});
is($dimensions, '20', 'a dimension that was rolled back gives way to the next');
$node->stop;
unlike(slurp_file($node->logfile), qr/is corrupted|TRAP|PANIC/, 'nothing looked like damage on the way');
done_testing();
