-- Access method pigment: an index scan gives the order of a sort, for every operator class.
\set SHOW_CONTEXT never

-- 'ok N': the index scan gave the same N ids in the same order as a sort by distance and place, and it was an index scan.
CREATE FUNCTION compare_order(tbl text, op text, q vector, suffix text DEFAULT '', condition text DEFAULT 'true') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	by_index int[];
	by_sort int[];
	plan text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_indexscan = on;
	EXECUTE format('EXPLAIN (FORMAT json) SELECT id FROM %s WHERE %s ORDER BY v %s $1 %s', tbl, condition, op, suffix) INTO plan USING q;
	IF plan NOT LIKE '%"Index Scan"%' OR plan LIKE '%"Sort"%' THEN
		RETURN 'not an index scan: ' || plan;
	END IF;
	EXECUTE format('SELECT array_agg(id) FROM (SELECT id FROM %s WHERE %s ORDER BY v %s $1 %s) x', tbl, condition, op, suffix) INTO by_index USING q;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	EXECUTE format('SELECT array_agg(id) FROM (SELECT id FROM %s WHERE %s ORDER BY v %s $1, ctid %s) x', tbl, condition, op, suffix) INTO by_sort USING q;
	IF by_index IS DISTINCT FROM by_sort THEN
		FOR i IN 1 .. greatest(cardinality(by_index), cardinality(by_sort)) LOOP
			IF by_index[i] IS DISTINCT FROM by_sort[i] THEN
				RETURN format('differs at %s of %s and %s: index %s, sort %s', i, cardinality(by_index), cardinality(by_sort), by_index[i], by_sort[i]);
			END IF;
		END LOOP;
	END IF;
	RETURN 'ok ' || coalesce(cardinality(by_index), 0);
END $$;

-- Small whole numbers, so that many distances are equal; zero vectors; NULLs.
CREATE TABLE items (id serial, v vector(3), note int) WITH (autovacuum_enabled = off);
SELECT setseed(0.25);
INSERT INTO items (v, note)
SELECT CASE WHEN n % 50 = 0 THEN NULL WHEN n % 77 = 0 THEN '[0,0,0]'::vector
	ELSE ARRAY[floor(random() * 7 - 3), floor(random() * 7 - 3), random()::numeric(3, 2)]::vector END, n % 10
FROM generate_series(1, 2000) n;
CREATE TABLE queries (q vector);
INSERT INTO queries VALUES ('[0,0,0]'), ('[1,2,0.5]'), ('[-3,3,1]'), ('[1e-30,0,0]'), ('[1e19,1e19,-1e19]');

CREATE INDEX items_l2 ON items USING pigment (v);
SELECT q, compare_order('items', '<->', q) FROM queries;
SELECT deletion, overflow, leaked, live_rows, pages = meta + segment + deletion + pending + overflow + leaked + retired + free AS census FROM pigment.check('items_l2');
DROP INDEX items_l2;
CREATE INDEX items_cosine ON items USING pigment (v vector_cosine_ops);
SELECT q, compare_order('items', '<=>', q) FROM queries;
SELECT live_rows FROM pigment.check('items_cosine');
DROP INDEX items_cosine;
CREATE INDEX items_ip ON items USING pigment (v vector_ip_ops);
SELECT q, compare_order('items', '<#>', q) FROM queries;
SELECT live_rows FROM pigment.check('items_ip');
DROP INDEX items_ip;
CREATE INDEX items_l1 ON items USING pigment (v vector_l1_ops);
SELECT q, compare_order('items', '<+>', q) FROM queries;
SELECT live_rows FROM pigment.check('items_l1');

-- Rows from pending pages and from a segment together, all classes on one table
CREATE INDEX items_l2 ON items USING pigment (v vector_l2_ops);
CREATE INDEX items_cosine ON items USING pigment (v vector_cosine_ops);
CREATE INDEX items_ip ON items USING pigment (v vector_ip_ops);
INSERT INTO items (v, note)
SELECT CASE WHEN n % 50 = 0 THEN NULL WHEN n % 77 = 0 THEN '[0,0,0]'::vector
	ELSE ARRAY[floor(random() * 7 - 3), floor(random() * 7 - 3), random()::numeric(3, 2)]::vector END, n % 10
FROM generate_series(1, 1500) n;
SELECT op, q, compare_order('items', op, q) FROM queries, unnest('{<->,<=>,<#>,<+>}'::text[]) op ORDER BY 1, 2;
SELECT metric, dimension, segments, segment_rows, deleted_rows, pending_rows, dead_pending_rows FROM pigment.stats('items_cosine');

-- LIMIT, OFFSET, filters
SELECT compare_order('items', '<->', '[1,1,1]', 'LIMIT 7'), compare_order('items', '<->', '[1,1,1]', 'LIMIT 100 OFFSET 1234'),
	compare_order('items', '<=>', '[1,1,1]', 'LIMIT 0'), compare_order('items', '<=>', '[1,1,1]', 'OFFSET 3490'),
	compare_order('items', '<#>', '[1,1,1]', 'LIMIT 50', 'note = 3'), compare_order('items', '<+>', '[1,1,1]', '', 'v IS NULL');

-- UPDATE (HOT does not apply to a changed vector), DELETE, then VACUUM
UPDATE items SET v = v + '[1,0,0]' WHERE note = 4 AND id % 3 = 0;
DELETE FROM items WHERE note IN (1, 7);
SET min_parallel_index_scan_size = 0; -- several indexes: parallel workers vacuum them
SELECT op, compare_order('items', op, '[1,2,0.5]') FROM unnest('{<->,<=>,<#>,<+>}'::text[]) op ORDER BY 1;
VACUUM (INDEX_CLEANUP on) items;
SELECT op, compare_order('items', op, '[1,2,0.5]') FROM unnest('{<->,<=>,<#>,<+>}'::text[]) op ORDER BY 1;
SELECT deleted_rows, pending_rows, dead_pending_rows, segment_rows FROM pigment.stats('items_l2');
SELECT deleted_rows, pending_rows, dead_pending_rows, segment_rows FROM pigment.stats('items_ip');
SELECT deletion, overflow, leaked, live_rows, pages = meta + segment + deletion + pending + overflow + leaked + retired + free AS census FROM pigment.check('items_l2');
-- New rows take the places of the removed ones in the table
INSERT INTO items (v, note) SELECT ARRAY[n % 5, -1, 2]::vector, 3 FROM generate_series(1, 600) n;
SELECT op, compare_order('items', op, '[1,2,0.5]') FROM unnest('{<->,<=>,<#>,<+>}'::text[]) op ORDER BY 1;
VACUUM (INDEX_CLEANUP on) items;
SELECT live_rows = (SELECT count(*) FROM items) AS all_rows FROM pigment.check('items_cosine');

-- An update of another column only may be HOT: the row stays reachable.
ALTER TABLE items SET (fillfactor = 50);
VACUUM FULL items;
SELECT op, compare_order('items', op, '[1,2,0.5]') FROM unnest('{<->,<=>,<#>,<+>}'::text[]) op ORDER BY 1;
DO $$ BEGIN UPDATE items SET id = id WHERE id % 2 = 0; END $$;
SELECT count(*) = (SELECT count(*) FROM items) FROM (SELECT id FROM items ORDER BY v <-> '[1,2,0.5]' LIMIT 100000) x;
SELECT live_rows > 0 FROM pigment.check('items_l1');

-- Aborted inserts leave nothing to see.
BEGIN;
INSERT INTO items (v, note) SELECT '[1,2,0.5]', 99 FROM generate_series(1, 500);
SAVEPOINT a;
INSERT INTO items (v, note) VALUES ('[1,2,0.5]', 100);
ROLLBACK TO a;
SELECT note, count(*) FROM (SELECT note FROM items ORDER BY v <-> '[1,2,0.5]' LIMIT 500) x GROUP BY 1;
ROLLBACK;
SET enable_seqscan = off;
SELECT count(*) FROM (SELECT note FROM items ORDER BY v <-> '[1,2,0.5]' LIMIT 500) x WHERE note >= 99;
RESET enable_seqscan;

-- Own command's rows are not seen by the scan that feeds them.
SET enable_seqscan = off;
INSERT INTO items (v, note) SELECT v, 55 FROM items ORDER BY v <-> '[0,0,0]' LIMIT 200;
SELECT count(*) FROM items WHERE note = 55;
DELETE FROM items WHERE note = 55;

-- Prepared statements: custom and generic plans
PREPARE nearest(vector, int) AS SELECT array_agg(d) FROM (SELECT (v <-> $1)::numeric(8, 3) AS d FROM items ORDER BY v <-> $1 LIMIT $2) x;
EXECUTE nearest('[1,2,0.5]', 3);
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE nearest('[1,2,0.5]', 3);
EXECUTE nearest('[1,2,0.5]', 3);
EXECUTE nearest('[-3,-3,0]', 4);
EXECUTE nearest('[1,2]', 3);
EXECUTE nearest('[1,2,0.5]', 3);
EXECUTE nearest(NULL, 2);
RESET plan_cache_mode;
DEALLOCATE nearest;

-- Nested loops rescan, NULL queries among them.
INSERT INTO queries VALUES (NULL);
EXPLAIN (COSTS OFF) SELECT q, n.* FROM queries, LATERAL (SELECT id FROM items ORDER BY v <=> q LIMIT 3) n;
SELECT count(*), count(DISTINCT (q, id)) FROM queries, LATERAL (SELECT id FROM items ORDER BY v <=> q LIMIT 3) n;
SELECT bool_and(a.d = b.d) FROM
	(SELECT n.id, x.k, x.d FROM generate_series(1, 300) n(id), LATERAL
		(SELECT row_number() OVER () AS k, d FROM (SELECT v <-> ARRAY[n.id % 5, n.id % 7, 0]::vector AS d FROM items ORDER BY v <-> ARRAY[n.id % 5, n.id % 7, 0]::vector LIMIT 5) i) x) a
	JOIN
	(SELECT n.id, x.k, x.d FROM generate_series(1, 300) n(id), LATERAL
		(SELECT row_number() OVER (ORDER BY d) AS k, d FROM (SELECT v <-> ARRAY[n.id % 5, n.id % 7, 0]::vector AS d FROM items) i) x WHERE k <= 5) b
	USING (id, k);

-- Cursors go on where they were, whatever happens between.
BEGIN;
DECLARE c NO SCROLL CURSOR FOR SELECT v <-> '[1,2,0.5]' AS d FROM items ORDER BY v <-> '[1,2,0.5]';
FETCH 2 FROM c;
DELETE FROM items WHERE id % 2 = 0;
INSERT INTO items (v) SELECT '[1,2,0.5]' FROM generate_series(1, 300);
MOVE 1000 IN c;
FETCH 1 FROM c;
MOVE ALL IN c;
FETCH 1 FROM c;
ROLLBACK;
BEGIN;
DECLARE s SCROLL CURSOR FOR SELECT v <-> '[1,2,0.5]' AS d FROM items ORDER BY v <-> '[1,2,0.5]' LIMIT 20;
FETCH LAST FROM s;
FETCH FIRST FROM s;
FETCH ABSOLUTE 10 FROM s;
ROLLBACK;

-- Of two distances the first is the order of an index, and an incremental sort does the rest; one that descends is none.
EXPLAIN (COSTS OFF) SELECT id FROM items ORDER BY v <-> '[1,1,1]', v <-> '[2,2,2]';
EXPLAIN (COSTS OFF) SELECT id FROM items ORDER BY v <-> '[1,1,1]' DESC;
-- With id after it, the sort is finished by an incremental one.
SET enable_incremental_sort = on;
SELECT count(*) FROM (SELECT id FROM items ORDER BY v <-> '[1,1,1]', id LIMIT 10) x;
RESET enable_seqscan;

-- In a joined, locked and parallel query
SELECT count(*) FROM (SELECT * FROM items ORDER BY v <-> '[1,1,1]' LIMIT 5 FOR UPDATE) x;
DROP TABLE items, queries;

-- Where a page of the table was last is remembered: rows are those of the table as it is, wherever it lies, and its pages count as read.
CREATE TABLE places (id int, v vector(2));
INSERT INTO places SELECT n, ARRAY[n % 97, n % 89]::vector FROM generate_series(1, 3000) n;
CREATE INDEX places_v ON places USING pigment (v);
SET enable_seqscan = off;
CREATE VIEW nearest AS SELECT id FROM places ORDER BY v <-> '[3.1,4.2]' LIMIT 5;
SELECT * FROM nearest;
SELECT pg_stat_force_next_flush();
SELECT heap_blks_hit + heap_blks_read AS pages FROM pg_statio_user_tables WHERE relname = 'places' \gset
SELECT * FROM nearest;
SELECT pg_stat_force_next_flush();
SELECT heap_blks_hit + heap_blks_read - :pages AS pages FROM pg_statio_user_tables WHERE relname = 'places';
UPDATE places SET id = -id WHERE id % 2 = 1;
SELECT * FROM nearest;
VACUUM FULL places;
SELECT * FROM nearest;
TRUNCATE places;
SELECT * FROM nearest;
INSERT INTO places SELECT n + 10000, ARRAY[n % 97, n % 89]::vector FROM generate_series(1, 300) n;
SELECT * FROM nearest;
RESET enable_seqscan;
DROP TABLE places CASCADE;
