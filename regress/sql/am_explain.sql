-- What EXPLAIN (ANALYZE) shows of a scan, where the server lets a module add to it (18): what pigment.last_scan() tells.
\set SHOW_CONTEXT never
CREATE TABLE shown (id int, kind int, v vector(2));
INSERT INTO shown SELECT n, n % 10, ARRAY[n % 97, n % 89]::vector FROM generate_series(1, 3000) n;
CREATE INDEX shown_x ON shown USING pigment (v, kind);
ANALYZE shown;
CREATE FUNCTION counters(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	line text;
	texts text := '';
	scan jsonb;
	told record;
BEGIN
	-- the first scan of a session reads what those that follow know
	EXECUTE query;
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) ' || query INTO plan;
	SELECT * INTO told FROM pigment.last_scan();
	FOR line IN EXECUTE 'EXPLAIN (ANALYZE) ' || query LOOP
		texts := texts || line || E'\n';
	END LOOP;
	scan := jsonb_path_query_first(plan::jsonb, '$.** ? (@."Index Name" == "shown_x")');
	IF scan IS NULL THEN
		RETURN 'no scan of the index';
	ELSIF current_setting('server_version_num')::int < 180000 THEN
		RETURN CASE WHEN scan ? 'Rows Scored' OR texts ~ 'Rows Scored' THEN 'more than the server can' ELSE 'ok' END;
	ELSIF texts !~ ('Index Strategy: ' || told.strategy) OR texts !~ ('Index Pages Read: ' || told.pages_read) OR (told.rows_scored > 0 AND texts !~ ('Rows Scored: ' || told.rows_scored)) THEN
		RETURN 'text: ' || texts;
	END IF;
	RETURN CASE WHEN scan ->> 'Index Strategy' = told.strategy AND (scan ->> 'Index Segments')::int = told.segments AND (scan ->> 'Index Pages Read')::int = told.pages_read
		AND (scan ->> 'Rows Scored')::int = told.rows_scored
		AND coalesce((scan ->> 'Rows by Conditions')::int, told.filter_rows) = told.filter_rows THEN 'ok' ELSE scan::text || to_jsonb(told) END;
END $$;
SELECT counters($$SELECT id FROM shown ORDER BY v <-> '[3,4]' LIMIT 5$$);
SELECT counters($$SELECT id FROM shown WHERE kind = 3 ORDER BY v <-> '[3,4]' LIMIT 5$$);
SELECT counters($$SELECT id FROM shown WHERE kind = 3 AND v <-> '[3,4]' < 3$$);
SELECT counters($$SELECT count(*) FROM shown WHERE kind = 3$$);
-- Rescans are one sum.
CREATE FUNCTION rescans() RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
	scan jsonb;
BEGIN
	EXECUTE 'EXPLAIN (ANALYZE, FORMAT json) SELECT k, n.id FROM generate_series(1, 4) k, LATERAL (SELECT id FROM shown WHERE kind = k ORDER BY v <-> ''[3,4]'' LIMIT 2) n' INTO plan;
	scan := jsonb_path_query_first(plan::jsonb, '$.** ? (@."Index Name" == "shown_x")');
	IF current_setting('server_version_num')::int < 180000 THEN
		RETURN 'ok';
	END IF;
	RETURN CASE WHEN scan ->> 'Rows by Conditions' = '1200' AND scan ->> 'Rows Scored' = '1200' AND scan ->> 'Index Searches' = '4' THEN 'ok' ELSE scan::text END;
END $$;
SELECT rescans();
-- Of another index, and of a plan that is not run, nothing.
CREATE FUNCTION silent(query text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	plan json;
BEGIN
	EXECUTE query INTO plan;
	RETURN CASE WHEN plan::text ~ 'Index Strategy|Rows Scored' THEN plan::text ELSE 'ok' END;
END $$;
CREATE INDEX shown_id ON shown (id);
SELECT silent('EXPLAIN (ANALYZE, FORMAT json) SELECT kind FROM shown WHERE id = 7'), silent('EXPLAIN (FORMAT json) SELECT id FROM shown ORDER BY v <-> ''[3,4]'' LIMIT 5');
DROP TABLE shown;
DROP FUNCTION counters, rescans, silent;
