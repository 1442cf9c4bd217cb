-- Conditions on expressions of a jsonb column, and jsonpath.
\set SHOW_CONTEXT never
CREATE TABLE docs (id int, doc jsonb, v vector(2));
INSERT INTO docs SELECT n, jsonb_build_object('lang', 'l' || n % 40, 'year', CASE WHEN n % 7 = 0 THEN to_jsonb((1980 + n % 50)::text) ELSE to_jsonb(1980 + n % 50) END,
	'a', jsonb_build_object('b', 'x' || n % 100), 'sold', n % 50 = 0, 'tags', jsonb_build_array('t' || n % 30, n % 11), 'price', (n % 400) / 8.0)
	|| CASE WHEN n % 90 = 0 THEN '{"few": null}' WHEN n % 91 = 0 THEN '{"few": 1}' ELSE '{}' END::jsonb
	|| CASE WHEN n % 100 <> 0 THEN '{"most": {"k": [1]}}' ELSE '{}' END::jsonb, ARRAY[n % 64, n % 7]::vector FROM generate_series(1, 4000) n;
CREATE INDEX docs_x ON docs USING pigment (doc, v);
INSERT INTO docs SELECT n, doc, v FROM (SELECT 4000 + id AS n, doc, v FROM docs WHERE id <= 60) s;
ANALYZE docs;
SELECT leaked, live_rows FROM pigment.check('docs_x');

-- How each is found: the condition of the index, how many rows it lets through, how many there are; and the same without the index.
CREATE FUNCTION found(condition text, ordered bool DEFAULT false) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	query text := format('SELECT id FROM docs WHERE %s', condition);
	line text;
	cond text := 'no index: ';
	counted text := format('SELECT count(*), md5(string_agg(id::text, '','' ORDER BY id)) FROM (%s%s) q', query, CASE WHEN ordered THEN ' ORDER BY v <-> ''[3,4]''' ELSE '' END);
	by_index record;
	by_rows record;
BEGIN
	FOR line IN EXECUTE 'EXPLAIN (COSTS OFF) ' || query || CASE WHEN ordered THEN ' ORDER BY v <-> ''[3,4]'' LIMIT 5' ELSE '' END LOOP
		IF line ~ 'Index Cond' THEN
			cond := regexp_replace(regexp_replace(line, '^.*Index Cond: ', ''), '::pigment.json_test', '', 'g') || ': ';
		END IF;
	END LOOP;
	SET LOCAL enable_seqscan = off;
	EXECUTE counted INTO by_index;
	SELECT CASE WHEN cond <> 'no index: ' THEN s.filter_rows || ' looked at, ' ELSE '' END INTO line FROM pigment.last_scan() s;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	SET LOCAL enable_bitmapscan = off;
	EXECUTE counted INTO by_rows;
	SET LOCAL enable_indexscan = on;
	SET LOCAL enable_bitmapscan = on;
	RETURN cond || line || by_index.count || CASE WHEN by_rows = by_index THEN ' rows' ELSE ' rows, NOT ' || by_rows.count END;
END $$;
SELECT id FROM docs WHERE doc ->> 'lang' = 'l3' ORDER BY v <-> '[3,4]' LIMIT 0;
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE doc ->> 'lang' = 'l3';
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE doc ->> 'lang' = 'l3' AND (doc ->> 'year')::int > 2020 AND v <-> '[3,4]' < 20 ORDER BY v <-> '[3,4]' LIMIT 5;
SELECT found(c) FROM unnest(ARRAY[
	$$doc ->> 'lang' = 'l3'$$, $$'l3' = doc ->> 'lang'$$, $$doc ->> 'lang' IN ('l3', 'l4')$$, $$doc ->> 'lang' = ANY (ARRAY['l3', NULL])$$,
	$$doc -> 'a' ->> 'b' = 'x7'$$, $$doc #>> '{a,b}' = 'x7'$$, $$jsonb_extract_path_text(doc, 'a', 'b') = 'x7'$$, $$doc -> 'a' -> 'b' = '"x7"'$$, $$doc['a']['b'] = '"x7"'$$,
	$$doc -> 'tags' ->> 0 = 't7'$$, $$doc ->> 'year' = '2000'$$, $$doc ->> 'sold' = 'true'$$, $$doc ->> 'few' = '1'$$, $$doc ->> 'most' = 'x'$$,
	$$doc ->> 'few' IS NOT NULL$$, $$doc -> 'few' IS NOT NULL$$, $$doc -> 'most' ->> 'k' IS NULL$$, $$doc #> '{most,k}' IS NULL$$]) c;
SELECT found(c) FROM unnest(ARRAY[
	$$(doc ->> 'year')::int > 2027$$, $$(doc ->> 'year')::bigint >= 2027$$, $$(doc ->> 'year')::int = 2027$$, $$2028 < (doc ->> 'year')::int$$, $$(doc ->> 'year')::int IN (1990, 2027)$$,
	$$(doc ->> 'year')::numeric BETWEEN 1999.5 AND 2000$$, $$(doc ->> 'year')::float8 < 1981$$, $$(doc ->> 'price')::float8 = 0.125$$, $$(doc ->> 'price')::real <= 0.25$$, $$(doc -> 'price')::numeric = 0.5$$,
	$$(doc -> 'price')::int = 2$$, $$(doc ->> 'sold')::bool$$, $$(doc -> 'sold')::bool$$, $$(doc ->> 'sold')::bool IS TRUE AND doc ->> 'lang' = 'l0'$$]) c;
SELECT found(c, true) FROM unnest(ARRAY[$$doc ->> 'lang' = 'l3'$$, $$(doc ->> 'year')::int > 2027 AND doc ? 'few'$$, $$doc ->> 'few' IS NULL AND v <-> '[3,4]' < 3$$]) c;
-- What the index cannot tell.
SELECT found(c) FROM unnest(ARRAY[$$doc ->> 'lang' <> 'l3'$$, $$doc ->> 'lang' > 'l38'$$, $$doc #>> '{tags,0}' = 't7'$$, $$(doc ->> 'year')::numeric(4) = 2000$$,
	$$doc -> 'tags' ->> 5 IS NULL$$, format($$doc ->> %L = 'x'$$, repeat('k', 200))]) c;
-- Jsonpath.
SELECT found(c) FROM unnest(ARRAY[
	$$doc @? '$.tags[*] ? (@ == "t7")'$$, $$doc @@ '$.year > 2027'$$, $$doc @@ '$.a.b == "x7" || $.a.b == "x8"'$$, $$doc @@ '$.a.b starts with "x9"'$$, $$doc @@ 'exists($.few ? (@ != 2))'$$,
	$$doc @? '$.few'$$, $$doc @? '$ ? (@.lang == "l3" && @.price < 10)'$$, $$doc @@ '$.sold'$$, $$doc @? '$.*.b ? (@ == "x7")'$$, $$doc @@ '!($.a.b == "x7")'$$, $$doc @? '$.lang == "none"'$$]) c;
SELECT found(c) FROM unnest(ARRAY[$$doc @> '{"a": {"b": "x7"}}'$$, $$doc @> '{"tags": ["t7"]}'$$, $$doc @> '{"tags": []}'$$, $$doc ? 'few'$$, $$doc ?| '{few,none}'$$, $$doc ?& '{few,lang}'$$]) c;

-- An error of a cast is one of a row that is looked at.
INSERT INTO docs VALUES (9001, '{"year": "unknown"}', '[1,1]'), (9002, '{"year": "nan"}', '[1,1]');
SELECT count(*) FROM docs WHERE (doc ->> 'year')::int > 2027;
-- What a cast may take for a number in some version or other is looked at, too.
DELETE FROM docs WHERE id = 9002;
SELECT count(*) FROM docs WHERE (doc ->> 'year')::int > 2027;
SET enable_indexscan = off;
SET enable_bitmapscan = off;
SELECT count(*) FROM docs WHERE (doc ->> 'year')::int > 2027;
RESET enable_indexscan;
RESET enable_bitmapscan;
DELETE FROM docs WHERE id = 9001;

-- Values that are known when the scan begins; NULL.
SET plan_cache_mode = force_generic_plan;
PREPARE of_lang(text, int, text[]) AS SELECT count(*) FROM docs WHERE doc ->> 'lang' = $1 AND (doc ->> 'year')::int >= $2 AND doc -> 'a' ->> 'b' = ANY ($3);
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) EXECUTE of_lang('l3', 1990, '{x3,x43}');
EXECUTE of_lang('l3', 1990, '{x3,x43}');
EXECUTE of_lang(NULL, 1990, '{x3,x43}');
EXECUTE of_lang('l3', 1990, NULL);
RESET enable_seqscan;
RESET plan_cache_mode;
-- Under row security a condition that may tell what it sees comes after it.
CREATE ROLE regress_pigment_reader;
GRANT SELECT ON docs TO regress_pigment_reader;
ALTER TABLE docs ENABLE ROW LEVEL SECURITY;
CREATE POLICY even ON docs USING (id % 2 = 0);
SET ROLE regress_pigment_reader;
EXPLAIN (COSTS OFF) SELECT count(*) FROM docs WHERE (doc ->> 'year')::int > 2027;
RESET ROLE;
DROP POLICY even ON docs;
DROP TABLE docs;
DROP ROLE regress_pigment_reader;
DROP FUNCTION found;

-- The operator that plans show can be called too: whether there is an element in the ranges, which the value of a filter may still not be.
SELECT doc, doc OPERATOR(pigment.@^) ROW('{a}', 'text', '=', '{5}', NULL)::pigment.json_test AS text, doc OPERATOR(pigment.@^) ROW('{a}', 'number', '>', NULL, '{4}')::pigment.json_test AS number,
	doc OPERATOR(pigment.@^) ROW('{a,NULL}', 'json', '=', '{5}', NULL)::pigment.json_test AS in_array, doc OPERATOR(pigment.@^) ROW('{a}', 'text', 'is null', NULL, NULL)::pigment.json_test AS none
FROM unnest(ARRAY['{"a": 5}', '{"a": "5"}', '{"a": 5.00}', '{"a": [5]}', '{"a": " 4.1 "}', '{"a": "nan"}', '{"a": "none"}', '{"a": null}', '{"b": 5}', '5', NULL]::jsonb[]) doc;
SELECT '{"a": 1}' OPERATOR(pigment.@^) ROW('{a}', 'colour', '=', '{5}', NULL)::pigment.json_test;
SELECT '{"a": 1}' OPERATOR(pigment.@^) ROW(NULL, 'text', '=', '{5}', NULL)::pigment.json_test;
SELECT '{"a": 1}' OPERATOR(pigment.@^) ROW(ARRAY[repeat('a', 128)], 'text', '=', '{5}', NULL)::pigment.json_test;

-- An operator class of before there were paths, and an index of it.
CREATE OPERATOR CLASS old_json_ops FOR TYPE jsonb USING pigment AS OPERATOR 7 @> (jsonb, jsonb), OPERATOR 9 ? (jsonb, text), OPERATOR 10 ?| (jsonb, text[]), OPERATOR 11 ?& (jsonb, text[]);
CREATE TABLE old (id int, doc jsonb);
INSERT INTO old SELECT n, jsonb_build_object('lang', 'l' || n % 40) FROM generate_series(1, 2000) n;
CREATE INDEX old_x ON old USING pigment (doc old_json_ops);
ANALYZE old;
EXPLAIN (COSTS OFF) SELECT id FROM old WHERE doc ->> 'lang' = 'l3';
EXPLAIN (COSTS OFF) SELECT id FROM old WHERE doc @> '{"lang": "l3"}';
SELECT count(*) FROM old WHERE doc @> '{"lang": "l3"}';
SELECT count(*) FROM old WHERE doc ? 'lang';
SELECT live_rows FROM pigment.check('old_x');
DROP TABLE old;
DROP OPERATOR CLASS old_json_ops USING pigment;
DROP OPERATOR FAMILY IF EXISTS old_json_ops USING pigment;
