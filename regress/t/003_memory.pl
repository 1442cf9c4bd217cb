# SPDX-License-Identifier: Apache-2.0

# 100,000 scans that end by an error or a cancellation leave the backend's memory where it was; a scan is cancelled soon.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;
use Time::HiRes qw(time);

my $node = PostgreSQL::Test::Cluster->new('memory');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nlog_min_error_statement = panic\nlog_min_messages = panic\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION pigment;
	CREATE TABLE items (id int, v vector(8));
	INSERT INTO items SELECT n, ARRAY[n, n % 2, n % 3, n % 5, n % 7, n % 11, n % 13, 1] FROM generate_series(1, 200) n;
	CREATE INDEX items_v ON items USING pigment (v);
	INSERT INTO items SELECT n, ARRAY[n, n % 2, n % 3, n % 5, n % 7, n % 11, n % 13, 1] FROM generate_series(201, 220) n;
	DELETE FROM items WHERE id % 10 = 0;
	-- private resident kilobytes of this backend
	CREATE FUNCTION resident() RETURNS int LANGUAGE sql VOLATILE AS
		$$ SELECT substring(pg_read_file('/proc/self/status') FROM 'RssAnon:\s+(\d+)')::int $$;
	CREATE FUNCTION fail_often(times int) RETURNS text LANGUAGE plpgsql AS $$
	DECLARE
		failed int := 0;
		cancelled int := 0;
	BEGIN
		FOR i IN 1 .. times LOOP
			BEGIN
				IF i % 2 = 0 THEN
					PERFORM 1 / (id - id) FROM items ORDER BY v <-> '[1,2,3,4,5,6,7,8]' LIMIT 1;
				ELSE
					PERFORM pg_cancel_backend(pg_backend_pid()) FROM items ORDER BY v <-> '[1,2,3,4,5,6,7,8]' LIMIT 5;
				END IF;
			EXCEPTION
				WHEN division_by_zero THEN failed := failed + 1;
				WHEN query_canceled THEN cancelled := cancelled + 1;
			END;
		END LOOP;
		RETURN failed || ' ' || cancelled;
	END $$;
});
$node->safe_psql('postgres', 'VACUUM items');
my $result = $node->safe_psql('postgres', q{
	SET enable_seqscan = off;
	SET enable_sort = off;
	SELECT fail_often(4000);
	SELECT resident();
	SELECT fail_often(100000);
	SELECT resident();
	SELECT count(*) FROM (SELECT id FROM items ORDER BY v <-> '[1,2,3,4,5,6,7,8]') x;
});
my ($warm, $before, $counts, $after, $rows) = split /\n/, $result;
is($warm, '2000 2000', 'the scans failed as they should');
is($counts, '50000 50000', '100,000 scans failed or were cancelled');
cmp_ok($after - $before, '<', 1024, "memory is flat: $before kB before, $after kB after");
is($rows, 198, 'a scan afterwards gives all rows');

# Scans that take long are cancelled inside the engine.
$node->safe_psql('postgres', q{
	CREATE TABLE many (id int, v vector(64));
	INSERT INTO many SELECT n, array_fill(n % 1000, ARRAY[64]) FROM generate_series(1, 60000) n;
	CREATE INDEX many_v ON many USING pigment (v);
	INSERT INTO many SELECT n, array_fill(n % 1000, ARRAY[64]) FROM generate_series(60001, 64000) n;
});
my $slow = q{SELECT count(*) FROM generate_series(1, 100000) n, LATERAL
	(SELECT id FROM many ORDER BY v <-> array_fill(n, ARRAY[64])::vector LIMIT 1) x;};
# what a session keeps is there before it is measured, however little of it 15 ms do on a busy machine
my $whole = $slow =~ s/100000/50/r;
# One round after the other, until memory stands still in one. What is kept once for a session, or makes room by steps, comes to its end; what
# every statement left behind would go on in each round.
my ($rounds_max, $statements, $growth_max) = (8, 150, 64);
# The time is the long statement's alone: on a busy machine others would be cancelled too.
sub cancelled_after { return "BEGIN;\nSET LOCAL statement_timeout = $_[0];\n$slow\nROLLBACK;" }
my $round = join("\n", (map { cancelled_after($_ % 25 + 1) } 1 .. $statements),
	'SELECT resident() AS now \gset', "SELECT :now - :resident < $growth_max AS is_flat, :now AS resident \\gset", '\echo :resident');
my $script = join("\n", 'SET enable_seqscan = off;', 'SET enable_sort = off;', $whole,
	(map { cancelled_after(15) } 1 .. 20), 'SELECT resident() AS resident \gset', '\echo :resident',
	'\set is_flat false', (map { "\\if :is_flat\n\\else\n$round\n\\endif" } 1 .. $rounds_max),
	'\echo flat :is_flat', 'SELECT count(*) FROM (SELECT id FROM many ORDER BY v <-> array_fill(7, ARRAY[64])::vector) x;');
my $start = time;
my ($status, $output, $errors) = $node->psql('postgres', $script, on_error_stop => 0);
my $seconds = time - $start;
my ($warmed, @lines) = split /\n/, $output;
my ($flat, $count) = splice @lines, -2;
my $ended = 20 + $statements * $#lines;
my $cancelled = () = $errors =~ /canceling statement due to statement timeout/g;
is($cancelled, $ended, 'every long statement was cancelled') or diag($errors);
# 20 x 15 ms and 150 x 13 ms on average are 2.3 s for the first 170
cmp_ok($seconds, '<', 20 / 170 * $ended, sprintf('cancellation is soon: %.1f s for %d of them', $seconds, $ended));
is($flat, 'flat t', "memory stands still: @lines kB, a round of $statements statements after the other");
is($warmed, 50, 'a statement in time is not cancelled');
is($count, 64000, 'a scan afterwards gives all rows');

# A refused insert or build leaves memory flat too.
$result = $node->safe_psql('postgres', q{
	CREATE FUNCTION refuse_often(times int) RETURNS int LANGUAGE plpgsql AS $$
	DECLARE
		refused int := 0;
	BEGIN
		FOR i IN 1 .. times LOOP
			BEGIN
				IF i % 10 = 0 THEN
					CREATE INDEX broken ON mixed USING pigment (v);
				ELSE
					INSERT INTO fixed VALUES ('[1]');
				END IF;
			EXCEPTION WHEN data_exception THEN refused := refused + 1;
			END;
		END LOOP;
		RETURN refused;
	END $$;
	CREATE TABLE mixed (v vector);
	INSERT INTO mixed SELECT ARRAY[n, 2]::vector FROM generate_series(1, 50) n;
	INSERT INTO mixed VALUES ('[1]');
	CREATE TABLE fixed (v vector);
	INSERT INTO fixed VALUES ('[1,2]');
	CREATE INDEX fixed_v ON fixed USING pigment (v);
	SELECT refuse_often(1000);
	SELECT resident();
	SELECT refuse_often(1000);
	SELECT resident();
});
my ($refused, $low, $again, $high) = split /\n/, $result;
is("$refused $again", '1000 1000', 'builds and inserts were refused');
cmp_ok($high - $low, '<', 2048, "memory is flat: $low kB before, $high kB after");
$node->stop;
done_testing();
