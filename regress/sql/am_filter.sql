-- Access method pigment: filter columns beside a vector.
\set SHOW_CONTEXT never
CREATE TABLE goods (id int PRIMARY KEY, category text COLLATE "C", embedding vector(3), price numeric, tags text[], in_stock bool, added date, stars int2);
INSERT INTO goods SELECT n, 'c' || n % 10, CASE WHEN n % 25 = 0 THEN NULL ELSE ARRAY[n % 7, n % 11, n % 13 + 1]::vector END, n / 4.0,
	ARRAY['t' || n % 3, 't' || n % 5], n % 4 = 0, '2024-01-01'::date + n % 366, CASE WHEN n % 9 <> 0 THEN n % 5 END FROM generate_series(1, 5000) n;
CREATE INDEX goods_x ON goods USING pigment (category, embedding vector_cosine_ops, price, tags, in_stock, added, stars);
INSERT INTO goods SELECT n, 'c' || n % 10, ARRAY[n % 7, n % 11, n % 13 + 1]::vector, n / 4.0, ARRAY['t' || n % 3], n % 4 = 0,
	'2024-01-01'::date + n % 366, n % 5 FROM generate_series(5001, 5200) n;
ANALYZE goods;
SELECT metric, dimension, segments, segment_rows, pending_rows FROM pigment.stats('goods_x');
SELECT leaked, live_rows FROM pigment.check('goods_x');

-- One scan filters and ranks.
EXPLAIN (COSTS OFF) SELECT id FROM goods WHERE category = 'c3' AND price BETWEEN 100 AND 900 ORDER BY embedding <=> '[1,2,3]' LIMIT 4;
EXPLAIN (COSTS OFF) SELECT id FROM goods WHERE tags @> '{t1,t2}' AND stars > 2::bigint ORDER BY embedding <=> '[1,2,3]' LIMIT 4;
EXPLAIN (COSTS OFF) SELECT id FROM goods WHERE in_stock AND category = ANY ('{c1,c3}') ORDER BY embedding <=> '[1,2,3]' LIMIT 4;
EXPLAIN (COSTS OFF) SELECT id FROM goods WHERE NOT in_stock AND stars IS NULL ORDER BY embedding <=> '[1,2,3]' LIMIT 4;
EXPLAIN (COSTS OFF) SELECT id FROM goods WHERE in_stock = $$t$$ AND embedding IS NOT NULL ORDER BY embedding <=> '[1,2,3]' LIMIT 4;
-- What the index cannot tell stays a filter.
EXPLAIN (COSTS OFF) SELECT id FROM goods WHERE category = 'c3' AND id > 100 ORDER BY embedding <=> '[1,2,3]' LIMIT 4;
-- Conditions alone are bitmap scans, and mix with other indexes.
EXPLAIN (COSTS OFF) SELECT count(*) FROM goods WHERE category = 'c3' AND added < '2024-02-01';
EXPLAIN (COSTS OFF) SELECT count(*) FROM goods WHERE (category = 'c3' AND price < 50) OR id = 77;
SELECT count(*) FROM goods WHERE (category = 'c3' AND price < 50) OR id = 77;
-- Without a condition that keeps rows out there is nothing to do for it.
EXPLAIN (COSTS OFF) SELECT count(*) FROM goods WHERE embedding IS NULL;
-- Where it must, it does it all the same.
SET enable_seqscan = off;
SELECT count(*) FROM goods WHERE embedding IS NULL;
RESET enable_seqscan;
SELECT count(*) FROM goods WHERE embedding IS NULL;

-- The same rows as without the index, in the same order; never short.
CREATE FUNCTION same(condition text, rest text DEFAULT '') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	ordered text := format('SELECT count(*), array_agg(d) FROM (SELECT (embedding <=> ''[1,2,3]'')::text AS d FROM goods WHERE %s
		ORDER BY embedding <=> ''[1,2,3]'' %s) o', condition, rest);
	counts bigint[];
	distances text[][];
	one bigint;
	many text[];
BEGIN
	FOR i IN 1 .. 2 LOOP
		EXECUTE format('SET LOCAL enable_seqscan = %s; SET LOCAL enable_indexscan = %s; SET LOCAL enable_bitmapscan = %s',
			CASE i WHEN 1 THEN 'on' ELSE 'off' END, CASE i WHEN 1 THEN 'off' ELSE 'on' END, CASE i WHEN 1 THEN 'off' ELSE 'on' END);
		EXECUTE ordered INTO one, many;
		counts := counts || one;
		distances := distances || ARRAY[md5(many::text)];
	END LOOP;
	RETURN CASE WHEN counts[1] <> counts[2] THEN 'rows: ' || counts::text WHEN distances[1] <> distances[2] THEN 'order' ELSE 'ok ' || counts[1] END;
END $$;
SELECT same('category = ''c3'''), same('category = ''c3''', 'LIMIT 7'), same('price < 10 AND price >= 2'), same('NOT in_stock'), same('in_stock IS NULL');
SELECT same('stars IS NULL'), same('stars IS NOT NULL AND stars <> 3'), same('stars = ANY (ARRAY[1, NULL, 4])'), same('stars = ANY (NULL::int[])'), same('stars < ANY (''{2,1}'')');
SELECT same('tags && ''{t4,t9}'''), same('tags @> ''{}'''), same('tags @> ''{t1,NULL}'''), same('tags <@ ''{t0,t1,t2}'''), same('tags = ''{t1,t1}''');
SELECT same('category > ''c3'' AND category <= ''c6''', 'LIMIT 100 OFFSET 50'), same('added = ''2024-02-29'''), same('price = ''NaN'''), same('category = NULL'), same('embedding IS NULL');
SELECT * FROM pigment.last_scan();

-- Changes: an update of a filter column, deletion, VACUUM, rebuilding in little memory.
UPDATE goods SET category = 'moved' WHERE id % 100 = 3;
DELETE FROM goods WHERE id % 10 = 1;
SELECT same('category = ''moved'''), same('category = ''c3'''), same('category = ''c1''');
VACUUM goods;
SELECT same('category = ''moved'''), same('category = ''c3''', 'LIMIT 9'), same('category = ''c1''');
SET maintenance_work_mem = '1MB';
REINDEX INDEX goods_x;
RESET maintenance_work_mem;
SELECT segments > 0 AS built, pending_rows FROM pigment.stats('goods_x');
SELECT leaked, live_rows FROM pigment.check('goods_x');
SELECT same('category = ''moved'''), same('tags && ''{t1}'' AND price > 100 AND in_stock', 'LIMIT 9');

-- Parameters: prepared statements with custom and generic plans, joins, cursors.
SET plan_cache_mode = force_generic_plan;
PREPARE nearest(text, numeric, vector) AS SELECT id FROM goods WHERE category = $1 AND price < $2 ORDER BY embedding <=> $3 LIMIT 3;
EXPLAIN (COSTS OFF) EXECUTE nearest('c5', 500, '[1,2,3]');
EXECUTE nearest('c5', 500, '[1,2,3]');
EXECUTE nearest('c6', 500, '[1,2,3]');
EXECUTE nearest(NULL, 500, '[1,2,3]');
RESET plan_cache_mode;
EXPLAIN (COSTS OFF) SELECT c, n.id FROM unnest('{c2,c4,c9}'::text[]) c, LATERAL (SELECT id FROM goods WHERE category = c AND stars >= 2
	ORDER BY embedding <=> '[3,2,1]' LIMIT 2) n ORDER BY 1;
SELECT c, n.id FROM unnest('{c2,c4,none,c9}'::text[]) c, LATERAL (SELECT id FROM goods WHERE category = c AND stars >= 2
	ORDER BY embedding <=> '[3,2,1]', id LIMIT 2) n ORDER BY 1, 2;
BEGIN;
DECLARE moved CURSOR FOR SELECT id, category FROM goods WHERE category = 'moved' ORDER BY embedding <=> '[1,2,3]';
FETCH 2 FROM moved;
UPDATE goods SET category = 'c0' WHERE category = 'moved';
MOVE FORWARD ALL FROM moved;
ROLLBACK;
SELECT count(*) FROM (SELECT id FROM goods WHERE category = 'c5' ORDER BY embedding <=> '[1,2,3]' LIMIT 3 FOR UPDATE) l;

-- Row security is a condition like others; operators that tell nothing of what they see may come before it.
CREATE ROLE regress_pigment_reader;
GRANT SELECT ON goods TO regress_pigment_reader;
ALTER TABLE goods ENABLE ROW LEVEL SECURITY;
CREATE POLICY of_two ON goods USING (category = 'c2');
SET ROLE regress_pigment_reader;
EXPLAIN (COSTS OFF) SELECT id FROM goods WHERE stars = 2 ORDER BY embedding <=> '[1,2,3]' LIMIT 2;
SELECT count(*), min(category), max(category) FROM (SELECT category FROM goods WHERE stars = 2 ORDER BY embedding <=> '[1,2,3]' LIMIT 1000) o;
RESET ROLE;
DROP POLICY of_two ON goods;
ALTER TABLE goods DISABLE ROW LEVEL SECURITY;
REVOKE SELECT ON goods FROM regress_pigment_reader;
DROP ROLE regress_pigment_reader;
-- What is hidden is not counted for the planner either, which EXPLAIN would tell.
CREATE TABLE hidden (k int, v vector(2)) WITH (autovacuum_enabled = off);
INSERT INTO hidden SELECT n, '[1,2]' FROM generate_series(1, 3000) n;
CREATE INDEX ON hidden USING pigment (k, v);
CREATE FUNCTION costs(condition text) RETURNS text LANGUAGE plpgsql AS $$ DECLARE plan json; BEGIN
	EXECUTE format('EXPLAIN (FORMAT json) SELECT 1 FROM hidden WHERE %s ORDER BY v <-> $q$[1,2]$q$', condition) INTO plan;
	RETURN plan #>> '{0,Plan,Total Cost}';
END $$;
CREATE ROLE regress_pigment_reader;
GRANT SELECT ON hidden TO regress_pigment_reader;
SET enable_seqscan = off;
SET ROLE regress_pigment_reader;
SELECT costs('k < 20') = costs('k < 2900') AS alike;
RESET ROLE;
ALTER TABLE hidden ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON hidden USING (k % 1000 = 0);
SET ROLE regress_pigment_reader;
SELECT costs('k < 20') = costs('k < 2900') AS alike;
RESET ROLE;
RESET enable_seqscan;
DROP FUNCTION costs;
DROP TABLE hidden;
DROP ROLE regress_pigment_reader;
-- Built and rebuilt concurrently; another type of a column; a temporary table.
CREATE INDEX CONCURRENTLY goods_cic ON goods USING pigment (category, price, tags);
SELECT leaked, live_rows FROM pigment.check('goods_cic');
REINDEX INDEX CONCURRENTLY goods_cic;
SELECT leaked, live_rows FROM pigment.check('goods_cic');
DROP INDEX goods_cic;
ALTER TABLE goods ALTER stars TYPE numeric;
SELECT leaked, live_rows FROM pigment.check('goods_x');
SELECT same('stars = 3.0'), same('stars > 2.5 AND stars < 1e3');
CREATE TEMP TABLE brief AS SELECT n AS id, ARRAY[n, 1]::vector AS v FROM generate_series(1, 3000) n;
CREATE INDEX brief_x ON brief USING pigment (id, v);
ANALYZE brief;
SELECT id FROM brief WHERE id = ANY (ARRAY(SELECT n FROM generate_series(1, 100000, 7) n)) ORDER BY v <-> '[20,1]' LIMIT 3;
DROP TABLE brief;

-- Other shapes: no vector; only texts that do not order by bytes; expressions; a partial index; long values.
CREATE TABLE shapes (id int, t text COLLATE "C.utf8", doc jsonb, v vector);
INSERT INTO shapes SELECT n, CASE n % 3 WHEN 0 THEN repeat('x', 300) || n % 5 ELSE 'w' || n % 20 END, jsonb_build_object('lang', 'l' || n % 4, 'year', 2000 + n % 30),
	ARRAY[n, 1]::vector FROM generate_series(1, 2000) n;
CREATE INDEX shapes_t ON shapes USING pigment (t, id);
CREATE INDEX shapes_doc ON shapes USING pigment (((doc ->> 'lang')) , v, ((doc ->> 'year')::int));
CREATE INDEX shapes_part ON shapes USING pigment (v, id) WHERE id > 1000;
ANALYZE shapes;
SELECT metric, dimension FROM pigment.stats('shapes_t');
SELECT live_rows FROM pigment.check('shapes_t') UNION ALL SELECT live_rows FROM pigment.check('shapes_doc') UNION ALL SELECT live_rows FROM pigment.check('shapes_part');
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM shapes WHERE t = repeat('x', 300) || '1' AND id < 900;
SELECT count(*), min(id) FROM shapes WHERE t = repeat('x', 300) || '1' AND id < 900;
SELECT index, strategy, filter_rows, recheck FROM pigment.last_scan();
EXPLAIN (COSTS OFF) SELECT id FROM shapes WHERE doc ->> 'lang' = 'l3' AND (doc ->> 'year')::int > 2020 ORDER BY v <-> '[7,1]' LIMIT 2;
SELECT id FROM shapes WHERE doc ->> 'lang' = 'l3' AND (doc ->> 'year')::int > 2020 ORDER BY v <-> '[7,1]' LIMIT 2;
EXPLAIN (COSTS OFF) SELECT id FROM shapes WHERE id > 1000 AND id < 1900 ORDER BY v <-> '[7,1]' LIMIT 2;
SELECT id FROM shapes WHERE id > 1000 AND id < 1900 ORDER BY v <-> '[7,1]' LIMIT 2;
CREATE INDEX shapes_json ON shapes USING pigment (doc, v vector_l1_ops);
EXPLAIN (COSTS OFF) SELECT id FROM shapes WHERE doc @> '{"lang": "l3", "year": 2023}' AND doc ? 'lang' ORDER BY v <+> '[7,1]' LIMIT 2;
SELECT id FROM shapes WHERE doc @> '{"lang": "l3", "year": 2023}' AND doc ? 'lang' ORDER BY v <+> '[7,1]' LIMIT 2;
SELECT count(*) FROM shapes WHERE doc ?& '{lang,year}' AND doc @> '{"year": 2001}';
SELECT count(*) FROM shapes WHERE doc ?| '{}';
-- An order of texts that is not that of their bytes is the executor's work.
SELECT count(*) FROM shapes WHERE t > 'w19' AND id < 1000 AND t IS NOT NULL;
RESET enable_seqscan;
SELECT count(*) FROM shapes WHERE t > 'w19' AND id < 1000 AND t IS NOT NULL;
-- Beginnings of texts are bytes in every collation; what follows a wildcard is the executor's work.
CREATE FUNCTION like_counts(pattern text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	by_index bigint;
	by_rows bigint;
	seen record;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = on;
	SET LOCAL enable_indexscan = on;
	PERFORM id FROM shapes WHERE id > 1000 ORDER BY v <-> '[7,1]' LIMIT 1; -- the last scan, where the next is none
	EXECUTE format('SELECT count(*) FROM shapes WHERE t %s', pattern) INTO by_index;
	SELECT index, filter_rows, recheck INTO seen FROM pigment.last_scan();
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL enable_indexscan = off;
	EXECUTE format('SELECT count(*) FROM shapes WHERE t %s', pattern) INTO by_rows;
	RETURN CASE WHEN by_index = by_rows THEN 'ok ' ELSE 'not ' || by_rows || ': ' END || by_index
		|| CASE WHEN seen.index <> 'shapes_t'::regclass OR seen.filter_rows = 2000 THEN ' by looking at all'
		ELSE ' of ' || seen.filter_rows || CASE WHEN seen.recheck THEN ', looked at' ELSE '' END END;
END $$;
SELECT p, like_counts(p) FROM unnest(ARRAY['LIKE ''w1%''', 'LIKE ''w1''', 'LIKE ''w\1%%''', 'LIKE ''w_''', 'LIKE ''w1_%''', 'LIKE ''%9''', 'LIKE ''%''', 'LIKE ''''',
	'^@ ''w1''', '^@ ''''', 'LIKE ANY (''{w1%,w2}'')', 'NOT LIKE ''w%''', 'LIKE NULL']) p;
SELECT left(p, 9), like_counts(p) FROM unnest(ARRAY[format('LIKE %L', repeat('x', 256) || '%'), format('LIKE %L', repeat('x', 257) || '%'), format('LIKE %L', repeat('x', 256)),
	format('LIKE %L', repeat('x', 300) || '2')]) p;
SELECT like_counts('LIKE ''w1\''');
EXPLAIN (COSTS OFF) SELECT id FROM shapes WHERE t LIKE 'w1%' AND id < 300;

-- Partitions: MergeAppend of one scan for each.
CREATE TABLE parts (id int, kind text COLLATE "C", v vector(2)) PARTITION BY RANGE (id);
CREATE TABLE parts_1 PARTITION OF parts FOR VALUES FROM (0) TO (1000);
CREATE TABLE parts_2 PARTITION OF parts FOR VALUES FROM (1000) TO (2000);
CREATE INDEX ON parts USING pigment (kind, v);
INSERT INTO parts SELECT n, 'k' || n % 50, ARRAY[n, 0]::vector FROM generate_series(1, 1999) n;
ANALYZE parts;
EXPLAIN (COSTS OFF) SELECT id FROM parts WHERE kind = 'k7' ORDER BY v <-> '[1000,0]' LIMIT 3;
SELECT id FROM parts WHERE kind = 'k7' ORDER BY v <-> '[1000,0]' LIMIT 3;

-- Refused: what cannot be compared by bytes.
CREATE TABLE bad (a text, c point, d point[], e vector(2), f vector(2));
CREATE INDEX ON bad USING pigment (c);
CREATE INDEX ON bad USING pigment (d);
CREATE INDEX ON bad USING pigment (e, f);
CREATE INDEX ON bad USING pigment (e) INCLUDE (a);
-- An unlogged table, an empty one, rows before the first vector
CREATE UNLOGGED TABLE later (id int, v vector, k int);
CREATE INDEX later_x ON later USING pigment (k, v);
INSERT INTO later SELECT n, NULL, n % 3 FROM generate_series(1, 100) n;
REINDEX INDEX later_x;
INSERT INTO later SELECT n, '[1,2]', n % 3 FROM generate_series(101, 200) n;
SET enable_seqscan = off;
SELECT count(*), count(v) FROM (SELECT v FROM later WHERE k = 1 ORDER BY v <-> '[1,1]') x;
REINDEX INDEX later_x;
SELECT count(*), count(v) FROM (SELECT v FROM later WHERE k = 1 ORDER BY v <-> '[1,1]') x;
SELECT live_rows FROM pigment.check('later_x');
RESET enable_seqscan;
DROP TABLE goods, shapes, parts, bad, later;
DROP FUNCTION same;
