-- SPDX-License-Identifier: Apache-2.0
--
-- Pending rows that a session keeps from scan to scan: they are those of the table while rows come, go and are flushed, and a row pointer that is used
-- again leads to its new row alone.

CREATE FUNCTION pending_vector(n bigint, dim int) RETURNS vector LANGUAGE sql IMMUTABLE AS
	'SELECT array_agg(((n * 7919 + i * 104729) % 211 - 105)::real)::vector FROM generate_series(1, dim) i';
-- By index and by sort: the same rows in the same order.
CREATE FUNCTION pending_agrees(relation regclass, operator text DEFAULT '<->', condition text DEFAULT 'true') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	dim int;
	query text;
	by_index text;
	by_sort text;
BEGIN
	EXECUTE format('SELECT vector_dims(v) FROM %s WHERE v IS NOT NULL LIMIT 1', relation) INTO dim;
	query := format('SELECT count(*) || md5(string_agg(id || coalesce(d::text, ''-''), '' '' ORDER BY d, id)) FROM '
		'(SELECT id, v %2$s %4$L AS d FROM %1$s WHERE %3$s ORDER BY v %2$s %4$L LIMIT %5$s) o', relation, operator, condition,
		pending_vector(17, coalesce(dim, 2)), 100000);
	PERFORM set_config('enable_seqscan', 'off', true), set_config('enable_sort', 'off', true);
	EXECUTE query INTO by_index;
	IF (pigment.last_scan()).strategy NOT LIKE '%order' THEN RETURN 'not by the index'; END IF;
	PERFORM set_config('enable_seqscan', 'on', true), set_config('enable_sort', 'on', true), set_config('enable_indexscan', 'off', true);
	EXECUTE query INTO by_sort;
	PERFORM set_config('enable_indexscan', 'on', true);
	RETURN CASE WHEN by_index = by_sort THEN 'agrees' ELSE 'differs: ' || by_index || ' by sort ' || by_sort END;
END
$$;

-- What an open cursor still gives.
CREATE FUNCTION pending_rest(rows refcursor) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	one bigint;
	count int := 0;
	sum bigint := 0;
BEGIN
	LOOP
		FETCH rows INTO one;
		EXIT WHEN NOT FOUND;
		count := count + 1;
		sum := sum + one;
	END LOOP;
	RETURN count || ' rows, in all ' || sum;
END
$$;

-- Pages are read by the first scan, and then those of vectors that may be near.
CREATE TABLE pending_steps (id int, v vector(64)) WITH (autovacuum_enabled = off);
CREATE INDEX pending_steps_v ON pending_steps USING pigment (v);
INSERT INTO pending_steps SELECT n, array_fill(n, ARRAY[64])::vector FROM generate_series(1, 1000) n;
SET enable_seqscan = off;
SET enable_sort = off;
SELECT id FROM pending_steps ORDER BY v <-> array_fill(3, ARRAY[64])::vector LIMIT 2;
SELECT pages_read > 15 AS all_pages, rows_scored, filter_rows FROM pigment.last_scan();
SELECT id FROM pending_steps ORDER BY v <-> array_fill(3, ARRAY[64])::vector LIMIT 2;
SELECT pages_read < 10 AS few_pages, rows_scored, filter_rows FROM pigment.last_scan();
RESET enable_seqscan;
RESET enable_sort;

-- Rows that come, with filters.
CREATE TABLE pending (id int PRIMARY KEY, v vector(64), tag int) WITH (autovacuum_enabled = off);
CREATE INDEX pending_v ON pending USING pigment (v, tag);
INSERT INTO pending SELECT n, CASE WHEN n % 10 > 0 THEN pending_vector(n, 64) END, nullif(n % 7, 0) FROM generate_series(1, 1000) n;
SELECT pending_agrees('pending'), pending_agrees('pending', condition => 'tag = 3'), pending_agrees('pending', condition => 'tag IS NULL');
INSERT INTO pending SELECT n, pending_vector(n, 64), n % 7 FROM generate_series(1001, 1300) n;
SELECT pending_agrees('pending'), pending_agrees('pending', condition => 'tag = 3'), pending_agrees('pending', condition => 'tag IS NULL');
-- Rows of a transaction that is rolled back.
BEGIN;
INSERT INTO pending SELECT n, pending_vector(n, 64), n % 7 FROM generate_series(1301, 1600) n;
SELECT pending_agrees('pending');
SAVEPOINT more;
INSERT INTO pending SELECT n, pending_vector(n, 64), n % 7 FROM generate_series(1601, 1700) n;
SELECT pending_agrees('pending');
ROLLBACK TO more;
SELECT pending_agrees('pending');
ROLLBACK;
SELECT pending_agrees('pending');
-- A scan that fails while it reads.
SET enable_seqscan = off;
SELECT id FROM pending ORDER BY v <-> '[1,2,3]' LIMIT 1;
RESET enable_seqscan;

-- Cursors that began before a flush; the second begins scans after one that knows what came since.
CREATE TABLE pending_asked (n int);
INSERT INTO pending_asked VALUES (1), (2), (3);
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL enable_sort = off;
DECLARE one CURSOR FOR SELECT id FROM pending ORDER BY v <-> pending_vector(17, 64);
DECLARE several CURSOR FOR SELECT n, o.id FROM pending_asked, LATERAL
	(SELECT id FROM pending ORDER BY v <-> pending_vector(n, 64) LIMIT 2) o;
DECLARE late CURSOR FOR SELECT id FROM pending ORDER BY v <-> pending_vector(17, 64);
FETCH 2 FROM one;
FETCH 1 FROM several;
INSERT INTO pending SELECT n, pending_vector(n - 2000, 64), n % 7 FROM generate_series(2001, 2010) n;
SELECT pigment.merge('pending_v');
INSERT INTO pending SELECT n, pending_vector(n - 2000, 64), n % 7 FROM generate_series(2011, 2020) n;
SELECT id FROM pending ORDER BY v <-> pending_vector(2, 64), id LIMIT 2;
FETCH ALL FROM several;
SELECT pending_rest('one'), pending_rest('late');
COMMIT;
SELECT pending_agrees('pending'), pending_agrees('pending', condition => 'tag = 3');

-- The row pointer of a row that is gone leads to another one: it is not found by what it does not have.
CREATE TABLE reused (id int, v vector(2), tag int) WITH (autovacuum_enabled = off);
CREATE INDEX reused_v ON reused USING pigment (v, tag);
INSERT INTO reused SELECT n, ARRAY[n, 0], n % 4 FROM generate_series(1, 20) n;
VACUUM reused;
SELECT ctid AS place FROM reused WHERE id = 5 \gset
SELECT pending_agrees('reused'), pending_agrees('reused', condition => 'tag = 1');
DELETE FROM reused WHERE id = 5;
INSERT INTO reused VALUES (21, '[21,0]', 2);
VACUUM reused;
INSERT INTO reused VALUES (500, '[1000,1000]', 2);
SELECT ctid = :'place'::tid AS used_again FROM reused WHERE id = 500;
SET enable_seqscan = off;
SELECT id, tag FROM reused WHERE tag = 1;
RESET enable_seqscan;
SELECT pending_agrees('reused'), pending_agrees('reused', condition => 'tag = 1');

-- Dead entries that no VACUUM marked: the first dimension goes with its rows.
CREATE TABLE pending_any (id int PRIMARY KEY, v vector) WITH (autovacuum_enabled = off);
CREATE INDEX pending_any_v ON pending_any USING pigment (v);
INSERT INTO pending_any VALUES (1, NULL);
SELECT pending_agrees('pending_any');
INSERT INTO pending_any VALUES (2, '[1,2,3]'), (3, '[3,2,1]');
SELECT pending_agrees('pending_any');
DELETE FROM pending_any WHERE v IS NOT NULL;
INSERT INTO pending_any VALUES (4, '[1,2]');
SELECT pending_agrees('pending_any');

-- Files that begin anew, under their old name too.
REINDEX INDEX pending_v;
SELECT pending_agrees('pending');
TRUNCATE pending;
INSERT INTO pending SELECT n, pending_vector(n + 5, 64), 1 FROM generate_series(1, 50) n;
SELECT pending_agrees('pending');
BEGIN;
CREATE TABLE pending_new (id int, v vector(8)) WITH (autovacuum_enabled = off);
CREATE INDEX pending_new_v ON pending_new USING pigment (v);
INSERT INTO pending_new SELECT n, pending_vector(n, 8) FROM generate_series(1, 50) n;
SELECT pending_agrees('pending_new');
TRUNCATE pending_new;
INSERT INTO pending_new SELECT n, pending_vector(n + 7, 8) FROM generate_series(1, 60) n;
SELECT pending_agrees('pending_new');
COMMIT;
CREATE TEMP TABLE pending_temp (id int, v vector(8)) ON COMMIT DELETE ROWS;
CREATE INDEX pending_temp_v ON pending_temp USING pigment (v);
BEGIN;
INSERT INTO pending_temp SELECT n, pending_vector(n, 8) FROM generate_series(1, 50) n;
SELECT pending_agrees('pending_temp');
COMMIT;
BEGIN;
INSERT INTO pending_temp SELECT n, pending_vector(n + 7, 8) FROM generate_series(1, 60) n;
SELECT pending_agrees('pending_temp');
COMMIT;
CREATE UNLOGGED TABLE pending_unlogged (id int, v vector(8)) WITH (autovacuum_enabled = off);
CREATE INDEX pending_unlogged_v ON pending_unlogged USING pigment (v);
INSERT INTO pending_unlogged SELECT n, pending_vector(n, 8) FROM generate_series(1, 50) n;
SELECT pending_agrees('pending_unlogged');
DELETE FROM pending_unlogged WHERE id % 2 = 0;
VACUUM pending_unlogged;
INSERT INTO pending_unlogged SELECT n, pending_vector(n + 7, 8) FROM generate_series(51, 80) n;
SELECT pending_agrees('pending_unlogged');

-- More rows than there is memory for, entries larger than a page, and distances that codes do not bound.
CREATE TABLE pending_wide (id int, v vector(2500)) WITH (autovacuum_enabled = off);
CREATE INDEX pending_wide_cosine ON pending_wide USING pigment (v vector_cosine_ops);
CREATE INDEX pending_wide_ip ON pending_wide USING pigment (v vector_ip_ops);
CREATE INDEX pending_wide_l1 ON pending_wide USING pigment (v vector_l1_ops);
INSERT INTO pending_wide SELECT n, CASE WHEN n % 9 = 0 THEN array_fill(0, ARRAY[2500])::vector WHEN n % 11 > 0 THEN pending_vector(n, 2500) END
FROM generate_series(1, 120) n;
SET pigment.pending_list_limit = '64kB';
SELECT pending_agrees('pending_wide', '<=>'), pending_agrees('pending_wide', '<#>'), pending_agrees('pending_wide', '<+>');
SELECT pending_agrees('pending_wide', '<=>'), pending_agrees('pending_wide', '<#>'), pending_agrees('pending_wide', '<+>');
RESET pigment.pending_list_limit;

DROP TABLE pending_steps, pending, pending_asked, reused, pending_any, pending_new, pending_temp, pending_unlogged, pending_wide;
DROP FUNCTION pending_vector, pending_agrees, pending_rest;
