-- The limit right above a scan says for how many rows it looks: for no more, and for all of them in one pass.
CREATE TABLE points (id integer PRIMARY KEY, v vector(16));
SELECT setseed(0.25);
-- numbers that halves hold, so that the order needs no row behind the last one
INSERT INTO points
SELECT n, (SELECT array_agg(floor(random() * 1024 + n * 0) / 1024 ORDER BY k) FROM generate_series(1, 16) k)::vector FROM generate_series(1, 12000) n;
CREATE INDEX points_x ON points USING pigment (v) WITH (kind = hnsw);
ANALYZE points;
SET enable_seqscan = off;
CREATE FUNCTION look(query text, OUT rows bigint, OUT passes bigint, OUT looked_for bigint) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE 'SELECT count(*) FROM (' || query || ') x' INTO rows;
	SELECT s.passes, s.rows_given INTO passes, looked_for FROM pigment.last_scan() s;
END $$;

SELECT n, (look(format('SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 7) LIMIT %s', n))).*
FROM unnest(ARRAY[1, 5, 10, 100, 1000, 1001]) n;
SELECT * FROM look('SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 7) LIMIT 7 OFFSET 5');
SELECT * FROM look('SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 7) LIMIT 20 FOR UPDATE');
SELECT * FROM look('SELECT id, id / 2 AS half FROM (SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 7)) p LIMIT 20');
PREPARE nearest(integer, bigint) AS SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = $1) LIMIT $2;
SET plan_cache_mode = force_generic_plan;
EXECUTE nearest(7, 3);
SELECT passes, rows_given FROM pigment.last_scan();
EXECUTE nearest(8, 4);
SELECT passes, rows_given FROM pigment.last_scan();
DEALLOCATE nearest;

-- Each rescan has its own.
SELECT n, array_length(ids, 1) FROM unnest(ARRAY[3, 30, 300]) n, LATERAL (SELECT ARRAY(SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = n) LIMIT n) AS ids) x;
SELECT rows_given FROM pigment.last_scan();

-- What stands in between may drop rows, or read several scans: nobody knows.
SELECT rows, passes > 1 AS several, looked_for > 20 AS more FROM look('SELECT id FROM points WHERE id % 2 = 0 ORDER BY v <-> (SELECT v FROM points WHERE id = 7) LIMIT 20');
SELECT * FROM look('SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 7), id LIMIT 2');
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 7);
FETCH 1 FROM c;
SELECT rows_given FROM pigment.last_scan();
-- A cursor with a limit, and another query in between.
DECLARE d CURSOR FOR SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 7) LIMIT 2;
FETCH 1 FROM d;
SELECT count(*) FROM points;
FETCH 2 FROM d;
SELECT passes, rows_given FROM pigment.last_scan();
COMMIT;
-- An error leaves nothing of the query behind.
SELECT id / (id - id) FROM (SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 7) LIMIT 5) p;
SELECT * FROM look('SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 7) LIMIT 5');

-- Rows that the snapshot does not see are looked for on top by the scans that follow, as many as one needed, and not for ever.
BEGIN;
DELETE FROM points WHERE id IN (SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 9) LIMIT 3 OFFSET 1);
SELECT * FROM look('SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 9) LIMIT 10');
SELECT * FROM look('SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 9) LIMIT 10');
ROLLBACK;
SELECT count(*) FROM generate_series(1, 130) n, LATERAL (SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 1000 + n) LIMIT 1) x;
SELECT * FROM look('SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 11) LIMIT 10');

-- Where halves round, rows wait to be put in order, and those behind the last one decide when it may go: of what the walk meets anyway, so that it is
-- no longer for them, however many waited lately.
CREATE TABLE rounded (id integer PRIMARY KEY, v vector(16));
INSERT INTO rounded SELECT id, (v::real[]::vector + (SELECT array_agg(random() / 3000 + id * 0 ORDER BY k) FROM generate_series(1, 16) k)::vector) FROM points;
CREATE INDEX rounded_x ON rounded USING pigment (v) WITH (kind = hnsw);
ANALYZE rounded;
CREATE TABLE queries AS SELECT id, v FROM points WHERE id <= 100;
CREATE FUNCTION look_for(query integer, wanted integer, OUT rows bigint, OUT passes bigint, OUT looked_for bigint, OUT visits bigint) LANGUAGE plpgsql AS $$
DECLARE
	wanted_vector vector := (SELECT v FROM queries WHERE id = query);
BEGIN
	SELECT count(*) INTO rows FROM (SELECT id FROM rounded ORDER BY v <-> wanted_vector LIMIT wanted) x;
	SELECT s.passes, s.rows_given, s.visits INTO passes, looked_for, visits FROM pigment.last_scan() s;
END $$;
CREATE TEMP TABLE first AS SELECT q, (look_for(q, 10)).* FROM generate_series(1, 3) q;
SELECT q, rows, passes, looked_for FROM first ORDER BY q;
SELECT n, min(rows), max(rows) FROM unnest(ARRAY[1, 10, 400]) n, generate_series(1, 20) q, LATERAL look_for(q, n) GROUP BY n ORDER BY n;
SELECT q, x.rows, x.passes, x.looked_for > first.looked_for AS more, x.visits - first.visits AS visits FROM first, LATERAL look_for(q, 10) x ORDER BY q;
DROP TABLE rounded, queries, first;
DROP FUNCTION look_for;

-- Rows that are dead to everybody are not looked for again in the session that met them; another one's snapshot may see them for a while.
CREATE FUNCTION look_until_left_out(query text, dead bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	before bigint;
	left_out bigint;
BEGIN
	FOR i IN 1 .. 600 LOOP
		EXECUTE 'SELECT count(*) FROM (' || query || ') x';
		SELECT coalesce(before, filter_rows), before - filter_rows INTO before, left_out FROM pigment.last_scan();
		EXIT WHEN left_out = dead;
		PERFORM pg_sleep(0.1);
	END LOOP;
	RETURN left_out;
END $$;
DELETE FROM points WHERE id IN (SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 9) LIMIT 3 OFFSET 1);
SELECT look_until_left_out('SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 9) LIMIT 10', 3);
CREATE TEMP TABLE by_index AS SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 9) LIMIT 10;
SET enable_seqscan = on;
SET enable_indexscan = off;
SELECT count(*) FROM by_index JOIN (SELECT id FROM points ORDER BY v <-> (SELECT v FROM points WHERE id = 9) LIMIT 10) x USING (id);
DROP TABLE by_index;
DROP FUNCTION look_until_left_out;
DROP TABLE points;
DROP FUNCTION look;
