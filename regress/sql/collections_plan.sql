-- Ranking is served by the table's index, with and without filters, and gives what a sort gives.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
-- How the table is read; what is above differs from version to version.
CREATE FUNCTION plan_of(collection text, filtered boolean) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	entry pigment.collections := pigment.get_collection(collection);
	line text;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || pigment._query_sql(entry, false, false, filtered, '{documents}', 11)
		USING NULL::text[], '{"n": {"$gt": 10}}'::jsonb, NULL::jsonb, '{"[1,2,3]"}'::vector[], 10::bigint, NULL::double precision, '{1}'::integer[]
	LOOP
		IF line ~ 'plan_|Order By|Index Cond|Filter: .*pigment' THEN
			RETURN NEXT ltrim(line, ' ->');
		END IF;
	END LOOP;
END
$$;
SELECT name, space FROM unnest('{l2,cosine,ip}'::text[]) s,
	LATERAL pigment.create_collection('plan-' || s, configuration => jsonb_build_object('hnsw', jsonb_build_object('space', s)), table_name => 'plan_' || s);
SELECT s, w.* FROM unnest('{l2,cosine,ip}'::text[]) s, LATERAL pigment.add('plan-' || s, (SELECT array_agg('r' || i ORDER BY i) FROM generate_series(1, 5000) i),
	(SELECT array_agg(ARRAY[sin(i), cos(i * 3), sin(i * 7)]::real[]::vector ORDER BY i) FROM generate_series(1, 5000) i),
	metadatas => (SELECT array_agg(jsonb_build_object('n', i % 100) ORDER BY i) FROM generate_series(1, 5000) i)) w;
ANALYZE plan_l2, plan_cosine, plan_ip;
SELECT plan_of('plan-l2', false);
SELECT plan_of('plan-l2', true);
SELECT plan_of('plan-cosine', false);
SELECT plan_of('plan-cosine', true);
SELECT plan_of('plan-ip', false);
SELECT plan_of('plan-ip', true);

-- The same records in the same order as a sort over the whole table
SELECT s, count(*), bool_and(q.id = t.id AND q.distance = t.distance) AS same FROM unnest('{l2,cosine,ip}'::text[]) s,
	LATERAL pigment.query('plan-' || s, '[1,2,3]'::vector, 50, '{"n": {"$gt": 10}}') q,
	LATERAL (SELECT id, pigment._distance(s, embedding, '[1,2,3]') AS distance,
		row_number() OVER (ORDER BY pigment._distance(s, embedding, '[1,2,3]'), ordinal) AS rank
		FROM (SELECT 'l2' AS space, * FROM plan_l2 UNION ALL SELECT 'cosine', * FROM plan_cosine UNION ALL SELECT 'ip', * FROM plan_ip) r
		WHERE r.space = s AND (metadata ->> 'n')::int > 10) t
WHERE t.rank = q.rank GROUP BY s ORDER BY s;

-- Many queries in one call give what each gives alone: with ties that must be read on for, vectors of zeros, filters and ids.
CREATE TABLE asked AS SELECT i, CASE WHEN i % 17 = 0 THEN '[0,0,0]' WHEN i % 5 = 0 THEN '[1,1,1]' ELSE format('[%s,%s,%s]', sin(i * 2), cos(i), i % 3) END::vector AS v
	FROM generate_series(1, 230) i;
SELECT pigment.upsert('plan-' || s, ARRAY['r1', 'r2', 'r3', 'r4', 'r5', 'r6', 'r7'], array_fill('[1,1,1]'::vector, ARRAY[5]) || array_fill('[0,0,0]'::vector, ARRAY[2]))
	FROM unnest('{l2,cosine,ip}'::text[]) s;
CREATE FUNCTION differ(collection text, n bigint, filter jsonb, among text[], near double precision) RETURNS TABLE (hits bigint, differ bigint) LANGUAGE sql AS $$
	WITH at_once AS (SELECT query_index, rank, id, distance, metadata FROM pigment.query(collection, (SELECT array_agg(v ORDER BY i) FROM asked), n, filter, ids => among, max_distance => near)),
	alone AS (SELECT i, q.rank, q.id, q.distance, q.metadata FROM asked, LATERAL pigment.query(collection, v, n, filter, ids => among, max_distance => near) q)
	SELECT (SELECT count(*) FROM at_once), (SELECT count(*) FROM ((TABLE at_once EXCEPT TABLE alone) UNION ALL (TABLE alone EXCEPT TABLE at_once)) d)
$$;
SET pigment.target_recall = 1;
SELECT s, n, d.* FROM unnest('{l2,cosine,ip}'::text[]) s, unnest('{1,3,6,20}'::int[]) n, LATERAL differ('plan-' || s, n, NULL, NULL, NULL) d;
SELECT s, d.* FROM unnest('{l2,cosine,ip}'::text[]) s, LATERAL differ('plan-' || s, 5, '{"n": {"$lt": 7}}', NULL, 1.5) d;
SELECT s, d.* FROM unnest('{l2,cosine,ip}'::text[]) s, LATERAL differ('plan-' || s, 4, NULL, '{r1,r2,r6,r9,none}', NULL) d;
RESET pigment.target_recall;
SELECT query_index, count(*), min(id) FROM pigment.query('plan-l2', '{"[9,9,9]","[0,0,0]"}'::vector[], 2) GROUP BY query_index ORDER BY query_index;
DROP FUNCTION differ;
DROP TABLE asked;

-- What a filter asks of metadata is a condition of the index: rows that it lets through beside those of a scan of the table.
SELECT relation FROM pigment.create_collection('plan-mixed', table_name => 'mixed');
INSERT INTO mixed (id, embedding, metadata) SELECT 'm' || i, '[1,1,1]', CASE i % 9 WHEN 0 THEN NULL WHEN 1 THEN jsonb_build_object('t', repeat('x', 250 + i % 10), 'n', i / 7.0)
	WHEN 2 THEN jsonb_build_object('tags', jsonb_build_array('a', 'b' || i % 5), 'n', i % 100) WHEN 3 THEN jsonb_build_object('flag', i % 2 = 0, 't', 'Ab' || i)
	ELSE jsonb_build_object('n', i % 100) END FROM generate_series(1, 5000) i;
SELECT pigment.merge('mixed_embedding_metadata_idx');
INSERT INTO mixed (id, embedding, metadata) SELECT 'late' || i, '[1,1,1]', jsonb_build_object('n', i % 100, 'late', true) FROM generate_series(1, 300) i;
ANALYZE mixed;
CREATE FUNCTION by_index(filter jsonb) RETURNS TABLE (matching bigint, let_through bigint, conditions integer) LANGUAGE plpgsql AS $$
DECLARE
	counted bigint;
BEGIN
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_bitmapscan = off;
	SELECT pigment.count('plan-mixed', where_metadata => filter) INTO counted;
	SET LOCAL enable_bitmapscan = on;
	SET LOCAL enable_seqscan = off;
	SELECT pigment.count('plan-mixed', where_metadata => filter) INTO matching;
	IF counted <> matching THEN
		RAISE '% by the table, % by the index', counted, matching;
	END IF;
	SELECT s.filter_rows, s.conditions INTO let_through, by_index.conditions FROM pigment.last_scan() s;
	RETURN NEXT;
END
$$;
SELECT left(f::text, 100) AS filter, b.* FROM unnest(ARRAY['{"n": 7}', '{"n": {"$ne": 7}}', '{"n": {"$gte": 98}}', '{"n": {"$between": [10.5, 11]}}', '{"n": {"$in": [1, 2, 3]}}', '{"n": {"$nin": [1, 2, 3]}}',
	'{"tags": {"$contains": "b3"}}', '{"tags": {"$not_contains": "a"}}', '{"flag": true}', '{"flag": {"$exists": false}}', '{"t": {"$prefix": "Ab1"}}', '{"t": {"$iprefix": "aB1"}}',
	'{"$and": [{"n": {"$lt": 50}}, {"late": true}]}', '{"$or": [{"n": {"$gt": 97}}, {"t": {"$between": ["Ab2", "Ab3"]}}, {"$and": [{"flag": false}, {"t": {"$ne": "Ab12"}}]}]}',
	'{"$not": {"$or": [{"n": {"$exists": true}}, {"flag": {"$exists": true}}]}}', '{"#id": "m1"}', '{"$and": [{"#id": {"$prefix": "late"}}, {"n": 1}]}', '{"no such": 1}',
	format('{"t": "%s"}', repeat('x', 255)), format('{"t": "%s"}', repeat('x', 257)), format('{"t": {"$ne": "%s"}}', repeat('x', 257))]::jsonb[]) f, LATERAL by_index(f) b;
-- ... also where it is not known when the query is planned, and where there is none
PREPARE filtered(jsonb) AS SELECT count(*) FROM mixed WHERE pigment.matches($1, NULL, id, document, metadata);
SET plan_cache_mode = force_generic_plan;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) EXECUTE filtered('{"n": 7}');
EXECUTE filtered('{"n": 7}');
EXECUTE filtered(NULL);
EXECUTE filtered('null');
EXECUTE filtered('{"n": {"$bad": 1}}');
RESET plan_cache_mode;
RESET enable_seqscan;
DEALLOCATE filtered;
SELECT joined.* FROM (SELECT count(*) FROM mixed a JOIN plan_ip b ON pigment.matches(jsonb_build_object('n', b.metadata -> 'n'), NULL, a.id, NULL, a.metadata) WHERE b.id = 'r12') joined;
-- What metadata may not hold is refused where it would be indexed.
CREATE TABLE plain (m jsonb);
CREATE INDEX ON plain USING pigment (m pigment.metadata_ops);
INSERT INTO plain VALUES ('{"a": 1}'), (NULL), ('null'), ('{}');
INSERT INTO plain VALUES ('{"a": {"b": 1}}');
INSERT INTO plain VALUES ('[1]');
SELECT m, m OPERATOR(pigment.@~) '{"a": {"$ne": 1}}' AS may_match FROM plain;
SET enable_seqscan = off;
SELECT m FROM plain WHERE m OPERATOR(pigment.@~) '{"a": 1}';
SELECT m FROM plain WHERE m OPERATOR(pigment.@~) '{"a": {"$ne": 1}}' ORDER BY m;
SELECT count(*) FROM plain WHERE m IS NULL;
RESET enable_seqscan;
DROP TABLE plain;
DROP FUNCTION by_index;

-- A filter is compiled once per statement and again when it changes.
SELECT f, count(*) FROM unnest('{"{\"n\": 1}","{\"n\": {\"$lt\": 3}}","{\"n\": {\"$in\": [7, 8]}}"}'::jsonb[]) f, plan_l2
WHERE pigment.matches(f, NULL, id, document, metadata) GROUP BY f ORDER BY 2;
SELECT count(*) FROM plan_l2 WHERE pigment.matches(jsonb_build_object('n', id::text), NULL, id, document, metadata);
SELECT pigment.matches('{"n": {"$bad": 1}}', NULL, 'a', NULL, '{"n": 1}');
-- Tens of thousands of filters leave no memory behind, compiled or refused.
CREATE FUNCTION resident_kb() RETURNS bigint LANGUAGE sql AS
	$$SELECT (regexp_match(pg_read_file('/proc/self/status', 0, 10000), 'VmRSS:\s+(\d+)'))[1]::bigint$$;
DO $$
DECLARE
	before bigint;
BEGIN
	FOR i IN 1..40000 LOOP
		IF i = 10000 THEN
			before := resident_kb();
		END IF;
		BEGIN
			PERFORM pigment.matches(jsonb_build_object('n', jsonb_build_object(CASE WHEN i % 2 = 0 THEN '$in' ELSE '$bad' END, ARRAY[i, 2, 3])), NULL, 'a', NULL, '{"n": 1}');
		EXCEPTION WHEN invalid_parameter_value THEN
			NULL;
		END;
	END LOOP;
	IF resident_kb() > before + 4000 THEN
		RAISE 'memory grew from % to % kB', before, resident_kb();
	END IF;
END
$$;

-- Plans that a session keeps: of a table that was small, they are made anew when it has grown; they know whose table it is by now, and who asks.
SELECT relation FROM pigment.create_collection('kept', configuration => '{"hnsw": {"space": "l2"}}', table_name => 'kept');
INSERT INTO kept (id, embedding) VALUES ('a', '[1,2]'), ('b', '[3,4]');
SELECT id, distance FROM pigment.query('kept', '[1,2]'::vector);
INSERT INTO kept (id, embedding) SELECT 'k' || i, ARRAY[i, i % 7] FROM generate_series(1, 20000) i;
SELECT id, distance FROM pigment.query('kept', '[1,2]'::vector, 3);
SELECT (pigment.last_scan()).strategy, (pigment.last_scan()).index::text;
SELECT DISTINCT (SELECT count(*) FROM pigment.query('kept', '[100,2]'::vector, n)) - n AS more FROM generate_series(1, 45) n;
SELECT id, distance FROM pigment.query('kept', '[1,2]'::vector, 1);
CREATE ROLE regress_kept;
GRANT SELECT ON kept TO regress_kept;
ALTER TABLE kept ENABLE ROW LEVEL SECURITY;
CREATE POLICY few ON kept TO regress_kept USING (id LIKE 'k1%');
SELECT id FROM pigment.query('kept', '[1,2]'::vector, 2);
SET ROLE regress_kept;
SELECT id FROM pigment.query('kept', '[1,2]'::vector, 2);
-- What is asked while a query runs may be more than is kept.
RESET ROLE;
SELECT relation FROM pigment.create_collection('kept-beside', table_name => 'kept_beside');
INSERT INTO kept_beside (id, embedding) SELECT 'b' || i, ARRAY[i, 1] FROM generate_series(1, 100) i;
GRANT SELECT ON kept_beside TO regress_kept;
CREATE FUNCTION asks_beside() RETURNS boolean LANGUAGE sql STABLE AS
	$$SELECT sum((SELECT count(*) FROM pigment.query('kept-beside', '[1,1]'::public.vector, n))) = 820 FROM generate_series(1, 40) n$$;
ALTER POLICY few ON kept USING (id IN ('k1', 'k2') AND asks_beside());
SET ROLE regress_kept;
SELECT id FROM pigment.query('kept', '[1,2]'::vector, 2);
SELECT id FROM pigment.query('kept', '[1,2]'::vector, 2);
RESET ROLE;
SELECT id FROM pigment.query('kept', '[1,2]'::vector, 2);
SELECT pigment.delete_collection('kept');
SELECT relation FROM pigment.create_collection('kept', configuration => '{"hnsw": {"space": "l2"}}', table_name => 'kept');
INSERT INTO kept (id, embedding) VALUES ('another', '[1,2]');
SELECT id, distance FROM pigment.query('kept', '[1,2]'::vector, 1);
-- A statement that is none.
SELECT pigment._run_kept('SELECT 1', 'kept', false, NULL, NULL, NULL, NULL, 1, NULL, NULL);
SELECT pigment._run_kept('SELECT NULL::integer[], NULL::integer[]', 'kept', false, NULL, NULL, NULL, NULL, 1, NULL, NULL);
SELECT pigment._run_kept('DELETE FROM kept', 'kept', false, NULL, NULL, NULL, NULL, 1, NULL, NULL);
SELECT pigment._run_kept('COMMIT', 'kept', false, NULL, NULL, NULL, NULL, 1, NULL, NULL);
SELECT pigment._run_kept('SELEC', 'kept', false, NULL, NULL, NULL, NULL, 1, NULL, NULL);
SELECT pigment._run_kept(NULL, 'kept', false, NULL, NULL, NULL, NULL, 1, NULL, NULL);
SELECT pigment._run_kept('SELECT 1', 0, false, NULL, NULL, NULL, NULL, 1, NULL, NULL);
SELECT count(*) FROM kept;

SELECT count(pigment.delete_collection(name)) FROM pigment.list_collections();
DROP ROLE regress_kept;
DROP FUNCTION plan_of, resident_kb, asks_beside;
