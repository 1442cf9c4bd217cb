-- Segments with an index of their vectors: options, settings, recall, and that every row comes once in the end.
CREATE TABLE points (id integer, v vector(16), part integer, word text);
SELECT setseed(0.5);
INSERT INTO points
SELECT n, CASE WHEN n % 50 <> 0 THEN (SELECT array_agg(random() + n * 0 ORDER BY k) FROM generate_series(1, 16) k)::vector END, n % 100, 'w' || n % 3
FROM generate_series(1, 12000) n;
CREATE TABLE asked AS SELECT n AS id, (SELECT array_agg(random() + n * 0 ORDER BY k) FROM generate_series(1, 16) k)::vector AS v
FROM generate_series(1, 50) n;
ANALYZE points;

-- Of the ten nearest, and of the ten nearest of a tenth of the rows, what part comes.
CREATE FUNCTION recall(operator text, condition text DEFAULT 'true') RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
	found numeric := 0;
	query record;
	near integer[];
	exact integer[];
BEGIN
	FOR query IN SELECT v FROM asked LOOP
		EXECUTE format('SELECT ARRAY(SELECT id FROM points WHERE %s ORDER BY v %s $1 LIMIT 10)', condition, operator) INTO near USING query.v;
		SET LOCAL pigment.target_recall = 1;
		EXECUTE format('SELECT ARRAY(SELECT id FROM points WHERE %s ORDER BY v %s $1 LIMIT 10)', condition, operator) INTO exact USING query.v;
		SET LOCAL pigment.target_recall = 0.98;
		found := found + (SELECT count(*) FROM unnest(near) x WHERE x = ANY (exact));
	END LOOP;
	RETURN found / 500;
END $$;
SET enable_seqscan = off;

-- Each metric and each kind of index.
CREATE INDEX points_x ON points USING pigment (v, part, word);
SELECT kind, rows FROM pigment.segments WHERE index = 'points_x'::regclass;
SELECT recall('<->') >= 0.95 AS near, recall('<->', 'part < 10') >= 0.95 AS filtered, recall('<->', 'part = 7') = 1 AS few;
DROP INDEX points_x;
CREATE INDEX points_x ON points USING pigment (v vector_cosine_ops, part) WITH (kind = hnsw, m = 12, ef_construction = 200);
SELECT kind FROM pigment.segments WHERE index = 'points_x'::regclass;
SELECT recall('<=>') >= 0.95 AS near, recall('<=>', 'part < 10') >= 0.95 AS filtered;
DROP INDEX points_x;
CREATE INDEX points_x ON points USING pigment (v vector_ip_ops, part) WITH (kind = spann);
SELECT kind FROM pigment.segments WHERE index = 'points_x'::regclass;
SELECT recall('<#>') >= 0.95 AS near, recall('<#>', 'part < 10') >= 0.95 AS filtered;
DROP INDEX points_x;
CREATE INDEX points_x ON points USING pigment (v) WITH (kind = flat);
SELECT kind FROM pigment.segments WHERE index = 'points_x'::regclass;
SELECT recall('<->');
DROP INDEX points_x;
CREATE INDEX points_x ON points USING pigment (v vector_l1_ops);
SELECT kind FROM pigment.segments WHERE index = 'points_x'::regclass;
SELECT recall('<+>');
DROP INDEX points_x;

-- Every row comes once: nearest first, then those that were overlooked, then those without a vector; and exactly in order where all are wanted.
CREATE INDEX points_x ON points USING pigment (v) WITH (kind = hnsw);
SET pigment.target_recall = 0.5;
SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE v IS NULL) FROM (SELECT id, v FROM points ORDER BY v <-> (SELECT v FROM asked WHERE id = 1) OFFSET 0) x;
SELECT passes > 2 AS passes, walks > 0 AS walks, visits > 0 AS visits, rows_given FROM pigment.last_scan();
SELECT bool_and(v IS NOT NULL) FROM (SELECT v FROM points ORDER BY v <-> (SELECT v FROM asked WHERE id = 2) LIMIT 11760) x;
SET pigment.target_recall = 1;
SELECT bool_and(d >= before) FROM (SELECT d, lag(d, 1, 0) OVER () AS before
	FROM (SELECT v <-> (SELECT v FROM asked WHERE id = 1) AS d FROM points ORDER BY v <-> (SELECT v FROM asked WHERE id = 1) LIMIT 11760) x) y;
SELECT walks, rows_late FROM pigment.last_scan();

-- A width in place of a recall: so many nodes of each graph.
SET pigment.search_width = 25;
SELECT count(*) FROM (SELECT id FROM points ORDER BY v <-> (SELECT v FROM asked WHERE id = 3) LIMIT 10) x;
SELECT walks, visits FROM pigment.last_scan();
RESET pigment.search_width;
RESET pigment.target_recall;

-- Rows that are deleted, changed and new: what is gone does not come, what is new does, and no row is short.
DELETE FROM points WHERE id % 3 = 0;
UPDATE points SET v = v, part = part + 1000 WHERE id % 7 = 0;
INSERT INTO points SELECT 100000 + id, v, 5, 'new' FROM asked;
SELECT recall('<->') >= 0.95 AS before_vacuum;
VACUUM points;
SELECT recall('<->') >= 0.95 AS after_vacuum;
SELECT count(*) FROM asked a WHERE (SELECT id FROM points p ORDER BY p.v <-> a.v LIMIT 1) = 100000 + a.id;
SELECT pigment.check('points_x') IS NOT NULL AS checked;
REINDEX INDEX points_x;
SELECT recall('<->') >= 0.95 AS after_reindex, (SELECT count(*) FROM asked a WHERE (SELECT id FROM points p ORDER BY p.v <-> a.v LIMIT 1) = 100000 + a.id);

-- Two scans of one index at once.
SELECT count(*) FROM (SELECT a.id, b.id FROM asked q, LATERAL (SELECT id FROM points ORDER BY v <-> q.v LIMIT 5) a,
	LATERAL (SELECT id FROM points ORDER BY v <-> q.v LIMIT 5) b) x;

-- Little memory makes several segments; how many is told, and changes with what a build takes.
INSERT INTO points SELECT id + 200000, v, part, word FROM points WHERE id <= 12000 AND id % 4 <> 0;
SET maintenance_work_mem = '4MB';
SET client_min_messages = warning;
REINDEX INDEX points_x;
RESET client_min_messages;
SELECT count(*) > 1 AS several, sum(rows) FROM pigment.segments WHERE index = 'points_x'::regclass;
SELECT recall('<->') >= 0.95 AS near;
RESET maintenance_work_mem;

-- Options and settings that are none.
CREATE INDEX ON points USING pigment (v) WITH (kind = ivf);
CREATE INDEX ON points USING pigment (v) WITH (m = 101);
CREATE INDEX ON points USING pigment (v) WITH (ef_construction = -1);
CREATE INDEX ON points USING pigment (v) WITH (lists = 100);
SET pigment.target_recall = 1.1;
SET pigment.search_width = -1;
SET pigment.recall = 1;
DROP TABLE points, asked;
DROP FUNCTION recall;
