-- Indexes keep vectors in 16 bits a number; the order, and what is within a distance, are those of the table's all the same.
CREATE FUNCTION sample(seed integer, scale double precision DEFAULT 1) RETURNS vector LANGUAGE sql IMMUTABLE AS $$
  SELECT array_agg(scale * (hashint4extended(i, seed) % 100003) / 100003.0)::vector FROM generate_series(1, 24) i
$$;
CREATE TABLE rounded (id integer PRIMARY KEY, v vector(24), note text);
INSERT INTO rounded SELECT i, CASE WHEN i % 100 <> 0 THEN sample(i) END FROM generate_series(1, 3000) i;
-- Many that 16 bits do not tell apart, one that is zero.
INSERT INTO rounded SELECT i, (SELECT array_agg(x + 1e-7 * (hashint4extended(n::integer, i) % 100)) FROM unnest(sample(1)::real[]) WITH ORDINALITY u (x, n))::vector
FROM generate_series(3001, 3200) i;
INSERT INTO rounded VALUES (3201, array_fill(0::real, ARRAY[24])::vector);
-- The same rows in the same order, by index and by sorting.
CREATE FUNCTION differs(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  by_index text; sorted text; line text; is_index_scan boolean := false;
BEGIN
  SET LOCAL enable_seqscan = off;
  SET LOCAL enable_sort = off;
  FOR line IN EXECUTE 'EXPLAIN ' || query LOOP
    is_index_scan := is_index_scan OR line LIKE '%Index Scan using%' OR line LIKE '%Bitmap Index Scan%';
  END LOOP;
  EXECUTE format('SELECT string_agg(x::text, '','') FROM (%s) x', query) INTO by_index;
  SET LOCAL enable_seqscan = on;
  SET LOCAL enable_sort = on;
  SET LOCAL enable_indexscan = off;
  SET LOCAL enable_bitmapscan = off;
  EXECUTE format('SELECT string_agg(x::text, '','') FROM (%s) x', query) INTO sorted;
  SET LOCAL enable_indexscan = on;
  SET LOCAL enable_bitmapscan = on;
  RETURN CASE WHEN NOT is_index_scan THEN 'not by index' WHEN by_index IS DISTINCT FROM sorted THEN 'differs' ELSE 'same' END;
END
$$;
CREATE FUNCTION orders(operator text, what text DEFAULT 'v') RETURNS TABLE (query text, result text) LANGUAGE sql AS $$
  SELECT q, differs(format(q, what, operator, sample(seed))) FROM (VALUES
    ('SELECT (%1$s %2$s %3$L) FROM rounded ORDER BY %1$s %2$s %3$L LIMIT 25'),
    ('SELECT id FROM rounded ORDER BY %1$s %2$s %3$L, id LIMIT 25'),
    ('SELECT id, %1$s %2$s %3$L FROM rounded ORDER BY 1 - (%1$s %2$s %3$L) DESC NULLS LAST, id LIMIT 25'),
    ('SELECT id FROM rounded ORDER BY %1$s %2$s %3$L, id OFFSET 190 LIMIT 40'),
    ('SELECT count(*) FROM rounded WHERE %1$s %2$s %3$L < (SELECT %1$s %2$s %3$L FROM rounded WHERE id = 7)'),
    ('SELECT count(*) FROM rounded WHERE %1$s %2$s %3$L <= (SELECT %1$s %2$s %3$L FROM rounded WHERE id = 3100)')) queries (q),
    (VALUES (1), (5)) seeds (seed)
$$;
SET pigment.target_recall = 1;
CREATE INDEX rounded_x ON rounded USING pigment (v vector_cosine_ops);
SELECT * FROM orders('<=>');
SELECT problems FROM (SELECT count(*) AS problems FROM pigment.differences('rounded_x')) x;
DROP INDEX rounded_x;
CREATE INDEX rounded_x ON rounded USING pigment (v vector_l2_ops);
SELECT * FROM orders('<->');
DROP INDEX rounded_x;
CREATE INDEX rounded_x ON rounded USING pigment (v vector_ip_ops);
SELECT * FROM orders('<#>');
DROP INDEX rounded_x;
CREATE INDEX rounded_x ON rounded USING pigment (v vector_l1_ops);
SELECT * FROM orders('<+>');
DROP INDEX rounded_x;
-- So in rows that wait, of which some have all bits, some 12, and some are what 12 or 16 bits do not hold.
CREATE TABLE early AS TABLE rounded;
INSERT INTO early VALUES (3301, sample(1, 1e30)), (3302, sample(2, 1e-30)), (3303, sample(3, 7e4)),
  (3304, (SELECT array_agg(CASE WHEN i = 5 THEN 60 ELSE x END) FROM unnest(sample(4)::real[]) WITH ORDINALITY u (x, i))::vector);
CREATE FUNCTION orders_waiting(operator text, class text) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
  TRUNCATE rounded;
  EXECUTE format('CREATE INDEX rounded_x ON rounded USING pigment (v %I) WITH (full_vectors = f32)', class);
  INSERT INTO rounded SELECT * FROM early WHERE id % 5 = 0;
  ALTER INDEX rounded_x RESET (full_vectors);
  INSERT INTO rounded SELECT * FROM early WHERE id % 5 <> 0;
  RETURN QUERY SELECT kind || ' ' || sum(live_rows) FROM pigment.segments WHERE index = 'rounded_x'::regclass GROUP BY kind;
  RETURN QUERY SELECT result FROM orders(operator);
  RETURN QUERY SELECT count(*) || ' differences' FROM pigment.differences('rounded_x');
  -- What has bits left out is flushed into a segment that is to have all.
  ALTER INDEX rounded_x SET (full_vectors = f32);
  PERFORM pigment.merge('rounded_x');
  RETURN QUERY SELECT result FROM orders(operator);
  RETURN QUERY SELECT count(*) || ' differences' FROM pigment.differences('rounded_x');
  DROP INDEX rounded_x;
END
$$;
SELECT x, count(*) FROM orders_waiting('<=>', 'vector_cosine_ops') x GROUP BY x ORDER BY 1;
SELECT x, count(*) FROM orders_waiting('<->', 'vector_l2_ops') x GROUP BY x ORDER BY 1;
SELECT x, count(*) FROM orders_waiting('<#>', 'vector_ip_ops') x GROUP BY x ORDER BY 1;
SELECT x, count(*) FROM orders_waiting('<+>', 'vector_l1_ops') x GROUP BY x ORDER BY 1;
-- They take fewer pages, those of 12 bits the fewest.
TRUNCATE rounded;
CREATE INDEX rounded_x ON rounded USING pigment (v vector_l2_ops);
CREATE INDEX full_x ON rounded USING pigment (v vector_l2_ops) WITH (full_vectors = f32);
CREATE INDEX half_x ON rounded USING pigment ((v::halfvec(24)) halfvec_l2_ops);
INSERT INTO rounded SELECT * FROM early WHERE v IS NOT NULL AND id NOT IN (3301, 3303);
SELECT pg_relation_size('rounded_x') < 0.6 * pg_relation_size('full_x') AND pg_relation_size('rounded_x') < pg_relation_size('half_x') AS smaller;
DROP INDEX rounded_x, full_x, half_x;
TRUNCATE rounded;
INSERT INTO rounded SELECT * FROM early WHERE id <= 3201;
DROP TABLE early;
DROP FUNCTION orders_waiting;
-- An expression, of which the executor knows the value.
CREATE INDEX rounded_x ON rounded USING pigment ((v + v) vector_l2_ops);
SELECT * FROM orders('<->', '(v + v)');
DROP INDEX rounded_x;
-- Half the size, and all of the bits for those who want them.
CREATE INDEX rounded_x ON rounded USING pigment (v vector_l2_ops) WITH (kind = flat);
CREATE INDEX full_x ON rounded USING pigment (v vector_l2_ops) WITH (kind = flat, full_vectors = f32);
SELECT pg_relation_size('rounded_x') < 0.75 * pg_relation_size('full_x') AS smaller;
CREATE INDEX wrong ON rounded USING pigment (v vector_l2_ops) WITH (full_vectors = f8);
DROP INDEX full_x;
-- Updates that the index does not see, deletion, VACUUM, rows that come later, flushes and merges.
UPDATE rounded SET note = 'changed' WHERE id % 3 = 0;
DELETE FROM rounded WHERE id % 7 = 3;
INSERT INTO rounded SELECT i, sample(i) FROM generate_series(4001, 4800) i;
SELECT * FROM orders('<->');
VACUUM rounded;
SELECT pigment.merge('rounded_x') >= 0 AS merged;
SELECT * FROM orders('<->');
SELECT count(*) FROM pigment.differences('rounded_x');
-- Vectors that 16 bits do not hold have all of their own, beside others and among them.
INSERT INTO rounded VALUES (5001, sample(1, 1e30)), (5002, sample(2, 1e-30)), (5003, sample(3, 7e4));
SELECT * FROM orders('<->');
SELECT pigment.merge('rounded_x') >= 0 AS merged;
SELECT * FROM orders('<->');
SELECT count(*) FROM pigment.differences('rounded_x');
REINDEX INDEX rounded_x;
SELECT * FROM orders('<->');
SELECT count(*) FROM pigment.differences('rounded_x');
DROP INDEX rounded_x;
CREATE INDEX rounded_x ON rounded USING pigment (v vector_cosine_ops);
SELECT * FROM orders('<=>');
-- A row that is another than the index has.
SELECT count(*) FROM pigment.differences('rounded_x');
-- A cursor goes on, a rescan begins anew.
SET enable_seqscan = off;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM rounded ORDER BY v <=> sample(1), id;
FETCH 3 FROM c;
MOVE 50 FROM c;
FETCH 2 FROM c;
COMMIT;
SELECT a.id, b.id FROM (VALUES (11), (12)) a (id) CROSS JOIN LATERAL
  (SELECT id FROM rounded r ORDER BY r.v <=> (SELECT v FROM rounded WHERE id = a.id) LIMIT 2) b ORDER BY 1;
-- With less than all wanted a crowd does not make a query read all of it, but what is asked for is found among them.
RESET pigment.target_recall;
SELECT count(*), count(DISTINCT id) FROM (SELECT id FROM rounded ORDER BY v <=> sample(1) LIMIT 300) x;
SELECT * FROM orders('<=>') WHERE query LIKE '%LIMIT 25';
CREATE TABLE copies (id integer, v vector(24));
INSERT INTO copies SELECT i, sample(3) FROM generate_series(1, 5000) i;
INSERT INTO copies VALUES (5001, sample(4));
CREATE INDEX ON copies USING pigment (v vector_cosine_ops) WITH (kind = spann);
SELECT count(*) FROM (SELECT id FROM copies ORDER BY v <=> sample(5) LIMIT 10) x;
SELECT rows_given < 2000 AS few_are_read FROM pigment.last_scan();
SELECT id FROM copies ORDER BY v <=> sample(4) LIMIT 1;
DROP TABLE copies;
DROP TABLE rounded;
DROP FUNCTION orders, differs, sample;
