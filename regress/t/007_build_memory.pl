# SPDX-License-Identifier: Apache-2.0

# Builds, flushes and merges stay within maintenance_work_mem: where most rows have no vector, where the first one comes late or never, and where
# the directory of segments is full. What they write has an index of its vectors all the same, or somebody is told.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $node = PostgreSQL::Test::Cluster->new('build');
$node->init;
# what a background worker's snapshot sees VACUUM would leave in an index; so it would rows of a page that somebody writes to the disk, unless it freezes
$node->append_conf('postgresql.conf', "autovacuum = off\npigment.background_merge = off\nshared_buffers = 8MB\nmax_wal_size = 2GB\nwal_level = minimal\nmax_wal_senders = 0\n");
$node->start;
$node->safe_psql('postgres', q{
	CREATE EXTENSION pigment;
	-- the most kilobytes that this backend ever had, with the shared buffers that it saw
	CREATE FUNCTION most() RETURNS int LANGUAGE sql VOLATILE AS
		$$ SELECT substring(pg_read_file('/proc/self/status') FROM 'VmHWM:\s+(\d+)')::int $$;
	-- whether an index gives the rows that the table has
	CREATE FUNCTION is_whole(relation text, index regclass) RETURNS bool LANGUAGE plpgsql SET enable_seqscan = off AS $$
	DECLARE
		whole bool;
	BEGIN
		EXECUTE format('SELECT (SELECT live_rows FROM pigment.check(%L)) = (SELECT count(*) FROM %I)', index, relation) INTO whole;
		RETURN whole;
	END $$;
});

# Whether conditions and distances find the same by an index as without.
sub agrees
{
	my ($what, $question, $nearest) = @_;
	my $settings = 'SET enable_seqscan = off; SET pigment.target_recall = 1;';
	my $without = 'SET enable_indexscan = off; SET enable_bitmapscan = off;';
	is($node->safe_psql('postgres', "$settings $question"), $node->safe_psql('postgres', "$without $question"), "$what: conditions find what they find without");
	is($node->safe_psql('postgres', "$settings $nearest"), $node->safe_psql('postgres', "$without $nearest"), "$what: so do scans by distance");
}

# Builds an index, or merges, in a session of its own; returns by how much that grew, in kB, and what it was told.
sub build
{
	my ($memory, $statement) = @_;
	my ($status, $output, $told) = $node->psql('postgres', "SET maintenance_work_mem = '$memory'; SELECT most(); $statement; SELECT most();");
	my ($before, $after) = split /\n/, $output;
	is($status, 0, "$memory: $statement") or diag($told);
	return (($after // 0) - ($before // 0), $told);
}

# The shared buffers, the memory of the build, and what code and catalogs take that were not needed before.
sub allowed
{
	my ($memory_mb) = @_;
	return (8 + $memory_mb + 24) * 1024;
}

# A third of the rows has a vector, and what the others are found by is wide.
$node->safe_psql('postgres', q{
	CREATE TABLE third (id int, note text, body text, v vector(8));
	INSERT INTO third SELECT n, repeat(md5(n::text), 8), 'No. ' || n, CASE WHEN n % 3 = 0 THEN array_fill(n % 1009, ARRAY[8])::vector END
		FROM generate_series(1, 30000) n;
});
my $question = q{SELECT count(*) FROM third WHERE note = repeat(md5('20001'), 8) OR body LIKE '%777%'};
my $nearest = q{SELECT id FROM third WHERE body LIKE '%99%' ORDER BY v <-> array_fill(999, ARRAY[8])::vector, id LIMIT 20};
for my $memory_kb (1024, 1040, 1536, 2080, 4200)
{
	my ($grown) = build("${memory_kb}kB", 'CREATE INDEX third_v ON third USING pigment (v, note, body text_trgm_ops) WITH (kind = spann)');
	cmp_ok($grown, '<', allowed($memory_kb / 1024), "${memory_kb}kB: the backend grew by $grown kB");
	is($node->safe_psql('postgres', "SELECT is_whole('third', 'third_v')"), 't', "${memory_kb}kB: all rows are in the index");
	agrees("${memory_kb}kB", $question, $nearest);
	$node->safe_psql('postgres', 'DROP INDEX third_v');
}

# Of such rows there are as many again, which inserts flush; VACUUM and merges then have less memory than these rows' keys take.
for my $memory_kb (1024, 2080, 4200)
{
	$node->safe_psql('postgres', q{
		CREATE TABLE more AS SELECT * FROM third;
		CREATE INDEX more_v ON more USING pigment (v, note, body text_trgm_ops) WITH (kind = spann);
	});
	my $segments = q{SELECT count(*) FILTER (WHERE kind = 'clusters') || ' of ' || count(*) FROM pigment.segments WHERE kind <> 'pending'};
	for my $statement ('INSERT INTO more SELECT id + 30000, repeat(md5((id + 30000)::text), 8), body, v FROM third', 'VACUUM more', "SELECT pigment.merge('more_v')")
	{
		my ($grown, $told) = build("${memory_kb}kB", $statement =~ s/^SELECT (.*)$/DO \$\$ BEGIN PERFORM $1; END \$\$/r);
		cmp_ok($grown, '<', allowed($memory_kb / 1024), "${memory_kb}kB: $statement: the backend grew by $grown kB");
		unlike($told, qr/no graph or clusters/, '... and has no reason to warn');
		like($node->safe_psql('postgres', $segments), qr/^(\d+) of \1$/, '... all segments have clusters');
		is($node->safe_psql('postgres', "SELECT is_whole('more', 'more_v')"), 't', '... all rows are in the index');
		agrees("${memory_kb}kB: $statement", $question =~ s/third/more/r, $nearest =~ s/third/more/r);
		$node->safe_psql('postgres', 'DELETE FROM more WHERE id % 7 = 0; VACUUM (FREEZE, INDEX_CLEANUP on) more') if $statement =~ /VACUUM/;
	}
	$node->safe_psql('postgres', 'DROP TABLE more');
}

# Where memory is not enough for any segment with an index, flushes give it up, and merges leave one that is there alone. Both say so.
$node->safe_psql('postgres', q{
	CREATE TABLE long (id int, v vector(200)) WITH (autovacuum_enabled = off);
	INSERT INTO long SELECT n, array_fill(n % 1009 + n / 1e6, ARRAY[200]) FROM generate_series(1, 9000) n;
	CREATE INDEX long_v ON long USING pigment (v) WITH (kind = spann);
	DELETE FROM long WHERE id % 9 = 0;
	VACUUM (FREEZE, INDEX_CLEANUP on) long;
	INSERT INTO long SELECT n, array_fill(n % 1009 + n / 1e6, ARRAY[200]) FROM generate_series(9001, 12000) n;
});
my (undef, $warned) = build('1MB', 'VACUUM long');
like($warned, qr/WARNING:  index "long_v" has no graph or clusters in its segment \d+, .*DETAIL:  .* looks at each of its \d+ rows\..*HINT:  Increase/s,
	'VACUUM tells of a segment without index');
my $log_begin = -s $node->logfile;
(undef, $warned) = build('1MB', q{SET pigment.pending_list_limit = '1MB'; INSERT INTO long SELECT n, array_fill(n % 1009, ARRAY[200]) FROM generate_series(12001, 16000) n});
is($warned, '', 'who inserts is told nothing');
like(slurp_file($node->logfile, $log_begin), qr/LOG:  index "long_v" has no graph or clusters in its segment \d+, /, '... but the log is');
(undef, $warned) = build('1MB', q{DO $$ BEGIN PERFORM pigment.merge('long_v'); END $$});
like($warned, qr/WARNING:  index "long_v" keeps 1000 deleted rows in its segment \d+, .*HINT:  Increase/s, 'a merge tells of rows that stay');
is($node->safe_psql('postgres', q{SELECT rows FROM pigment.segments WHERE index = 'long_v'::regclass AND kind = 'clusters'}), '9000', '... beside their index');
(undef, $warned) = build('64MB', q{DO $$ BEGIN PERFORM pigment.merge('long_v'); END $$});
unlike($warned, qr/WARNING/, 'with more memory there is nothing to say');
is($node->safe_psql('postgres', q{SELECT kind, rows FROM pigment.segments WHERE index = 'long_v'::regclass}), 'clusters|15000', '... and one segment with an index');
is($node->safe_psql('postgres', "SELECT is_whole('long', 'long_v')"), 't', '... of all rows');

# Nobody knows how long vectors are before the first one.
$node->safe_psql('postgres', q{
	CREATE TABLE late (id int, note text, v vector);
	INSERT INTO late SELECT n, repeat(md5(n::text), 30) FROM generate_series(1, 100000) n;
});
my ($grown) = build('1MB', 'CREATE INDEX late_v ON late USING pigment (v, note)');
cmp_ok($grown, '<', allowed(1), "no vector at all: the backend grew by $grown kB");
is($node->safe_psql('postgres', "SELECT is_whole('late', 'late_v')"), 't', 'no vector at all: all rows are in the index');
$node->safe_psql('postgres', q{DROP INDEX late_v; INSERT INTO late SELECT -n, 'with', ARRAY[n, 1] FROM generate_series(1, 100) n});
($grown) = build('1MB', 'CREATE INDEX late_v ON late USING pigment (v, note)');
cmp_ok($grown, '<', allowed(1), "vectors come last: the backend grew by $grown kB");
is($node->safe_psql('postgres', "SELECT is_whole('late', 'late_v')"), 't', 'vectors come last: all rows are in the index');
is($node->safe_psql('postgres', q{
	SET enable_seqscan = off;
	SELECT id FROM late ORDER BY v <-> '[7,1]' LIMIT 1;
	SELECT id FROM late WHERE note = repeat(md5('99999'), 30);
}), "-7\n99999", 'vectors come last: both kinds of rows are found');

# The directory has place for 252 segments, and the last of them no more memory than the others.
$node->safe_psql('postgres', q{
	CREATE TABLE crowd (id int, v vector(8));
	INSERT INTO crowd SELECT n, array_fill(n % 1000 + n / 1e6, ARRAY[8]) FROM generate_series(1, 3700000) n;
});
(undef, my $told) = build('4MB', 'CREATE INDEX crowd_some ON crowd USING pigment (v) WITH (kind = spann) WHERE id <= 200000');
like($told, qr/NOTICE:  index "crowd_some" has (?!1 )\d+ segments, because its vectors do not fit .*HINT:  .*Increase maintenance_work_mem for fewer\./s,
	'several segments are told of');
($grown, $told) = build('1MB', 'CREATE INDEX crowd_v ON crowd USING pigment (v) WITH (kind = spann)');
cmp_ok($grown, '<', allowed(1), "the directory is full: the backend grew by $grown kB");
like($told, qr/WARNING:  index "crowd_v" has no graph or clusters in 1 of its 252 segments, .*HINT:  Increase maintenance_work_mem\./s,
	'... and the last segment has no index, which is said');
is($node->safe_psql('postgres', "SELECT is_whole('crowd', 'crowd_v')"), 't', '... and all rows are in the index');
is($node->safe_psql('postgres', q{
	SET enable_seqscan = off;
	SELECT id FROM crowd ORDER BY v <-> array_fill(999 + 3699999 / 1e6, ARRAY[8])::vector LIMIT 1;
}), '3699999', '... and found by distance');
$node->safe_psql('postgres', 'DROP TABLE crowd');
# Vectors that do not fit wait in a temporary file for their index, and one segment has them all.
$node->safe_psql('postgres', q{
	CREATE TABLE wide (id int, v vector(256));
	SELECT setseed(0.5);
	INSERT INTO wide SELECT n, (SELECT array_agg(cos(n % 50 + d) + random()) FROM generate_series(1, 256) d WHERE n > 0)::vector FROM generate_series(1, 20000) n;
});
my $segments = q{SELECT kind || ' ' || rows FROM pigment.segments WHERE index = 'wide_v'::regclass AND kind <> 'pending'};
($grown, $told) = build('16MB', 'CREATE INDEX wide_v ON wide USING pigment (v) WITH (kind = hnsw)');
is($told, '', 'beyond the memory of a graph there is nothing to tell');
is($node->safe_psql('postgres', $segments), 'graph 20000', '... and one graph');
is($node->safe_psql('postgres', "SELECT is_whole('wide', 'wide_v')"), 't', '... of all rows');
is($node->safe_psql('postgres', q{SELECT count(*) FROM pg_ls_tmpdir()}), '0', '... which leaves no file');
cmp_ok($node->safe_psql('postgres', q{
	SET enable_seqscan = off;
	WITH asked AS MATERIALIZED (SELECT v FROM wide WHERE id % 400 = 0)
	SELECT count(*) FROM asked, LATERAL (SELECT v FROM wide ORDER BY v <-> asked.v LIMIT 1) nearest WHERE nearest.v = asked.v;
}), '==', 50, '... that finds them by their vectors');
$node->safe_psql('postgres', 'DELETE FROM wide WHERE id % 10 = 0; INSERT INTO wide SELECT id + 20000, v FROM wide WHERE id % 9 = 0');
$node->safe_psql('postgres', 'VACUUM (FREEZE, INDEX_CLEANUP on) wide');
(undef, $told) = build('16MB', q{DO $$ BEGIN PERFORM pigment.merge('wide_v'); END $$});
is($told, '', 'nor is there of a merge');
like($node->safe_psql('postgres', $segments), qr/^graph \d+$/, '... which makes one graph');
is($node->safe_psql('postgres', "SELECT is_whole('wide', 'wide_v')"), 't', '... of all rows');
(undef, $told) = build('16MB', q{SET temp_file_limit = '1MB'; REINDEX INDEX wide_v});
like($told, qr/NOTICE:  index "wide_v" has (?!1 )\d+ segments, because its vectors do not fit into maintenance_work_mem.*HINT:  /s, 'where temporary files are limited there are several segments');
is($node->safe_psql('postgres', "SELECT is_whole('wide', 'wide_v')"), 't', '... of all rows');
(undef, $told) = build('16MB', q{SET temp_file_limit = '1MB'; DO $$ BEGIN PERFORM pigment.merge('wide_v'); END $$});
unlike($told, qr/no graph or clusters/, '... that a merge leaves apart');
is($node->safe_psql('postgres', "SELECT is_whole('wide', 'wide_v')"), 't', '... with all rows');
$node->stop;
done_testing();
