-- SPDX-License-Identifier: Apache-2.0
--
-- Flush, merge, VACUUM and page reuse: the index holds what the table holds before, during and after each of them, and the file stays small.

CREATE FUNCTION merge_vector(n bigint, dim int) RETURNS vector LANGUAGE sql IMMUTABLE AS
	'SELECT array_agg(((n * 7919 + i * 104729) % 211 - 105)::real)::vector FROM generate_series(1, dim) i';
-- By index and by sort: the same rows in the same order.
CREATE FUNCTION merge_agrees(relation regclass, condition text DEFAULT 'true') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT count(*) || md5(string_agg(id || coalesce(d::text, ''-''), '' '' ORDER BY d, id)) FROM '
		'(SELECT id, v <-> merge_vector(17, vector_dims((SELECT v FROM %1$s WHERE v IS NOT NULL LIMIT 1))) AS d FROM %1$s WHERE %2$s '
		'ORDER BY v <-> merge_vector(17, vector_dims((SELECT v FROM %1$s WHERE v IS NOT NULL LIMIT 1)))) o', relation, condition);
	by_index text;
	by_sort text;
	line text;
	plan text := '';
BEGIN
	PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true);
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query LOOP plan := plan || line || E'\n'; END LOOP;
	IF plan NOT LIKE '%Index Scan using%' THEN RETURN plan; END IF;
	EXECUTE query INTO by_index;
	PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_sort', 'on', true), set_config('enable_indexscan', 'off', true);
	EXECUTE query INTO by_sort;
	PERFORM set_config('enable_indexscan', 'on', true);
	RETURN CASE WHEN by_index = by_sort THEN 'agrees' ELSE 'differs: ' || by_index || ' by sort ' || by_sort END;
END
$$;
-- Every page serves for one thing, none is lost.
CREATE FUNCTION merge_pages(index regclass) RETURNS text LANGUAGE sql AS
	$$SELECT CASE WHEN leaked = 0 AND pages = meta + segment + deletion + pending + overflow + retired + free THEN live_rows || ' rows'
		ELSE c::text END FROM pigment.check(index) c$$;

CREATE TABLE merged (id bigint PRIMARY KEY, v vector(16), tag int, words text[]) WITH (autovacuum_enabled = off);
CREATE INDEX merged_v ON merged USING pigment (v, tag, words);

-- Inserts flush by themselves, and merge what is small.
SET pigment.pending_list_limit = '64kB';
INSERT INTO merged SELECT n, CASE WHEN n % 10 > 0 THEN merge_vector(n, 16) END, nullif(n % 7, 0), ARRAY['w' || n % 5, 'x' || n % 3]
FROM generate_series(1, 8000) n;
SELECT segments BETWEEN 1 AND 8 AS few_segments, segment_rows + pending_rows AS rows, pending_pages < 20 AS few_pending,
	retired_pages + free_pages > 0 AS pages_went FROM pigment.stats('merged_v');
SELECT merge_pages('merged_v');
SELECT merge_agrees('merged'), merge_agrees('merged', 'tag = 3'), merge_agrees('merged', 'words @> ''{w2,x1}'''), merge_agrees('merged', 'tag IS NULL');

-- One segment of all.
SELECT pigment.merge('merged_v');
SELECT segments, segment_rows, deleted_rows, pending_rows, pending_pages FROM pigment.stats('merged_v');
SELECT merge_pages('merged_v');
SELECT merge_agrees('merged'), merge_agrees('merged', 'tag = 3'), merge_agrees('merged', 'words @> ''{w2,x1}'''), merge_agrees('merged', 'tag IS NULL');
-- Nothing to do.
SELECT pigment.merge('merged_v');
SELECT segments, segment_rows FROM pigment.stats('merged_v');

-- Deleted rows are marked by VACUUM, and dropped by the next merge.
DELETE FROM merged WHERE id % 4 = 0;
VACUUM merged;
SELECT segments, segment_rows, deleted_rows FROM pigment.stats('merged_v');
INSERT INTO merged SELECT n, merge_vector(n, 16), n % 7 FROM generate_series(9001, 9010) n;
SELECT pigment.merge('merged_v');
SELECT segments, segment_rows, deleted_rows, pending_rows FROM pigment.stats('merged_v');
SELECT merge_pages('merged_v');
SELECT merge_agrees('merged'), merge_agrees('merged', 'tag = 3'), merge_agrees('merged', 'words @> ''{w2,x1}''');

-- A scan that began before a flush, a merge and VACUUMs goes on with what it saw.
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_sort = off;
DECLARE before_merge CURSOR FOR SELECT id FROM merged ORDER BY v <-> merge_vector(17, 16);
FETCH 1 FROM before_merge;
UPDATE merged SET tag = tag + 1 WHERE id % 2 = 1;
SELECT pigment.merge('merged_v');
INSERT INTO merged SELECT n, merge_vector(n, 16) FROM generate_series(20001, 22000) n;
SELECT pigment.merge('merged_v');
MOVE FORWARD ALL FROM before_merge;
COMMIT;
SELECT merge_agrees('merged'), merge_agrees('merged', 'tag = 3'), merge_pages('merged_v');

-- Everything goes: no segment is left, and another begins.
DELETE FROM merged;
VACUUM merged;
SELECT pigment.merge('merged_v');
SELECT segments, segment_rows, pending_rows, pending_pages FROM pigment.stats('merged_v');
INSERT INTO merged SELECT n, merge_vector(n, 16), n % 7 FROM generate_series(1, 3000) n;
SELECT merge_agrees('merged'), merge_pages('merged_v');

-- Twenty rounds of update and VACUUM: pages are used again.
CREATE TABLE rounds (id int PRIMARY KEY, v vector(16)) WITH (autovacuum_enabled = off);
INSERT INTO rounds SELECT n, merge_vector(n, 16) FROM generate_series(1, 3000) n;
CREATE INDEX rounds_v ON rounds USING pigment (v);
CREATE TABLE sizes (round int, pages bigint);
\set ECHO errors
SELECT format('UPDATE rounds SET v = merge_vector(id + %s, 16)', n), 'VACUUM rounds',
	format('INSERT INTO sizes SELECT %s, pages FROM pigment.stats(''rounds_v'')', n)
FROM generate_series(1, 20) n \gexec
\set ECHO all
SELECT count(*) AS rounds, max(pages) FILTER (WHERE round > 10) <= max(pages) FILTER (WHERE round <= 10) * 1.25 AS stays,
	max(pages) < 20 * min(pages) AS bounded FROM sizes;
SELECT merge_agrees('rounds'), merge_pages('rounds_v');

-- Entries that are larger than a page.
CREATE TABLE merged_wide (id int PRIMARY KEY, v vector(3000)) WITH (autovacuum_enabled = off);
CREATE INDEX merged_wide_v ON merged_wide USING pigment (v);
INSERT INTO merged_wide SELECT n, merge_vector(n, 3000) FROM generate_series(1, 330) n;
DELETE FROM merged_wide WHERE id % 3 = 0;
VACUUM merged_wide;
SELECT segments, segment_rows - deleted_rows + pending_rows AS live FROM pigment.stats('merged_wide_v');
SELECT merge_pages('merged_wide_v'), merge_agrees('merged_wide');
SELECT pigment.merge('merged_wide_v');
SELECT merge_pages('merged_wide_v'), merge_agrees('merged_wide');

-- Without a dimension nothing is flushed; without a vector column there is none to wait for.
CREATE TABLE merged_any (id int PRIMARY KEY, v vector, tag int) WITH (autovacuum_enabled = off);
CREATE INDEX merged_any_v ON merged_any USING pigment (v);
CREATE INDEX merged_any_tag ON merged_any USING pigment (tag);
INSERT INTO merged_any SELECT n, NULL, n % 3 FROM generate_series(1, 5000) n;
SELECT pigment.merge('merged_any_v') AS no_vector_yet, pigment.merge('merged_any_tag') AS no_vector_ever;
INSERT INTO merged_any VALUES (6000, '[1,2,3]', 1);
SELECT pigment.merge('merged_any_v');
SELECT merge_pages('merged_any_v'), merge_pages('merged_any_tag'), merge_agrees('merged_any');
-- The dimension is free again when its last row has gone from the segments too.
DELETE FROM merged_any WHERE v IS NOT NULL;
INSERT INTO merged_any VALUES (6001, '[1,2]', 1);
VACUUM merged_any;
SELECT pigment.merge('merged_any_v');
DELETE FROM merged_any;
VACUUM merged_any;
SELECT pigment.merge('merged_any_v');
INSERT INTO merged_any VALUES (6002, '[1,2]', 1);
SELECT dimension, segments, pending_rows FROM pigment.stats('merged_any_v');

-- Unlogged and temporary tables; a transaction that is rolled back.
CREATE UNLOGGED TABLE merged_unlogged (id int PRIMARY KEY, v vector(16)) WITH (autovacuum_enabled = off);
CREATE INDEX merged_unlogged_v ON merged_unlogged USING pigment (v);
INSERT INTO merged_unlogged SELECT n, merge_vector(n, 16) FROM generate_series(1, 3000) n;
SELECT merge_pages('merged_unlogged_v'), merge_agrees('merged_unlogged'), pigment.merge('merged_unlogged_v');
CREATE TEMP TABLE merged_temp (id int PRIMARY KEY, v vector(16));
CREATE INDEX merged_temp_v ON merged_temp USING pigment (v);
INSERT INTO merged_temp SELECT n, merge_vector(n, 16) FROM generate_series(1, 3000) n;
SELECT merge_pages('merged_temp_v'), merge_agrees('merged_temp'), pigment.merge('merged_temp_v');
BEGIN;
INSERT INTO rounds SELECT n, merge_vector(n, 16) FROM generate_series(3001, 6000) n;
SELECT pigment.merge('rounds_v');
ROLLBACK;
SELECT merge_agrees('rounds'), merge_pages('rounds_v');
VACUUM rounds;
SELECT pigment.merge('rounds_v');
SELECT segment_rows, deleted_rows FROM pigment.stats('rounds_v');

-- Its owner's alone, and an index of ours.
CREATE ROLE merge_guest;
SET ROLE merge_guest;
SELECT pigment.merge('rounds_v');
RESET ROLE;
DROP ROLE merge_guest;
SELECT pigment.merge('rounds_pkey');

RESET pigment.pending_list_limit;
DROP TABLE merged, rounds, sizes, merged_wide, merged_any, merged_unlogged, merged_temp;
DROP FUNCTION merge_vector, merge_agrees, merge_pages;
