# SPDX-License-Identifier: Apache-2.0

# Sixteen buffers for the whole server; and sessions that the system gives no more memory, wherever they are: each statement has its answer or an error,
# and the server goes on.

use strict;
use warnings;
use IPC::Run ();
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('little');
$node->init;
$node->append_conf('postgresql.conf', "autovacuum = off\nshared_buffers = 128kB\nmaintenance_work_mem = 64MB\npigment.pending_list_limit = 256kB\nwal_level = replica\nrestart_after_crash = off\n");
$node->start;
my $row = 'n, ARRAY[n % 17, n % 19, n % 23, n % 29, n % 31, n % 37, n % 41, 1], n % 7, ' . q{'word' || n % 9 || ' and word' || n % 13 || ' No. ' || n, jsonb_build_object('n', n, 'kind', 'k' || n % 6)};
$node->safe_psql('postgres', qq{
	CREATE EXTENSION pigment;
	CREATE TABLE items (id int PRIMARY KEY, v vector(8), grp int, body text, doc jsonb);
	INSERT INTO items SELECT $row FROM generate_series(1, 9000) n;
	CREATE INDEX items_v ON items USING pigment (v, grp, body text_trgm_ops, doc);
	CREATE INDEX items_text ON items USING pigment (body text_bm25_ops);
	INSERT INTO items SELECT $row FROM generate_series(9001, 10000) n;
	CREATE TABLE written (LIKE items);
	CREATE INDEX written_v ON written USING pigment (v, grp, body text_trgm_ops, doc)});
my $query = q{'[3,1,4,1,5,9,2,6]'};
my $by_index = 'SET enable_seqscan = off; SET enable_sort = off; SET pigment.target_recall = 1;';
my $by_table = 'SET enable_indexscan = off; SET enable_bitmapscan = off;';
my %questions = (
	distance => "SELECT id FROM items ORDER BY v <-> $query, id LIMIT 200",
	filter => "SELECT id FROM items WHERE grp = 3 AND doc ->> 'kind' = 'k2' ORDER BY v <-> $query, id LIMIT 50",
	bitmap => q{SELECT count(*), sum(id) FROM items WHERE body LIKE '%word7 and%'},
	joined => "SELECT n, x.id FROM generate_series(1, 3) n, LATERAL (SELECT id FROM items WHERE grp = n ORDER BY v <-> array_fill(n, ARRAY[8])::vector, id LIMIT 4) x, LATERAL (SELECT id FROM items WHERE items.id = x.id) y ORDER BY n, x.id");
for my $name (sort keys %questions)
{
	is($node->safe_psql('postgres', "$by_index $questions{$name}"), $node->safe_psql('postgres', "$by_table $questions{$name}"), "sixteen buffers: $name");
}

# ---- Out of memory ----
my %statements = (
	%questions,
	recall => "SELECT count(*) FROM (SELECT id FROM items ORDER BY v <-> $query LIMIT 50) s",
	ranked => q{SELECT id FROM items ORDER BY body <@> 'word3 word7', id LIMIT 20},
	build => 'CREATE INDEX items_other ON items USING pigment (v, doc) WITH (kind = hnsw)',
	insert => "INSERT INTO written SELECT $row FROM generate_series(1, 2000) n",
	merge => q{SELECT pigment.merge('written_v')},
	vacuum => 'VACUUM written',
	check => q{SELECT live_rows FROM pigment.check('items_v')});
my %answers = map { ($_ => $node->safe_psql('postgres', "$by_index $statements{$_}")) } keys %questions, qw(recall ranked check);
# what a session has once had of the stack stays; so does the library
my $begin = "SELECT length((repeat('[', 4000) || repeat(']', 4000))::json::text); SELECT '[1]'::vector";
my %counts;
my @wrong;

sub set_limit
{
	my ($pid, $limit) = @_;
	system('prlimit', "--pid=$pid", "--as=$limit:") == 0 or die "prlimit: $?";
	return;
}

# The statement where the session may have so many kilobytes more than it has; then another one, with all that it wants.
sub try_with
{
	my ($name, $kilobytes) = @_;
	my ($in, $out, $errors) = ('', '', '');
	my $session = IPC::Run::start([ 'psql', '-X', '-A', '-t', '-q', '-d', $node->connstr('postgres') ], '<', \$in, '>', \$out, '2>', \$errors,
		IPC::Run::timeout($PostgreSQL::Test::Utils::timeout_default));
	$in .= "\\set VERBOSITY sqlstate\nSET client_min_messages = error; $by_index\n$begin;\nSELECT 'session ' || pg_backend_pid();\n";
	$session->pump until $out =~ /session (\d+)\n/;
	my $pid = $1;
	my ($size) = slurp_file("/proc/$pid/status") =~ /VmSize:\s+(\d+)/;
	set_limit($pid, 1024 * ($size + $kilobytes));
	$out = '';
	$in .= "$statements{$name};\n\\echo end of it\n";
	$session->pump until $out =~ /end of it\n/ || !$session->pumpable;
	my ($answer) = $out =~ /^(.*?)\n?end of it\n/s;
	if ($session->pumpable)
	{
		set_limit($pid, 'unlimited');
		$out = '';
		$in .= "DROP INDEX IF EXISTS items_other;\n$questions{filter};\n\\q\n";
	}
	$session->finish;
	my $result = $errors =~ /^\S*?ERROR:  53200\n\z/ ? 'refused' : $errors ne '' ? "failed: $errors" : defined $answers{$name} && $answer ne $answers{$name} ? 'wrong' : 'done';
	$result .= ', and then another is wrong' if $out ne "$answers{filter}\n";
	$counts{$result}{$name}++;
	push @wrong, "$name with $kilobytes kB more: $result" if $result !~ /^(?:refused|done)$/;
	return;
}
for my $name (sort keys %statements)
{
	try_with($name, $_) for 0, 40, 160, 360, 1000, 2500, 5000, 500000;
}
is(join("\n", @wrong), '', 'out of memory: every statement is done right or refused, and its session goes on');
is(join(' ', sort keys %{ $counts{done} }), join(' ', sort keys %statements), 'out of memory: each is done where there is enough');
my $refused = 0;
$refused += $_ for values %{ $counts{refused} };
cmp_ok($refused, '>', keys(%statements) * 2, "out of memory: $refused are refused");
my ($status, $leaked, $why) = $node->psql('postgres', q{VACUUM items, written; SELECT leaked FROM (VALUES ('items_v'), ('items_text'), ('written_v')) i(name), pigment.check(name)}, on_error_stop => 1);
is("$status $leaked", "0 0\n0\n0", 'out of memory: indexes are sound, and no page is lost') or diag($why);
$node->stop;
unlike(slurp_file($node->logfile), qr/PANIC|terminated by signal/, 'the server went on');
done_testing();
