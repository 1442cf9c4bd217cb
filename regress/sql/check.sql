-- SPDX-License-Identifier: Apache-2.0
--
-- pigment.check(index, heap => true) and pigment.differences(index): nothing is found of indexes that are as they should be, whatever their columns
-- and whatever happened to them; what was planted is found, with row and column.

CREATE TABLE checked (id int PRIMARY KEY, v vector(4), h halfvec(3), small smallint, price numeric, rate real, name text COLLATE "C", note varchar, words text[], doc jsonb,
	meta jsonb, body text, day date, at timestamptz, ok boolean, u uuid, other int) WITH (autovacuum_enabled = off, fillfactor = 70);
CREATE FUNCTION checked_rows(first int, last int) RETURNS SETOF checked LANGUAGE sql AS $$
	SELECT n, CASE WHEN n % 5 > 0 THEN ARRAY[n % 13, n % 17 - 8, n, -0.0]::vector END, CASE WHEN n % 7 > 0 THEN ARRAY[n % 3, n % 101, -n % 7]::halfvec END,
		nullif(n % 50, 7), n / 7.0, nullif(n % 11, 3) / 3.0, repeat('long ', n % 80), nullif('note ' || n % 300, 'note 5'), ARRAY['w' || n % 5, NULL, 'x' || n % 3],
		jsonb_build_object('lang', 'l' || n % 4, 'tags', ARRAY[n % 2, n % 3], 'deep', jsonb_build_object('n', n % 90)), jsonb_build_object('k', n % 6, 's', 't' || n % 9),
		CASE WHEN n % 4 > 0 THEN 'The brown fox no. ' || n % 40 || ' jumps' END, '2024-01-01'::date + n % 400, '2024-01-01'::timestamptz + n * '1 hour'::interval,
		nullif(n % 3, 2) = 1, md5((n % 500)::text)::uuid, 0
	FROM generate_series(first, last) n
$$;
INSERT INTO checked SELECT * FROM checked_rows(1, 9000);
CREATE INDEX checked_all ON checked USING pigment (small, v, price, rate, name, note text_trgm_ops, words, doc, meta pigment.metadata_ops, body text_bm25_ops, day, at, ok, u);
CREATE INDEX checked_h ON checked USING pigment (h halfvec_cosine_ops, id);
CREATE INDEX checked_some ON checked USING pigment (v vector_ip_ops, (doc ->> 'lang'), upper(note)) WITH (kind = spann) WHERE small > 10;
CREATE INDEX checked_l1 ON checked USING pigment ((v::halfvec(4)) halfvec_l1_ops);
CREATE INDEX checked_filters ON checked USING pigment (words, ok);
-- How many rows each index has beyond what it should, and whether it has the right ones.
CREATE FUNCTION look() RETURNS TABLE (index regclass, rows bigint, differences bigint) LANGUAGE sql AS $$
	SELECT i, (pigment.check(i, heap => true)).live_rows, (SELECT count(*) FROM pigment.differences(i))
	FROM unnest('{checked_all,checked_h,checked_some,checked_l1,checked_filters}'::regclass[]) i
$$;
SELECT * FROM look();
-- Pending rows, versions that are dead to all and are there still, chains of heap-only tuples, rows that were rolled back
INSERT INTO checked SELECT * FROM checked_rows(9001, 9500);
UPDATE checked SET other = id WHERE id % 3 = 0;
UPDATE checked SET small = small + 1, words = words || 'more'::text WHERE id % 20 = 0;
UPDATE checked SET v = v + '[0,0,0,1]' WHERE id % 30 = 0;
DELETE FROM checked WHERE id % 10 = 1;
BEGIN;
INSERT INTO checked SELECT * FROM checked_rows(20001, 20100);
UPDATE checked SET v = NULL WHERE id < 100;
SELECT index, differences FROM look();
ROLLBACK;
SELECT index, differences FROM look();
VACUUM (INDEX_CLEANUP off) checked;
SELECT index, differences FROM look();
VACUUM checked;
SELECT index, differences FROM look();
SELECT pigment.merge('checked_all'), pigment.merge('checked_some');
INSERT INTO checked SELECT * FROM checked_rows(30001, 30400);
DELETE FROM checked WHERE id % 10 = 3;
VACUUM checked;
SELECT index, differences FROM look();
-- In a transaction that has an older snapshot
BEGIN ISOLATION LEVEL REPEATABLE READ;
SELECT count(*) > 0 FROM checked;
DELETE FROM checked WHERE id % 10 = 5;
SELECT index, differences FROM look();
COMMIT;
TRUNCATE checked;
SELECT * FROM look();

-- An index that is not ready is not told of changes: nobody but who writes into the catalog can do that. The table is temporary, so that VACUUM
-- waits for no snapshot.
CREATE TEMP TABLE planted (id int, v vector(2), tag int, note text);
INSERT INTO planted SELECT n, ARRAY[n, 1], n % 3, 'note ' || n FROM generate_series(1, 8) n;
CREATE INDEX planted_x ON planted USING pigment (v vector_cosine_ops, tag, note text_trgm_ops);
INSERT INTO planted VALUES (9, '[9,1]', 0, NULL), (10, NULL, NULL, 'note 10');
SELECT * FROM pigment.differences('planted_x');
UPDATE pg_index SET indisready = false WHERE indexrelid = 'planted_x'::regclass;
INSERT INTO planted VALUES (11, '[11,1]', 1, 'not told');
UPDATE planted SET tag = 7 WHERE id = 2;
UPDATE pg_index SET indisready = true WHERE indexrelid = 'planted_x'::regclass;
SELECT * FROM pigment.differences('planted_x') ORDER BY 1, 2;
SELECT pigment.check('planted_x', heap => true);
SELECT live_rows FROM pigment.check('planted_x', heap => false);
-- Row pointers that the index was not asked to let go of
UPDATE pg_index SET indisready = false WHERE indexrelid = 'planted_x'::regclass;
DELETE FROM planted WHERE id IN (4, 5, 6, 9, 10, 11);
VACUUM planted;
UPDATE pg_index SET indisready = true WHERE indexrelid = 'planted_x'::regclass;
SELECT * FROM pigment.differences('planted_x') ORDER BY 1, 2;
SELECT pigment.check('planted_x');
-- ... and that lead to other rows now: the same vector twice as long, another number, another text, all of it, nothing
UPDATE pg_index SET indisready = false WHERE indexrelid = 'planted_x'::regclass;
INSERT INTO planted VALUES (20, '[4,2]', 2, 'note 2'), (40, '[4,1]', 5, 'note 4'), (50, '[5,1]', 2, 'Note 5'), (60, '[6,7]', 8, NULL), (90, NULL, 0, NULL);
UPDATE pg_index SET indisready = true WHERE indexrelid = 'planted_x'::regclass;
SELECT d.*, p.id FROM pigment.differences('planted_x') d LEFT JOIN planted p ON p.ctid = d.tid ORDER BY 1, 2;
SELECT pigment.check('planted_x');
-- In segments too
SELECT pigment.merge('planted_x');
SELECT * FROM pigment.differences('planted_x') ORDER BY 1, 2;
REINDEX INDEX planted_x;
SELECT * FROM pigment.differences('planted_x');
SELECT live_rows FROM pigment.check('planted_x');
-- An index without a vector
CREATE TEMP TABLE tagged (id int, tag int, words text[]);
INSERT INTO tagged SELECT n, n % 3, ARRAY['w' || n] FROM generate_series(1, 3) n;
CREATE INDEX tagged_x ON tagged USING pigment (tag, words);
UPDATE pg_index SET indisready = false WHERE indexrelid = 'tagged_x'::regclass;
DELETE FROM tagged WHERE id < 3;
VACUUM tagged;
INSERT INTO tagged VALUES (4, 1, '{}');
UPDATE pg_index SET indisready = true WHERE indexrelid = 'tagged_x'::regclass;
SELECT * FROM pigment.differences('tagged_x') ORDER BY 1, 2;
-- A place that was given to another row, of which the index is told
UPDATE pg_class SET relhasindex = true WHERE oid = 'tagged'::regclass; -- VACUUM saw none
INSERT INTO tagged VALUES (5, 2, '{w2}'), (6, 0, '{w6}');
SELECT * FROM pigment.differences('tagged_x') ORDER BY 1, 2;
DELETE FROM tagged WHERE id = 4;
SELECT pigment.check('tagged_x');
SELECT pigment.merge('tagged_x');
SELECT * FROM pigment.differences('tagged_x');

-- Whose index it is, and what is none
CREATE ROLE checker;
GRANT SELECT ON checked TO checker;
SET ROLE checker;
SELECT * FROM pigment.differences('checked_all');
RESET ROLE;
SELECT * FROM pigment.differences('checked_pkey');
SELECT * FROM pigment.differences(NULL);
DROP FUNCTION look();
DROP FUNCTION checked_rows;
DROP TABLE checked, planted, tagged;
DROP ROLE checker;
