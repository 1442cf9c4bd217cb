-- Records of collections: add, update, upsert, delete, get, peek, query, count.
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
SELECT name FROM pigment.create_collection('rec');
SELECT * FROM pigment.query('rec', '[1,2,3]'::vector);

-- add leaves what exists as it is
SELECT * FROM pigment.add('rec', '{a,b,c}', '{"[1,0]","[0,1]","[3,4]"}', '{one,two,NULL}',
	ARRAY['{"n": 1, "tags": ["x", "y"]}', '{"n": 2.5}', NULL]::jsonb[], '{NULL,NULL,file:c}');
SELECT * FROM pigment.add('rec', '{b,d}', '{"[9,9]","[5,5]"}', '{changed,four}');
SELECT * FROM pigment.get('rec', include => '{documents,metadatas,uris,embeddings}');
SELECT dimension FROM pigment.get_collection('rec');

-- update skips what does not exist and merges metadata
SELECT * FROM pigment.update('rec', '{a,nobody}', documents => '{uno,NULL}', metadatas => ARRAY['{"n": null, "m": true}', NULL]::jsonb[],
	embeddings => '{"[1,1]","[1,1]"}');
SELECT * FROM pigment.update('rec', '{b}', metadatas => ARRAY['{"n": null}']::jsonb[]);
SELECT * FROM pigment.update('rec', '{c}', metadatas => ARRAY[NULL]::jsonb[], uris => ARRAY[NULL]::text[]);
SELECT * FROM pigment.update('rec', '{c}', metadatas => ARRAY['null']::jsonb[]);
SELECT * FROM pigment.update('rec', '{c}');
SELECT * FROM pigment.get('rec', include => '{documents,metadatas,uris,embeddings}');

-- upsert does both and keeps the place
SELECT * FROM pigment.upsert('rec', '{a,e}', '{"[2,2]","[7,7]"}', metadatas => ARRAY['{"m": [1, 2]}', '{"gone": null, "kept": "x"}']::jsonb[]);
SELECT * FROM pigment.upsert('rec', '{b}', '{"[0,1]"}');
SELECT * FROM pigment.get('rec', include => '{documents,metadatas,uris,embeddings}');
-- ... a deleted record comes back at the end
SELECT pigment.delete('rec', '{a}');
SELECT * FROM pigment.upsert('rec', '{a}', '{"[1,0]"}');
SELECT string_agg(id, ' ') FROM pigment.get('rec');

-- get and peek
SELECT id, document, metadata, uri, embedding FROM pigment.get('rec', '{d,b,nobody}');
SELECT id FROM pigment.get('rec', limit_rows => 2, offset_rows => 1);
SELECT count(*) FROM pigment.get('rec', limit_rows => 0);
SELECT * FROM pigment.get('rec', '{c}', include => '{}');
SELECT * FROM pigment.get('rec', '{c}', include => '{uris}');
SELECT id, embedding FROM pigment.peek('rec', 2);
SELECT pigment.count('rec');

-- counting-from-one: query_index and rank
-- query: squared l2, ascending, ties in insertion order; all of what there is when that is less than asked for
SELECT query_index, rank, id, distance FROM pigment.query('rec', '[1,0]'::vector, 3);
SELECT query_index, rank, id, distance FROM pigment.query('rec', '{"[1,0]","[5,5]"}'::vector[], 2);
SELECT count(*) FROM pigment.query('rec', '[1,0]'::vector, 1000000);
SELECT id, distance, document, embedding FROM pigment.query('rec', '[1,0]'::vector, 1, include => '{embeddings}');
SELECT id FROM pigment.query('rec', '[1,0]'::vector, 5, ids => '{e,b,nobody}');
SELECT id FROM pigment.query('rec', '[1,0]'::vector, 5, ids => '{}');

-- filters, of metadata and documents, alone and together
SELECT * FROM pigment.update('rec', '{a,b,c,d,e}', metadatas => ARRAY['{"n": 1}', '{"n": 2}', '{"n": 2.5}', '{"n": "2"}', '{"n": [2]}']::jsonb[]);
SELECT string_agg(id, ' ') FROM pigment.get('rec', where_metadata => '{"n": {"$gte": 2}}');
SELECT string_agg(id, ' ') FROM pigment.get('rec', where_metadata => '{"n": {"$ne": 2}}');
SELECT string_agg(id, ' ') FROM pigment.get('rec', where_metadata => '{"n": {"$contains": 2}}');
SELECT string_agg(id, ' ') FROM pigment.get('rec', where_document => '{"$contains": "o"}');
SELECT string_agg(id, ' ') FROM pigment.get('rec', where_document => '{"$not": {"$icontains": "O"}}');
SELECT string_agg(id, ' ') FROM pigment.get('rec', where_metadata => '{"n": {"$between": [2, 3]}}');
SELECT string_agg(id, ' ') FROM pigment.get('rec', where_document => '{"$not_contains": "o"}');
SELECT string_agg(id, ' ') FROM pigment.get('rec', '{a,b,d}', where_metadata => '{"$or": [{"n": 1}, {"n": "2"}]}');
SELECT string_agg(id, ' ') FROM pigment.get('rec', where_metadata => '{"chroma:uri": "file:c"}');
SELECT id, distance FROM pigment.query('rec', '[0,0]'::vector, 2, where_metadata => '{"n": {"$in": [1, 2]}}');
SELECT id, distance FROM pigment.query('rec', '[0,0]'::vector, 2, where_metadata => '{"n": 1}', where_document => '{"$regex": "^t"}');
SELECT string_agg(id, ' ') FROM pigment.get('rec', where_metadata => 'null', where_document => NULL);

-- delete: ids and filters mean both
SELECT pigment.delete('rec', '{a,b}', '{"n": {"$gt": 1}}');
SELECT pigment.delete('rec', where_metadata => '{"n": {"$ne": 0}}', limit_rows => 1);
SELECT pigment.delete('rec', where_metadata => '{"n": {"$ne": 0}}', limit_rows => 0);
SELECT pigment.delete('rec', '{nobody}');
SELECT string_agg(id, ' ') FROM pigment.get('rec');

-- Spaces: 1 - cosine with 1 for a zero vector, 1 - inner product
SELECT name FROM pigment.create_collection('cos', configuration => '{"hnsw": {"space": "cosine"}}');
SELECT name FROM pigment.create_collection('inner', configuration => '{"hnsw": {"space": "ip"}}');
SELECT c, w.* FROM unnest('{cos,inner}'::text[]) c,
	LATERAL pigment.add(c, '{far,zero1,near,zero2,far2,mid}', '{"[-3,0]","[0,0]","[2,0]","[0,0]","[-1,0]","[0,5]"}') w;
SELECT rank, id, distance FROM pigment.query('cos', '[1,0]'::vector);
SELECT rank, id, distance FROM pigment.query('cos', '[1,0]'::vector, 3);
SELECT rank, id, distance FROM pigment.query('cos', '[0,0]'::vector, 4);
SELECT rank, id, distance FROM pigment.query('cos', '[1,0]'::vector, 2, ids => '{far,zero2}');
SELECT rank, id, distance FROM pigment.query('inner', '[1,0]'::vector);

-- Ties at the end of the answer: insertion order decides, however many there are.
SELECT name FROM pigment.create_collection('ties');
SELECT * FROM pigment.add('ties', (SELECT array_agg('t' || i ORDER BY i) FROM generate_series(1, 500) i),
	(SELECT array_agg(format('[%s,0]', i % 5)::vector ORDER BY i) FROM generate_series(1, 500) i));
-- ... also where rows have moved about the table
SELECT * FROM pigment.update('ties', '{t5,t10,t400}', metadatas => '{"{\"moved\": 1}","{\"moved\": 2}","{\"moved\": 3}"}');
SELECT rank, id, distance FROM pigment.query('ties', '[0,0]'::vector, 4);
SELECT min(id), max(rank), max(distance) FROM pigment.query('ties', '[0,0]'::vector, 101);
SELECT rank, id FROM pigment.query('ties', '[0,0]'::vector, 3, where_metadata => '{"moved": {"$gte": 2}}');

-- What is wrong, in one order: where, where_document, collection, dimension, then the rest
SELECT refused($$SELECT pigment.query('no such', '[1]'::vector, 0, '{}', '{}')$$);
SELECT refused($$SELECT pigment.query('no such', '[1]'::vector, 0, '{"a": 1}', '{}')$$);
SELECT refused($$SELECT pigment.query('no such', '[1]'::vector, 0, '{"a": 1}')$$);
SELECT refused($$SELECT pigment.query('rec', '[1]'::vector, 0, '{"a": 1}')$$);
SELECT refused($$SELECT pigment.query('rec', '[1,2]'::vector, 0)$$);
SELECT refused($$SELECT pigment.query('rec', '[1,2]'::vector, 1, include => '{everything}')$$);
SELECT refused($$SELECT pigment.query('rec', '[1,2]'::vector, 1, ids => '{a,b,a}')$$);
SELECT refused($$SELECT pigment.query('rec')$$);
SELECT refused($$SELECT pigment.query('rec', query_texts => '{words}')$$);
SELECT refused($$SELECT pigment.get('rec', include => '{distances}')$$);
SELECT refused($$SELECT pigment.get('rec', '{}')$$), refused($$SELECT pigment.get('rec', '{a,a}')$$);
SELECT refused($$SELECT pigment.get('rec', limit_rows => -1)$$), refused($$SELECT pigment.get('rec', offset_rows => -1)$$);
SELECT refused($$SELECT pigment.delete('rec')$$), refused($$SELECT pigment.delete('rec', '{a}', limit_rows => 1)$$);
SELECT refused($$SELECT pigment.add('rec', '{a}', '{"[1]"}')$$);
-- vectors-of-one-call: each has a dimension of its own
SELECT refused($$SELECT pigment.add('rec', '{a,b}', '{"[1,2]","[1]"}')$$);
SELECT refused($$SELECT pigment.add('rec', '{}', '{}')$$), refused($$SELECT pigment.add('rec', NULL)$$);
SELECT refused($$SELECT pigment.add('rec', '{a,NULL}', '{"[1,2]","[1,2]"}')$$);
SELECT refused($$SELECT pigment.add('rec', '{a,""}', '{"[1,2]","[1,2]"}')$$);
SELECT refused($$SELECT pigment.add('rec', '{a,a}', '{"[1,2]","[1,2]"}')$$);
SELECT refused($$SELECT pigment.add('rec', '{a,b}', '{"[1,2]"}')$$);
SELECT refused($$SELECT pigment.add('rec', '{a}', '{"[1,2]"}', '{x,y}')$$);
SELECT refused($$SELECT pigment.add('rec', '{a}', ARRAY[NULL]::vector[])$$);
SELECT refused($$SELECT pigment.add('rec', '{a}')$$), refused($$SELECT pigment.add('rec', '{a}', documents => '{x}')$$);
SELECT refused($$SELECT pigment.add('rec', '{{a},{b}}', '{"[1,2]","[1,2]"}')$$);
SELECT bad, refused(format($$SELECT pigment.add('rec', '{new}', '{"[1,2]"}', metadatas => ARRAY[%L]::jsonb[])$$, bad))
FROM unnest(ARRAY['{}', '[1]', '{"": 1}', '{"#k": 1}', '{"$k": 1}', '{"chroma:document": 1}', '{"k": null}', '{"k": {}}',
	'{"k": []}', '{"k": [1, "a"]}', '{"k": [[1]]}', '{"k": 9223372036854775808}']) bad;
SELECT refused($$SELECT pigment.upsert('rec', '{new}', '{"[1,2]"}', metadatas => ARRAY['{"k": {}}']::jsonb[])$$);
SELECT refused($$SELECT pigment.upsert('rec', '{new}', metadatas => ARRAY['{"k": 1}']::jsonb[])$$);
SELECT pigment.count('rec');

-- Embedding functions: texts are embedded by the collection's function; vectors win when both are given.
SELECT vector_dims(pigment.embed_lexical('words')), vector_dims(pigment.embed_lexical('words', 7));
SELECT pigment.embed_lexical('words', 0);
SELECT name, space FROM pigment.create_collection('lex', embedding_function => 'pigment.lexical_v1');
SELECT * FROM pigment.add('lex', '{x,y,z}', documents => '{the cat sat on the mat,dogs chase cats,stock markets fell}');
SELECT embedding = pigment.embed_lexical(document) AS same FROM lex;
SELECT rank, id, distance::numeric(6,4) FROM pigment.query('lex', query_texts => '{markets,a cat}', n_results => 1);
SELECT rank, id FROM pigment.query('lex', ARRAY[pigment.embed_lexical('a cat')], 1, query_texts => '{markets}');
SELECT * FROM pigment.update('lex', '{x}', documents => '{stock exchange}');
SELECT embedding = pigment.embed_lexical('stock exchange') AS embedded_again FROM lex WHERE id = 'x';
SELECT refused($$SELECT pigment.add('lex', '{v}', documents => '{NULL}')$$);
-- ... one of the user's own, which is checked
CREATE FUNCTION lengths(texts text[], purpose text) RETURNS vector[] LANGUAGE sql AS
	$$SELECT array_agg(format('[%s,%s]', length(t), CASE purpose WHEN 'query' THEN 1 ELSE 0 END)::public.vector) FROM unnest(texts) t$$;
CREATE FUNCTION too_few(texts text[], purpose text) RETURNS vector[] LANGUAGE sql AS $$SELECT '{"[1,2]"}'::public.vector[]$$;
CREATE FUNCTION uneven(texts text[], purpose text) RETURNS vector[] LANGUAGE sql AS $$SELECT '{"[1,2]","[1]"}'::public.vector[]$$;
CREATE FUNCTION nothing(texts text[], purpose text) RETURNS vector[] LANGUAGE sql AS $$SELECT NULL::public.vector[]$$;
CREATE FUNCTION holes(texts text[], purpose text) RETURNS vector[] LANGUAGE sql AS $$SELECT '{"[1,2]",NULL}'::public.vector[]$$;
CREATE FUNCTION broken(texts text[], purpose text) RETURNS vector[] LANGUAGE plpgsql AS $$BEGIN RAISE 'no model'; END$$;
CREATE FUNCTION wrong_type(texts text[], purpose text) RETURNS text LANGUAGE sql AS $$SELECT 'x'$$;
SELECT refused($$SELECT pigment.create_collection('own', embedding_function => 'wrong_type')$$);
SELECT embedding_function, space FROM pigment.create_collection('own', embedding_function => 'lengths');
SELECT * FROM pigment.add('own', '{a,b}', documents => '{xx,xxxx}');
SELECT id, embedding FROM pigment.get('own', include => '{embeddings}');
SELECT id, distance FROM pigment.query('own', query_texts => '{xxx}');
-- embedding-function-errors: the error that it raised
SELECT f, refused(format($$SELECT pigment.create_collection(%L, embedding_function => %L); SELECT pigment.add(%L, '{a,b}', documents => '{x,y}')$$, f, f, f))
FROM unnest('{too_few,uneven,nothing,holes,broken}'::text[]) f;
SELECT refused($$UPDATE pigment.collections SET embedding_function = 'public.too_few' WHERE name = 'own'; SELECT pigment.add('own', '{c,d}', documents => '{x,y}')$$);
-- ... gone: the collection opens and takes vectors, texts are refused
DROP FUNCTION lengths;
SELECT refused($$SELECT pigment.query('own', query_texts => '{xxx}')$$);
SELECT count(*) FROM pigment.query('own', '[3,1]'::vector);

SELECT count(pigment.delete_collection(name)) FROM pigment.list_collections();
DROP FUNCTION refused, too_few, uneven, nothing, holes, broken, wrong_type;
