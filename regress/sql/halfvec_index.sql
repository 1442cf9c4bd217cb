-- Access method pigment over halfvec: the order of a sort for every operator class, and vectors in 16 bits an element.
\set SHOW_CONTEXT never
SET pigment.target_recall = 1;

-- 'ok N': the index scan gave the same N ids in the same order as a sort by distance and place, and it was an index scan.
CREATE FUNCTION compare_halves(op text, q halfvec, suffix text DEFAULT '', condition text DEFAULT 'true') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	by_index int[];
	by_sort int[];
	plan text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL enable_indexscan = on;
	EXECUTE format('EXPLAIN (FORMAT json) SELECT id FROM halves WHERE %s ORDER BY v %s $1 %s', condition, op, suffix) INTO plan USING q;
	IF plan NOT LIKE '%"Index Scan"%' OR plan LIKE '%"Sort"%' THEN
		RETURN 'not an index scan: ' || plan;
	END IF;
	EXECUTE format('SELECT array_agg(id) FROM (SELECT id FROM halves WHERE %s ORDER BY v %s $1 %s) x', condition, op, suffix) INTO by_index USING q;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	EXECUTE format('SELECT array_agg(id) FROM (SELECT id FROM halves WHERE %s ORDER BY v %s $1, ctid %s) x', condition, op, suffix) INTO by_sort USING q;
	IF by_index IS DISTINCT FROM by_sort THEN
		RETURN format('differs: index %s, sort %s', by_index[1:20], by_sort[1:20]);
	END IF;
	RETURN 'ok ' || coalesce(cardinality(by_index), 0);
END $$;

SELECT opcname, amvalidate(c.oid), opcdefault FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
WHERE amname = 'pigment' AND opcintype = 'halfvec'::regtype ORDER BY 1;

-- Numbers whose halves are rounded, equal distances, zero vectors, the largest and least halves, NULLs.
CREATE TABLE halves (id serial, v halfvec(3), note int) WITH (autovacuum_enabled = off);
SELECT setseed(0.5);
INSERT INTO halves (v, note)
SELECT CASE WHEN n % 50 = 0 THEN NULL WHEN n % 77 = 0 THEN '[0,0,0]'::halfvec WHEN n % 101 = 0 THEN '[65504,-65504,6e-8]'::halfvec
	ELSE ARRAY[floor(random() * 7 - 3), random() / 3, random()::numeric(3, 2)]::halfvec END, n % 10
FROM generate_series(1, 1500) n;
CREATE TABLE half_queries (q halfvec);
INSERT INTO half_queries VALUES ('[0,0,0]'), ('[1,0.3,0.5]'), ('[65504,65504,-65504]'), ('[6e-8,0,0]');
CREATE INDEX halves_l2 ON halves USING pigment (v);
CREATE INDEX halves_cosine ON halves USING pigment (v halfvec_cosine_ops, note);
CREATE INDEX halves_ip ON halves USING pigment (note, v halfvec_ip_ops);
CREATE INDEX halves_l1 ON halves USING pigment (v halfvec_l1_ops);
SELECT op, q, compare_halves(op, q) FROM half_queries, unnest('{<->,<=>,<#>,<+>}'::text[]) op ORDER BY 1, 2;
SELECT compare_halves('<=>', '[1,1,1]', 'LIMIT 20', 'note = 3'), compare_halves('<#>', '[1,1,1]', '', 'note < 2'),
	compare_halves('<->', '[1,1,1]', 'LIMIT 7'), compare_halves('<->', '[1,1,1]', 'LIMIT 5', 'v IS NULL');

-- Pending rows, changes, VACUUM, and one segment of all.
INSERT INTO halves (v, note) SELECT ARRAY[random(), random() / 7, -random()]::halfvec, n % 10 FROM generate_series(1, 600) n;
UPDATE halves SET v = v + '[1,0,0]' WHERE note = 4 AND id % 3 = 0 AND id > 1500;
DELETE FROM halves WHERE note IN (1, 7);
SELECT op, compare_halves(op, '[1,0.3,0.5]') FROM unnest('{<->,<=>,<#>,<+>}'::text[]) op ORDER BY 1;
VACUUM (INDEX_CLEANUP on) halves;
SELECT op, compare_halves(op, '[1,0.3,0.5]') FROM unnest('{<->,<=>,<#>,<+>}'::text[]) op ORDER BY 1;
SELECT count(pigment.merge(i::regclass)) FROM unnest('{halves_l2,halves_cosine,halves_ip,halves_l1}'::text[]) i;
SELECT op, compare_halves(op, '[1,0.3,0.5]') FROM unnest('{<->,<=>,<#>,<+>}'::text[]) op ORDER BY 1;
SELECT i, segments, pending_rows, live_rows = (SELECT count(*) FROM halves) AS complete
FROM unnest('{halves_l2,halves_cosine,halves_ip,halves_l1}'::text[]) i, pigment.stats(i::regclass), pigment.check(i::regclass);
DROP TABLE halves;

-- A halfvec's index has half the vectors' bytes: beside one of vector, of the same numbers.
CREATE TABLE wide (id int, v vector(256));
INSERT INTO wide SELECT n, (SELECT array_agg((random() - 0.5)::numeric(4, 3)) FROM generate_series(1, 256) WHERE n > 0)::vector FROM generate_series(1, 2000) n;
CREATE INDEX wide_v ON wide USING pigment (v vector_cosine_ops) WITH (full_vectors = f32);
CREATE INDEX wide_h ON wide USING pigment ((v::halfvec(256)) halfvec_cosine_ops);
SELECT pg_relation_size('wide_h') < 0.6 * pg_relation_size('wide_v') AS half_the_size;

-- An expression, as users of pgvector write it.
ANALYZE wide;
SET plan_cache_mode = force_generic_plan;
PREPARE near(halfvec) AS SELECT id FROM wide ORDER BY v::halfvec(256) <=> $1 LIMIT 1;
EXPLAIN (COSTS OFF) EXECUTE near(NULL);
SELECT v::halfvec(256) AS q FROM wide WHERE id = 17 \gset
EXECUTE near(:'q');
DEALLOCATE near;
RESET plan_cache_mode;
SELECT live_rows FROM pigment.check('wide_h');
DROP TABLE wide;

-- A graph of halves finds what it should.
CREATE TABLE many (id int, v halfvec(16));
INSERT INTO many SELECT n, ARRAY(SELECT sin(n * (1 + d * 0.37)) + (n % 40) * cos(d) FROM generate_series(1, 16) d)::halfvec FROM generate_series(1, 9000) n;
CREATE INDEX many_v ON many USING pigment (v) WITH (kind = hnsw);
RESET pigment.target_recall;
SET enable_seqscan = off;
CREATE FUNCTION overlap(q halfvec) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
	found int[] := ARRAY(SELECT id FROM many ORDER BY v <-> q LIMIT 10);
	exact int[];
BEGIN
	SET LOCAL enable_indexscan = off;
	exact := ARRAY(SELECT id FROM many ORDER BY v <-> q LIMIT 10);
	RETURN (SELECT count(*) FROM unnest(found) f WHERE f = ANY (exact));
END $$;
SELECT sum(overlap(v)) >= 0.95 * 10 * count(*) AS found FROM many WHERE id % 300 = 7;
SET pigment.search_width = 20;
SELECT count(*) FROM (SELECT id FROM many ORDER BY v <-> '[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]' LIMIT 10) x;
SELECT walks, visits FROM pigment.last_scan();
RESET pigment.search_width;
RESET enable_seqscan;
DROP TABLE many;
DROP FUNCTION overlap;

-- What is refused, by name.
CREATE TABLE loose (v halfvec);
CREATE INDEX loose_v ON loose USING pigment (v);
INSERT INTO loose VALUES ('[1,2]'), (NULL);
INSERT INTO loose VALUES ('[1,2,3]');
SET enable_seqscan = off;
SELECT v FROM loose ORDER BY v <-> '[1,2,3]';
RESET enable_seqscan;
CREATE INDEX ON loose USING pigment (v vector_l2_ops);
DROP TABLE loose;
DROP TABLE half_queries;
DROP FUNCTION compare_halves;
