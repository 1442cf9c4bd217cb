-- Access method pigment: conditions on a distance, and orders that follow from one.
\set SHOW_CONTEXT never
CREATE TABLE spots (id int PRIMARY KEY, kind int, v vector(3), h halfvec(3));
INSERT INTO spots SELECT n, n % 10, CASE WHEN n % 50 = 0 THEN NULL WHEN n % 77 = 0 THEN '[0,0,0]' ELSE ARRAY[n % 7 - 3, n % 11 - 5, n % 13 + 1]::vector END,
	CASE WHEN n % 60 <> 0 THEN ARRAY[n % 5, n % 7, 1]::halfvec END FROM generate_series(1, 3000) n;
CREATE INDEX spots_x ON spots USING pigment (v vector_cosine_ops, kind);
INSERT INTO spots SELECT n, n % 10, ARRAY[n % 7, 1, n % 13 + 1]::vector FROM generate_series(3001, 3200) n;
ANALYZE spots;

-- The index takes the place of the condition, which stays as a filter; in any shape.
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <=> '[1,2,3]' < 0.01 ORDER BY v <=> '[1,2,3]' LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE 0.01::float4 >= '[1,2,3]' <=> v AND kind = 3 ORDER BY v <=> '[1,2,3]';
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE 1 - (v <=> '[1,2,3]') > 0.99 ORDER BY v <=> '[1,2,3]' LIMIT 3;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <=> '[1,2,3]' < 0.01;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <=> '[1,2,3]' < 0.01 AND kind IN (1, 2);
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <=> '[1,2,3]' BETWEEN 0.001 AND 0.01;
SET enable_bitmapscan = on;
SET enable_indexscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <=> '[1,2,3]' < 0.01;
SET enable_indexscan = on;
-- Two vectors: one is the index's, the other a filter.
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <=> '[1,2,3]' < 0.1 AND v <=> '[3,2,1]' < 0.2 ORDER BY v <=> '[3,2,1]';
-- No condition of the index: another operator, a value of the row, one that changes, an alternative, above and not below.
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <-> '[1,2,3]' < 1;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <=> '[1,2,3]' < kind ORDER BY v <=> '[1,2,3]' LIMIT 1;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <=> '[1,2,3]' < random() ORDER BY v <=> '[1,2,3]' LIMIT 1;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <=> '[1,2,3]' < 0.1 OR kind = 3 ORDER BY v <=> '[1,2,3]' LIMIT 1;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <=> '[1,2,3]' > 0.1 AND 1 - (v <=> '[1,2,3]') < 0.1 ORDER BY v <=> '[1,2,3]' LIMIT 1;
RESET enable_seqscan;

-- How many rows are that near decides: a few by the index, all by a sequential scan.
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <=> '[1,2,3]' < 1e-9;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <=> '[1,2,3]' < 2.5;

-- The same rows as without the index, in the same order of distance.
CREATE FUNCTION same(condition text, rest text DEFAULT '', what text DEFAULT 'v <=> ''[1,2,3]''') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text[][];
	one text[];
	plan text;
BEGIN
	FOR i IN 1 .. 3 LOOP
		EXECUTE format('SET LOCAL enable_seqscan = %s; SET LOCAL enable_indexscan = %s; SET LOCAL enable_bitmapscan = %s',
			CASE WHEN i = 1 THEN 'on' ELSE 'off' END, CASE WHEN i = 2 THEN 'on' ELSE 'off' END, CASE WHEN i = 3 THEN 'on' ELSE 'off' END);
		EXECUTE format('SELECT array_agg(d ORDER BY place) FROM (SELECT d, row_number() OVER () AS place FROM
			(SELECT (%s)::text AS d FROM spots WHERE %s %s) o) p', what, condition, rest) INTO one;
		IF rest = '' THEN
			one := (SELECT array_agg(x ORDER BY x) FROM unnest(one) x);
		END IF;
		rows := rows || ARRAY[ARRAY[coalesce(cardinality(one), 0)::text, md5(coalesce(one, '{}')::text)]];
	END LOOP;
	RETURN CASE WHEN rows[1][1] <> rows[2][1] OR rows[1][1] <> rows[3][1] THEN 'rows: ' || rows::text
		WHEN rows[1][2] <> rows[2][2] OR rows[1][2] <> rows[3][2] THEN 'order' ELSE 'ok ' || rows[1][1] END;
END $$;
SELECT r, same(format('v <=> ''[1,2,3]'' < %s', r)), same(format('v <=> ''[1,2,3]'' <= %s', r), 'ORDER BY v <=> ''[1,2,3]'''),
	same(format('%s > v <=> ''[1,2,3]''', r), 'ORDER BY v <=> ''[1,2,3]'' LIMIT 5'), same(format('1 - (v <=> ''[1,2,3]'') > 1 - %s', r)),
	same(format('1 - (v <=> ''[1,2,3]'') >= %s', r), 'ORDER BY 1 - (v <=> ''[1,2,3]'') DESC')
FROM unnest(ARRAY['0', '-0.0', '-1', '0.01', '0.5::real', '1', '2', '1e300', '''Infinity''::float8', '''-Infinity''::float8', '''NaN''::float8', 'NULL::float8', '1e-300']) r;
-- A distance that a row has, and its neighbours among the numbers
SELECT same('v <=> ''[1,2,3]'' <= ' || d), same('v <=> ''[1,2,3]'' < ' || d), same(format('1 - (v <=> ''[1,2,3]'') >= 1 - %s', d)), same(format('1 - (v <=> ''[1,2,3]'') > 1 - %s', d))
FROM (SELECT DISTINCT (v <=> '[1,2,3]')::text || '::float8' AS d FROM spots WHERE id % 301 = 5) x ORDER BY d;
SELECT same('v <=> ''[0,0,0]'' < 1'), same('1 - (v <=> ''[0,0,0]'') > 0.5'), same('v <=> NULL < 1'), same('v <=> ''[1,2,3]'' < 0.2 AND kind = 4 AND v <=> ''[1,2,3]'' <= 0.1'),
	same('v <=> ''[1,2,3]'' < 0.3 AND v <=> ''[1,0,0]'' < 0.3'), same('v <=> ''[1,2,3]'' < 0.3 AND v <=> ''[1,0,0]'' < 0.3', 'ORDER BY v <=> ''[1,0,0]''', 'v <=> ''[1,0,0]''');
-- 1 - distance has lost digits of a small distance: what it says decides.
CREATE TABLE tiny (v vector(1));
INSERT INTO tiny SELECT ARRAY[n * 1.37e-11]::vector FROM generate_series(1, 500) n;
CREATE INDEX ON tiny USING pigment (v);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT (SELECT count(*) FROM tiny WHERE 1 - (v <-> '[0]') >= s) FROM unnest('{0.5}'::float8[]) s;
SELECT count(*), count(*) FILTER (WHERE by_index <> by_filter) AS wrong FROM (SELECT (SELECT count(*) FROM tiny WHERE 1 - (v <-> '[0]') >= s) AS by_index,
	(SELECT count(*) FROM tiny WHERE (1 - (v <-> '[0]')) + 0 >= s) AS by_filter FROM (SELECT 1 - (v <-> '[0]') AS s FROM tiny) o) c;
RESET enable_seqscan;
DROP TABLE tiny;

-- What is within comes all, whatever the recall, and the scan ends there.
CREATE TABLE many (id int, v vector(8));
SELECT setseed(0.5);
INSERT INTO many SELECT n, (SELECT array_agg(random()) FROM generate_series(1, 8 + n * 0))::vector FROM generate_series(1, 12000) n;
CREATE INDEX many_x ON many USING pigment (v);
SET pigment.target_recall = 0.5;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
WITH r AS MATERIALIZED (SELECT v AS q, 0.5 AS r FROM many WHERE id = 77)
SELECT count(*) = (SELECT count(*) FROM many, r WHERE (v <-> q) + 0 < r) AS complete, count(*) BETWEEN 5 AND 1000 AS some
FROM r, LATERAL (SELECT id FROM many WHERE v <-> q < r ORDER BY v <-> q LIMIT 10000) x;
SELECT strategy, rows_given < 1000 AS few, rows_scored BETWEEN 12000 AND 30000 AS once, walks + probes > 0 AS walked FROM pigment.last_scan();
-- Where the limit is met before, no more than the graph is looked at.
SELECT count(*) FROM (SELECT id FROM many WHERE v <-> (SELECT v FROM many WHERE id = 78) < 0.5 ORDER BY v <-> (SELECT v FROM many WHERE id = 78) LIMIT 3) x;
SELECT passes, rows_scored < 8000 AS few FROM pigment.last_scan();
RESET pigment.target_recall;
RESET enable_seqscan;
RESET enable_bitmapscan;

-- Every operator, and halfvec
CREATE FUNCTION same_by(op text, class text, col text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	result text := '';
	one text;
	r text;
BEGIN
	EXECUTE format('CREATE INDEX spots_y ON spots USING pigment (%s %s)', col, class);
	FOREACH r IN ARRAY ARRAY['-5', '0', '1', '3', '20'] LOOP
		one := same(format('%s %s ''[1,2,3]'' < %s', col, op, r), format('ORDER BY %s %s ''[1,2,3]''', col, op), format('%s %s ''[1,2,3]''', col, op));
		result := result || ' ' || one;
		one := same(format('- (%s %s ''[1,2,3]'') >= %s', col, op, r), format('ORDER BY (%s %s ''[1,2,3]'') * -1 DESC', col, op), format('%s %s ''[1,2,3]''', col, op));
		result := result || ' ' || one;
	END LOOP;
	EXECUTE format('SET LOCAL enable_seqscan = off; SET LOCAL enable_indexscan = on; SET LOCAL enable_bitmapscan = off; SET LOCAL enable_sort = off; EXPLAIN (FORMAT json) SELECT id FROM spots WHERE %s %s ''[1,2,3]'' < 1 ORDER BY (%1$s %2$s ''[1,2,3]'') * -1 DESC', col, op) INTO one;
	DROP INDEX spots_y;
	RETURN CASE WHEN one NOT LIKE '%Index Cond%Order By%' OR one LIKE '%"Sort"%' THEN 'no path: ' || one ELSE result END;
END $$;
SELECT op, same_by(op, 'vector_' || name || '_ops', 'v'), same_by(op, 'halfvec_' || name || '_ops', 'h')
FROM (VALUES ('<->', 'l2'), ('<=>', 'cosine'), ('<#>', 'ip'), ('<+>', 'l1')) x(op, name);

-- Errors are the operator's own.
SET enable_seqscan = off;
SELECT id FROM spots WHERE v <=> '[1,2]' < 1;
SELECT id FROM spots WHERE v <=> '[1,2]' < 1 ORDER BY v <=> '[1,2]' LIMIT 1;

-- Orders that follow from the distance's
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v IS NOT NULL ORDER BY 1 - (v <=> '[1,2,3]') DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id, 1 - (v <=> '[1,2,3]') AS similarity FROM spots ORDER BY similarity DESC NULLS LAST LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <=> '[1,2,3]' < 0.5 ORDER BY 1 - (v <=> '[1,2,3]') DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE 1 - (v <=> '[1,2,3]') > 0.5 ORDER BY 1 - (v <=> '[1,2,3]') DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM spots ORDER BY 2 * (v <=> '[1,2,3]') - 1 LIMIT 3;
-- NULLs would come first, or the order is the other one, or there is none.
RESET enable_seqscan;
EXPLAIN (COSTS OFF) SELECT id FROM spots ORDER BY 1 - (v <=> '[1,2,3]') DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v IS NOT NULL ORDER BY 1 - (v <=> '[1,2,3]') LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v IS NOT NULL ORDER BY 1 / (v <=> '[1,2,3]') DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v IS NOT NULL ORDER BY (1 - (v <=> '[1,2,3]'))::numeric DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v IS NOT NULL ORDER BY 0 * (v <=> '[1,2,3]') LIMIT 3;
SET enable_seqscan = off;
SELECT rest, same(condition, rest, '1 - (v <=> ''[1,2,3]'')') FROM (VALUES ('v IS NOT NULL', 'ORDER BY 1 - (v <=> ''[1,2,3]'') DESC'), ('true', 'ORDER BY 1 - (v <=> ''[1,2,3]'') DESC'),
	('true', 'ORDER BY 1 - (v <=> ''[1,2,3]'') DESC NULLS LAST'), ('true', 'ORDER BY 1 - (v <=> ''[1,2,3]'') NULLS FIRST'), ('kind = 3', 'ORDER BY (v <=> ''[1,2,3]'') / -4 DESC NULLS LAST LIMIT 7'),
	('kind < 3 AND v IS NOT NULL', 'ORDER BY -(v <=> ''[1,2,3]'') DESC LIMIT 50 OFFSET 3'), ('v IS NOT NULL', 'ORDER BY v <=> ''[1,2,3]'' NULLS FIRST LIMIT 50')) x(condition, rest);
-- Where there is something behind the distance, an incremental sort does the rest.
EXPLAIN (COSTS OFF) SELECT id FROM spots ORDER BY v <=> '[1,2,3]', id LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <=> '[1,2,3]' < 0.1 ORDER BY v <=> '[1,2,3]', id DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM spots ORDER BY 1 - (v <=> '[1,2,3]') DESC NULLS LAST, id LIMIT 3;
SELECT same('true', 'ORDER BY v <=> ''[1,2,3]'', id', 'id'), same('v <=> ''[1,2,3]'' < 0.1', 'ORDER BY v <=> ''[1,2,3]'', id DESC LIMIT 20', 'id'),
	same('true', 'ORDER BY 1 - (v <=> ''[1,2,3]'') DESC NULLS LAST, id LIMIT 500', 'id');
-- Groups need equal values together and get a sort, and the largest value is not one that is near it.
EXPLAIN (COSTS OFF) SELECT DISTINCT 1 - (v <=> '[1,2,3]') AS s FROM spots WHERE v <=> '[1,2,3]' < 0.1 ORDER BY s DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT max(1 - (v <=> '[1,2,3]')) FROM spots WHERE v <=> '[1,2,3]' < 0.1;

-- Parameters: generic and custom plans, joins, rescans
SET enable_bitmapscan = off;
PREPARE near(vector, float8) AS SELECT count(*), max(v <=> $1) < $2 AS within FROM (SELECT v FROM spots WHERE v <=> $1 < $2 ORDER BY v <=> $1 LIMIT 1000) x;
SET plan_cache_mode = force_generic_plan;
EXPLAIN (COSTS OFF) EXECUTE near('[1,2,3]', 0.1);
EXECUTE near('[1,2,3]', 0.1);
EXECUTE near('[3,2,1]', 0.01);
EXECUTE near('[3,2,1]', 'NaN');
EXECUTE near('[3,2,1]', NULL);
EXECUTE near(NULL, 1);
EXECUTE near('[1,2]', 1);
SET plan_cache_mode = force_custom_plan;
EXECUTE near('[1,2,3]', 0.1);
EXECUTE near('[3,2,1]', 'NaN');
RESET plan_cache_mode;
SET enable_material = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
EXPLAIN (COSTS OFF) SELECT a.id, b.id FROM spots a JOIN spots b ON a.v <=> b.v < a.kind * 0.001 WHERE a.id < 40;
SELECT count(*) FROM spots a JOIN spots b ON a.v <=> b.v < a.kind * 0.001 WHERE a.id < 40;
SET enable_indexscan = off;
SET enable_seqscan = on;
SELECT count(*) FROM spots a JOIN spots b ON a.v <=> b.v < a.kind * 0.001 WHERE a.id < 40;
SET enable_indexscan = on;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT a.id, n.id FROM spots a, LATERAL (SELECT id FROM spots b WHERE b.v <=> a.v < a.kind * 0.01 ORDER BY b.v <=> a.v, id LIMIT 2) n WHERE a.id < 40;
SELECT count(*), sum(n.id) FROM spots a, LATERAL (SELECT id FROM spots b WHERE b.v <=> a.v < a.kind * 0.01 ORDER BY b.v <=> a.v, id LIMIT 2) n WHERE a.id < 40;
SELECT count(*), sum(n.id) FROM spots a, LATERAL (SELECT id FROM spots b WHERE (b.v <=> a.v) + 0 < a.kind * 0.01 ORDER BY (b.v <=> a.v) + 0, id LIMIT 2) n WHERE a.id < 40;
-- The row of a join that has no partner
SELECT count(*), count(b.id) FROM spots a LEFT JOIN spots b ON a.v <=> b.v < 0.0001 AND b.kind = a.kind WHERE a.id BETWEEN 45 AND 55;
RESET enable_material;
RESET enable_hashjoin;
RESET enable_mergejoin;

-- Partitions, partial indexes, expressions, row security
CREATE TABLE parts (id int, v vector(3) NOT NULL) PARTITION BY RANGE (id);
CREATE TABLE parts_a PARTITION OF parts FOR VALUES FROM (0) TO (500);
CREATE TABLE parts_b PARTITION OF parts FOR VALUES FROM (500) TO (1000);
INSERT INTO parts SELECT n, ARRAY[n % 7, n % 11, n % 13 + 1]::vector FROM generate_series(0, 999) n;
CREATE INDEX parts_x ON parts USING pigment (v);
EXPLAIN (COSTS OFF) SELECT id FROM parts WHERE v <-> '[1,2,3]' < 2 ORDER BY v <-> '[1,2,3]' LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM parts ORDER BY 1 - (v <-> '[1,2,3]') DESC, id LIMIT 3;
SELECT id FROM parts ORDER BY 1 - (v <-> '[1,2,3]') DESC, id LIMIT 3;
DROP TABLE parts;
RESET enable_bitmapscan;
CREATE INDEX spots_partial ON spots USING pigment (v) WHERE v IS NOT NULL AND kind = 7;
CREATE INDEX spots_expression ON spots USING pigment ((l2_normalize(v)));
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v IS NOT NULL AND kind = 7 ORDER BY 1 - (v <-> '[1,2,3]') DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE l2_normalize(v) <-> '[0,0,1]' < 0.1 ORDER BY l2_normalize(v) <-> '[0,0,1]' LIMIT 3;
SELECT same('l2_normalize(v) <-> ''[0,0,1]'' < 0.5', 'ORDER BY l2_normalize(v) <-> ''[0,0,1]''', 'l2_normalize(v) <-> ''[0,0,1]''');
CREATE ROLE within_reader;
GRANT SELECT ON spots TO within_reader;
ALTER TABLE spots ENABLE ROW LEVEL SECURITY;
CREATE POLICY thirds ON spots USING (id % 3 = 0);
SET ROLE within_reader;
EXPLAIN (COSTS OFF) SELECT id FROM spots WHERE v <=> '[1,2,3]' < 0.01 ORDER BY v <=> '[1,2,3]' LIMIT 3;
SELECT count(*), count(*) FILTER (WHERE id % 3 <> 0) AS hidden FROM (SELECT id FROM spots WHERE v <=> '[1,2,3]' < 0.5 ORDER BY v <=> '[1,2,3]') x;
RESET ROLE;

-- By default costs the index is less than the table, of as many pages: a distance costs more than a comparison of numbers.
RESET enable_seqscan;
CREATE TABLE wide (id int, v vector(128));
INSERT INTO wide SELECT n, (SELECT array_agg(sin(n * 1.7 + k * (n % 97))) FROM generate_series(1, 128) k)::vector FROM generate_series(1, 5000) n;
CREATE INDEX wide_x ON wide USING pigment (v vector_cosine_ops);
ANALYZE wide;
DO $$
DECLARE
	line text;
	plan text := '';
	q vector := (SELECT v FROM wide WHERE id = 17);
BEGIN
	FOR line IN EXECUTE format('EXPLAIN (COSTS OFF) SELECT id FROM wide WHERE v <=> %L < %s', q, (SELECT max(d) FROM (SELECT v <=> q AS d FROM wide ORDER BY 1 LIMIT 20) nearest)) LOOP
		plan := plan || line;
	END LOOP;
	RAISE NOTICE '%', CASE WHEN plan ~ 'Index Scan (on|using) wide_x' THEN 'by the index' ELSE plan END;
END $$;
DROP TABLE wide;
SET enable_seqscan = off;

-- The operators that plans show can be called too.
SELECT ARRAY[(v OPERATOR(pigment.<->@) ROW('[0,0]', 5, NULL)::pigment.vector_ball), (v OPERATOR(pigment.<->@) ROW('[0,0]', 4.9, NULL)::pigment.vector_ball),
	(v OPERATOR(pigment.<=>@) ROW('[3,4]', 1, 1)::pigment.vector_ball), (v OPERATOR(pigment.<#>@) ROW('[1,1]', -7, NULL)::pigment.vector_ball),
	(v OPERATOR(pigment.<+>@) ROW('[0,0]', 'NaN', NULL)::pigment.vector_ball), (v OPERATOR(pigment.<+>@) ROW(NULL, 1, NULL)::pigment.vector_ball),
	(v::halfvec(2) OPERATOR(pigment.<->@) ROW('[0,0]', 5, NULL)::pigment.halfvec_ball)] FROM (VALUES ('[3,4]'::vector(2))) x(v);
SELECT '[1,0]'::vector OPERATOR(pigment.<=>!) '[0,1]' AS one;
RESET enable_seqscan;
DROP TABLE spots, many;
DROP ROLE within_reader;
DROP FUNCTION same, same_by;
