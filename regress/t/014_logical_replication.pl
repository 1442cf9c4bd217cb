# SPDX-License-Identifier: Apache-2.0

# Logical replication of tables with our types: a subscriber with an index of its own finds what the publisher has, row by row, whatever identifies the
# rows there. Vectors are sent as text and in binary format.

use strict;
use warnings;
use PostgreSQL::Test::Cluster;
use PostgreSQL::Test::Utils;
use Test::More;

my $publisher = PostgreSQL::Test::Cluster->new('publisher');
my $subscriber = PostgreSQL::Test::Cluster->new('subscriber');
$publisher->init(allows_streaming => 'logical');
$subscriber->init;
for my $node ($publisher, $subscriber)
{
	$node->append_conf('postgresql.conf', "autovacuum = off\npigment.pending_list_limit = 64kB\n");
	$node->start;
	$node->safe_psql('postgres', q{
		CREATE EXTENSION pigment;
		CREATE TABLE keyed (id int PRIMARY KEY, v vector(8), h halfvec(4), s sparsevec(9), doc jsonb, body text);
		-- rows are known by all that they hold; some are there twice
		CREATE TABLE whole (v vector(8), grp int);
		ALTER TABLE whole REPLICA IDENTITY FULL;
	});
}
# each has the index that it wants
$publisher->safe_psql('postgres', q{
	CREATE INDEX ON keyed USING pigment (v);
	CREATE INDEX ON whole USING pigment (grp, v vector_cosine_ops)});
$subscriber->safe_psql('postgres', q{
	CREATE INDEX keyed_all ON keyed USING pigment (v vector_l2_ops, doc, body text_trgm_ops);
	CREATE INDEX keyed_half ON keyed USING pigment (h halfvec_l2_ops);
	CREATE INDEX keyed_text ON keyed USING pigment (body text_bm25_ops);
	CREATE INDEX whole_v ON whole USING pigment (v, grp)});

my $vector = q{ARRAY[n % 17, n % 19, n % 23, n % 29, n % 31, n % 37, n % 41, 1]};
my $row = qq{n, CASE WHEN n % 10 <> 0 THEN $vector END, ARRAY[n % 43, n % 47, n % 53, 1], ('{' || n % 9 + 1 || ':' || n || '.5}/9')::sparsevec,
	jsonb_build_object('n', n, 'kind', 'k' || n % 6), 'word' || n % 9 || ' and word' || n % 13};
# some before the subscription, to be copied
$publisher->safe_psql('postgres', qq{
	INSERT INTO keyed SELECT $row FROM generate_series(1, 500) n;
	INSERT INTO whole SELECT $vector, n % 5 FROM generate_series(1, 300) n;
	INSERT INTO whole SELECT $vector, n % 5 FROM generate_series(1, 30) n;
	CREATE PUBLICATION all_of_it FOR TABLE keyed, whole});

my $query = q{'[3,1,4,1,5,9,2,6]'};
# Each with the index that answers it.
my @questions = (
	[ "SELECT id FROM keyed ORDER BY v <-> $query, id LIMIT 40", 'keyed_all' ],
	[ "SELECT id FROM keyed WHERE doc ->> 'kind' = 'k2' ORDER BY v <-> $query, id LIMIT 20", 'keyed_all' ],
	[ "SELECT count(*), sum(id) FROM keyed WHERE body LIKE '%word7 and%'", 'keyed_all' ],
	[ "SELECT id FROM keyed ORDER BY h <-> '[1,2,3,1]', id LIMIT 40", 'keyed_half' ],
	[ "SELECT v, grp FROM whole WHERE grp = 3 ORDER BY v <-> $query, v LIMIT 40", 'whole_v' ]);
my $all = join ';', map { $$_[0] } @questions;
my $by_index = 'SET enable_seqscan = off; SET enable_sort = off; SET pigment.target_recall = 1;';
my $by_table = 'SET enable_indexscan = off; SET enable_bitmapscan = off;';
my $contents = 'SELECT k FROM keyed k ORDER BY id; SELECT w FROM whole w ORDER BY v, grp';

sub agrees
{
	my ($name) = @_;
	$publisher->wait_for_catchup('all_of_it');
	is($subscriber->safe_psql('postgres', $contents), $publisher->safe_psql('postgres', $contents), "$name: the subscriber has the publisher's rows");
	my ($status, undef, $errors) = $subscriber->psql('postgres', q{
		SELECT pigment.check(c.oid) FROM pg_class c JOIN pg_am a ON a.oid = relam AND amname = 'pigment' WHERE relkind = 'i'});
	is($status, 0, "$name: its indexes are sound and have the rows of its tables") or diag($errors);
	is($subscriber->safe_psql('postgres', "$by_index $all"), $publisher->safe_psql('postgres', "$by_table $all"), "$name: and give the publisher's answers");
	return;
}

for my $binary ('false', 'true')
{
	my $name = $binary eq 'true' ? 'binary' : 'text';
	$subscriber->safe_psql('postgres', "CREATE SUBSCRIPTION all_of_it CONNECTION '" . $publisher->connstr . " dbname=postgres' PUBLICATION all_of_it WITH (binary = $binary)");
	$subscriber->wait_for_subscription_sync($publisher, 'all_of_it');
	agrees("$name, copied");
	# pending rows and segments on both sides
	$publisher->safe_psql('postgres', qq{
		INSERT INTO keyed SELECT $row FROM generate_series(501, 900) n;
		BEGIN; INSERT INTO keyed SELECT $row FROM generate_series(2001, 2100) n; DELETE FROM whole; ROLLBACK});
	$publisher->safe_psql('postgres', q{
		UPDATE keyed SET v = v + '[1,0,0,0,0,0,0,0]' WHERE id % 7 = 1;
		UPDATE keyed SET doc = doc || '{"kind": "k2"}' WHERE id % 7 = 2;
		UPDATE keyed SET id = id + 1000, h = h * h WHERE id % 7 = 3;
		UPDATE keyed SET v = NULL, body = body || ' word7 and more' WHERE id % 7 = 4;
		DELETE FROM keyed WHERE id % 7 = 5});
	# one of two equal rows at a time
	$publisher->safe_psql('postgres', q{
		DELETE FROM whole WHERE ctid IN (SELECT min(ctid) FROM whole WHERE grp < 3 GROUP BY v, grp HAVING count(*) > 1);
		UPDATE whole SET v = v * v WHERE grp = 3;
		UPDATE whole SET grp = 3 WHERE grp = 4;
		DELETE FROM whole WHERE v <-> '[1,1,1,1,1,1,1,1]' < 20});
	agrees("$name, changed");
	$subscriber->safe_psql('postgres', q{VACUUM keyed, whole});
	$publisher->safe_psql('postgres', qq{
		DELETE FROM keyed WHERE id >= 400;
		INSERT INTO whole SELECT $vector, n % 5 FROM generate_series(1, 60) n});
	agrees("$name, after VACUUM");
	is($subscriber->safe_psql('postgres', "$by_index EXPLAIN (COSTS OFF) $$_[0]") =~ /(?:Index Scan using|Bitmap Index Scan on) $$_[1]/ ? 1 : 0, 1, "$name: $$_[1] answers $$_[0]") for @questions;
	my $ranked = q{SELECT id, round((body <@> 'word7')::numeric, 5) FROM keyed ORDER BY body <@> 'word7', id LIMIT 20};
	$subscriber->safe_psql('postgres', 'VACUUM keyed');
	my $scores = $subscriber->safe_psql('postgres', $ranked);
	$subscriber->safe_psql('postgres', 'REINDEX INDEX keyed_text');
	is($scores, $subscriber->safe_psql('postgres', $ranked), "$name: texts are ranked as by a new index");
	$publisher->safe_psql('postgres', 'TRUNCATE keyed, whole');
	agrees("$name, truncated");
	$subscriber->safe_psql('postgres', 'DROP SUBSCRIPTION all_of_it');
	$publisher->safe_psql('postgres', qq{
		INSERT INTO keyed SELECT $row FROM generate_series(1, 500) n;
		INSERT INTO whole SELECT $vector, n % 5 FROM generate_series(1, 300) n;
		INSERT INTO whole SELECT $vector, n % 5 FROM generate_series(1, 30) n});
}
$subscriber->stop;
$publisher->stop;
unlike(slurp_file($_->logfile), qr/PANIC|terminated by signal|ERROR: .*(?:pigment|vector)/, $_->name . ' went on') for $publisher, $subscriber;
done_testing();
