-- Collections: making, finding, changing, dropping; tenants and databases; what is refused, with its code.
\set SHOW_CONTEXT never
\pset null '(null)'
SET client_min_messages = warning;
CREATE FUNCTION refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN 'not refused';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
CREATE VIEW shown AS SELECT tenant, database, name, metadata, space, dimension, embedding_function, relation
	FROM pigment.collections;

-- A collection is an ordinary table of its creator.
SELECT name, metadata, space, dimension, embedding_function, relation FROM pigment.create_collection('books');
\d books
SELECT configuration FROM pigment.get_collection('books');
SELECT tableowner = current_user AS mine FROM pg_tables WHERE tablename = 'books';
SELECT refused($$SELECT pigment.create_collection('books')$$);
SELECT relation FROM pigment.create_collection('books', '{"a": 1}', get_or_create => true);
SELECT metadata FROM pigment.get_or_create_collection('books', '{"a": 1}');
SELECT name, metadata FROM pigment.get_or_create_collection('films', '{"a": 1, "b": "x", "c": true, "d": 1.5}');

-- The space comes from the configuration, else from metadata, else from the embedding function, else it is l2.
SELECT name, space FROM pigment.create_collection('space-configured', '{"hnsw:space": "ip"}', '{"hnsw": {"space": "cosine"}}');
SELECT name, space FROM pigment.create_collection('space-legacy', '{"hnsw:space": "ip"}', embedding_function => 'pigment.lexical_v1');
SELECT name, space, embedding_function FROM pigment.create_collection('space-preferred', embedding_function => 'pigment.lexical_v1');
SELECT indexdef FROM pg_indexes WHERE tablename LIKE 'space-%' AND indexdef LIKE '%USING pigment%' ORDER BY tablename;

-- Names
SELECT left(name, 12) AS name, left(refused(format('SELECT pigment.create_collection(%L)', name)), 90) AS refused FROM unnest(ARRAY['ab', 'a..b', '-ab', 'abc-',
	'a b', 'ä123', '127.0.0.1', 'top+name', '', repeat('x', 513)]) name;
SELECT refused('SELECT pigment.create_collection(NULL)');
SELECT relation FROM pigment.create_collection(repeat('n', 512));
SELECT relation FROM pigment.create_collection('Name.with-dots_1');
-- A table, type or index in the way
CREATE TABLE taken (x int);
CREATE TABLE taken_1 (x int);
CREATE TYPE mood AS ENUM ('good');
SELECT relation FROM pigment.create_collection('taken');
SELECT relation FROM pigment.create_collection('mood');
SELECT refused($$SELECT pigment.create_collection('other', table_name => 'taken')$$);
CREATE SCHEMA shelf;
SELECT relation FROM pigment.create_collection('elsewhere', schema => 'shelf', table_name => 'Quoted "name"');
SELECT refused($$SELECT pigment.create_collection('nowhere', schema => 'no_such_schema')$$);
SELECT refused($$SELECT pigment.create_collection('nowhere', schema => NULL)$$);
CREATE TEMP TABLE makes_the_schema (x int);
SELECT regexp_replace(refused(format($$SELECT pigment.create_collection('nowhere', schema => %L)$$, pg_my_temp_schema()::regnamespace)), '\d+$', '');

-- Metadata and configuration
SELECT bad, refused(format('SELECT pigment.create_collection(%L, %L)', 'refused', bad)) FROM unnest(ARRAY['{}', '[]', '1',
	'{"a": null}', '{"a": [1]}', '{"a": {}}', '{"": 1}', '{"#a": 1}', '{"$a": 1}', '{"a": 9223372036854775808}']) bad;
SELECT bad, refused(format('SELECT pigment.create_collection(%L, NULL, %L)', 'refused', bad)) FROM unnest(ARRAY['{"hnsw": {"space": "foo"}}',
	'{"hnsw": {}, "spann": {}}', '{"hnsw": {"no_such": 1}}', '{"other": 1}', '[]']) bad;
SELECT refused($$SELECT pigment.create_collection('refused', embedding_function => 'pg_catalog.now')$$);
SELECT count(*) FROM shown WHERE name = 'refused';

-- A schema: read back with its defaults, in place of a configuration; filters may not ask for what it disables
SELECT schema -> 'keys' -> 'noidx' AS noidx, schema -> 'defaults' -> 'int' AS int, configuration -> 'hnsw' -> 'ef_search' AS ef_search, space
	FROM pigment.create_collection('schema', collection_schema => '{"defaults": {"bool": {"bool_inverted_index": {"enabled": false}}},
		"keys": {"noidx": {"string": {"string_inverted_index": {"enabled": false}}}, "#document": {"string": {"fts_index": {"enabled": false}}},
		"#embedding": {"float_list": {"vector_index": {"enabled": true, "config": {"space": "cosine", "hnsw": {"ef_search": 50}}}}}}}');
SELECT schema IS NULL AS none FROM pigment.get_collection('books');
SELECT schema FROM pigment.get_or_create_collection('schema-none', collection_schema => 'null');
SELECT schema #> '{keys,#embedding,float_list,vector_index,config,hnsw,ef_search}' AS at_key,
		schema #> '{defaults,float_list,vector_index,config,hnsw,ef_search}' AS at_defaults, configuration #> '{hnsw,ef_search}' AS configured
	FROM pigment.modify_collection('schema', new_configuration => '{"hnsw": {"ef_search": 70}}');
SELECT bad, refused(format('SELECT pigment.create_collection(%L, collection_schema => %L)', 'refused', bad)) FROM unnest(ARRAY['[]', '{"a": {}}',
	'{"keys": {"#id": {"string": {"string_inverted_index": {"enabled": false}}}}}', '{"keys": {"s": {"sparse_vector": {"sparse_vector_index": {"enabled": true}}}}}']) bad;
SELECT refused($$SELECT pigment.create_collection('refused', configuration => '{"hnsw": {}}', collection_schema => '{}')$$);
SELECT pigment.add('schema', ARRAY['a', 'b'], ARRAY['[1,2]', '[3,4]']::vector[], metadatas => ARRAY['{"noidx": "x", "k": "y"}', '{"noidx": 2}']::jsonb[],
	documents => ARRAY['red', NULL]);
SELECT id FROM pigment.get('schema', where_metadata => '{"k": "y"}');
SELECT id FROM pigment.get('schema', where_metadata => '{"noidx": 2}');
SELECT call, refused(call) FROM unnest(ARRAY[
	$$SELECT pigment.get('schema', where_metadata => '{"noidx": "x"}')$$,
	$$SELECT pigment.get('schema', where_metadata => '{"$not": {"noidx": {"$exists": false}}}')$$,
	$$SELECT pigment.get('schema', where_document => '{"$contains": "r"}')$$,
	$$SELECT pigment.query('schema', ARRAY['[1,2]']::vector[], where_metadata => '{"t": true}')$$,
	$$SELECT pigment.query('schema', ARRAY['[1]']::vector[], where_metadata => '{"t": true}')$$,
	$$SELECT pigment.delete('schema', where_metadata => '{"noidx": {"$prefix": "x"}}')$$]) call;
SELECT f.schema = c.schema AS same_schema, f.configuration = c.configuration AS same_configuration
	FROM pigment.fork_collection('schema', 'schema-fork') f, pigment.get_collection('schema') c;
SELECT pigment.delete_collection(name) FROM unnest(ARRAY['schema', 'schema-fork', 'schema-none']) name;

-- Finding
SELECT name FROM pigment.get_collection_by_id((pigment.get_collection('books')).id);
SELECT refused($$SELECT pigment.get_collection('no such')$$);
SELECT refused($$SELECT pigment.get_collection_by_id('11111111-2222-3333-4444-555555555555')$$);
SELECT pigment.count_collections() = count(*) AS same FROM pigment.list_collections();
SELECT array_agg(id) = array_agg(id ORDER BY id) AS by_id FROM pigment.list_collections();
SELECT (SELECT array_agg(id) FROM pigment.list_collections(3, 2)) = (array_agg(id ORDER BY id))[3:5] AS page FROM pigment.collections;
SELECT count(*) FROM pigment.list_collections(0);
SELECT refused('SELECT pigment.list_collections(-1)'), refused('SELECT pigment.list_collections(1, -1)');

-- Changing; handles: a name is what calls find a collection by, its table follows a rename
SELECT name, metadata, relation FROM pigment.modify_collection('films', 'movies', '{"b": 2}');
SELECT refused($$SELECT pigment.get_collection('films')$$);
SELECT refused($$SELECT pigment.modify_collection('movies', 'books')$$);
SELECT refused($$SELECT pigment.modify_collection('movies', 'a')$$);
SELECT refused($$SELECT pigment.modify_collection('movies', new_metadata => '{}')$$);
SELECT refused($$SELECT pigment.modify_collection('movies', new_metadata => '{"hnsw:space": "ip"}')$$);
SELECT refused($$SELECT pigment.modify_collection('movies', new_configuration => '{"hnsw": {"space": "ip"}}')$$);
SELECT name, metadata, configuration -> 'hnsw' -> 'ef_search' AS ef_search
FROM pigment.modify_collection('movies', new_configuration => '{"hnsw": {"ef_search": 77}}');
SELECT name, metadata FROM pigment.modify_collection('movies');
SELECT metadata FROM pigment.modify_collection('movies', new_metadata => '{"b": 3, "c": null}');
SELECT metadata IS NULL AS is_null FROM pigment.modify_collection('movies', new_metadata => '{"b": null}');

-- fork-copies: the rows are copied, and it says how many
SELECT * FROM pigment.add('movies', '{a,b,c}', '{"[1,2]","[3,4]","[5,6]"}', '{A,B,NULL}', ARRAY['{"x": 1}', NULL, '{"x": 3}']::jsonb[], '{u,NULL,NULL}');
SELECT pigment.delete('movies', '{b}');
SET client_min_messages = notice;
SELECT name, metadata, space, dimension, relation FROM pigment.fork_collection('movies', 'remake');
SET client_min_messages = warning;
SELECT * FROM pigment.add('remake', '{d}', '{"[7,8]"}');
SELECT ordinal, id, embedding, document, metadata, uri FROM remake ORDER BY ordinal;
SELECT pigment.count('movies');
SELECT refused($$SELECT pigment.fork_collection('movies', 'books')$$);
SELECT refused($$SELECT pigment.fork_collection('no such', 'other')$$);
SELECT refused($$SELECT pigment.fork_collection('movies', NULL)$$), refused($$SELECT pigment.fork_collection('movies', 'a')$$);
SELECT refused($$SELECT pigment.fork_collection('movies', 'other', schema => 'no such')$$), to_regclass('other') IS NULL AS nothing_left;
-- ... indexes are as the source's, once the rows are there; columns that the owner added stay behind, and it says so
ALTER TABLE films ADD COLUMN price numeric, ADD COLUMN "sold out" boolean;
ALTER INDEX films_embedding_metadata_idx SET (kind = spann, ef_construction = 50);
SET client_min_messages = notice;
SELECT name FROM pigment.fork_collection('movies', 'remake-2', table_name => 'remake_2');
SELECT name, dimension FROM pigment.fork_collection('remake-2', 'remake-3', table_name => 'remake_3');
SET client_min_messages = warning;
SELECT replace(indexdef, 'remake_3', '') AS definition FROM pg_indexes WHERE tablename = 'remake_3' ORDER BY indexname;
SELECT count(*) AS differ FROM (TABLE remake_2 EXCEPT TABLE remake_3) d;
SELECT pending_rows, segment_rows FROM pigment.stats('remake_3_embedding_metadata_idx');
SELECT id, distance FROM pigment.query('remake-3', '[1,2]'::vector, 2);
-- ... of a space with an index of its own for zero vectors, and of nothing
SELECT pigment.delete_collection(name) FROM unnest('{remake-2,remake-3}'::text[]) name;
SELECT space FROM pigment.create_collection('zeros', configuration => '{"hnsw": {"space": "cosine"}}');
SET client_min_messages = notice;
SELECT dimension, space FROM pigment.fork_collection('zeros', 'zeros-0', table_name => 'zeros_0');
SET client_min_messages = warning;
SELECT * FROM pigment.add('zeros-0', '{a}', '{"[0,1,0]"}');
SELECT * FROM pigment.add('zeros', '{a,b,c}', '{"[0,0]","[1,0]","[0,1]"}');
SELECT dimension FROM pigment.fork_collection('zeros', 'zeros-3');
SELECT id, distance FROM pigment.query('zeros-3', '[1,0]'::vector, 3);
SELECT count(*) AS indexes FROM pg_indexes WHERE tablename = 'zeros-3';
SELECT pigment.delete_collection(name) FROM unnest('{zeros,zeros-0,zeros-3}'::text[]) name;

-- Dropping; dependents: what depends on the table keeps it
CREATE VIEW uses_books AS SELECT id FROM books;
SELECT refused($$SELECT pigment.delete_collection('books')$$);
DROP VIEW uses_books;
SELECT pigment.delete_collection('books');
SELECT to_regclass('books') IS NULL AS gone, refused($$SELECT pigment.count('books')$$);
SELECT refused($$SELECT pigment.delete_collection('books')$$);

-- Tenants and databases
SELECT * FROM pigment.list_tenants();
SELECT tenant, name FROM pigment.list_databases();
SELECT pigment.create_tenant('acme');
SELECT tenant, name FROM pigment.create_database('prod', 'acme');
SELECT tenant, name FROM pigment.create_database('dev', 'acme');
SELECT refused($$SELECT pigment.create_tenant('acme')$$), refused($$SELECT pigment.create_database('prod', 'acme')$$);
SELECT refused($$SELECT pigment.create_tenant('ac')$$), refused($$SELECT pigment.create_database('pr', 'acme')$$);
SELECT refused($$SELECT pigment.create_database('prod', 'nobody')$$), refused($$SELECT pigment.get_tenant('nobody')$$);
SELECT refused($$SELECT pigment.get_database('nothing')$$), refused($$SELECT pigment.list_databases(tenant => 'nobody')$$);
SELECT refused($$SELECT pigment.create_collection('abc', tenant => 'acme', database => 'nothing')$$);
SELECT pigment.get_tenant('acme'), (pigment.get_database('prod', 'acme')).name;
SELECT name FROM pigment.list_databases(tenant => 'acme');
SELECT name FROM pigment.list_databases(1, 1, 'acme');
-- One name in two databases, and defaults per session
SELECT relation FROM pigment.create_collection('docs', tenant => 'acme', database => 'prod');
SELECT relation FROM pigment.create_collection('docs', tenant => 'acme', database => 'dev');
SET pigment.tenant = 'acme';
SET pigment.database = 'dev';
SELECT * FROM pigment.add('docs', '{a}', '{"[1]"}');
SELECT pigment.count('docs'), pigment.count('docs', database => 'prod'), pigment.count_collections();
SELECT pigment.current_tenant(), pigment.current_database();
RESET pigment.tenant;
RESET pigment.database;
SELECT refused($$SELECT pigment.count('docs')$$);
SELECT pigment.delete_database('dev', 'acme');
SELECT to_regclass('docs') IS NOT NULL AS prod, to_regclass('docs_1') IS NULL AS dev;
SELECT pigment.delete_tenant('acme');
SELECT count(*) FROM shown WHERE tenant = 'acme';
SELECT refused($$SELECT pigment.delete_tenant('acme')$$), refused($$SELECT pigment.delete_database('dev')$$);

-- table-changes: renamed, moved, dropped behind the functions' back
ALTER TABLE remake RENAME TO "Remade";
ALTER TABLE "Remade" SET SCHEMA shelf;
SELECT relation FROM pigment.get_collection('remake');
SELECT id FROM pigment.get('remake');
DROP TABLE films;
SELECT refused($$SELECT pigment.count('movies')$$);
SELECT relation FROM pigment.create_collection('movies');
DROP SCHEMA shelf CASCADE;
SELECT name FROM shown WHERE name IN ('remake', 'elsewhere');
-- transactions: what is done in one is undone with it
BEGIN;
SELECT * FROM pigment.add('movies', '{x}', '{"[1,2]"}');
SELECT relation FROM pigment.create_collection('undone');
DROP TABLE movies;
ROLLBACK;
SELECT dimension FROM pigment.get_collection('movies');
SELECT count(*) FROM pigment.query('movies', '[1,2,3]'::vector);
SELECT refused($$SELECT pigment.count('undone')$$);
SELECT * FROM pigment.add('movies', '{y}', '{"[1,2,3]"}');
SELECT id, distance FROM pigment.query('movies', '[1,2,3]'::vector);
SELECT pigment.delete('movies', '{y}');

SELECT pigment.count('movies');
-- The table's constraints are the rules for records.
SELECT refused($$INSERT INTO movies (id, embedding) VALUES ('', '[1]')$$);
SELECT refused($$INSERT INTO movies (id, embedding) VALUES ('a', NULL)$$);
SELECT refused($$INSERT INTO movies (id, embedding, metadata) VALUES ('a', '[1]', '{"a": {}}')$$);
-- What came in by COPY or INSERT fixes the dimension too.
SELECT relation FROM pigment.create_collection('filled');
INSERT INTO filled (id, embedding) VALUES ('a', '[1,2,3]');
SELECT dimension FROM pigment.get_collection('filled');
SELECT refused($$SELECT pigment.add('filled', '{b}', '{"[1,2]"}')$$);

-- names-of-arguments: none of them needs quotes
SELECT p.proname, k.word FROM pg_proc p, pg_get_keywords() k
WHERE p.pronamespace = 'pigment'::regnamespace AND k.catcode = 'R' AND k.word = ANY (p.proargnames[1:p.pronargs]);

SELECT count(pigment.delete_collection(name)) > 5 AS cleaned FROM pigment.list_collections();
SELECT count(*) FROM pigment.collections;
DROP VIEW shown;
DROP TABLE taken, taken_1;
DROP TYPE mood;
DROP FUNCTION refused;
