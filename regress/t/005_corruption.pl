# SPDX-License-Identifier: Apache-2.0

# Damaged index files: every statement gives the right answer or an error; no answer is wrong, no backend dies, and pigment.check() finds it.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $copies = 42;
my $block_bytes = 8192;
my $node = PostgreSQL::Test::Cluster->new('corruption');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nlog_min_messages = panic\nlog_min_error_statement = panic\n");
$node->start;
$node->safe_psql('postgres', qq{
	CREATE EXTENSION pigment;
	CREATE TABLE model (id int, v vector(40));
	INSERT INTO model SELECT n, (SELECT array_agg((n * k) % 97 ORDER BY k) FROM generate_series(1, 40) k)::vector FROM generate_series(1, 150) n;
	CREATE TABLE wide_model (id int, v vector(2500));
	INSERT INTO wide_model SELECT n, (SELECT array_agg((n * k) % 89 ORDER BY k) FROM generate_series(1, 2500) k)::vector FROM generate_series(1, 6) n;
	DO \$\$ DECLARE source text; old int; BEGIN
		FOR i IN 1 .. $copies LOOP
			-- every third with entries larger than a page
			source := CASE WHEN i % 3 = 0 THEN 'wide_model' ELSE 'model' END;
			old := CASE WHEN i % 3 = 0 THEN 3 ELSE 100 END;
			EXECUTE format('CREATE TABLE t_%s AS SELECT * FROM %s LIMIT %s', i, source, old);
			-- every third with a filter column
			EXECUTE format('CREATE INDEX i_%s ON t_%s USING pigment (%s)', i, i, CASE WHEN i % 3 = 1 THEN 'v, id' ELSE 'v' END);
			EXECUTE format('INSERT INTO t_%s SELECT * FROM %s OFFSET %s', i, source, old);
			EXECUTE format('DELETE FROM t_%s WHERE id %% 5 = 0', i);
		END LOOP;
	END \$\$;
});
$node->safe_psql('postgres', join('', map { "VACUUM (INDEX_CLEANUP on) t_$_;\n" } 1 .. $copies));
my @query = (join(',', (1 .. 40)), join(',', (1 .. 2500)));
my (@expected, @files);
for my $i (1 .. $copies)
{
	my $query = $query[ $i % 3 == 0 ];
	my $where = $i % 3 == 1 ? 'WHERE id BETWEEN 3 AND 148' : '';
	$expected[$i] = $node->safe_psql('postgres',
		"SET enable_seqscan = off; SET enable_sort = off; SELECT string_agg(id::text, ' ') FROM (SELECT id FROM t_$i $where ORDER BY v <-> '[$query]') x");
	$files[$i] = $node->data_dir . '/' . $node->safe_psql('postgres', "SELECT pg_relation_filepath('i_$i')");
}
is(scalar(split(/ /, $expected[2])), 120, 'all rows are there before the damage');
$node->stop;

my $seed = time ^ $$;
note("seed $seed");
srand($seed);

# Damages a file; returns what was done.
sub damage
{
	my ($file, $kind) = @_;
	my $bytes = slurp_file($file);
	my $blocks = length($bytes) / $block_bytes;
	my $block = int(rand($blocks));
	my $place = $block * $block_bytes;
	my $what = "$kind of block $block";
	if ($kind eq 'flip')
	{
		# behind the server's header, which has a check of its own
		my $offset = $place + 24 + int(rand($block_bytes - 24));
		my $bit = int(rand(8));
		substr($bytes, $offset, 1) ^= chr(1 << $bit);
		$what .= ' at ' . ($offset - $place) . " bit $bit";
	}
	elsif ($kind eq 'zero') { substr($bytes, $place, $block_bytes) = "\0" x $block_bytes; }
	elsif ($kind eq 'garbage')
	{
		substr($bytes, $place + 24, $block_bytes - 24) = join('', map { chr(int(rand(256))) } 1 .. $block_bytes - 24);
	}
	elsif ($kind eq 'swap')
	{
		my $other = ($block + 1 + int(rand($blocks - 1))) % $blocks;
		my $page = substr($bytes, $place, $block_bytes);
		substr($bytes, $place, $block_bytes) = substr($bytes, $other * $block_bytes, $block_bytes);
		substr($bytes, $other * $block_bytes, $block_bytes) = $page;
		$what .= " with $other";
	}
	else { $bytes = substr($bytes, 0, ($blocks - 1) * $block_bytes); $what = 'loss of the last block'; }
	open my $handle, '>:raw', $file or die "$file: $!";
	print $handle $bytes;
	close $handle;
	return $what;
}

my @kinds = qw(flip flip flip zero garbage swap truncate);
my @done = map { $_ == 0 ? '' : damage($files[$_], $kinds[ int($_ / 3) % @kinds ]) } 0 .. $copies;
$node->start;

my ($found, $refused, $wrong) = (0, 0, 0);
for my $i (1 .. $copies)
{
	my $query = $query[ $i % 3 == 0 ];
	my $where = $i % 3 == 1 ? 'WHERE id BETWEEN 3 AND 148' : '';
	my ($result, $output, $errors) = $node->psql('postgres',
		"SET enable_seqscan = off; SET enable_sort = off; SELECT string_agg(id::text, ' ') FROM (SELECT id FROM t_$i $where ORDER BY v <-> '[$query]') x");
	$refused++ if $result != 0;
	if ($result != 0 && $errors !~ /REINDEX|invalid page/) { $wrong++; diag("t_$i, $done[$i]: no remedy is named: $errors"); }
	if ($result == 0 && $output ne $expected[$i]) { $wrong++; diag("t_$i, $done[$i]: wrong answer"); }
	if ($result == 2 || $errors =~ /server closed|terminat|PANIC/) { $wrong++; diag("t_$i, $done[$i]: $errors"); }
	($result, $output, $errors) = $node->psql('postgres', "SELECT * FROM pigment.check('i_$i')");
	if ($result != 0) { $found++; note("$done[$i]: $errors"); }
	# what it does not find must be in a page that nobody reads any more: leaked, retired or free
	else
	{
		my @census = split /\|/, $output;
		if ($census[6] + $census[8] + $census[9] == 0) { $wrong++; diag("t_$i, $done[$i]: not found: $output"); }
	}
	($result, $output, $errors) = $node->psql('postgres', join(";\n", "INSERT INTO t_$i VALUES (1000, '[$query]')", "DELETE FROM t_$i WHERE id % 7 = 0",
		"VACUUM (INDEX_CLEANUP on) t_$i", "SELECT pigment.stats('i_$i')", "REINDEX INDEX i_$i", "SELECT 'alive'", ''), on_error_stop => 0);
	if ($output !~ /alive$/) { $wrong++; diag("t_$i, $done[$i]: $errors"); }
	# the remedy that errors name
	is($node->safe_psql('postgres', "SELECT leaked FROM pigment.check('i_$i')"), 0, "REINDEX after $done[$i]");
}
is($wrong, 0, 'no wrong answer, no dead backend, nothing overlooked');
cmp_ok($found, '>', $copies / 2, "the check found $found of $copies");
cmp_ok($refused, '>', $copies / 4, "$refused scans were refused");
$node->stop;
done_testing();
