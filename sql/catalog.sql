-- SPDX-License-Identifier: Apache-2.0
--
-- Collections, part 1: the catalog of tenants, databases and collections, and who may see and change it.
--
-- A collection is an ordinary table of its creator; the catalog says which one, and what PostgreSQL's own catalogs have no
-- place for. The rows of pigment.collections are governed by row security: whoever may use a collection's table sees its
-- row, and only the owner of the table changes it. Tenants and databases are namespaces that the owner of the extension
-- manages, or whoever is granted INSERT and DELETE on their tables.

-- No foreign keys between the three: pg_restore with several jobs loads tables of an extension in any order. The triggers
-- below keep what is in use from being deleted, and the functions look before they insert.
CREATE TABLE pigment.tenants (
	name text COLLATE "C" PRIMARY KEY
);

CREATE TABLE pigment.databases (
	id uuid NOT NULL DEFAULT pg_catalog.gen_random_uuid() UNIQUE,
	tenant text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	PRIMARY KEY (tenant, name)
);

CREATE TABLE pigment.collections (
	id uuid PRIMARY KEY DEFAULT pg_catalog.gen_random_uuid(),
	tenant text COLLATE "C" NOT NULL,
	database text COLLATE "C" NOT NULL,
	name text COLLATE "C" NOT NULL,
	metadata jsonb,
	configuration jsonb NOT NULL,
	space text COLLATE "C" NOT NULL CHECK (space IN ('l2', 'cosine', 'ip')),
	dimension integer CHECK (dimension > 0),
	embedding_function text COLLATE "C",
	relation regclass NOT NULL UNIQUE,
	schema jsonb,
	UNIQUE (tenant, database, name)
);

COMMENT ON TABLE pigment.tenants IS 'Tenants: the outer namespace of collections.';
COMMENT ON TABLE pigment.databases IS 'Databases: the namespaces of collections within a tenant.';
COMMENT ON TABLE pigment.collections IS 'Collections and the tables that hold them; each role sees those that it may use.';
COMMENT ON COLUMN pigment.collections.dimension IS 'Fixed by the first record that add or upsert writes; NULL before.';
COMMENT ON COLUMN pigment.collections.embedding_function IS
	'Schema and name of a function (texts text[], purpose text) returning vector[]; data, looked up when texts come.';
COMMENT ON COLUMN pigment.collections.relation IS 'The table; follows it when it is renamed or moved.';
COMMENT ON COLUMN pigment.collections.schema IS 'What may be filtered by, in Chroma''s form; NULL: everything.';

INSERT INTO pigment.tenants VALUES ('default_tenant');
INSERT INTO pigment.databases (id, tenant, name)
VALUES ('00000000-0000-0000-0000-000000000000', 'default_tenant', 'default_database');

-- The default rows come with CREATE EXTENSION, so a dump leaves them out.
SELECT pg_catalog.pg_extension_config_dump('pigment.tenants', 'WHERE name <> ''default_tenant''');
SELECT pg_catalog.pg_extension_config_dump('pigment.databases',
	'WHERE NOT (tenant = ''default_tenant'' AND name = ''default_database'')');
SELECT pg_catalog.pg_extension_config_dump('pigment.collections', '');

-- ---- Who may do what ----------------------------------------------------------------------------------------------

-- Has the current role the rights of the owner? NULL for a table that does not exist.
CREATE FUNCTION pigment._owns(relation oid) RETURNS boolean
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT pg_catalog.pg_has_role(c.relowner, 'USAGE') FROM pg_catalog.pg_class c WHERE c.oid = $1;
END;
COMMENT ON FUNCTION pigment._owns(oid) IS 'has the current role the rights of the owner of a table';

GRANT SELECT ON pigment.tenants, pigment.databases TO PUBLIC;
GRANT SELECT, INSERT, UPDATE, DELETE ON pigment.collections TO PUBLIC;
ALTER TABLE pigment.collections ENABLE ROW LEVEL SECURITY;

CREATE POLICY visible ON pigment.collections FOR SELECT
	USING (pg_catalog.has_any_column_privilege(relation, 'SELECT, INSERT, UPDATE')
		OR pg_catalog.has_table_privilege(relation, 'DELETE'));
CREATE POLICY created ON pigment.collections FOR INSERT WITH CHECK (pigment._owns(relation));
CREATE POLICY deleted ON pigment.collections FOR DELETE USING (pigment._owns(relation));
-- Whoever may insert records may fix the dimension with the first one: the trigger below sees to it that no more changes.
CREATE POLICY changed ON pigment.collections FOR UPDATE
	USING (pigment._owns(relation) OR pg_catalog.has_any_column_privilege(relation, 'INSERT'))
	WITH CHECK (pigment._owns(relation) OR pg_catalog.has_any_column_privilege(relation, 'INSERT'));

CREATE FUNCTION pigment._guard_collection() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	expected pigment.collections := OLD;
BEGIN
	IF pigment._owns(OLD.relation) AND pigment._owns(NEW.relation) THEN
		RETURN NEW;
	END IF;
	expected.dimension := NEW.dimension;
	IF OLD.dimension IS NOT NULL OR NEW IS DISTINCT FROM expected THEN
		RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
			MESSAGE = format('must be owner of collection "%s"', OLD.name);
	END IF;
	RETURN NEW;
END
$$;
COMMENT ON FUNCTION pigment._guard_collection() IS
	'lets only the owner change a catalog row, but for the first dimension';

CREATE TRIGGER guard BEFORE UPDATE ON pigment.collections
	FOR EACH ROW EXECUTE FUNCTION pigment._guard_collection();

-- ---- What is in use -----------------------------------------------------------------------------------------------

-- Held shared while something is made in a tenant or database, exclusively while that is deleted.
CREATE FUNCTION pigment._namespace_key(tenant text, database text DEFAULT '') RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT pg_catalog.hashtextextended(pg_catalog.format('pigment/%s/%s', $1, $2), 0);
END;
COMMENT ON FUNCTION pigment._namespace_key IS 'key of the advisory lock on a tenant or database';

-- Security definer: it must see the collections of all roles. It tells no more than that there are some.
CREATE FUNCTION pigment._keep_used_namespace() RETURNS trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF TG_TABLE_NAME = 'tenants' THEN
		PERFORM pg_advisory_xact_lock(pigment._namespace_key(OLD.name));
		PERFORM FROM pigment.databases d WHERE d.tenant = OLD.name;
	ELSE
		PERFORM pg_advisory_xact_lock(pigment._namespace_key(OLD.tenant, OLD.name));
		PERFORM FROM pigment.collections c WHERE c.tenant = OLD.tenant AND c.database = OLD.name;
	END IF;
	IF FOUND THEN
		RAISE EXCEPTION USING ERRCODE = 'foreign_key_violation',
			MESSAGE = format('%s "%s" is in use', left(TG_TABLE_NAME, -1), OLD.name);
	END IF;
	RETURN OLD;
END
$$;
COMMENT ON FUNCTION pigment._keep_used_namespace() IS 'refuses to delete a tenant with databases and a database with collections';

CREATE TRIGGER keep_used BEFORE DELETE ON pigment.tenants
	FOR EACH ROW EXECUTE FUNCTION pigment._keep_used_namespace();
CREATE TRIGGER keep_used BEFORE DELETE ON pigment.databases
	FOR EACH ROW EXECUTE FUNCTION pigment._keep_used_namespace();

-- ---- Tables that are dropped --------------------------------------------------------------------------------------

-- Security definer: by the time it runs the table is gone, and with it every trace of who owned it. It deletes only what
-- the command that fired it has dropped.
CREATE FUNCTION pigment._collection_dropped() RETURNS event_trigger
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	DELETE FROM pigment.collections c
	USING pg_event_trigger_dropped_objects() d
	WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objsubid = 0 AND c.relation::oid = d.objid;
END
$$;
COMMENT ON FUNCTION pigment._collection_dropped() IS 'takes dropped tables out of the catalog';

CREATE EVENT TRIGGER pigment_collection_dropped ON sql_drop EXECUTE FUNCTION pigment._collection_dropped();
ALTER EVENT TRIGGER pigment_collection_dropped ENABLE ALWAYS;
COMMENT ON EVENT TRIGGER pigment_collection_dropped IS 'takes dropped tables out of the catalog of collections';

-- ---- Where a call looks: per call, else per session, else the default ---------------------------------------------

CREATE FUNCTION pigment.current_tenant() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT COALESCE(NULLIF(pg_catalog.current_setting('pigment.tenant', true), ''), 'default_tenant');
END;
COMMENT ON FUNCTION pigment.current_tenant() IS
	'tenant in which collections are looked up: setting pigment.tenant or default_tenant';

CREATE FUNCTION pigment.current_database() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT COALESCE(NULLIF(pg_catalog.current_setting('pigment.database', true), ''), 'default_database');
END;
COMMENT ON FUNCTION pigment.current_database() IS
	'database in which collections are looked up: setting pigment.database or default_database';

-- ---- Tenants and databases ----------------------------------------------------------------------------------------

CREATE FUNCTION pigment._check_name(kind text, name text) RETURNS void
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_check_name';
COMMENT ON FUNCTION pigment._check_name(text, text) IS
	'an error unless the name is one for a collection, database or tenant';

CREATE FUNCTION pigment._require(value text, what text) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF value IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('%s must be given', what);
	END IF;
END
$$;
COMMENT ON FUNCTION pigment._require(text, text) IS 'an error when an argument is null';

CREATE FUNCTION pigment._require_page(limit_rows bigint, offset_rows bigint) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF limit_rows < 0 THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('limit must not be negative, got %s', limit_rows);
	ELSIF offset_rows < 0 THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('offset must not be negative, got %s', offset_rows);
	END IF;
END
$$;
COMMENT ON FUNCTION pigment._require_page(bigint, bigint) IS 'an error when limit or offset is negative';

CREATE FUNCTION pigment.create_tenant(name text) RETURNS text
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM pigment._require(name, 'a tenant name');
	PERFORM pigment._check_name('tenant', name);
	INSERT INTO pigment.tenants VALUES (create_tenant.name);
	RETURN name;
EXCEPTION
	WHEN unique_violation THEN
		RAISE EXCEPTION USING ERRCODE = 'duplicate_object', MESSAGE = format('tenant "%s" already exists', name);
END
$$;
COMMENT ON FUNCTION pigment.create_tenant(text) IS 'makes a tenant; needs INSERT on pigment.tenants';

CREATE FUNCTION pigment.get_tenant(name text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM FROM pigment.tenants t WHERE t.name = get_tenant.name;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object', MESSAGE = format('tenant "%s" does not exist', name);
	END IF;
	RETURN name;
END
$$;
COMMENT ON FUNCTION pigment.get_tenant(text) IS 'the name of a tenant that exists, else an error';

CREATE FUNCTION pigment.list_tenants() RETURNS TABLE (name text)
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT t.name FROM pigment.tenants t ORDER BY t.name;
END;
COMMENT ON FUNCTION pigment.list_tenants() IS 'tenants by name';

CREATE FUNCTION pigment.create_database(name text, tenant text DEFAULT NULL) RETURNS pigment.databases
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	place text := COALESCE(create_database.tenant, pigment.current_tenant());
	made pigment.databases;
BEGIN
	PERFORM pigment._require(name, 'a database name');
	PERFORM pigment._check_name('database', name);
	PERFORM pg_advisory_xact_lock_shared(pigment._namespace_key(place));
	PERFORM pigment.get_tenant(place);
	INSERT INTO pigment.databases AS d (tenant, name) VALUES (place, create_database.name) RETURNING d.* INTO made;
	RETURN made;
EXCEPTION
	WHEN unique_violation THEN
		RAISE EXCEPTION USING ERRCODE = 'duplicate_object', MESSAGE = format('database "%s" already exists', name);
END
$$;
COMMENT ON FUNCTION pigment.create_database(text, text) IS
	'makes a database in a tenant; needs INSERT on pigment.databases';

CREATE FUNCTION pigment.get_database(name text, tenant text DEFAULT NULL) RETURNS pigment.databases
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	found_row pigment.databases;
BEGIN
	SELECT d.* INTO found_row FROM pigment.databases d
	WHERE d.tenant = COALESCE(get_database.tenant, pigment.current_tenant()) AND d.name = get_database.name;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object', MESSAGE = format('database "%s" not found in tenant "%s"', name,
			COALESCE(tenant, pigment.current_tenant()));
	END IF;
	RETURN found_row;
END
$$;
COMMENT ON FUNCTION pigment.get_database(text, text) IS 'a database that exists, else an error';

CREATE FUNCTION pigment.list_databases(limit_rows bigint DEFAULT NULL, offset_rows bigint DEFAULT 0,
	tenant text DEFAULT NULL) RETURNS SETOF pigment.databases
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	PERFORM pigment._require_page(limit_rows, offset_rows);
	PERFORM pigment.get_tenant(COALESCE(tenant, pigment.current_tenant()));
	RETURN QUERY SELECT d.* FROM pigment.databases d
		WHERE d.tenant = COALESCE(list_databases.tenant, pigment.current_tenant())
		ORDER BY d.name LIMIT limit_rows OFFSET offset_rows;
END
$$;
COMMENT ON FUNCTION pigment.list_databases(bigint, bigint, text) IS 'databases of a tenant by name';

-- With its collections: their tables are dropped, which only their owners may do.
CREATE FUNCTION pigment.delete_database(name text, tenant text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	gone pigment.databases := pigment.get_database(name, tenant);
	doomed regclass;
BEGIN
	FOR doomed IN SELECT c.relation FROM pigment.collections c
		WHERE c.tenant = gone.tenant AND c.database = gone.name ORDER BY c.id
	LOOP
		EXECUTE format('DROP TABLE %s', doomed);
	END LOOP;
	DELETE FROM pigment.databases d WHERE d.id = gone.id;
EXCEPTION
	WHEN foreign_key_violation THEN
		RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
			MESSAGE = format('database "%s" has collections of other roles', name);
END
$$;
COMMENT ON FUNCTION pigment.delete_database(text, text) IS
	'deletes a database and drops its collections, which must be the current role''s';

CREATE FUNCTION pigment.delete_tenant(name text) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	doomed text;
BEGIN
	PERFORM pigment.get_tenant(name);
	FOR doomed IN SELECT d.name FROM pigment.databases d WHERE d.tenant = delete_tenant.name ORDER BY d.name
	LOOP
		PERFORM pigment.delete_database(doomed, delete_tenant.name);
	END LOOP;
	DELETE FROM pigment.tenants t WHERE t.name = delete_tenant.name;
END
$$;
COMMENT ON FUNCTION pigment.delete_tenant(text) IS 'deletes a tenant with its databases and their collections';
