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
DROP TABLE words, bad;
DROP COLLATION nondeterministic;
