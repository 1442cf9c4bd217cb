-- Collections with a text index: what makes and changes one, and pigment.search_text.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE FUNCTION index_of(collection text) RETURNS text LANGUAGE sql AS $$
	SELECT regexp_replace(pg_get_indexdef(pigment._ranking_index(pigment.get_collection(collection))), '^.* USING ', '') $$;
CREATE FUNCTION found(collection text, query text, operator text DEFAULT 'any') RETURNS text LANGUAGE sql AS $$
	SELECT coalesce(string_agg(id, ' ' ORDER BY rank), 'nothing') FROM pigment.search_text(collection, ARRAY[query], operator => operator) $$;
CREATE FUNCTION refusal(statement text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	hint text;
BEGIN
	EXECUTE statement;
	RETURN 'not refused';
EXCEPTION WHEN OTHERS THEN
	GET STACKED DIAGNOSTICS hint = PG_EXCEPTION_HINT;
	RETURN concat_ws(' ', SQLSTATE, SQLERRM, nullif('| ' || hint, '| '));
END
$$;

-- The configuration asks for the index, which has its options, and reads back with every default.
SELECT configuration -> 'text_index' AS text_index FROM pigment.create_collection('ranked',
	configuration => '{"text_index": {"analyzer": {"language": "english", "stop_words": true}}}');
SELECT index_of('ranked');
SELECT configuration -> 'text_index' AS text_index FROM pigment.create_collection('ranked-plainly', configuration => '{"text_index": {}, "hnsw": {"space": "cosine"}}');
SELECT index_of('ranked-plainly');
SELECT configuration ? 'text_index' AS has_text_index FROM pigment.create_collection('not-ranked', configuration => '{"text_index": null}');
-- So does a schema.
SELECT configuration -> 'text_index' = schema #> '{keys,#document,string,fts_index,config,text_index}' AS same, configuration -> 'text_index' AS text_index
	FROM pigment.create_collection('ranked-by-schema', collection_schema =>
		'{"keys": {"#document": {"string": {"fts_index": {"enabled": true, "config": {"text_index": {"k1": 2}}}}}}}');
SELECT index_of('ranked-by-schema');
-- Stop words are those that were given, whatever an option would make of them.
SELECT l.words, c.configuration #> '{text_index,analyzer,stop_words}' = l.words AS same FROM (VALUES (1, '[]'::jsonb), (2, '["no"]'), (3, '["3,14", "a b", "it''s", "back\\slash", "quo\"te"]')) l (number, words),
	LATERAL pigment.create_collection('listed-' || l.number, configuration => jsonb_build_object('text_index', jsonb_build_object('analyzer', jsonb_build_object('stop_words', l.words)))) c
	ORDER BY l.number;
SELECT n, index_of('listed-' || n) FROM generate_series(1, 3) n;
SELECT * FROM pigment.add('listed-3', '{a,b}', '{"[1]","[1]"}', '{"3,14 and it''s", other}');
SELECT found('listed-3', '3,14 it''s'), found('listed-3', 'other and');
-- What the library refuses is refused.
SELECT refusal($$SELECT pigment.create_collection('refused', configuration => '{"text_index": {"analyzer": {"language": "klingon"}}}')$$);
SELECT refusal($$SELECT pigment.create_collection('refused', configuration => '{"text_index": {"k1": 101}}')$$);

-- The records and queries of docs/text-search.md, but for phrases.
SELECT * FROM pigment.add('ranked', '{1,2,3,4,5,6}', array_fill('[1]'::vector, '{6}'), ARRAY['The quick brown fox jumps over the lazy dog',
	'Foxes are running quickly; a fox runs', 'A search engine ranks documents', 'Engines of search: ranking, phrases and prefixes',
	'東京都に行く。Ｐｏｓｔｇｒｅｓ in Tokyo', NULL],
	ARRAY['{"kind": "animal"}', '{"kind": "animal"}', '{"kind": "software"}', '{"kind": "software"}', '{"kind": "travel"}', NULL]::jsonb[]);
SELECT query, found('ranked', query), found('ranked', query, 'all') AS of_all FROM unnest('{fox,foxes RUNNING,fox engine,the,unheard-of,+fox lazy,+search +phrases,+search fox,rank*,fo*,po*,東京,postgres tokyo,+the fox,"\"fox\" \"","",\"}'::text[])
	WITH ORDINALITY q (query, number) ORDER BY number;
SELECT refusal($$SELECT pigment.search_text('ranked', '{fox,"\"search engine\""}')$$);
-- Several queries, scores, what is included, filters, ids.
SELECT query_index, rank, id, round(score::numeric, 4) AS score, document IS NULL AS no_document, metadata, uri, embedding
	FROM pigment.search_text('ranked', '{fox,nothing,search dog}', 2, include => '{metadatas,embeddings}');
SELECT id, document FROM pigment.search_text('ranked', '{fox engine}', where_metadata => '{"kind": "software"}', where_document => '{"$contains": "search"}', ids => '{3,1,nobody}');
-- Ties in the order of insertion, also where they go on behind the last that is wanted.
SELECT * FROM pigment.add('ranked-plainly', (SELECT array_agg('t' || n ORDER BY n) FROM generate_series(1, 40) n), array_fill('[1]'::vector, '{40}'),
	array_fill('a tie of words'::text, '{40}'));
SELECT * FROM pigment.update('ranked-plainly', '{t1,t3}', documents => '{a tie of words,a tie of words}', embeddings => '{"[1]","[1]"}');
SELECT string_agg(id, ' ' ORDER BY rank) AS ids, count(DISTINCT score) AS scores FROM pigment.search_text('ranked-plainly', '{tie}', 5);
SELECT * FROM pigment.delete('ranked-plainly', '{t2}');
SELECT string_agg(id, ' ' ORDER BY rank) AS ids FROM pigment.search_text('ranked-plainly', '{of words}', 3);
-- What was written in the transaction is found.
BEGIN;
SELECT * FROM pigment.upsert('ranked', '{6}', '{"[1]"}', '{a fox by night}');
SELECT found('ranked', 'night');
ROLLBACK;
SELECT found('ranked', 'night');

-- What is wrong is said.
SELECT refusal(statement) FROM (VALUES (1, $$SELECT pigment.search_text('not-ranked', '{fox}')$$), (2, $$SELECT pigment.search_text('nowhere', '{fox}')$$),
	(3, $$SELECT pigment.search_text('ranked', NULL)$$), (4, $$SELECT pigment.search_text('ranked', '{}')$$), (5, $$SELECT pigment.search_text('ranked', '{fox,NULL}')$$),
	(6, $$SELECT pigment.search_text('ranked', '{fox}', 0)$$), (7, $$SELECT pigment.search_text('ranked', '{fox}', NULL)$$),
	(8, $$SELECT pigment.search_text('ranked', '{fox}', operator => 'some')$$), (9, $$SELECT pigment.search_text('ranked', '{fox}', operator => NULL)$$),
	(10, $$SELECT pigment.search_text('ranked', '{fox}', include => '{distances}')$$), (11, $$SELECT pigment.search_text('ranked', '{fox}', where_metadata => '{"a": {"$what": 1}}')$$),
	(12, $$SELECT pigment.search_text('ranked', ARRAY[repeat('word ', 257)])$$), (13, $$SELECT pigment.search_text('ranked', '{fox}', ids => '{1,NULL}')$$),
	(14, $$SELECT to_bm25query('ranked_embedding_metadata_document_idx', 'fox', 'some')$$)) s (number, statement) ORDER BY number;

-- ranked-highlights: there are none.
SELECT refusal($$SELECT pigment.search_text('ranked', '{fox}', include => '{documents,highlights}')$$);
-- ranked-stop-words: a list is an option of the index, whose room is that of a row of the server's catalog.
SELECT left(refusal(format($$SELECT pigment.create_collection('refused', configuration => '{"text_index": {"analyzer": {"stop_words": %s}}}')$$,
	(SELECT jsonb_agg(md5(n::text)) FROM generate_series(1, 1000) n))), 5) AS sqlstate;
-- ranked-statistics: dead rows count until VACUUM.
SELECT name FROM pigment.create_collection('ranked-dead', configuration => '{"text_index": {}}', table_name => 'ranked_dead');
SELECT * FROM pigment.add('ranked-dead', '{a,b}', '{"[1]","[1]"}', '{fox,dog}');
CREATE TEMPORARY TABLE scores AS SELECT 1 AS number, score FROM pigment.search_text('ranked-dead', '{fox}');
SELECT * FROM pigment.add('ranked-dead', '{c}', '{"[1]"}', '{dog}');
SELECT pigment.delete('ranked-dead', '{c}');
INSERT INTO scores SELECT 2, score FROM pigment.search_text('ranked-dead', '{fox}');
VACUUM (INDEX_CLEANUP ON) ranked_dead;
INSERT INTO scores SELECT 3, score FROM pigment.search_text('ranked-dead', '{fox}');
SELECT number, score = first_value(score) OVER (ORDER BY number) AS as_first FROM scores ORDER BY number;
DROP TABLE scores;

-- k1 and b change at once, the rest never; a schema says what the configuration says.
SELECT configuration -> 'text_index' AS text_index FROM pigment.modify_collection('ranked', new_configuration => '{"text_index": {"k1": 0, "b": 1}}');
SELECT index_of('ranked');
SELECT count(DISTINCT score) = 1 AS only_idf_counts FROM pigment.search_text('ranked', '{fox}');
SELECT configuration -> 'text_index' = schema #> '{keys,#document,string,fts_index,config,text_index}' AS same, configuration #> '{text_index,b}' AS b,
	configuration #> '{hnsw,ef_search}' AS ef_search, schema #> '{keys,#embedding,float_list,vector_index,config,hnsw,ef_search}' AS of_schema
	FROM pigment.modify_collection('ranked-by-schema', new_configuration => '{"text_index": {"b": 0.5}, "hnsw": {"ef_search": 77}}');
SELECT refusal($$SELECT pigment.modify_collection('ranked', new_configuration => '{"text_index": {"analyzer": {"language": "none"}}}')$$);
SELECT refusal($$SELECT pigment.modify_collection('not-ranked', new_configuration => '{"text_index": {}}')$$);
-- A fork has its source's.
SELECT configuration -> 'text_index' AS text_index FROM pigment.fork_collection('ranked', 'ranked-fork', table_name => 'ranked_fork');
SELECT index_of('ranked-fork'), found('ranked-fork', 'fox engine');
SELECT configuration -> 'text_index' = schema #> '{keys,#document,string,fts_index,config,text_index}' AS same FROM pigment.fork_collection('ranked-by-schema', 'schema-fork');
SELECT index_of('schema-fork');

-- The index is the collection's, whatever others its owner makes; without it a search says how to make one.
CREATE INDEX other_ranking ON ranked USING pigment (document text_bm25_ops) WITH (k1 = 100);
SELECT found('ranked', 'foxes');
DROP INDEX ranked_embedding_metadata_document_idx;
SELECT refusal($$SELECT pigment.search_text('ranked', '{fox}')$$);
SELECT refusal($$SELECT pigment.modify_collection('ranked', new_configuration => '{"text_index": {"k1": 1}}')$$);
CREATE INDEX ON ranked USING pigment (document public.text_bm25_ops (stop_words = 'true', language = 'english'));
SELECT found('ranked', 'foxes');

-- It is the index that is read, with what a filter asks of metadata.
SELECT * FROM pigment.add('ranked-fork', (SELECT array_agg('n' || n ORDER BY n) FROM generate_series(1, 5000) n), array_fill('[2]'::vector, '{5000}'),
	(SELECT array_agg('number ' || n % 1000 ORDER BY n) FROM generate_series(1, 5000) n), (SELECT array_agg(jsonb_build_object('n', n % 10) ORDER BY n) FROM generate_series(1, 5000) n));
VACUUM ANALYZE ranked_fork;
SELECT id, round(score::numeric, 3) AS score FROM pigment.search_text('ranked-fork', '{+number 77}', 6, where_metadata => '{"n": {"$lt": 8}}');
SELECT index, strategy, conditions, rows_given FROM pigment.last_scan();

-- Queries of clauses for tables of one's own: as text, in an order, in a view.
SELECT to_bm25query('ranked_fork_embedding_metadata_document_idx', '+fox "lazy"', 'all');
SELECT to_bm25query('ranked_fork_embedding_metadata_document_idx', 'a: fox', 'any')::text::bm25query;
SELECT id FROM ranked_fork ORDER BY document <@> 'ranked_fork_embedding_metadata_document_idx(any):+fox runs'::bm25query LIMIT 1;

-- Functions run with the rights of the caller: a grant lets them search, row security hides what is found.
CREATE ROLE ranked_caller;
SET ROLE ranked_caller;
SELECT refusal($$SELECT pigment.search_text('ranked-fork', '{fox}')$$);
RESET ROLE;
GRANT SELECT ON ranked_fork TO ranked_caller;
ALTER TABLE ranked_fork ENABLE ROW LEVEL SECURITY;
CREATE POLICY only_animals ON ranked_fork FOR SELECT TO ranked_caller USING (metadata ->> 'kind' = 'animal' AND id <> '1');
SET ROLE ranked_caller;
SELECT found('ranked-fork', 'fox search');
SELECT refusal($$SELECT pigment.modify_collection('ranked-fork', new_configuration => '{"text_index": {"k1": 1}}')$$);
RESET ROLE;

SELECT pigment.delete_collection(name) FROM pigment.list_collections() WHERE name ~ 'ranked|listed|schema-fork';
SELECT count(*) FROM pg_class WHERE relname ~ '^ranked_embedding|^ranked_fork';
DROP ROLE ranked_caller;
DROP FUNCTION index_of, found, refusal;
