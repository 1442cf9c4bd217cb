-- Access method pigment over bit: the order of a sort for both operator classes, in every kind of index, and a bit a bit.
\set SHOW_CONTEXT never
SET pigment.target_recall = 1;

-- 'ok N': the index scan gave N rows, the distances of a sort in its order and no row twice, and it was an index scan.
CREATE FUNCTION compare_bits(op text, q bit, suffix text DEFAULT '', condition text DEFAULT 'true') RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	by_index record;
	by_sort float8[];
	plan text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_bitmapscan = off;
	SET LOCAL enable_indexscan = on;
	EXECUTE format('EXPLAIN (FORMAT json) SELECT id FROM bits WHERE %s ORDER BY b %s $1 %s', condition, op, suffix) INTO plan USING q;
	IF plan NOT LIKE '%"Index Scan"%' OR plan LIKE '%"Sort"%' THEN
		RETURN 'not an index scan: ' || plan;
	END IF;
	EXECUTE format('SELECT array_agg(d) AS distances, array_agg(id) AS ids FROM (SELECT id, b %2$s $1 AS d FROM bits WHERE %1$s ORDER BY b %2$s $1 %3$s) x',
		condition, op, suffix) INTO by_index USING q;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	EXECUTE format('SELECT array_agg(d) FROM (SELECT b %2$s $1 AS d FROM bits WHERE %1$s ORDER BY b %2$s $1 %3$s) x', condition, op, suffix)
		INTO by_sort USING q;
	IF by_index.distances IS DISTINCT FROM by_sort OR (SELECT count(DISTINCT id) FROM unnest(by_index.ids) id) <> coalesce(cardinality(by_sort), 0) THEN
		RETURN format('differs: index %s, sort %s', by_index.distances[1:20], by_sort[1:20]);
	END IF;
	RETURN 'ok ' || coalesce(cardinality(by_sort), 0);
END $$;

SELECT opcname, amvalidate(c.oid), opcdefault FROM pg_opclass c JOIN pg_am a ON a.oid = opcmethod
WHERE amname = 'pigment' AND opcintype = 'bit'::regtype ORDER BY 1;

-- Bits that end within a byte; equal ones, zeros, ones, NULLs.
CREATE FUNCTION some_bits(n int, count int, share float8 DEFAULT 0.5) RETURNS bit varying LANGUAGE sql VOLATILE AS
	$$ SELECT string_agg(CASE WHEN random() < share THEN '1' ELSE '0' END, '')::bit varying FROM generate_series(1, count) WHERE n IS NOT NULL $$;
SELECT length(some_bits(1, 77)), setseed(0.5);
CREATE TABLE bits (id serial, b bit(77), note int) WITH (autovacuum_enabled = off);
INSERT INTO bits (b, note)
SELECT CASE WHEN n % 50 = 0 THEN NULL WHEN n % 77 = 0 THEN repeat('0', 77)::bit(77) WHEN n % 101 = 0 THEN repeat('1', 77)::bit(77)
	ELSE some_bits(n, 77, (n % 9 + 1) / 10.0) END, n % 10
FROM generate_series(1, 1500) n;
CREATE TABLE bit_queries (name text, q bit(77));
INSERT INTO bit_queries VALUES ('zero', repeat('0', 77)::bit(77)), ('one', repeat('1', 77)::bit(77)), ('some', some_bits(1, 77)),
	('last', (repeat('0', 76) || '1')::bit(77));
CREATE INDEX bits_hamming ON bits USING pigment (b, note);
CREATE INDEX bits_jaccard ON bits USING pigment (note, b bit_jaccard_ops);
SELECT op, name, compare_bits(op, q) AS "all", compare_bits(op, q, 'LIMIT 7') AS seven, compare_bits(op, q, 'LIMIT 20', 'note = 3') AS of_note,
	compare_bits(op, q, '', 'b IS NULL') AS nulls
FROM bit_queries, unnest('{<~>,<%>}'::text[]) op ORDER BY 1, 2;

-- Pending rows, changes, VACUUM, and one segment of all.
INSERT INTO bits (b, note) SELECT some_bits(n, 77), n % 10 FROM generate_series(1, 600) n;
UPDATE bits SET b = ~b WHERE note = 4 AND id % 3 = 0 AND id > 1500;
DELETE FROM bits WHERE note IN (1, 7);
SELECT op, compare_bits(op, q), compare_bits(op, q, 'LIMIT 9', 'note > 5') FROM bit_queries, unnest('{<~>,<%>}'::text[]) op WHERE name = 'some' ORDER BY 1;
VACUUM (INDEX_CLEANUP on) bits;
SELECT op, compare_bits(op, q) FROM bit_queries, unnest('{<~>,<%>}'::text[]) op WHERE name = 'some' ORDER BY 1;
SELECT count(pigment.merge(i::regclass)) FROM unnest('{bits_hamming,bits_jaccard}'::text[]) i;
SELECT op, compare_bits(op, q) FROM bit_queries, unnest('{<~>,<%>}'::text[]) op WHERE name = 'some' ORDER BY 1;
SELECT i, metric, dimension, segments, pending_rows, live_rows = (SELECT count(*) FROM bits) AS complete
FROM unnest('{bits_hamming,bits_jaccard}'::text[]) i, pigment.stats(i::regclass), pigment.check(i::regclass);
SELECT * FROM pigment.differences('bits_hamming');

-- Within a distance, and orders that follow from one.
ANALYZE bits;
SET enable_seqscan = off;
SET enable_bitmapscan = off;
EXPLAIN (COSTS OFF) SELECT id FROM bits WHERE b <~> repeat('1', 77)::bit(77) < 12 ORDER BY b <~> repeat('1', 77)::bit(77);
SELECT compare_bits('<~>', q, '', 'b <~> $1 < 30'), compare_bits('<~>', q, '', 'b <~> $1 <= 30'), compare_bits('<~>', q, '', '77 - (b <~> $1) > 40'),
	compare_bits('<~>', q, '', 'b <~> $1 < -1'), compare_bits('<%>', q, '', 'b <%> $1 < 0.6'), compare_bits('<%>', q, '', 'b <%> $1 <= 1 - 0.4')
FROM bit_queries WHERE name = 'some';
EXPLAIN (COSTS OFF) SELECT id FROM bits ORDER BY 1 - (b <%> repeat('1', 77)::bit(77)) DESC NULLS LAST LIMIT 3;
RESET enable_seqscan;
RESET enable_bitmapscan;
DROP TABLE bits;

-- Fractions that single precision does not tell apart are in the operator's order.
CREATE TABLE bits (id int, b bit(20000));
INSERT INTO bits SELECT n, ('1' || repeat('0', 9000) || repeat('1', n) || repeat('0', 10999 - n))::bit(20000) FROM generate_series(1, 400) n;
CREATE INDEX ON bits USING pigment (b bit_jaccard_ops);
SELECT (repeat('1', 9001) || repeat('0', 10999))::bit(20000) AS q \gset
SELECT count(DISTINCT d), count(DISTINCT d::real) < 100 AS are_close FROM (SELECT b <%> :'q' AS d FROM bits) x;
SELECT compare_bits('<%>', :'q'), compare_bits('<%>', :'q', 'LIMIT 50');
DROP TABLE bits;

-- Graphs and clusters find what they should, and take little more than what they have of each row.
CREATE TABLE embeddings (id int, v vector(256));
INSERT INTO embeddings SELECT n, ARRAY(SELECT sin(n * (1 + d * 0.37)) + 2 * cos((n % 40) * d) FROM generate_series(1, 256) d)::vector FROM generate_series(1, 9000) n;
CREATE TABLE bits AS SELECT id, binary_quantize(v)::bit(256) AS b FROM embeddings;
CREATE FUNCTION overlap() RETURNS TABLE (recall float8, kind text) LANGUAGE plpgsql AS $$
DECLARE
	q bit(256);
	distances float8[];
	farthest float8[];
BEGIN
	FOR q IN SELECT b FROM bits WHERE id % 300 = 7 LOOP
		SET LOCAL enable_seqscan = off;
		distances := ARRAY(SELECT b <~> q FROM bits ORDER BY b <~> q LIMIT 10);
		SELECT s.kind INTO kind FROM pigment.segments s;
		SET LOCAL enable_seqscan = on;
		SET LOCAL enable_indexscan = off;
		farthest := ARRAY(SELECT b <~> q FROM bits ORDER BY b <~> q LIMIT 10);
		SET LOCAL enable_indexscan = on;
		recall := coalesce(recall, 0) + (SELECT count(*) FROM unnest(distances) d WHERE d <= farthest[10]);
	END LOOP;
	recall := recall / 300;
	RETURN NEXT;
END $$;
RESET pigment.target_recall;
CREATE INDEX bits_b ON bits USING pigment (b) WITH (kind = hnsw);
SELECT recall >= 0.975 AS finds, kind FROM overlap();
SELECT pg_relation_size('bits_b') < 9000 * 1600 AS is_small;
DROP INDEX bits_b;
CREATE INDEX bits_b ON bits USING pigment (b) WITH (kind = spann);
SELECT recall >= 0.975 AS finds, kind FROM overlap();
SELECT pg_relation_size('bits_b') < 9000 * 200 AS is_small;
SELECT live_rows FROM pigment.check('bits_b');
DROP TABLE bits;

-- As users of pgvector write it: candidates by bits, and these in the order of their vectors.
CREATE INDEX embeddings_bits ON embeddings USING pigment ((binary_quantize(v)::bit(256)) bit_hamming_ops);
ANALYZE embeddings;
SELECT v AS q FROM embeddings WHERE id = 17 \gset
EXPLAIN (COSTS OFF) SELECT id FROM (SELECT id, v FROM embeddings ORDER BY binary_quantize(v)::bit(256) <~> binary_quantize(:'q'::vector(256)) LIMIT 40) x
ORDER BY v <=> :'q' LIMIT 1 \g (tuples_only=on) | grep -c -E 'Index Scan using embeddings_bits|Order By: .*<~>'
SELECT id FROM (SELECT id, v FROM embeddings ORDER BY binary_quantize(v)::bit(256) <~> binary_quantize(:'q'::vector(256)) LIMIT 40) x ORDER BY v <=> :'q' LIMIT 1;
DROP TABLE embeddings;

-- What is refused, by name.
CREATE TABLE loose (b bit varying, longer bit(64001), empty bit varying DEFAULT B'');
CREATE INDEX ON loose USING pigment (longer);
CREATE INDEX loose_b ON loose USING pigment ((b::bit varying) bit_hamming_ops);
INSERT INTO loose VALUES (B'01'), (NULL);
INSERT INTO loose VALUES (B'011');
INSERT INTO loose VALUES (B'');
INSERT INTO loose VALUES (repeat('1', 64001)::bit varying);
SET enable_seqscan = off;
SELECT b FROM loose ORDER BY b::bit varying <~> B'011';
SELECT b FROM loose ORDER BY b::bit varying <~> B'';
SELECT b FROM loose ORDER BY b::bit varying <~> B'11';
RESET enable_seqscan;
CREATE INDEX ON loose USING pigment (b vector_l2_ops);
CREATE INDEX ON loose USING pigment ((repeat('1', 64000)::bit(64000)) bit_jaccard_ops);
DROP TABLE loose;
DROP TABLE bit_queries;
DROP FUNCTION compare_bits;
DROP FUNCTION overlap;
DROP FUNCTION some_bits;
