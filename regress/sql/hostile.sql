-- Every C function of the extension that SQL can call, with extremes of each argument type: an answer or an error that names its reason, and
-- the backend lives. An internal error (class XX) is a fault of ours; index corruption cannot be, there is but one index.
\set SHOW_CONTEXT never
CREATE TABLE ranked_texts (body text);
INSERT INTO ranked_texts VALUES ('a fox'), (NULL), ('');
CREATE INDEX ranked_words ON ranked_texts USING pigment (body text_bm25_ops);
CREATE TABLE extremes (type regtype, value text);
INSERT INTO extremes VALUES
	('vector', NULL), ('vector', '''[1]'''), ('vector', '''[0,0,0]'''), ('vector', '''[3.4e38,-3.4e38,1e-45]'''), ('vector', 'array_fill(3e38, ARRAY[16000])::vector'),
	('vector', 'array_fill(-1e-40, ARRAY[16000])::vector'), ('vector[]', NULL), ('vector[]', 'ARRAY[NULL, ''[1]'', ''[1,2]'']::vector[]'), ('vector[]', '''{}'''),
	('halfvec', NULL), ('halfvec', '''[1]'''), ('halfvec', '''[65504,-65504,6e-8]'''), ('halfvec', 'array_fill(65504, ARRAY[16000])::halfvec'), ('halfvec', '''[0,0,0]'''),
	('sparsevec', NULL), ('sparsevec', '''{}/1'''), ('sparsevec', '''{}/1000000000'''), ('sparsevec', '''{1000000000:3.4e38,1:-1e-45}/1000000000'''),
	('sparsevec', '''{1:1,2:-1,3:3e38}/3'''), ('sparsevec', 'array_fill(-3e38, ARRAY[16000])::sparsevec'),
	('bit', NULL), ('bit', 'B'''''), ('bit', 'B''1'''), ('bit', 'B''1011'''), ('bit', 'repeat(''01'', 100000)::bit(200000)'),
	('integer', NULL), ('integer', '0'), ('integer', '-1'), ('integer', '2147483647'), ('integer', '(-2147483648)'),
	('bigint', NULL), ('bigint', '0'), ('bigint', '-1'), ('bigint', '9223372036854775807'),
	('boolean', NULL), ('boolean', 'true'), ('boolean', 'false'),
	('double precision', NULL), ('double precision', '''NaN'''), ('double precision', '''-Infinity'''), ('double precision', '1e308'),
	('real', NULL), ('real', '''NaN'''), ('real', '3.4e38'),
	('integer[]', NULL), ('integer[]', '''{}'''), ('integer[]', '''{{1},{2}}'''), ('integer[]', '''{NULL}'''), ('integer[]', '''[-5:-4]={1,2}'''), ('integer[]', 'array_fill(1, ARRAY[20000])'),
	('real[]', NULL), ('real[]', '''{}'''), ('real[]', '''{NaN}'''), ('real[]', '''{1,NULL}'''), ('real[]', '''{{1,2},{3,4}}'''),
	('double precision[]', NULL), ('double precision[]', '''{}'''), ('double precision[]', '''{0}'''), ('double precision[]', '''{NULL}'''), ('double precision[]', '''{{1}}'''),
	('double precision[]', '''{-1,NaN,Infinity,1e308}'''), ('double precision[]', '''[-7:-5]={1,2,3}'''), ('double precision[]', 'array_fill(1e308::float8, ARRAY[16001])'),
	('numeric[]', NULL), ('numeric[]', '''{1e1000}'''), ('numeric[]', '''{NaN}'''), ('numeric[]', '''{1e-1000,-1e38}'''),
	('text', NULL), ('text', ''''''), ('text', 'repeat(''x'', 100000)'), ('text', '''{"a":'''), ('text', '''ä€😀'''), ('text', '''[1,2,3]'''),
	('text[]', NULL), ('text[]', '''{}'''), ('text[]', '''{NULL}'''), ('text[]', '''{{a},{b}}'''), ('text[]', '''{"",aaa}'''),
	('name', NULL), ('name', '''x'''), ('uuid', NULL), ('uuid', 'gen_random_uuid()'),
	('jsonb', NULL), ('jsonb', '''{}'''), ('jsonb', '''[]'''), ('jsonb', '''null'''), ('jsonb', '''{"a": {"$eq": [1e400]}}'''), ('jsonb', '''{"$and": [{"a": 1}, {"b": {"$regex": "("}}]}'''),
	('jsonb', 'to_jsonb(repeat(''x'', 100000))'),
	('regclass', NULL), ('regclass', '0'), ('regclass', '4294967295'), ('regclass', '''pg_class'''), ('regclass', '''pg_class_oid_index'''),
	('oid', NULL), ('oid', '0'), ('oid', '4294967295'),
	('cstring', NULL), ('cstring', '''{''::cstring'), ('cstring', '''{1:1,1:''::cstring'), ('cstring', '''{-5:1e999}/99999999999999''::cstring'), ('cstring', '''[''::cstring'), ('cstring', '''[1,,''::cstring'), ('cstring', 'textout(repeat(''9'', 100000))'), ('cstring', 'textout(''['' || repeat(''1e-9,'', 20000))'),
	('cstring[]', NULL), ('cstring[]', '''{}'''), ('cstring[]', '''{5}'''), ('cstring[]', '''{NULL}'''), ('cstring[]', '''{{1},{2}}'''), ('cstring[]', '''{99999999999}'''),
	('bytea', NULL), ('bytea', ''''''), ('bytea', '''\x00ff'''),
	('pigment.json_test', NULL), ('pigment.json_test', '(NULL, ''text'', ''='', NULL, NULL)'), ('pigment.json_test', '(''{a}'', ''text'', ''='', ''{NULL,1,true,"{",99}'', NULL)'),
	('pigment.json_test', '(''{{a},{NULL}}'', ''double'', ''<='', NULL, ''{NaN,Infinity,1e1000,NULL}'')'), ('pigment.json_test', '(''{}'', ''json'', ''='', ''{"{",1}'', NULL)'),
	('pigment.json_test', '(array_fill(''a''::text, ARRAY[100]), ''boolean'', ''true'', NULL, NULL)'), ('pigment.json_test', '(''{}'', ''json real'', '''', NULL, ''{{1},{2}}'')'),
	('pigment.json_test', '(''{""}'', ''none'', ''is'', ''{}'', ''{}'')'), ('pigment.json_test', '(''{}'', ''json'', ''is null'', NULL, NULL)'),
	('bm25query', NULL), ('bm25query', '''ranked_words:fox'''), ('bm25query', '''ranked_words:'''), ('bm25query', '''ranked_words(all):+fo* x'''), ('bm25query', 'to_bm25query(''ranked_words'', repeat(''x ä€😀 '', 10000))');

-- Calls each of the functions `rounds` times; returns what must not happen.
CREATE FUNCTION call_all(rounds int) RETURNS SETOF text LANGUAGE plpgsql AS $$
DECLARE
	f record;
	call text;
	arguments text;
	state text;
	message text;
	called int := 0;
BEGIN
	FOR f IN SELECT p.oid, p.oid::regproc AS name, proargtypes::oid[] AS types, p.prokind
		FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pigment'
		JOIN pg_language l ON l.oid = prolang
		WHERE l.lanname = 'c' AND 'internal'::regtype <> ALL (proargtypes) AND prorettype <> 'event_trigger'::regtype ORDER BY 2::text
	LOOP
		FOR i IN 1 .. rounds LOOP
			SELECT string_agg(coalesce((SELECT coalesce(value, 'NULL') FROM extremes x WHERE x.type = t ORDER BY random() + k * 0 LIMIT 1), 'NULL') || '::' || t::regtype, ', ' ORDER BY k)
			INTO arguments FROM unnest(f.types) WITH ORDINALITY u(t, k);
			call := format('SELECT %s(%s)', f.name, arguments);
			BEGIN
				EXECUTE call;
				called := called + 1;
			EXCEPTION WHEN OTHERS THEN
				GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
				called := called + 1;
				-- an object that does not exist is told as such
				IF state LIKE 'XX%' AND message !~ '^could not open relation with OID' THEN
					RETURN NEXT left(call, 300) || ': ' || state || ' ' || left(message, 200);
				END IF;
			END;
		END LOOP;
		IF NOT EXISTS (SELECT FROM extremes) THEN RETURN NEXT 'no values'; END IF;
	END LOOP;
	IF called < 40 * rounds THEN
		RETURN NEXT 'only ' || called || ' calls';
	END IF;
END $$;
-- some take a text for a statement, whose names the server cuts
SET client_min_messages = warning;
SELECT call_all(20);
-- The types that no value was given for
SELECT DISTINCT t::regtype FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
	JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pigment' JOIN pg_language l ON l.oid = prolang, unnest(proargtypes) t
WHERE l.lanname = 'c' AND 'internal'::regtype <> ALL (proargtypes) AND prorettype <> 'event_trigger'::regtype
	AND t NOT IN (SELECT type FROM extremes) ORDER BY 1;
DROP FUNCTION call_all;

-- Every function, those in SQL and PL/pgSQL too, as a role that owns a schema and a collection and nothing else: at least 20,000 calls.
INSERT INTO extremes VALUES
	('text', '''docs'''), ('text', '''secret'''), ('text', '''default_tenant'''), ('text', '''pigment'''), ('text', '''a"; DROP TABLE docs; --'''), ('text', 'NULL'), ('text', 'NULL'), ('text', 'NULL'),
	('text[]', 'ARRAY[''a'', ''b'']'), ('text[]', 'ARRAY[''docs'', ''documents'']'), ('text[]', 'array_fill(''x''::text, ARRAY[5000])'),
	('jsonb[]', NULL), ('jsonb[]', '''{}'''), ('jsonb[]', 'ARRAY[''{"a": 1}'', NULL]::jsonb[]'), ('jsonb[]', 'ARRAY[''[]'', ''1'']::jsonb[]'),
	('jsonb', '''{"a": 1}'''), ('jsonb', '''{"hnsw": {"space": "cosine"}}'''), ('jsonb', '''{"$contains": "x"}'''), ('jsonb', 'repeat(''['', 2000)::text::jsonb'),
	('jsonb', '(repeat(''{"$not": '', 500) || ''{}'' || repeat(''}'', 500))::jsonb'),
	('regproc', NULL), ('regproc', '''pigment.lexical_v1'''), ('regproc', '0'), ('regproc', '''pg_catalog.pg_sleep'''),
	('vector[]', 'ARRAY[''[1,2]'', ''[3,4]'']::vector[]'), ('vector', '''[1,2]'''),
	('uuid', '(SELECT id FROM pigment.collections LIMIT 1)'), ('regclass', '''docs'''), ('oid', '''docs''::regclass'),
	('pigment.collections', NULL), ('pigment.collections', '(SELECT c FROM pigment.collections c LIMIT 1)'), ('pigment.collections', 'jsonb_populate_record(NULL::pigment.collections, ''{"name": "x", "relation": "pg_class", "owner": "postgres", "dimension": -1}'')');
SELECT name FROM pigment.create_collection('secret', configuration => '{"hnsw": {"space": "l2"}}');
SELECT inserted FROM pigment.add('secret', ARRAY['s1', 's2'], ARRAY['[1,2]', '[3,4]']::vector[], ARRAY['one', 'two']);
CREATE TABLE before AS SELECT md5(string_agg(s::text, ' ' ORDER BY s.id)) AS rows, (SELECT md5(string_agg(c::text, ' ' ORDER BY id)) FROM pigment.collections c WHERE name = 'secret') AS entry FROM secret s;
CREATE ROLE sweeper;
CREATE SCHEMA sweeping AUTHORIZATION sweeper;
GRANT SELECT ON extremes, ranked_texts TO sweeper;
CREATE TABLE found (problem text);
CREATE TABLE calls (number int);
GRANT INSERT ON found, calls TO sweeper;
CREATE PROCEDURE sweep(rounds int) LANGUAGE plpgsql AS $$
DECLARE
	f record;
	call text;
	state text;
	message text;
	called int := 0;
BEGIN
	FOR f IN SELECT p.oid, p.oid::regproc AS name, proargtypes::oid[] AS types
		FROM pg_proc p JOIN pg_depend d ON d.classid = 'pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e'
		JOIN pg_extension e ON e.oid = d.refobjid AND e.extname = 'pigment'
		WHERE 'internal'::regtype <> ALL (proargtypes) AND prorettype NOT IN ('event_trigger'::regtype, 'trigger'::regtype) ORDER BY 2::text
	LOOP
		FOR i IN 1 .. rounds LOOP
			SELECT format('SELECT %s(%s)', f.name, string_agg(coalesce((SELECT coalesce(value, 'NULL') FROM public.extremes x WHERE x.type = t ORDER BY random() + k * 0 LIMIT 1), 'NULL') || '::' || t::regtype, ', ' ORDER BY k))
			INTO call FROM unnest(f.types) WITH ORDINALITY u(t, k);
			BEGIN
				EXECUTE call;
			EXCEPTION WHEN OTHERS THEN
				GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE, message = MESSAGE_TEXT;
				IF state LIKE 'XX%' AND message !~ '^could not open relation with OID' THEN
					INSERT INTO public.found VALUES (left(call, 300) || ': ' || state || ' ' || left(message, 200));
				END IF;
			END;
			called := called + 1;
		END LOOP;
		COMMIT;  -- what it made and locked goes, before the next
	END LOOP;
	INSERT INTO public.calls VALUES (called);
END $$;
SET ROLE sweeper;
SET search_path = sweeping, public;
SELECT name FROM pigment.create_collection('docs');
SELECT inserted FROM pigment.add('docs', ARRAY['a', 'b'], ARRAY['[1,2]', '[3,4]']::vector[], ARRAY['one', 'two']);
SET client_min_messages = error;  -- what random calls say on their way is not the same twice
CALL sweep(130);
RESET ROLE;
RESET search_path;
SELECT * FROM found LIMIT 20;
SELECT number >= 20000 AS enough FROM calls;
-- What belongs to somebody else is as it was.
SELECT b.rows = (SELECT md5(string_agg(s::text, ' ' ORDER BY s.id)) FROM secret s) AS same_rows,
	b.entry = (SELECT md5(string_agg(c::text, ' ' ORDER BY id)) FROM pigment.collections c WHERE name = 'secret') AS same_entry FROM before b;
SELECT count(*) FROM pigment.tenants WHERE name <> 'default_tenant';
DROP PROCEDURE sweep;
DROP TABLE found, calls, before, extremes;
SELECT pigment.delete_collection('secret');
DROP OWNED BY sweeper CASCADE;
DROP TABLE ranked_texts;
DROP ROLE sweeper;
RESET client_min_messages;
