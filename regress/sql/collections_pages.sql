-- SPDX-License-Identifier: Apache-2.0
--
-- Counts with a filter, facets, distances that bound a query, orders and cursors: the steps of tests/conformance/pipeline.jsonl.
\set SHOW_CONTEXT never
\pset null '(null)'
SET client_min_messages = warning;
SELECT name FROM pigment.create_collection('docs');
SELECT * FROM pigment.add('docs', ARRAY['e', 'd', 'c', 'b', 'a'],
	ARRAY['[1,0]', '[2,0]', '[3,0]', '[4,0]', '[5,0]']::vector[], ARRAY['red', 'green', 'red green', NULL, 'red'],
	ARRAY['{"n": 2, "tags": ["x", "y", "x"]}', '{"n": 1.5, "tags": "x"}', '{"n": "one"}', '{"n": true, "tags": ["y"]}',
		NULL]::jsonb[], ARRAY['u1', NULL, 'u0', NULL, NULL]);

-- Counting.
SELECT pigment.count('docs'), pigment.count('docs', where_metadata => '{"n": {"$gt": 1}}'),
	pigment.count('docs', where_metadata => '{"n": {"$ne": "one"}}'),
	pigment.count('docs', where_document => '{"$contains": "red"}'),
	pigment.count('docs', ids => ARRAY['a', 'b', 'nobody', 'a']),
	pigment.count('docs', ids => ARRAY['e', 'b'], where_metadata => '{"n": 2}'),
	pigment.count('docs', ids => '{}');
SELECT pigment.count('docs', where_metadata => '{}');
SELECT pigment.count('docs', ids => ARRAY[NULL]);

-- Facets.
SELECT * FROM pigment.facets('docs', ARRAY['tags', 'n', 'none', 'chroma:uri']);
SELECT * FROM pigment.facets('docs', ARRAY['tags'], '{"n": {"$gt": 0}}');
SELECT * FROM pigment.facets('docs', ARRAY['tags'], where_document => '{"$contains": "red"}', ids => ARRAY['e', 'nobody', 'e', 'd']);
SELECT * FROM pigment.facets('docs', ARRAY['n', 'tags'], limit_values => 1);
SELECT * FROM pigment.facets('docs', ARRAY['tags'], ids => '{}');
SELECT * FROM pigment.facets('docs', '{}');
SELECT * FROM pigment.facets('docs', NULL);
SELECT * FROM pigment.facets('docs', ARRAY['n', NULL]);
SELECT * FROM pigment.facets('docs', ARRAY['#id']);
SELECT * FROM pigment.facets('docs', ARRAY['']);
SELECT * FROM pigment.facets('docs', ARRAY['n', 'tags', 'n']);
SELECT * FROM pigment.facets('docs', ARRAY['n'], limit_values => -1);
SELECT * FROM pigment.facets('docs', ARRAY['n'], '{}');
SELECT * FROM pigment.facets('docs', ARRAY(SELECT 'k' || i FROM generate_series(1, 1025) i));
SELECT * FROM pigment.facets('nowhere', ARRAY['#id']);
-- Numbers: as the engine reads them, equal ones are one value.
SELECT left(v::text, 22) AS value, pigment._facet_value(v) FROM unnest(ARRAY['2', '2.0', '2.5', '-0.0', '9223372036854775807', '9007199254740993', '9007199254740993.0',
	'9223372036854775807.0', '0.1', '0.1000000000000000055', '1e-400', 'true', '"2"', '""']::jsonb[]) v;

-- Distances.
SELECT query_index, rank, id, distance FROM pigment.query('docs', ARRAY['[1,0]', '[9,0]']::vector[], max_distance => 4);
SELECT string_agg(id, ' ' ORDER BY rank) FROM pigment.query('docs', '[1,0]'::vector, 2, max_distance => 4);
SELECT string_agg(id, ' ' ORDER BY rank) FROM pigment.query('docs', '[1,0]'::vector, max_distance => 3.999999);
SELECT string_agg(id, ' ' ORDER BY rank) FROM pigment.query('docs', '[1,0]'::vector, max_distance => -1);
SELECT string_agg(id, ' ' ORDER BY rank) FROM pigment.query('docs', '[1,0]'::vector, max_distance => 'Infinity');
SELECT * FROM pigment.query('docs', '[1,0]'::vector, max_distance => 'NaN');

-- Orders.
CREATE FUNCTION ordered(order_by jsonb, limit_rows bigint DEFAULT NULL, offset_rows bigint DEFAULT 0,
	cursor text DEFAULT NULL, ids text[] DEFAULT NULL) RETURNS text
LANGUAGE sql AS $$
	SELECT string_agg(r.id, ' ' ORDER BY r.ordinality) FROM pigment.get('docs', ids, limit_rows => limit_rows,
		offset_rows => offset_rows, order_by => order_by, cursor => cursor) WITH ORDINALITY r
$$;
SELECT o AS order_by, ordered(o::jsonb) FROM unnest(ARRAY['[{"key": "n"}]', '[{"key": "n", "descending": true}]',
	'[{"key": "#id"}]', '[{"key": "chroma:uri"}]', '[{"key": "tags"}]',
	'[{"key": "none"}, {"key": "#id", "descending": true}]', '[]', 'null', NULL]) WITH ORDINALITY u (o, place)
	ORDER BY place;
SELECT ordered('[{"key": "n"}]', 2, 1), ordered('[{"key": "n"}]', ids => ARRAY['a', 'e', 'b']);
SELECT ordered('"n"');
SELECT ordered('[{"key": "#document"}]');
SELECT ordered('[{"key": "n"}, {"key": "n"}]');

-- cursors-of-records: a cursor is that behind a record, as it is now
SELECT ordered(NULL, 2), pigment.cursor_behind('docs', 'd') AS behind_d \gset
SELECT pigment.delete('docs', ARRAY['e', 'c']);
SELECT * FROM pigment.upsert('docs', ARRAY['d', 'f'], ARRAY['[6,0]', '[7,0]']::vector[]);
SELECT ordered(NULL, 2, 0, :'behind_d'), ordered(NULL, 9, 1, :'behind_d');
SELECT pigment.cursor_behind('docs', 'a', '[{"key": "#id"}]') AS behind_a \gset
SELECT * FROM pigment.add('docs', ARRAY['aa', '0'], ARRAY['[8,0]', '[9,0]']::vector[]);
SELECT ordered('[{"key": "#id"}]', 2, 0, :'behind_a'), ordered('[{"key": "#id"}]', cursor => :'behind_a');
SELECT pigment.cursor_behind('docs', 'nobody') IS NULL AS nobody;
SELECT ordered(NULL, cursor => 'somewhere');
SELECT ordered(NULL, cursor => '');
\set VERBOSITY sqlstate
SELECT ordered('[{"key": "#id"}]', cursor => :'behind_d');
SELECT ordered('[{"key": "#id", "descending": true}]', cursor => :'behind_a');
\set VERBOSITY default

DROP FUNCTION ordered;
SELECT pigment.delete_collection('docs');
