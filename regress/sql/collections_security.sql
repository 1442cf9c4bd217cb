-- Who may see, use, change and drop a collection; hostile names; what functions of others run as.
\set SHOW_CONTEXT never
SET client_min_messages = warning;
CREATE ROLE regress_owner;
CREATE ROLE regress_reader;
CREATE ROLE regress_writer;
CREATE ROLE regress_stranger;
CREATE SCHEMA lib;
GRANT CREATE, USAGE ON SCHEMA lib TO regress_owner, regress_stranger;
GRANT USAGE ON SCHEMA lib TO regress_reader, regress_writer;
CREATE FUNCTION lib.refused(statement text) RETURNS text LANGUAGE plpgsql AS $$
BEGIN
	EXECUTE statement;
	RETURN 'not refused';
EXCEPTION WHEN OTHERS THEN
	RETURN SQLSTATE || ' ' || SQLERRM;
END
$$;
SET search_path = lib, public;

-- only-yours: whoever creates a collection owns it, and nobody else sees it before a grant.
SET ROLE regress_owner;
SELECT name, relation FROM pigment.create_collection('own', '{"secret": 1}');
SELECT tableowner FROM pg_tables WHERE tablename = 'own';
SET ROLE regress_stranger;
SELECT count(*) FROM pigment.list_collections();
SELECT refused($$SELECT pigment.get_collection('own')$$);
SELECT refused($$SELECT pigment.create_collection('own')$$);
SELECT refused($$SELECT pigment.get_or_create_collection('own')$$);
SELECT to_regclass('lib.own_1') IS NULL AS nothing_left;
SELECT refused($$SELECT pigment.delete_collection('own')$$);
SELECT count(*) FROM pigment.collections;

-- A right to insert is enough to fix the dimension, and for nothing else of the catalog.
SET ROLE regress_owner;
GRANT SELECT, INSERT ON own TO regress_writer;
GRANT SELECT ON own TO regress_reader;
SET ROLE regress_writer;
SELECT dimension FROM pigment.list_collections();
SELECT * FROM pigment.add('own', '{a,b}', '{"[1,2]","[3,4]"}');
SELECT dimension FROM pigment.get_collection('own');
SELECT refused($$UPDATE pigment.collections SET dimension = 3$$);
SELECT refused($$UPDATE pigment.collections SET dimension = NULL$$);
SELECT refused($$UPDATE pigment.collections SET metadata = NULL$$);
SELECT refused($$UPDATE pigment.collections SET relation = 'pg_class'$$);
DELETE FROM pigment.collections;
SELECT refused($$SELECT pigment.modify_collection('own', 'stolen')$$);
SELECT refused($$SELECT pigment.delete_collection('own')$$);
SELECT refused($$SELECT pigment.update('own', '{a}', '{"[9,9]"}')$$);
SELECT refused($$SELECT pigment.delete('own', '{a}')$$);
SET ROLE regress_reader;
SELECT name, metadata FROM pigment.list_collections();
SELECT id FROM pigment.get('own');
SELECT id, distance FROM pigment.query('own', '[1,2]'::vector, 1);
SELECT refused($$SELECT pigment.add('own', '{c}', '{"[5,6]"}')$$);
SELECT refused($$SELECT pigment.upsert('own', '{c}', '{"[5,6]"}')$$);
UPDATE pigment.collections SET name = 'stolen';
-- A right to a column counts, too
SET ROLE regress_owner;
REVOKE ALL ON own FROM regress_reader;
GRANT SELECT (id) ON own TO regress_reader;
SET ROLE regress_reader;
SELECT name FROM pigment.list_collections();
SELECT refused($$SELECT pigment.get('own')$$);

-- Nobody puts a table of others into the catalog.
SELECT refused($$INSERT INTO pigment.collections (tenant, database, name, configuration, space, relation)
	VALUES ('default_tenant', 'default_database', 'trap', '{}', 'l2', 'pg_class')$$);
-- tenants-by-grant: tenants and databases are for those who were granted them.
SELECT refused($$SELECT pigment.create_tenant('mine')$$), refused($$SELECT pigment.create_database('mine')$$);
SELECT refused($$SELECT pigment.delete_database('default_database')$$);
SELECT refused($$SELECT pigment.delete_tenant('default_tenant')$$);
RESET ROLE;
SELECT pigment.create_tenant('team');
SELECT name FROM pigment.create_database('work', 'team');
GRANT INSERT, DELETE ON pigment.tenants, pigment.databases TO regress_writer;
SET ROLE regress_owner;
SELECT name FROM pigment.create_collection('theirs', tenant => 'team', database => 'work');
SET ROLE regress_writer;
SELECT name FROM pigment.create_database('more', 'team');
SELECT refused($$SELECT pigment.delete_database('work', 'team')$$);
SELECT refused($$SELECT pigment.delete_tenant('team')$$);
SELECT pigment.delete_database('more', 'team');
RESET ROLE;
SELECT pigment.delete_tenant('team');
REVOKE INSERT, DELETE ON pigment.tenants, pigment.databases FROM regress_writer;

-- embedding-function-rights: it runs as the owner of the table, whoever's texts it embeds.
SET ROLE regress_owner;
CREATE FUNCTION whoami(texts text[], purpose text) RETURNS vector[] LANGUAGE plpgsql AS $$
BEGIN
	RAISE WARNING 'embedding % as %', purpose, current_user;
	RETURN (SELECT array_agg('[1,2]'::public.vector) FROM unnest(texts));
END
$$;
REVOKE EXECUTE ON FUNCTION whoami FROM PUBLIC;
SELECT embedding_function FROM pigment.create_collection('texts', embedding_function => 'whoami');
GRANT SELECT, INSERT ON texts TO regress_writer;
SET ROLE regress_writer;
SELECT * FROM pigment.add('texts', '{a}', documents => '{hello}');
SELECT current_user;
RESET ROLE;
SELECT id FROM pigment.query('texts', query_texts => '{hello}');
SELECT current_user = session_user AS back;
-- ... and not at all when the owner may not call it
REVOKE EXECUTE ON FUNCTION whoami FROM regress_owner;
ALTER FUNCTION whoami OWNER TO regress_stranger;
SELECT refused($$SELECT pigment.query('texts', query_texts => '{hello}')$$);
-- ... and it may not change what the session is
SET ROLE regress_owner;
CREATE FUNCTION escapes(texts text[], purpose text) RETURNS vector[] LANGUAGE plpgsql AS $$
BEGIN
	IF purpose = 'query' THEN
		SET ROLE regress_reader;
	END IF;
	PERFORM set_config('pigment.tenant', 'changed', false);
	RETURN '{"[1,2]"}';
END
$$;
SELECT embedding_function FROM pigment.create_collection('escape', embedding_function => 'escapes');
RESET ROLE;
SELECT * FROM pigment.add('escape', '{a}', documents => '{hello}');
SELECT pigment.current_tenant();
SELECT refused($$SELECT pigment.query('escape', query_texts => '{hello}')$$);
-- ... and nobody makes the owner run a function of his own choice
SELECT id AS hidden FROM pigment.collections WHERE name = 'texts' \gset
SET ROLE regress_stranger;
CREATE FUNCTION chosen(texts text[], purpose text) RETURNS vector[] LANGUAGE plpgsql AS $$BEGIN RAISE 'ran as %', current_user; END$$;
UPDATE pigment.collections SET embedding_function = 'lib.chosen';
SELECT refused(format('SELECT pigment._call_embedding_function(%L, %L, %L)', :'hidden', '{x}', 'query'));
SET ROLE regress_writer;
SELECT refused($$UPDATE pigment.collections SET embedding_function = 'lib.chosen' WHERE name = 'texts'$$);
RESET ROLE;

-- Row security of a collection's table governs what its reader finds.
SET ROLE regress_owner;
GRANT SELECT ON own TO regress_reader;
ALTER TABLE own ENABLE ROW LEVEL SECURITY;
CREATE POLICY only_a ON own FOR SELECT TO regress_reader USING (id = 'a');
SET ROLE regress_reader;
SELECT pigment.count('own');
SELECT id FROM pigment.get('own');
SELECT id FROM pigment.query('own', '[3,4]'::vector);
-- fork-is-yours: ... and what a fork of it has, which is that role's, and nobody else's before a grant
SELECT refused($$SELECT pigment.fork_collection('own', 'part')$$);
RESET ROLE;
GRANT CREATE ON SCHEMA lib TO regress_reader;
SET ROLE regress_reader;
SET client_min_messages = notice;
SELECT name, metadata, dimension FROM pigment.fork_collection('own', 'part');
SET client_min_messages = warning;
SELECT id FROM pigment.get('part');
SELECT tableowner, rowsecurity FROM pg_tables WHERE tablename = 'part';
SET ROLE regress_owner;
SELECT refused($$SELECT pigment.get('part')$$), refused($$SELECT pigment.fork_collection('part', 'mine')$$);
SET ROLE regress_writer;
SELECT refused($$SELECT pigment.fork_collection('part', 'mine')$$);
-- A right to a column is not enough.
SET ROLE regress_reader;
GRANT SELECT (id, ordinal) ON part TO regress_writer;
RESET ROLE;
GRANT CREATE ON SCHEMA lib TO regress_writer;
SET ROLE regress_writer;
SELECT refused($$SELECT pigment.fork_collection('part', 'mine')$$), to_regclass('lib.mine') IS NULL AS nothing_left;
RESET ROLE;

-- What an owner does to his table neither breaks nor runs in the lists of others.
SET ROLE regress_stranger;
CREATE FUNCTION sprung() RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'ran as %', current_user; END$$;
SELECT name FROM pigment.create_collection('trapped');
SELECT name FROM pigment.create_collection('maimed');
INSERT INTO trapped (id, embedding) VALUES ('a', '[1]');
ALTER TABLE trapped ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY trap ON trapped USING (sprung());
GRANT SELECT ON trapped, maimed TO PUBLIC;
ALTER TABLE maimed DROP COLUMN embedding;
SET ROLE regress_reader;
SELECT name, dimension FROM pigment.list_collections() WHERE name IN ('trapped', 'maimed') ORDER BY name;
SELECT refused($$SELECT pigment.get('trapped')$$);
SELECT dimension FROM pigment.get_collection('maimed');
SELECT refused($$SELECT pigment.query('maimed', '[1]'::vector)$$);

-- Names that look like those the functions use are not theirs.
SET ROLE regress_stranger;
CREATE FUNCTION lib.trap(text, text) RETURNS boolean LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE OPERATOR lib.= (LEFTARG = text, RIGHTARG = text, FUNCTION = lib.trap);
CREATE FUNCTION lib.format(text, VARIADIC text[]) RETURNS text LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE FUNCTION lib.cardinality(text[]) RETURNS integer LANGUAGE plpgsql AS $$BEGIN RAISE 'trapped'; END$$;
CREATE TEMP TABLE collections (x int);
CREATE TEMP TABLE pg_class (x int);
SET search_path = pg_temp, lib, pg_catalog, public;
SELECT name FROM pigment.create_collection('sturdy', schema => 'lib');
SELECT * FROM pigment.add('sturdy', '{a}', '{"[1]"}');
SELECT * FROM pigment.upsert('sturdy', '{a}', '{"[2]"}', metadatas => ARRAY['{"a": 1}']::jsonb[]);
SELECT * FROM pigment.update('sturdy', '{a}', '{"[3]"}', '{x}');
SELECT id, document, metadata FROM pigment.get('sturdy');
SELECT id, distance FROM pigment.query('sturdy', '[1]'::vector, where_metadata => '{"a": 1}');
SELECT pigment.count('sturdy'), pigment.delete('sturdy', '{a}');
SELECT pigment.delete_collection('sturdy');
RESET ROLE;
SET search_path = public;

DROP OWNED BY regress_owner, regress_reader, regress_writer, regress_stranger;
SELECT count(*) FROM pigment.collections;
DROP SCHEMA lib CASCADE;
DROP ROLE regress_owner, regress_reader, regress_writer, regress_stranger;
