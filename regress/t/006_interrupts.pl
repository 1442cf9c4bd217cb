# SPDX-License-Identifier: Apache-2.0

# Builds, inserts, merges, VACUUM and scans are cancelled and their sessions ended at random moments, 300 times and more. Afterwards no index is
# damaged, no page is lost, and indexes agree with their tables.

use strict;
use warnings;
use FindBin;
use lib $FindBin::RealBin;
use PigmentTest;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use IPC::Run ();
use Test::More;
use Time::HiRes qw(time);

my $wanted = 330;
my $seconds_max = 90;
my $interruption = qr/canceling statement due to (?:user request|statement timeout)|terminating connection due to administrator command/;
my $seed = time ^ $$;
note("seed $seed");
srand($seed);

my $node = PostgreSQL::Test::Cluster->new('interrupts');
$node->init;
$node->append_conf('postgresql.conf', q{
	autovacuum = off
	max_wal_size = 1GB
	maintenance_work_mem = 4MB
	pigment.pending_list_limit = 64kB
	log_error_verbosity = terse
	log_line_prefix = '[%a] '
});
$node->start;
create_tables($node);
# of builds, whose locks would keep all others out
$node->safe_psql('postgres', q{
	CREATE TABLE quiet AS SELECT n AS id, n % 100 AS note, random_vector(8) AS v FROM generate_series(1, 9000) n;
});

# What each session does, over and over; its name is that of the session.
my $near = q{'[1,2,3,-4,5,6,7,8]'};
my $some = 'SELECT id FROM items ORDER BY id OFFSET (random() * 2500)::int LIMIT';
my %work = (
	build => [
		'CREATE INDEX quiet_v ON quiet USING pigment (note, v);',
		'REINDEX INDEX quiet_v;',
		'DROP INDEX IF EXISTS quiet_v;',
		# what one left behind that was cancelled goes before the next
		"SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index WHERE NOT indisvalid \\gexec\nREINDEX INDEX CONCURRENTLY items_cosine;",
	],
	insert => [
		'INSERT INTO items (v, note) SELECT random_vector(8), n FROM generate_series(1, 400) n;',
		'INSERT INTO wide (v) SELECT random_vector(3000) FROM generate_series(1, 3);',
		"UPDATE items SET v = random_vector(8) WHERE id IN ($some 100);",
		"UPDATE items SET note = note + 1 WHERE id IN ($some 100);",
	],
	merge => [ map { "SELECT pigment.merge('$_');" } qw(items_l2 items_filter wide_ip) ],
	vacuum => [
		"DELETE FROM items WHERE id IN ($some 300);\nVACUUM items;",
		"DELETE FROM wide WHERE id IN (SELECT id FROM wide ORDER BY id LIMIT 2);\nVACUUM wide;",
	],
	scan => [
		"SELECT count(*) FROM (SELECT id FROM items ORDER BY v <-> $near) o;",
		"SELECT count(*) FROM (SELECT id FROM items WHERE note > 500 ORDER BY v <+> $near) o;",
		"SELECT count(*) FROM generate_series(1, 200) n, LATERAL (SELECT id FROM items ORDER BY v <-> ARRAY[n, 2, 3, 4, 5, 6, 7, 8]::vector LIMIT 5) o;",
		q{SELECT count(*) FROM items WHERE body ~~ '%9a%';},
	]);

# A session that is ended begins anew.
my $folder = PostgreSQL::Test::Utils::tempdir();
my $stop = "$folder/stop";
my @workers;
for my $name (sort keys %work)
{
	my $script = "SET enable_seqscan = off;\n";
	for (1 .. 60)
	{
		my @statements = @{ $work{$name} };
		# some by themselves, after a time that others need not wait for
		$script .= sprintf("SET statement_timeout = %d;\n", rand() < 0.3 ? 1 + int(rand(40)) : 0);
		$script .= $statements[ rand @statements ] . "\n";
	}
	append_to_file("$folder/$name.sql", $script);
	my $psql = "psql -X -q -d 'application_name=$name " . $node->connstr('postgres') . "' -f '$folder/$name.sql'";
	push @workers, IPC::Run::start([ 'sh', '-c', "until test -e '$stop'; do $psql; done" ],
		'<', \undef, '>', '/dev/null', '2>', '/dev/null');
}

append_to_file("$folder/interrupt.sql", q{
\set wait random(1, 30)
\sleep :wait ms
SELECT CASE WHEN random() < 0.75 THEN pg_cancel_backend(pid) ELSE pg_terminate_backend(pid) END
FROM (SELECT pid FROM pg_stat_activity WHERE application_name IN ('build', 'insert', 'merge', 'vacuum', 'scan') AND state = 'active' ORDER BY random() LIMIT 1) a;
});

# Of each kind of work how often it was interrupted, by the server's log.
sub count_interruptions
{
	my %count = map { $_ => 0 } keys %work;
	for my $line (split /\n/, slurp_file($node->logfile))
	{
		$count{$1}++ if $line =~ /^\[(\w+)\] (?:ERROR|FATAL):  $interruption/ && exists $count{$1};
	}
	return %count;
}

sub total { my $sum = 0; $sum += $_ for @_; return $sum; }

my $start = time;
my %count;
do
{
	$node->command_ok([ 'pgbench', '--no-vacuum', '--transactions=100', '-h', $node->host, '-p', $node->port,
		'-f', "$folder/interrupt.sql", 'postgres' ], 'sessions are interrupted');
	%count = count_interruptions();
} while ((total(values %count) < $wanted || grep { $_ < 10 } values %count) && time - $start < $seconds_max);
append_to_file($stop, '');
$_->finish for @workers;
%count = count_interruptions();
note(join(', ', map { "$_: $count{$_}" } sort keys %count) . sprintf(' interruptions in %.1f s', time - $start));
cmp_ok(total(values %count), '>=', 300, total(values %count) . ' statements and sessions were interrupted');
cmp_ok($count{$_}, '>=', 10, "$count{$_} of them in: $_") for sort keys %count;

# what cancelled builds left behind
my $invalid = $node->safe_psql('postgres', 'SELECT indexrelid::regclass FROM pg_index WHERE NOT indisvalid');
$node->safe_psql('postgres', "DROP INDEX $_") for split /\n/, $invalid;
compare($node, 'after the interruptions');
no_page_is_lost($node, 'after the interruptions');
$node->safe_psql('postgres', 'DROP INDEX IF EXISTS quiet_v; CREATE INDEX quiet_v ON quiet USING pigment (note, v)');
is($node->safe_psql('postgres', q{
	SELECT live_rows FROM pigment.check('quiet_v');
	SELECT pigment.merge('items_filter') > 0;
	SELECT live_rows = (SELECT count(*) FROM items) FROM pigment.check('items_filter')}), "9000\nt\nt", 'builds and merges that end are whole');
compare($node, 'after a merge');
$node->stop;
unlike(slurp_file($node->logfile), qr/is corrupted|is damaged|TRAP|PANIC|terminated by signal/, 'nothing looked like damage on the way');
done_testing();
