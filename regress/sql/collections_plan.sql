-- Ranking is served by the table's index, with and without filters, and gives what a sort gives.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE FUNCTION plan_of(collection text, filtered boolean) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	entry pigment.collections := pigment.get_collection(collection);
BEGIN
	RETURN QUERY EXECUTE 'EXPLAIN (COSTS OFF) ' || pigment._nearest_sql(entry, false, filtered, '{documents}')
		USING NULL::text[], '{"n": {"$gt": 10}}'::jsonb, NULL::jsonb, '[1,2,3]'::vector, 11::bigint;
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

SELECT count(pigment.delete_collection(name)) FROM pigment.list_collections();
DROP FUNCTION plan_of, resident_kb;
