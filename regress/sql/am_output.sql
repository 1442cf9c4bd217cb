-- Access method pigment: distances that rows are ordered by and nobody reads are not computed; those that somebody reads are.
CREATE TABLE points (id int, kind text, v vector(2));
INSERT INTO points SELECT n, 'kind' || n % 3, ARRAY[n % 20, n / 20]::vector FROM generate_series(1, 200) n;
CREATE INDEX points_v ON points USING pigment (v, kind);
CREATE TABLE parts (id int, v vector(2)) PARTITION BY RANGE (id);
CREATE TABLE parts_low PARTITION OF parts FOR VALUES FROM (0) TO (100);
CREATE TABLE parts_high PARTITION OF parts FOR VALUES FROM (100) TO (1000);
INSERT INTO parts SELECT id, v FROM points;
CREATE INDEX parts_v ON parts USING pigment (v);
ANALYZE points, parts;

-- What of the plan's output is a distance or a NULL, by nodes from the top, and whether the answers are those without the index.
CREATE FUNCTION output(query text) RETURNS TABLE (node text, distances text, as_sorted bool) LANGUAGE plpgsql AS $$
DECLARE
	plan jsonb;
	by_index text;
	by_sort text;
BEGIN
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_sort = off;
	EXECUTE 'EXPLAIN (COSTS OFF, VERBOSE, FORMAT json) ' || query INTO plan;
	EXECUTE format('SELECT string_agg(s::text, '' '') FROM (%s) s', query) INTO by_index;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_sort = on;
	SET LOCAL enable_indexscan = off;
	EXECUTE format('SELECT string_agg(s::text, '' '') FROM (%s) s', query) INTO by_sort;
	SET LOCAL enable_indexscan = on;
	as_sorted := by_index = by_sort;
	FOR node, distances IN
		WITH RECURSIVE nodes (path, content) AS (
			SELECT ARRAY[0]::bigint[], plan #> '{0,Plan}'
			UNION ALL
			SELECT path || number, child FROM nodes, jsonb_array_elements(content -> 'Plans') WITH ORDINALITY c (child, number))
		SELECT content ->> 'Node Type', (SELECT string_agg(column_, ', ' ORDER BY number) FROM jsonb_array_elements_text(content -> 'Output') WITH ORDINALITY o (column_, number)
			WHERE column_ ~ '<|NULL') FROM nodes ORDER BY path
	LOOP
		RETURN NEXT;
	END LOOP;
END $$;

-- Nobody reads it.
SELECT * FROM output($$SELECT id FROM points ORDER BY v <-> '[3.1,4.2]' LIMIT 5$$);
SELECT * FROM output($$SELECT id FROM points WHERE kind = 'kind1' ORDER BY '[3.1,4.2]' <-> v LIMIT 5$$);
SELECT distances LIKE 'NULL%' AS is_left_out, as_sorted FROM output($$SELECT id FROM points ORDER BY v <-> (SELECT p.v FROM points p WHERE id = 77 ORDER BY p.v <-> '[1.5,1.2]' LIMIT 1), id OFFSET 2 LIMIT 3$$) WHERE node = 'Index Scan';
SELECT * FROM output($$SELECT sum(id) FROM (SELECT id FROM points ORDER BY v <-> '[3.1,4.2]' LIMIT 5) s$$);
SELECT * FROM output($$SELECT ARRAY(SELECT id FROM points ORDER BY v <-> '[3.1,4.2]' LIMIT 5)$$);
SELECT * FROM output($$SELECT a.id, b.id FROM (VALUES (1, '[3.1,4.2]'::vector), (2, '[7.3,0.1]')) a (id, q), LATERAL (SELECT id FROM points ORDER BY v <-> q LIMIT 2) b$$);
SELECT * FROM output($$(SELECT id FROM points ORDER BY v <-> '[3.1,4.2]' LIMIT 2) UNION ALL (SELECT id FROM points ORDER BY v <-> '[9.1,1.2]' LIMIT 2)$$);
BEGIN;
SET LOCAL enable_seqscan = off;
EXPLAIN (COSTS OFF, VERBOSE) SELECT id FROM points ORDER BY v <-> '[3.1,4.2]' LIMIT 2 FOR UPDATE;
SELECT id FROM points ORDER BY v <-> '[3.1,4.2]' LIMIT 2 FOR UPDATE;
ROLLBACK;
-- In a cursor and in a prepared statement with a plan for every value.
BEGIN;
SET LOCAL enable_seqscan = off;
SET LOCAL plan_cache_mode = force_generic_plan;
PREPARE nearest (vector, int) AS SELECT id FROM points ORDER BY v <-> $1 LIMIT $2;
EXPLAIN (COSTS OFF, VERBOSE) EXECUTE nearest ('[3.1,4.2]', 3);
EXECUTE nearest ('[3.1,4.2]', 3);
EXECUTE nearest ('[9.1,1.2]', 1);
DECLARE c SCROLL CURSOR FOR SELECT id FROM points ORDER BY v <-> '[3.1,4.2]';
FETCH 3 FROM c;
FETCH PRIOR FROM c;
DEALLOCATE nearest;
ROLLBACK;

-- Somebody does: the query, a tie, a merge, a sort of what is as near, a window; or it may be more than a distance.
SELECT * FROM output($$SELECT id, v <-> '[3.1,4.2]' AS distance FROM points ORDER BY v <-> '[3.1,4.2]' LIMIT 2$$);
SELECT * FROM output($$SELECT count(*) FROM (SELECT id FROM points ORDER BY v <-> '[3,4]' FETCH FIRST 2 ROWS WITH TIES) s$$);
SELECT * FROM output($$SELECT id FROM parts ORDER BY v <-> '[3.1,4.2]' LIMIT 3$$);
SELECT * FROM output($$SELECT id FROM points ORDER BY v <-> '[3,4]', id LIMIT 3$$);
SELECT * FROM output($$SELECT id FROM points WHERE v IS NOT NULL ORDER BY 1 - (v <-> '[3.1,4.2]') DESC LIMIT 3$$);
SELECT * FROM output($$SELECT row_number() OVER (ORDER BY v <-> '[3.1,4.2]'), id FROM points LIMIT 3$$);

-- Distances that the server puts in order itself, of an index that has them in single precision.
CREATE TABLE sets (id int, b bit(16));
INSERT INTO sets SELECT n, (n * 317 % 65536)::bit(16) FROM generate_series(1, 200) n;
CREATE INDEX sets_b ON sets USING pigment (b bit_jaccard_ops);
ANALYZE sets;
SELECT * FROM output($$SELECT b <%> B'1010111000111100' AS distance FROM sets ORDER BY b <%> B'1010111000111100' LIMIT 9$$);
SELECT * FROM output($$SELECT count(*) FROM (SELECT id FROM sets ORDER BY b <%> B'1010111000111100' LIMIT 150) s$$);

DROP FUNCTION output;
DROP TABLE points, parts, sets;
