-- Filter columns and collations of ICU, which not every server is built with: then the test ends here (am_filter_icu_1.out).
SELECT NOT EXISTS (SELECT FROM pg_collation WHERE collname = 'en-x-icu') AS has_no_icu \gset
\if :has_no_icu
\quit
\endif

-- An order of texts that is not that of their bytes is the executor's work.
CREATE TABLE words (id int, t text COLLATE "en-x-icu", v vector);
INSERT INTO words SELECT n, CASE n % 3 WHEN 0 THEN 'Ä' || n % 7 WHEN 1 THEN 'b' || n % 5 ELSE 'Z' || n % 4 END, ARRAY[n, 1]::vector FROM generate_series(1, 500) n;
CREATE INDEX words_x ON words USING pigment (t, v);
ANALYZE words;
SET enable_seqscan = off;
SELECT count(*) FROM words WHERE t = 'b3';
SELECT count(*) FROM words WHERE t > 'b' AND t < 'c';
SELECT id FROM words WHERE t < 'b' ORDER BY v <-> '[100,1]' LIMIT 3;
RESET enable_seqscan;
SELECT count(*) FROM words WHERE t = 'b3';
SELECT count(*) FROM words WHERE t > 'b' AND t < 'c';
SELECT id FROM words WHERE t < 'b' ORDER BY v <-> '[100,1]' LIMIT 3;

-- Equal texts of different bytes cannot be found by bytes.
CREATE COLLATION nondeterministic (provider = icu, locale = 'und', deterministic = false);
CREATE TABLE bad (a text COLLATE nondeterministic, b text[] COLLATE nondeterministic, v vector(2));
CREATE INDEX ON bad USING pigment (a);
CREATE INDEX ON bad USING pigment (b, v);

-- What a locale takes for a letter in another case is found by the letter, though grams know of no locale: all characters that are the same in
-- small or in capital letters, each by each.
CREATE FUNCTION overlooked(locale text) RETURNS TABLE (pairs bigint, liked bigint, matched bigint, missed text) LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE format('CREATE TEMP TABLE forms AS SELECT DISTINCT c, f FROM (
			SELECT chr(n) COLLATE %1$I FROM (SELECT generate_series(1, 55295) UNION ALL SELECT generate_series(57344, 131071)) n (n)
			UNION ALL SELECT c || d COLLATE %1$I FROM unnest(ARRAY[''i'', ''I'', ''j'', ''J'', ''Į'']) c, unnest(ARRAY[chr(768), chr(769), chr(771), chr(775)]) d
		) c (c), LATERAL (VALUES (c), (lower(c)), (upper(c))) f (f) WHERE lower(c) <> upper(c)', locale);
	CREATE TEMP TABLE pairs AS SELECT row_number() OVER () AS id, a, b FROM (SELECT DISTINCT x.c AS a, y.c AS b FROM forms x JOIN forms y USING (f)) p;
	EXECUTE format('ALTER TABLE pairs ADD body text COLLATE %I', locale);
	UPDATE pairs p SET body = 'x' || b || 'q' || p.id || 'y';
	CREATE INDEX ON pairs USING pigment (body text_trgm_ops);
	ANALYZE pairs;
	RETURN QUERY SELECT count(*), count(*) FILTER (WHERE is_liked), count(*) FILTER (WHERE is_matched), string_agg(a || b, ' ') FILTER (WHERE
			is_liked AND NOT (SELECT true FROM pairs i WHERE i.body ILIKE '%' || p.a || 'q' || p.id || 'y' OFFSET 0) IS NOT NULL OR
			is_matched AND NOT (SELECT true FROM pairs i WHERE i.body ~* (p.a || 'q' || p.id || 'y') OFFSET 0) IS NOT NULL)
		FROM (SELECT *, body ILIKE '%' || a || 'q' || n.id || 'y' AS is_liked, body ~* (a || 'q' || n.id || 'y') AS is_matched FROM pairs n) p;
	DROP TABLE forms, pairs;
END $$;
SET enable_seqscan = off;
SELECT l, pairs > 5000 AS has_pairs, liked > 4000 AS many_liked, matched > 4000 AS many_matched, missed
	FROM unnest(ARRAY['en-x-icu', 'tr-x-icu', 'lt-x-icu']) l, overlooked(l);
RESET enable_seqscan;
DROP FUNCTION overlooked;
DROP TABLE words, bad;
DROP COLLATION nondeterministic;
