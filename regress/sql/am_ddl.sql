-- Access method pigment: definitions, kinds of tables, bad input.
\set SHOW_CONTEXT never
SELECT opcname, opcdefault, amvalidate(o.oid) FROM pg_opclass o JOIN pg_am a ON a.oid = opcmethod WHERE amname = 'pigment' ORDER BY 1;
SELECT p, pg_indexam_has_property(oid, p) FROM pg_am, unnest('{can_order,can_unique,can_multi_col,can_exclude,can_include}'::text[]) p
WHERE amname = 'pigment';
-- Operator classes that make no sense
CREATE OPERATOR CLASS bad_search FOR TYPE vector USING pigment AS OPERATOR 1 <, FUNCTION 1 pigment.metric_l2();
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'bad_search';
DROP OPERATOR FAMILY bad_search USING pigment;
CREATE FUNCTION metric_unknown() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 77';
CREATE OPERATOR CLASS bad_metric FOR TYPE vector USING pigment AS OPERATOR 1 <-> FOR ORDER BY float_ops, FUNCTION 1 metric_unknown();
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'bad_metric';
CREATE OPERATOR CLASS bad_number FOR TYPE vector USING pigment AS OPERATOR 4 <-> FOR ORDER BY float_ops;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'bad_number';
CREATE TABLE bad (v vector);
CREATE INDEX ON bad USING pigment (v bad_number);
INSERT INTO bad VALUES ('[1]');
CREATE INDEX ON bad USING pigment (v bad_metric);
DROP TABLE bad;
DROP OPERATOR FAMILY bad_metric USING pigment;
DROP OPERATOR FAMILY bad_number USING pigment;
DROP FUNCTION metric_unknown;

CREATE TABLE t (id int, v vector, w vector(2), x real[]);
CREATE INDEX t_v ON t USING pigment (v);
SELECT pg_index_column_has_property('t_v', 1, 'distance_orderable') AS distance_orderable,
	pg_index_column_has_property('t_v', 1, 'orderable') AS orderable, pg_index_has_property('t_v', 'index_scan') AS index_scan,
	pg_index_has_property('t_v', 'bitmap_scan') AS bitmap_scan, pg_index_has_property('t_v', 'backward_scan') AS backward_scan;
-- Rows are read from their table, and no scan of the index alone is tried.
SELECT pg_index_column_has_property('t_v', 1, 'returnable') AS returnable;
CREATE INDEX ON t USING pigment (v, w);
CREATE UNIQUE INDEX ON t USING pigment (v);
CREATE INDEX ON t USING pigment (v) INCLUDE (id);
CREATE INDEX ON t USING pigment (v DESC);
ALTER TABLE t ADD EXCLUDE USING pigment (v WITH =);
ALTER TABLE t ADD EXCLUDE USING pigment (id WITH =);
CREATE INDEX ON t USING pigment (id);
CREATE INDEX ON t USING pigment (x);
CREATE INDEX ON t USING pigment (v) WITH (lists = 16);
CREATE INDEX ON t USING pigment (v) WITH (fillfactor = 50);
ALTER INDEX t_v SET (lists = 3);
CLUSTER t USING t_v;

-- Empty; then the first vector tells the dimension.
SET enable_seqscan = off;
SELECT * FROM t ORDER BY v <-> '[1,2,3]';
SELECT * FROM pigment.stats('t_v');
INSERT INTO t (id) VALUES (1);
SELECT id FROM t ORDER BY v <-> '[1,2,3]';
INSERT INTO t (id, v) VALUES (2, '[1,1]');
SELECT id FROM t ORDER BY v <-> '[1,2]';
SELECT id FROM t ORDER BY v <-> '[1,2,3]';
INSERT INTO t (id, v) VALUES (3, '[1,1,1]');
SELECT dimension, pending_rows FROM pigment.stats('t_v');
TRUNCATE t;
INSERT INTO t (id, v) VALUES (3, '[1,1,1]');
SELECT dimension, pending_rows FROM pigment.stats('t_v');
INSERT INTO t (id, v) VALUES (4, '[1,1]');
-- A dimension that only rows had whose insertion was rolled back gives way.
TRUNCATE t;
BEGIN;
INSERT INTO t (id, v) SELECT n, '[1,1]' FROM generate_series(1, 700) n;
INSERT INTO t (id, v) VALUES (701, '[1,1,1]');
ROLLBACK;
INSERT INTO t (id) VALUES (5);
SELECT id FROM t ORDER BY v <-> '[1,2,3]';
SELECT dimension, pending_rows, dead_pending_rows FROM pigment.stats('t_v');
BEGIN;
SAVEPOINT a;
INSERT INTO t (id, v) VALUES (6, array_fill(1, ARRAY[5000]));
ROLLBACK TO a;
INSERT INTO t (id, v) VALUES (7, '[1,2,3]');
COMMIT;
SELECT dimension, pending_rows, dead_pending_rows FROM pigment.stats('t_v');
SELECT id FROM t ORDER BY v <-> '[1,2,3]';
SELECT live_rows FROM pigment.check('t_v');
INSERT INTO t (id, v) VALUES (8, '[1,1]');
DROP INDEX t_v;
INSERT INTO t (id, v) VALUES (4, '[1,1]');
CREATE INDEX t_v ON t USING pigment (v);
DELETE FROM t WHERE id = 4;
-- Rows without a vector before the first one, and a table that has only such
TRUNCATE t;
INSERT INTO t (id) SELECT generate_series(1, 3000);
CREATE INDEX t_v ON t USING pigment (v);
SELECT dimension, segments, segment_rows, pending_rows FROM pigment.stats('t_v');
SELECT live_rows FROM pigment.check('t_v');
INSERT INTO t (id, v) VALUES (3001, '[4,5,6]');
REINDEX INDEX t_v;
SELECT dimension, segments, segment_rows, pending_rows FROM pigment.stats('t_v');
SELECT id FROM t ORDER BY v <-> '[1,2,3]' LIMIT 2;
-- The declared dimension holds from the start.
CREATE INDEX t_w ON t USING pigment (w);
SELECT dimension FROM pigment.stats('t_w');
SELECT id FROM t ORDER BY w <-> '[1,2,3]' LIMIT 1;
DROP TABLE t;

-- Partial and expression indexes
CREATE TABLE mixed (id int, v vector, r real[]);
INSERT INTO mixed SELECT n, array_fill(n, ARRAY[n % 3 + 1])::vector, ARRAY[n, n % 7] FROM generate_series(1, 300) n;
CREATE INDEX mixed_2 ON mixed USING pigment (v) WHERE vector_dims(v) = 2;
CREATE INDEX mixed_3 ON mixed USING pigment ((v::vector(3)) vector_l1_ops) WHERE vector_dims(v) = 3;
CREATE INDEX mixed_r ON mixed USING pigment ((r::vector) vector_cosine_ops);
CREATE INDEX mixed_s ON mixed USING pigment (subvector(v, 1, 1));
EXPLAIN (COSTS OFF) SELECT id FROM mixed WHERE vector_dims(v) = 2 ORDER BY v <-> '[50,50]' LIMIT 3;
SELECT id FROM mixed WHERE vector_dims(v) = 2 ORDER BY v <-> '[50,50]' LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM mixed WHERE vector_dims(v) = 3 ORDER BY v::vector(3) <+> '[50,50,50]' LIMIT 3;
SELECT id FROM mixed WHERE vector_dims(v) = 3 ORDER BY v::vector(3) <+> '[50,50,50]' LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM mixed ORDER BY r::vector <=> '[1,1]' LIMIT 3;
SELECT id FROM mixed ORDER BY r::vector <=> '[1,1]' LIMIT 3;
SELECT id FROM mixed ORDER BY subvector(v, 1, 1) <-> '[77]' LIMIT 1;
INSERT INTO mixed VALUES (1000, '[50,50]', '{1,1}'), (1001, '[50,50,50]', '{2,2}'), (1002, '[50]', '{5,5}');
SELECT id FROM mixed WHERE vector_dims(v) = 2 ORDER BY v <-> '[50,50]' LIMIT 1;
SELECT c, (pigment.check(c)).live_rows FROM unnest('{mixed_2,mixed_3,mixed_r,mixed_s}'::regclass[]) c;
-- A partial index is no way to count its rows, unless nothing else is left.
RESET enable_seqscan;
EXPLAIN (COSTS OFF) SELECT count(*) FROM mixed WHERE vector_dims(v) = 2;
SET enable_seqscan = off;
DROP TABLE mixed;

-- CREATE INDEX and REINDEX CONCURRENTLY, with rows in segments and pending pages
CREATE TABLE online (id int, v vector(2));
INSERT INTO online SELECT n, ARRAY[n, n % 10] FROM generate_series(1, 1000) n;
CREATE INDEX CONCURRENTLY online_v ON online USING pigment (v);
SELECT indisvalid FROM pg_index WHERE indexrelid = 'online_v'::regclass;
INSERT INTO online SELECT n, ARRAY[n, n % 10] FROM generate_series(1001, 1500) n;
DELETE FROM online WHERE id % 5 = 0;
SELECT live_rows >= 1200 FROM pigment.check('online_v');
REINDEX INDEX CONCURRENTLY online_v;
SELECT segments, segment_rows, pending_rows FROM pigment.stats('online_v');
REINDEX TABLE online;
VACUUM FULL online;
SELECT live_rows FROM pigment.check('online_v');
SELECT id FROM online ORDER BY v <-> '[1203,3]' LIMIT 2;
-- In the transaction that creates the table, and rolled back
BEGIN;
CREATE TABLE fresh AS SELECT n AS id, ARRAY[n, 1]::vector AS v FROM generate_series(1, 100) n;
CREATE INDEX fresh_v ON fresh USING pigment (v);
INSERT INTO fresh VALUES (101, '[0,0]');
SELECT id FROM fresh ORDER BY v <-> '[0,0]' LIMIT 2;
ROLLBACK;
DROP TABLE online;

-- Unlogged and temporary
CREATE UNLOGGED TABLE unlogged (id int, v vector(2)) WITH (autovacuum_enabled = off);
CREATE INDEX unlogged_v ON unlogged USING pigment (v);
INSERT INTO unlogged SELECT n, ARRAY[n, n] FROM generate_series(1, 100) n;
DELETE FROM unlogged WHERE id < 50;
VACUUM (INDEX_CLEANUP on) unlogged;
SELECT id FROM unlogged ORDER BY v <-> '[10,10]' LIMIT 2;
SELECT live_rows FROM pigment.check('unlogged_v');
ALTER TABLE unlogged SET LOGGED;
SELECT id FROM unlogged ORDER BY v <-> '[10,10]' LIMIT 2;
DROP TABLE unlogged;
CREATE TEMP TABLE temporary (id int, v vector(2));
INSERT INTO temporary SELECT n, ARRAY[n, n] FROM generate_series(1, 100) n;
CREATE INDEX temporary_v ON temporary USING pigment (v vector_ip_ops);
INSERT INTO temporary SELECT n, ARRAY[n, n] FROM generate_series(101, 200) n;
DELETE FROM temporary WHERE id = 200;
VACUUM (INDEX_CLEANUP on) temporary;
SELECT id FROM temporary ORDER BY v <#> '[1,1]' LIMIT 2;
SELECT live_rows FROM pigment.check('temporary_v');
DROP TABLE temporary;

-- Partitions merge in order.
CREATE TABLE parts (id int, v vector(1)) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (100) TO (200);
CREATE INDEX ON parts USING pigment (v);
INSERT INTO parts SELECT n, ARRAY[n * 37 % 200] FROM generate_series(0, 199) n;
EXPLAIN (COSTS OFF) SELECT v FROM parts ORDER BY v <-> '[100]' LIMIT 5;
SELECT v FROM parts ORDER BY v <-> '[99.6]' LIMIT 5;
DROP TABLE parts;

-- Long vectors: entries larger than a page, in the table out of line
CREATE TABLE long (id int, v vector) WITH (autovacuum_enabled = off);
CREATE FUNCTION long_vector(seed int, dim int) RETURNS vector LANGUAGE sql IMMUTABLE AS
	$$ SELECT array_agg((seed * i % 1009) / 7.0 ORDER BY i)::real[]::vector FROM generate_series(1, dim) i $$;
INSERT INTO long SELECT n, long_vector(n, 16000) FROM generate_series(1, 20) n;
CREATE INDEX long_v ON long USING pigment (v vector_l1_ops);
INSERT INTO long SELECT n, long_vector(n, 16000) FROM generate_series(21, 40) n;
INSERT INTO long VALUES (41, NULL);
SELECT array_agg(id) = (SELECT array_agg(id) FROM (SELECT id FROM long ORDER BY v <+> long_vector(7, 16000), id) s)
FROM (SELECT id FROM long ORDER BY v <+> long_vector(7, 16000)) i;
DELETE FROM long WHERE id % 3 = 0;
VACUUM (INDEX_CLEANUP on) long;
SELECT array_agg(id) = (SELECT array_agg(id) FROM (SELECT id FROM long WHERE id > 0 ORDER BY l1_distance(v, long_vector(7, 16000)), id) s)
FROM (SELECT id FROM long ORDER BY v <+> long_vector(7, 16000)) i;
SELECT meta, segment > 0 AS segment, deletion, pending, overflow > 0 AS overflow, live_rows FROM pigment.check('long_v');
DROP TABLE long;
-- About a page
DO $$
DECLARE
	dim int;
	found int;
	row record;
BEGIN
	FOREACH dim IN ARRAY '{1,2,7,31,32,33,500,1017,1018,1019,1020,1100,2000,2030,2031,2032,2033,2034,2035,2036,2037,2038,2039,2040,2048,4000,5000}'::int[] LOOP
		CREATE TABLE sized (id int, v vector);
		INSERT INTO sized SELECT n, long_vector(n, dim) FROM generate_series(1, 5) n;
		CREATE INDEX sized_v ON sized USING pigment (v);
		INSERT INTO sized SELECT n, long_vector(n, dim) FROM generate_series(6, 10) n;
		FOR n IN 1 .. 10 LOOP
			SELECT id INTO found FROM sized ORDER BY v <-> long_vector(n, dim) LIMIT 1;
			IF found <> n THEN
				RAISE 'dimension %: % found instead of %', dim, found, n;
			END IF;
		END LOOP;
		SELECT * INTO row FROM pigment.check('sized_v');
		IF row.live_rows <> 10 OR row.leaked <> 0 OR row.pages <> row.meta + row.segment + row.pending + row.overflow THEN
			RAISE 'dimension %: %', dim, row;
		END IF;
		DROP TABLE sized;
	END LOOP;
END $$;
DROP FUNCTION long_vector;

-- Little memory: several segments, many passes
SET maintenance_work_mem = '1MB';
SET work_mem = '64kB';
SET pigment.target_recall = 1;
CREATE TABLE crowd (id int, v vector(1)) WITH (autovacuum_enabled = off);
INSERT INTO crowd SELECT n, ARRAY[n % 1000] FROM generate_series(1, 150000) n;
CREATE INDEX crowd_v ON crowd USING pigment (v);
SELECT segments, segment_rows, pending_rows FROM pigment.stats('crowd_v');
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM crowd ORDER BY v <-> '[500]' LIMIT 20000) x;
SELECT bool_and(d >= before) FROM (SELECT d, lag(d, 1, 0) OVER () AS before FROM (SELECT v <-> '[500]' AS d FROM crowd ORDER BY v <-> '[500]' LIMIT 20000) x) y;
DELETE FROM crowd WHERE id % 2 = 0;
VACUUM (INDEX_CLEANUP on) crowd;
SELECT live_rows, leaked FROM pigment.check('crowd_v');
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM crowd ORDER BY v <-> '[500]' LIMIT 20000) x;
RESET maintenance_work_mem;
RESET work_mem;
RESET pigment.target_recall;
DROP TABLE crowd;
RESET enable_seqscan;

-- The planner takes the index by itself, and a sort where the filter is narrow.
CREATE TABLE plans (id int PRIMARY KEY, v vector(8));
INSERT INTO plans SELECT n, array_fill(n % 100, ARRAY[8]) FROM generate_series(1, 10000) n;
CREATE INDEX ON plans USING pigment (v);
ANALYZE plans;
EXPLAIN (COSTS OFF) SELECT id FROM plans ORDER BY v <-> '[1,2,3,4,5,6,7,8]' LIMIT 10;
EXPLAIN (COSTS OFF) SELECT id FROM plans WHERE id < 20 ORDER BY v <-> '[1,2,3,4,5,6,7,8]' LIMIT 10;
EXPLAIN (COSTS OFF) SELECT count(*) FROM plans WHERE v = '[1,2,3,4,5,6,7,8]';
DROP TABLE plans;

-- stats() and check() are for the owner, and for indexes of this access method.
CREATE TABLE owned (id int PRIMARY KEY, v vector);
CREATE INDEX owned_v ON owned USING pigment (v);
SELECT pigment.stats('owned_pkey');
SELECT pigment.check('owned');
SELECT pigment.check(0);
CREATE ROLE pigment_stranger;
SET ROLE pigment_stranger;
SELECT pigment.stats('owned_v');
SELECT pigment.check('owned_v');
RESET ROLE;
DROP ROLE pigment_stranger;
DROP TABLE owned;
