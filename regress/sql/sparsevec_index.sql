-- Access method pigment over sparsevec: the order of a sort for every operator class, at any setting, because it is exact.
\set SHOW_CONTEXT never
SELECT opcname, amvalidate(c.oid), opcdefault FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
WHERE amname = 'pigment' AND opcintype = 'sparsevec'::regtype ORDER BY 1;

-- 'ok N': the index scan gave the same N distances as a sort, of as many rows, and it was an index scan.
CREATE FUNCTION compare_sparse(op text, q sparsevec, suffix text DEFAULT '', condition text DEFAULT 'true') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	by_index text[];
	by_sort text[];
	plan text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL enable_indexscan = on;
	EXECUTE format('EXPLAIN (FORMAT json) SELECT id FROM sparse WHERE %s ORDER BY v %s $1 %s', condition, op, suffix) INTO plan USING q;
	IF plan NOT LIKE '%"Index Scan"%' OR plan LIKE '%"Sort"%' THEN
		RETURN 'not an index scan: ' || plan;
	END IF;
	EXECUTE format('SELECT array_agg(d::text) || cardinality(ARRAY(SELECT DISTINCT unnest(array_agg(id))))::text FROM (SELECT id, v %2$s $1 AS d FROM sparse WHERE %1$s ORDER BY v %2$s $1 %3$s) x', condition, op, suffix)
		INTO by_index USING q;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	EXECUTE format('SELECT array_agg(d::text) || cardinality(ARRAY(SELECT DISTINCT unnest(array_agg(id))))::text FROM (SELECT id, v %2$s $1 AS d FROM sparse WHERE %1$s ORDER BY v %2$s $1 %3$s) x', condition, op, suffix)
		INTO by_sort USING q;
	IF by_index IS DISTINCT FROM by_sort THEN
		RETURN format('differs: index %s, sort %s', by_index[1:20], by_sort[1:20]);
	END IF;
	RETURN 'ok ' || cardinality(by_index) - 1;
END $$;

-- Places of very different frequency, values of both signs, equal vectors, zero vectors, the largest and the least numbers, NULLs.
CREATE TABLE sparse (id serial, v sparsevec(30000), note int) WITH (autovacuum_enabled = off);
SELECT setseed(0.5);
CREATE FUNCTION words(n int, places int) RETURNS sparsevec LANGUAGE sql VOLATILE AS $$
	SELECT ('{' || coalesce(string_agg(place || ':' || value, ','), '') || '}/30000')::sparsevec
	FROM (SELECT DISTINCT ON (1) 1 + floor(29999 * power(random(), 4))::int AS place, (random() * 3 - (n % 4 = 0)::int + 0.00001)::real AS value
		FROM generate_series(1, places)) x WHERE value <> 0
$$;
INSERT INTO sparse (v, note)
SELECT CASE WHEN n % 50 = 0 THEN NULL WHEN n % 77 = 0 THEN '{}/30000'::sparsevec
	WHEN n % 101 = 0 THEN '{1:3e38,2:-3e38,30000:1e-45}/30000'::sparsevec
	WHEN n % 31 = 0 THEN '{1:1,2:1}/30000'::sparsevec ELSE words(n, 2 + n % 30) END, n % 10
FROM generate_series(1, 3000) n;
CREATE TABLE sparse_queries (q sparsevec);
INSERT INTO sparse_queries VALUES ('{}/30000'), ('{1:1}/30000'), ('{1:1,2:-1,30000:2}/30000'), ('{2:3e38,3:1}/30000'), ('{30000:1e-40}/30000');
INSERT INTO sparse_queries SELECT words(1, 40) FROM generate_series(1, 3);
INSERT INTO sparse_queries SELECT words(4, 40) FROM generate_series(1, 3);
CREATE INDEX sparse_l2 ON sparse USING pigment (v);
CREATE INDEX sparse_cosine ON sparse USING pigment (v sparsevec_cosine_ops, note);
CREATE INDEX sparse_ip ON sparse USING pigment (note, v sparsevec_ip_ops);
CREATE INDEX sparse_l1 ON sparse USING pigment (v sparsevec_l1_ops);
SELECT op, suffix, compare_sparse(op, q, suffix), count(*) FROM sparse_queries, unnest('{<->,<=>,<#>,<+>}'::text[]) op, unnest('{"",LIMIT 10}'::text[]) suffix
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3;
SELECT compare_sparse('<=>', '{1:1,9:1}/30000', 'LIMIT 20', 'note = 3'), compare_sparse('<#>', '{1:1,9:1}/30000', '', 'note < 2'),
	compare_sparse('<->', '{1:1,9:1}/30000', 'LIMIT 7'), compare_sparse('<->', '{1:1}/30000', 'LIMIT 5', 'v IS NULL'),
	compare_sparse('<=>', '{1:1}/30000', '', 'v IS NOT NULL AND note = 4');

-- Descending orders begin with what is no number.
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT id FROM sparse WHERE v IS NOT NULL ORDER BY 1 - (v <=> '{7:1,300:2}/30000') DESC;
CREATE TABLE descending AS SELECT id, 1 - (v <=> '{7:1,300:2}/30000') AS d FROM sparse WHERE v IS NOT NULL ORDER BY 1 - (v <=> '{7:1,300:2}/30000') DESC;
ALTER TABLE descending ADD place serial;
RESET enable_sort;
SELECT count(*), count(DISTINCT id), count(*) FILTER (WHERE d = 'NaN') AS no_number, count(*) FILTER (WHERE d < next) AS wrong
FROM (SELECT *, lead(d) OVER (ORDER BY place) AS next FROM descending) x;
DROP TABLE descending;

-- Few rows are looked at in the table beside those that are wanted, and the scan says what it did.
SET enable_seqscan = off;
SELECT count(*) FROM (SELECT id FROM sparse ORDER BY v <#> '{7:1,300:2,9000:1}/30000' LIMIT 10) x;
SELECT strategy, conditions, filter_rows, rows_scored BETWEEN 30 AND 1500 AS scores_some, passes, rows_given FROM pigment.last_scan();
RESET enable_seqscan;

-- Pending rows, changes, VACUUM, and one segment of all.
INSERT INTO sparse (v, note) SELECT words(n, 12), n % 10 FROM generate_series(1, 600) n;
UPDATE sparse SET v = words(1, 5) WHERE note = 4 AND id % 3 = 0;
UPDATE sparse SET note = 5 WHERE note = 6;
DELETE FROM sparse WHERE note IN (1, 7);
SELECT op, compare_sparse(op, q), count(*) FROM sparse_queries, unnest('{<->,<=>,<#>,<+>}'::text[]) op GROUP BY 1, 2 ORDER BY 1, 2;
VACUUM (INDEX_CLEANUP on) sparse;
SELECT op, compare_sparse(op, q, 'LIMIT 100'), count(*) FROM sparse_queries, unnest('{<->,<=>,<#>,<+>}'::text[]) op GROUP BY 1, 2 ORDER BY 1, 2;
SELECT count(pigment.merge(i::regclass)) FROM unnest('{sparse_l2,sparse_cosine,sparse_ip,sparse_l1}'::text[]) i;
SELECT op, compare_sparse(op, q), count(*) FROM sparse_queries, unnest('{<->,<=>,<#>,<+>}'::text[]) op GROUP BY 1, 2 ORDER BY 1, 2;
SELECT i, segments, pending_rows, live_rows = (SELECT count(*) FROM sparse) AS complete
FROM unnest('{sparse_l2,sparse_cosine,sparse_ip,sparse_l1}'::text[]) i, pigment.stats(i::regclass), pigment.check(i::regclass);

-- The planner takes it by itself, beside a vector and a text in one index too, for parameters too.
CREATE TABLE mixed (id int, v vector(2), s sparsevec(100), body text, price int);
INSERT INTO mixed SELECT n, ARRAY[n % 13, n % 7]::vector, ('{' || 1 + n % 9 || ':' || 1 + n % 5 || ',50:1}/100')::sparsevec, 'word' || n % 11, n % 3
FROM generate_series(1, 3000) n;
CREATE INDEX mixed_all ON mixed USING pigment (price, s sparsevec_ip_ops, v, body text_bm25_ops);
ANALYZE mixed;
SET plan_cache_mode = force_generic_plan;
PREPARE near(sparsevec) AS SELECT id, s <#> $1 FROM mixed WHERE price = 2 ORDER BY s <#> $1, id LIMIT 3;
EXPLAIN (COSTS OFF) EXECUTE near(NULL);
EXECUTE near('{4:1}/100');
EXECUTE near('{7:2,50:1}/100');
EXECUTE near(NULL);
DEALLOCATE near;
RESET plan_cache_mode;
EXPLAIN (COSTS OFF) SELECT id FROM mixed ORDER BY s <#> '{4:1}/100' LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM mixed WHERE s IS NOT NULL ORDER BY 1 - (s <#> '{4:1}/100') DESC LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM mixed ORDER BY v <-> '[1,2]' LIMIT 3;
SELECT q.n, x.id FROM (VALUES (1, '{3:1}/100'::sparsevec), (2, '{8:1}/100')) q (n, s), LATERAL (SELECT id FROM mixed ORDER BY s <#> q.s, id LIMIT 2) x ORDER BY 1, 2;
SELECT pg_index_column_has_property('mixed_all'::regclass, 2, 'distance_orderable') AS orders, live_rows FROM pigment.check('mixed_all');
SELECT * FROM pigment.differences('mixed_all');
DROP TABLE mixed;

-- Vectors of other dimensions are refused where they are met, as by a sort, and where nobody meets them not.
CREATE TABLE loose (id int, v sparsevec);
CREATE INDEX loose_v ON loose USING pigment (v, id);
INSERT INTO loose VALUES (1, '{1:1}/3'), (2, '{2:1}/3'), (3, '{1:1}/4'), (4, NULL);
SET enable_seqscan = off;
SELECT id FROM loose ORDER BY v <-> '{1:1}/3' LIMIT 1;
SELECT id FROM loose WHERE id < 3 ORDER BY v <-> '{1:1}/3';
SELECT id FROM loose WHERE id > 2 ORDER BY v <-> '{1:1}/4';
DELETE FROM loose WHERE id = 3;
SELECT id FROM loose ORDER BY v <-> '{1:1}/3';
RESET enable_seqscan;

-- The most elements that a sparsevec has.
INSERT INTO loose SELECT 9, array_fill(0.5, ARRAY[16000])::sparsevec;
INSERT INTO loose SELECT 10, array_fill(0.25, ARRAY[16000])::sparsevec;
SELECT pigment.merge('loose_v');
SET enable_seqscan = off;
SELECT id, v <-> array_fill(0.3, ARRAY[16000])::sparsevec AS distance FROM loose WHERE id > 8 ORDER BY 2;
RESET enable_seqscan;
SELECT live_rows FROM pigment.check('loose_v');

-- What is refused, by name.
CREATE INDEX ON loose USING pigment (v vector_l2_ops);
CREATE INDEX ON loose USING pigment (v sparsevec_hamming_ops);
DROP TABLE loose;
DROP TABLE sparse, sparse_queries;
DROP FUNCTION compare_sparse, words;
