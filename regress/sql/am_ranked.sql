-- Access method pigment: texts ranked by the words of a query, columns of text_bm25_ops and operator <@>.
\set SHOW_CONTEXT never
CREATE TABLE docs (id int PRIMARY KEY, category int, body text, v vector(2)) WITH (autovacuum_enabled = false);
INSERT INTO docs VALUES
	(1, 1, 'The quick brown fox jumps over the lazy dog', '[1,1]'), (2, 1, 'Foxes are running quickly; a fox runs', '[1,2]'),
	(3, 2, 'A search engine ranks documents', '[2,1]'), (4, 3, 'brown fox', '[3,1]'), (5, 3, NULL, NULL), (6, 3, 'nothing here', '[9,9]'),
	(7, 3, '', '[1,1]');
CREATE INDEX docs_idx ON docs USING pigment (body text_bm25_ops (language = 'english', stop_words = true), category, v vector_l2_ops);
SET enable_seqscan = off;

-- All rows come: by score, those without a word, those without a text.
EXPLAIN (COSTS OFF, VERBOSE) SELECT id, body <@> 'brown foxes' AS score FROM docs ORDER BY body <@> 'brown foxes' LIMIT 10;
SELECT id, round((body <@> 'brown foxes')::numeric, 6) AS score FROM docs ORDER BY body <@> 'brown foxes';
-- By hand: 5 texts with words, 19 of them, 4 in this one.
SELECT id, round((-score)::numeric, 6) FROM (SELECT id, body <@> 'engine' AS score FROM docs) s WHERE score < 0;
SELECT round((ln(1 + (5 - 1 + 0.5) / (1 + 0.5)) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 4 / (19 / 5.0))))::numeric, 6) AS by_hand;
-- With conditions, under another name of the index, without an order, in an order that descends.
SET enable_sort = off;
EXPLAIN (COSTS OFF) SELECT id FROM docs WHERE category = 3 ORDER BY body <@> 'fox' LIMIT 3;
EXPLAIN (COSTS OFF) SELECT id FROM docs ORDER BY body <@> 'fox', id LIMIT 3;
RESET enable_sort;
SELECT id FROM docs WHERE category = 3 ORDER BY body <@> 'fox';
SELECT id FROM docs WHERE body IS NOT NULL AND category = ANY ('{2,3}') ORDER BY body <@> 'search fox', id;
EXPLAIN (COSTS OFF) SELECT id FROM docs ORDER BY body <@> to_bm25query('docs_idx', 'fox') LIMIT 3;
SELECT id FROM docs ORDER BY body <@> to_bm25query('docs_idx', 'fox') LIMIT 3;
SELECT id FROM docs WHERE body <@> 'fox' < 0 ORDER BY id;
SELECT id FROM docs WHERE body IS NOT NULL ORDER BY body <@> 'fox' DESC, id LIMIT 3;
-- Near a vector first, and ranked within.
SELECT id FROM (SELECT id, body FROM docs ORDER BY v <-> '[1,1]' LIMIT 4) near ORDER BY body <@> 'fox', id;
WITH near AS MATERIALIZED (SELECT id, body FROM docs ORDER BY v <-> '[1,1]' LIMIT 4)
	SELECT id FROM near ORDER BY body <@> to_bm25query('docs_idx', 'fox'), id;
-- No words, no query.
SELECT id, body <@> 'the' AS score FROM docs ORDER BY body <@> 'the' LIMIT 2;
SELECT id, body <@> NULL AS score FROM docs ORDER BY body <@> NULL, id LIMIT 2;
-- Syntax is none: every text is a query of words.
SELECT id FROM docs ORDER BY body <@> '"brown' LIMIT 1;
SELECT id FROM docs ORDER BY body <@> '+fox -dog ( & | !' LIMIT 1;

-- The words are known when the query runs.
SET plan_cache_mode = force_generic_plan;
PREPARE ranked(text) AS SELECT id FROM docs ORDER BY body <@> $1 LIMIT 2;
EXPLAIN (COSTS OFF) EXECUTE ranked('engine');
EXECUTE ranked('engine');
EXECUTE ranked('dog');
EXECUTE ranked(NULL);
PREPARE named(text) AS SELECT id FROM docs ORDER BY body <@> to_bm25query('docs_idx', $1) LIMIT 1;
EXECUTE named('engine');
RESET plan_cache_mode;
SELECT q, d.id FROM (VALUES ('engine'), ('dog'), (NULL)) qs(q), LATERAL (SELECT id FROM docs ORDER BY body <@> q LIMIT 1) d;
CREATE VIEW found AS SELECT id, body, body <@> 'lazy engine' AS score FROM docs;
SELECT id FROM found WHERE score < 0 ORDER BY score;
SELECT id FROM found ORDER BY body <@> 'quick' LIMIT 2;
BEGIN;
DECLARE c CURSOR FOR SELECT id FROM docs ORDER BY body <@> 'fox';
FETCH 2 FROM c;
INSERT INTO docs VALUES (8, 3, 'fox');
FETCH ALL FROM c;
ROLLBACK;

-- What is written counts at once, and dead rows until VACUUM: also that which was rolled back.
CREATE FUNCTION score_of(words text) RETURNS numeric LANGUAGE sql AS $$SELECT round((min(body <@> words))::numeric, 6) FROM docs$$;
SELECT score_of('engine');
INSERT INTO docs SELECT n, n % 5, 'engine number ' || n FROM generate_series(101, 120) n;
SELECT score_of('engine');
DELETE FROM docs WHERE id > 100;
SELECT score_of('engine');
VACUUM (INDEX_CLEANUP ON) docs;
SELECT score_of('engine');
SELECT pigment.merge('docs_idx');
SELECT score_of('engine');
SELECT live_rows FROM pigment.check('docs_idx');
-- k1 and b change at once, and no index is made anew.
ALTER INDEX docs_idx SET (k1 = 0, b = 0);
SELECT score_of('engine') = round(-ln(1 + 4.5 / 1.5), 6) AS is_idf;
ALTER INDEX docs_idx RESET (k1, b);
ALTER INDEX docs_idx SET (k1 = 101);
ALTER INDEX docs_idx SET (b = 2);

-- Which index: one of all rows before those of some; of two none, unless it is named.
SELECT 'a fox'::text <@> 'fox';
SELECT round(('a fox'::text <@> to_bm25query('docs_idx', 'fox'))::numeric, 6) AS score;
CREATE INDEX docs_part ON docs USING pigment (body text_bm25_ops (language = 'english')) WHERE category = 3;
EXPLAIN (COSTS OFF) SELECT id FROM docs ORDER BY body <@> 'fox' LIMIT 1;
SELECT id FROM docs WHERE category = 3 ORDER BY body <@> to_bm25query('docs_part', 'fox') LIMIT 2;
CREATE INDEX docs_plain ON docs USING pigment (body text_bm25_ops) WITH (k1 = 2);
SELECT id FROM docs ORDER BY body <@> 'foxes' LIMIT 1;
-- one that has not these words is not scanned in its place
EXPLAIN (COSTS OFF) SELECT id FROM docs ORDER BY body <@> to_bm25query('docs_plain', 'foxes') LIMIT 1;
SELECT id FROM docs ORDER BY body <@> to_bm25query('docs_plain', 'foxes') LIMIT 1;
SELECT id FROM docs ORDER BY body <@> to_bm25query('docs_idx', 'foxes') LIMIT 1;
DROP INDEX docs_plain, docs_part;
-- An expression; a column of varchar; partitions, which are counted together.
CREATE TABLE pages (id int, title varchar(50), body text) PARTITION BY RANGE (id);
CREATE TABLE pages_1 PARTITION OF pages FOR VALUES FROM (0) TO (10);
CREATE TABLE pages_2 PARTITION OF pages FOR VALUES FROM (10) TO (20);
CREATE INDEX pages_title ON pages USING pigment (title text_bm25_ops);
CREATE INDEX pages_both ON pages USING pigment ((title || ' ' || body) text_bm25_ops (stop_words = 'of, and'));
INSERT INTO pages SELECT n, 'page ' || n, CASE n % 3 WHEN 0 THEN 'of foxes and dogs' ELSE 'of dogs' END FROM generate_series(0, 19) n;
EXPLAIN (COSTS OFF) SELECT id FROM pages ORDER BY title <@> '13' LIMIT 1;
SELECT id FROM pages ORDER BY title <@> '13' LIMIT 1;
SELECT id FROM pages ORDER BY (title || ' ' || body) <@> 'foxes 12 of', id LIMIT 3;
SELECT count(DISTINCT title <@> 'page') AS scores FROM pages;
SELECT round(('page'::text <@> to_bm25query('pages_title', 'page'))::numeric, 6) =
	round(('page'::text <@> to_bm25query('pages_1_title_idx', 'page'))::numeric, 6) AS is_counted_alone;

-- What is refused.
CREATE INDEX ON docs USING pigment (body text_bm25_ops (language = 'klingon'));
CREATE INDEX ON docs USING pigment (body text_bm25_ops (language = 'hindi', stop_words = on));
CREATE INDEX ON docs USING pigment (body text_bm25_ops (k1 = 2));
CREATE INDEX ON docs USING pigment (body text_bm25_ops, (body || 'x') text_bm25_ops);
SELECT to_bm25query('docs_pkey', 'fox');
SELECT to_bm25query('docs', 'fox');
SELECT 'fox'::bm25query;
SELECT 'docs_idx:brown: fox'::bm25query;
CREATE INDEX "an: index" ON docs USING pigment (body text_bm25_ops);
SELECT to_bm25query('"an: index"', 'fox'), to_bm25query('"an: index"', 'fox')::text::bm25query;
DROP INDEX "an: index";
-- What an index counts is for those who may read its table.
CREATE ROLE ranked_reader;
GRANT SELECT ON found TO ranked_reader;
SET ROLE ranked_reader;
SELECT to_bm25query('docs_idx', 'fox');
SELECT 'docs_idx:fox'::bm25query;
SELECT count(*) FROM found WHERE score < 0;
RESET ROLE;
GRANT SELECT (body) ON docs TO ranked_reader;
SET ROLE ranked_reader;
SELECT to_bm25query('docs_idx', 'fox');
RESET ROLE;
-- Rows that row security hides are counted and never found; who has a partition of his own has its counts alone.
CREATE TABLE notes (id int, tenant name, body text) PARTITION BY LIST (tenant);
CREATE TABLE notes_own PARTITION OF notes FOR VALUES IN ('ranked_reader');
CREATE TABLE notes_others PARTITION OF notes DEFAULT;
CREATE INDEX notes_idx ON notes USING pigment (body text_bm25_ops);
INSERT INTO notes VALUES (1, 'ranked_reader', 'a red fox'), (2, 'ranked_reader', 'a dog and its bone');
ALTER TABLE notes ENABLE ROW LEVEL SECURITY;
CREATE POLICY own ON notes USING (id < 3);
GRANT SELECT ON notes, notes_own TO ranked_reader;
CREATE FUNCTION notes_found(words text) RETURNS TABLE (seen_in text, id int, score numeric) LANGUAGE sql AS $$
	(SELECT 'all', n.id, round((n.body <@> words)::numeric, 6) FROM notes n ORDER BY n.body <@> words)
	UNION ALL (SELECT 'own', n.id, round((n.body <@> words)::numeric, 6) FROM notes_own n ORDER BY n.body <@> words) $$;
SET ROLE ranked_reader;
EXPLAIN (COSTS OFF) SELECT id FROM notes ORDER BY body <@> 'fox' LIMIT 5;
SELECT * FROM notes_found('fox');
RESET ROLE;
INSERT INTO notes SELECT n, 'somebody', 'a secret fox' FROM generate_series(3, 52) n;
SET ROLE ranked_reader;
SELECT * FROM notes_found('fox');
SELECT round((-ln(1 + (52 - 51 + 0.5) / (51 + 0.5)) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * 3 / (158 / 52.0))))::numeric, 6) AS counted_over_all;
SELECT * FROM notes_found('secret');
SELECT to_bm25query('notes_others_body_idx', 'secret');
RESET ROLE;
DROP FUNCTION notes_found;
DROP TABLE notes;
SELECT amvalidate(oid) FROM pg_opclass WHERE opcname = 'text_bm25_ops';
SELECT pg_index_column_has_property('docs_idx', 1, 'distance_orderable') AS orders, pg_get_indexdef('docs_idx'::regclass);
DROP VIEW found;
DROP FUNCTION score_of;
DROP TABLE docs, pages;
DROP ROLE ranked_reader;
