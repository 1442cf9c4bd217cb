-- SPDX-License-Identifier: Apache-2.0
--
-- Collections, part 2: making, finding, changing and dropping them.
--
-- All functions run with the rights of their caller. Dynamic SQL names tables through regclass or %I only. The searching
-- of schemas is fixed, so what the caller's search_path holds is never found by accident; where a default depends on it
-- (the schema of a new table), it is taken in the argument's default, which is evaluated at the call. The extension's schema goes
-- into format() as an argument, because its name may hold a percent sign.

CREATE FUNCTION pigment._check_metadata(metadata jsonb, kind integer) RETURNS boolean
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_check_metadata';
COMMENT ON FUNCTION pigment._check_metadata IS 'True, or an error; kind: 0 a record, 1 a change of a record, 2 a collection, 3 a change of one.';

CREATE FUNCTION pigment._check_configuration(configuration jsonb, metadata jsonb, preferred_space text,
	OUT normalized jsonb, OUT space text)
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_check_configuration';
COMMENT ON FUNCTION pigment._check_configuration(jsonb, jsonb, text) IS
	'a configuration with all defaults filled in, and its space';

CREATE FUNCTION pigment._check_configuration_update(current_configuration jsonb, change jsonb) RETURNS jsonb
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_check_configuration_update';
COMMENT ON FUNCTION pigment._check_configuration_update(jsonb, jsonb) IS 'a configuration after a change';

CREATE FUNCTION pigment._check_schema(schema jsonb, metadata jsonb, preferred_space text,
	OUT normalized jsonb, OUT configuration jsonb, OUT space text)
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_check_schema';
COMMENT ON FUNCTION pigment._check_schema(jsonb, jsonb, text) IS
	'a schema with all defaults filled in, the configuration of its vector index, and its space';

-- The parameters of the vector index and of ranked text stand in the configuration, which may be changed, and in the schema.
CREATE FUNCTION pigment._schema_with(schema jsonb, configuration jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
	SELECT pg_catalog.jsonb_set(
		pg_catalog.jsonb_set(
			CASE WHEN $2 ? 'text_index' THEN pg_catalog.jsonb_set($1,
				ARRAY['keys', '#document', 'string', 'fts_index', 'config', 'text_index'], $2 -> 'text_index') ELSE $1 END,
			ARRAY['defaults', 'float_list', 'vector_index', 'config', c.key], c.value - 'space'),
		ARRAY['keys', '#embedding', 'float_list', 'vector_index', 'config', c.key], c.value - 'space')
	FROM pg_catalog.jsonb_each($2) c WHERE c.key IN ('hnsw', 'spann') AND pg_catalog.jsonb_typeof(c.value) = 'object';
END;
COMMENT ON FUNCTION pigment._schema_with(jsonb, jsonb) IS 'a schema after a change of the configuration';

CREATE FUNCTION pigment._distance(space text, a @extschema@.vector, b @extschema@.vector) RETURNS real
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_space_distance';
COMMENT ON FUNCTION pigment._distance IS 'Distance in a space of collections: l2 squared, 1 - cosine, 1 - inner product.';

CREATE FUNCTION pigment._is_zero(embedding @extschema@.vector) RETURNS boolean
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_is_zero';
COMMENT ON FUNCTION pigment._is_zero(@extschema@.vector) IS 'are all elements zero';

-- ---- Finding ------------------------------------------------------------------------------------------------------

-- The dimension that the table shows when nobody went through the functions to fix it (COPY, INSERT).
CREATE FUNCTION pigment._with_dimension(entry pigment.collections) RETURNS pigment.collections
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF entry.dimension IS NULL AND EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = entry.relation
			AND a.attname = 'embedding' AND a.atttypid = '@extschema@.vector'::regtype
			AND has_column_privilege(a.attrelid, a.attnum, 'SELECT')) THEN
		EXECUTE format('SELECT %s.vector_dims(embedding) FROM %s LIMIT 1', '@extschema@', entry.relation) INTO entry.dimension;
	END IF;
	RETURN entry;
END
$$;
COMMENT ON FUNCTION pigment._with_dimension(pigment.collections) IS
	'a catalog row with the dimension that its table shows';

CREATE FUNCTION pigment._find(name text, tenant text, database text) RETURNS pigment.collections
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	entry pigment.collections;
BEGIN
	SELECT c.* INTO entry FROM pigment.collections c
	WHERE c.tenant = COALESCE(_find.tenant, pigment.current_tenant())
		AND c.database = COALESCE(_find.database, pigment.current_database())
		AND c.name = _find.name
		AND EXISTS (SELECT FROM pg_class r WHERE r.oid = c.relation);
	RETURN entry;
END
$$;
COMMENT ON FUNCTION pigment._find(text, text, text) IS 'the catalog row of a collection, or nulls';

CREATE FUNCTION pigment.get_collection(name text, tenant text DEFAULT NULL, database text DEFAULT NULL)
RETURNS pigment.collections
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	entry pigment.collections := pigment._find(name, tenant, database);
BEGIN
	IF entry.id IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object', MESSAGE = format('collection "%s" does not exist', name);
	END IF;
	RETURN pigment._with_dimension(entry);
END
$$;
COMMENT ON FUNCTION pigment.get_collection(text, text, text) IS 'a collection by name';

CREATE FUNCTION pigment.get_collection_by_id(id uuid) RETURNS pigment.collections
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	entry pigment.collections;
BEGIN
	SELECT c.* INTO entry FROM pigment.collections c
	WHERE c.id = get_collection_by_id.id AND EXISTS (SELECT FROM pg_class r WHERE r.oid = c.relation);
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = 'undefined_object', MESSAGE = format('collection %s does not exist', id);
	END IF;
	RETURN pigment._with_dimension(entry);
END
$$;
COMMENT ON FUNCTION pigment.get_collection_by_id(uuid) IS 'a collection by id';

-- Those that the current role may use, by id, as the catalog has them: a list reads no table, so that what an owner has put
-- into his (policies, rules) can neither break it nor run in it.
CREATE FUNCTION pigment.list_collections(limit_rows bigint DEFAULT NULL, offset_rows bigint DEFAULT 0,
	tenant text DEFAULT NULL, database text DEFAULT NULL) RETURNS SETOF pigment.collections
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	place pigment.databases;
BEGIN
	PERFORM pigment._require_page(limit_rows, offset_rows);
	place := pigment.get_database(COALESCE(database, pigment.current_database()), tenant);
	RETURN QUERY SELECT c.* FROM pigment.collections c
		WHERE c.tenant = place.tenant AND c.database = place.name
			AND EXISTS (SELECT FROM pg_class r WHERE r.oid = c.relation)
		ORDER BY c.id LIMIT limit_rows OFFSET offset_rows;
END
$$;
COMMENT ON FUNCTION pigment.list_collections(bigint, bigint, text, text) IS
	'the collections that the current role may use, by id';

CREATE FUNCTION pigment.count_collections(tenant text DEFAULT NULL, database text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	place pigment.databases := pigment.get_database(COALESCE(database, pigment.current_database()), tenant);
BEGIN
	RETURN (SELECT count(*) FROM pigment.collections c
		WHERE c.tenant = place.tenant AND c.database = place.name
			AND EXISTS (SELECT FROM pg_class r WHERE r.oid = c.relation));
END
$$;
COMMENT ON FUNCTION pigment.count_collections(text, text) IS 'how many collections the current role may use';

-- ---- Making -------------------------------------------------------------------------------------------------------

-- A free name for a table: the wish, or the wish with a number, as PostgreSQL names indexes.
CREATE FUNCTION pigment._free_table_name(wish text, namespace oid) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	candidate text := left(wish, 63);
	number integer := 0;
BEGIN
	WHILE EXISTS (SELECT FROM pg_class c WHERE c.relname = candidate AND c.relnamespace = namespace)
		OR EXISTS (SELECT FROM pg_type t WHERE t.typname = candidate AND t.typnamespace = namespace)
	LOOP
		number := number + 1;
		candidate := left(wish, 62 - length(number::text)) || '_' || number;
	END LOOP;
	RETURN candidate;
END
$$;
COMMENT ON FUNCTION pigment._free_table_name(text, oid) IS 'the name wanted, or that name with a number';

-- The table of a collection. Its constraints are the rules for records, so that COPY and INSERT obey them too.
CREATE FUNCTION pigment._make_table(name text, schema text, table_name text) RETURNS regclass
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	namespace oid;
	made text;
BEGIN
	IF schema IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_schema_name', MESSAGE = 'no schema has been selected to create in';
	END IF;
	SELECT n.oid INTO namespace FROM pg_namespace n WHERE n.nspname = schema;
	IF NOT FOUND THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_schema_name', MESSAGE = format('schema "%s" does not exist', schema);
	ELSIF schema LIKE 'pg\_temp%' THEN
		RAISE EXCEPTION USING ERRCODE = 'feature_not_supported',
			MESSAGE = format('collection "%s" cannot be a temporary table', name);
	END IF;
	made := format('%I.%I', schema, COALESCE(table_name, pigment._free_table_name(name, namespace)));
	EXECUTE format('CREATE TABLE %s ('
		'id text COLLATE "C" PRIMARY KEY CHECK (id <> ''''), '
		'ordinal bigint GENERATED BY DEFAULT AS IDENTITY UNIQUE, '
		'embedding %s.vector NOT NULL, '
		'document text, '
		'metadata jsonb CHECK (pigment._check_metadata(metadata, 0)), '
		'uri text)', made, '@extschema@');
	RETURN made::regclass;
END
$$;
COMMENT ON FUNCTION pigment._make_table(text, text, text) IS 'creates the table of a collection';

CREATE FUNCTION pigment._make_indexes(relation regclass, space text, configuration jsonb, options text[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	ranked jsonb := configuration -> 'text_index';
	parameters text := (SELECT format(' WITH (%s)', string_agg(format('%I = %L', o.name, o.value), ', '))
		FROM (SELECT p.option_name AS name, p.option_value AS value FROM pg_options_to_table(options) p WHERE p.option_name NOT IN ('k1', 'b')
			UNION ALL SELECT r.key, r.value FROM jsonb_each_text(ranked) r WHERE r.key IN ('k1', 'b')) o HAVING count(*) > 0);
BEGIN
	EXECUTE format('CREATE INDEX ON %s USING pigment (embedding %s.%I, metadata pigment.metadata_ops%s)%s', relation, '@extschema@', 'vector_' || space || '_ops',
		CASE WHEN ranked IS NOT NULL THEN format(', document %s.text_bm25_ops (language = %L, stop_words = %L)', '@extschema@',
			ranked #>> '{analyzer,language}', ranked #>> '{analyzer,stop_words}') END, parameters);
	IF space = 'cosine' THEN
		-- Their cosine is not defined, so the index gives them last; a query gives them distance 1 from here.
		EXECUTE format('CREATE INDEX ON %s (ordinal) WHERE pigment._is_zero(embedding)', relation);
	END IF;
END
$$;
COMMENT ON FUNCTION pigment._make_indexes(regclass, text, jsonb, text[]) IS
	'creates the indexes of a collection''s table; options are those of the index on vectors, but for what the configuration says of texts';

CREATE FUNCTION pigment._ranking_index(entry pigment.collections) RETURNS regclass
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	analyzer jsonb := entry.configuration #> '{text_index,analyzer}';
	found regclass;
BEGIN
	IF analyzer IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state', MESSAGE = 'the collection has no text index',
			HINT = 'create it with "text_index" in its configuration';
	END IF;
	SELECT i.indexrelid INTO found FROM pg_index i
		JOIN pg_class c ON c.oid = i.indexrelid JOIN pg_am m ON m.oid = c.relam
		JOIN pg_attribute a ON a.attrelid = i.indexrelid
		JOIN pg_attribute d ON d.attrelid = i.indrelid AND d.attname = 'document' AND d.attnum = i.indkey[a.attnum - 1]
		JOIN pg_opclass o ON o.oid = i.indclass[a.attnum - 1]
	WHERE i.indrelid = entry.relation AND i.indisvalid AND i.indpred IS NULL AND m.amname = 'pigment' AND o.opcname = 'text_bm25_ops'
		AND COALESCE((SELECT p.option_value FROM pg_options_to_table(a.attoptions) p WHERE p.option_name = 'language'), 'none')
			= analyzer ->> 'language'
		AND COALESCE((SELECT p.option_value FROM pg_options_to_table(a.attoptions) p WHERE p.option_name = 'stop_words'), 'false')
			= analyzer ->> 'stop_words'
	ORDER BY i.indexrelid LIMIT 1;
	IF found IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
			MESSAGE = format('table %s of collection "%s" has no index that ranks documents as its configuration says', entry.relation, entry.name),
			HINT = format('CREATE INDEX ON %s USING pigment (document %s.text_bm25_ops (language = %L, stop_words = %L))', entry.relation,
				'@extschema@', analyzer ->> 'language', analyzer ->> 'stop_words');
	END IF;
	RETURN found;
END
$$;
COMMENT ON FUNCTION pigment._ranking_index(pigment.collections) IS
	'the index that ranks the documents of a collection; an error where there is none';

-- The stored form of an embedding function, and a check that it has the right one.
CREATE FUNCTION pigment._function_name(embedding_function regproc) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	name text;
BEGIN
	SELECT format('%I.%I', n.nspname, p.proname) INTO name
	FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
	WHERE p.oid = embedding_function AND p.prokind = 'f' AND NOT p.proretset
		AND p.proargtypes::text = format('%s %s', 'text[]'::regtype::oid, 'text'::regtype::oid)
		AND p.prorettype = '@extschema@.vector[]'::regtype;
	IF name IS NULL AND embedding_function IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('embedding function %s must take (texts text[], purpose text) and return vector[]',
				embedding_function);
	END IF;
	RETURN name;
END
$$;
COMMENT ON FUNCTION pigment._function_name(regproc) IS 'schema and name of an embedding function, checked';

CREATE FUNCTION pigment.create_collection(name text, metadata jsonb DEFAULT NULL, configuration jsonb DEFAULT NULL,
	embedding_function regproc DEFAULT NULL, get_or_create boolean DEFAULT false,
	schema text DEFAULT pg_catalog.current_schema(), table_name text DEFAULT NULL,
	tenant text DEFAULT NULL, database text DEFAULT NULL, collection_schema jsonb DEFAULT NULL)
RETURNS pigment.collections
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	place pigment.databases;
	entry pigment.collections;
	preferred_space text;
	asked_function text;
BEGIN
	PERFORM pigment._require(name, 'a collection name');
	PERFORM pigment._check_name('collection', name);
	metadata := NULLIF(metadata, 'null');
	PERFORM pigment._check_metadata(metadata, 2);
	entry.embedding_function := pigment._function_name(embedding_function);
	preferred_space := CASE WHEN entry.embedding_function = 'pigment.lexical_v1' THEN 'cosine' END;
	configuration := NULLIF(configuration, 'null');
	collection_schema := NULLIF(collection_schema, 'null');
	IF collection_schema IS NULL THEN
		SELECT c.normalized, c.space INTO entry.configuration, entry.space
			FROM pigment._check_configuration(configuration, metadata, preferred_space) c;
	ELSIF configuration IS NULL THEN
		SELECT s.normalized, s.configuration, s.space INTO entry.schema, entry.configuration, entry.space
			FROM pigment._check_schema(collection_schema, metadata, preferred_space) s;
	ELSE
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'cannot set both collection config and schema simultaneously',
			HINT = 'the schema has the configuration of the vector index at "#embedding"';
	END IF;
	tenant := COALESCE(tenant, pigment.current_tenant());
	database := COALESCE(database, pigment.current_database());
	PERFORM pg_advisory_xact_lock_shared(pigment._namespace_key(tenant, database));
	place := pigment.get_database(database, tenant);

	-- One at a time for one name, so that nobody makes a table in vain and get_or_create always gets.
	PERFORM pg_advisory_xact_lock(hashtextextended(format('pigment/%s/%s/%s', place.tenant, place.name, name), 0));
	IF (pigment._find(name, place.tenant, place.name)).id IS NOT NULL THEN
		IF get_or_create THEN
			asked_function := entry.embedding_function;
			entry := pigment.get_collection(name, place.tenant, place.name);
			IF asked_function <> entry.embedding_function THEN
				RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
					MESSAGE = format('embedding function conflict: collection "%s" has "%s", got "%s"', name,
						entry.embedding_function, asked_function);
			END IF;
			RETURN entry;
		END IF;
		RAISE EXCEPTION USING ERRCODE = 'duplicate_object', MESSAGE = format('collection "%s" already exists', name);
	END IF;

	entry.relation := pigment._make_table(name, schema, table_name);
	PERFORM pigment._make_indexes(entry.relation, entry.space, entry.configuration, NULL);
	INSERT INTO pigment.collections AS c
		(tenant, database, name, metadata, configuration, space, embedding_function, relation, schema)
	VALUES (place.tenant, place.name, create_collection.name, create_collection.metadata, entry.configuration,
		entry.space, entry.embedding_function, entry.relation, entry.schema)
	RETURNING c.* INTO entry;
	RETURN entry;
EXCEPTION
	WHEN unique_violation THEN
		RAISE EXCEPTION USING ERRCODE = 'duplicate_object', MESSAGE = format('collection "%s" already exists', name),
			HINT = 'It belongs to another role, which has granted no right on its table.';
END
$$;
COMMENT ON FUNCTION pigment.create_collection(text, jsonb, jsonb, regproc, boolean, text, text, text, text, jsonb) IS
	'creates a collection and its table';

CREATE FUNCTION pigment.get_or_create_collection(name text, metadata jsonb DEFAULT NULL,
	configuration jsonb DEFAULT NULL, embedding_function regproc DEFAULT NULL,
	schema text DEFAULT pg_catalog.current_schema(), table_name text DEFAULT NULL,
	tenant text DEFAULT NULL, database text DEFAULT NULL, collection_schema jsonb DEFAULT NULL)
RETURNS pigment.collections
LANGUAGE sql VOLATILE PARALLEL UNSAFE
BEGIN ATOMIC
	SELECT c.* FROM pigment.create_collection($1, $2, $3, $4, true, $5, $6, $7, $8, $9) c;
END;
COMMENT ON FUNCTION pigment.get_or_create_collection(text, jsonb, jsonb, regproc, text, text, text, text, jsonb) IS
	'an existing collection as it is, else a new one';

-- ---- Changing -----------------------------------------------------------------------------------------------------

CREATE FUNCTION pigment._require_owner(entry pigment.collections) RETURNS void
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF NOT pigment._owns(entry.relation) THEN
		RAISE EXCEPTION USING ERRCODE = 'insufficient_privilege',
			MESSAGE = format('must be owner of collection "%s"', entry.name);
	END IF;
END
$$;
COMMENT ON FUNCTION pigment._require_owner(pigment.collections) IS
	'an error unless the current role owns a collection';

-- What is NULL stays. Metadata is replaced whole (a key that is null is left out), the configuration is merged, the table keeps its name.
CREATE FUNCTION pigment.modify_collection(name text, new_name text DEFAULT NULL, new_metadata jsonb DEFAULT NULL,
	new_configuration jsonb DEFAULT NULL, tenant text DEFAULT NULL, database text DEFAULT NULL)
RETURNS pigment.collections
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	entry pigment.collections := pigment.get_collection(name, tenant, database);
	ranked jsonb := entry.configuration -> 'text_index';
BEGIN
	PERFORM pigment._require_owner(entry);
	PERFORM pigment._check_name('collection', new_name);
	PERFORM pigment._check_metadata(new_metadata, 3);
	IF new_metadata ? 'hnsw:space' THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'changing the distance function of a collection once it is created is not supported: '
				'metadata key "hnsw:space"';
	END IF;
	UPDATE pigment.collections c SET
		name = COALESCE(new_name, c.name),
		metadata = CASE WHEN new_metadata IS NULL THEN c.metadata ELSE NULLIF(jsonb_strip_nulls(new_metadata), '{}') END,
		configuration = changed.configuration,
		schema = pigment._schema_with(c.schema, changed.configuration)
	FROM (SELECT COALESCE(pigment._check_configuration_update(o.configuration, new_configuration), o.configuration)
			AS configuration FROM pigment.collections o WHERE o.id = entry.id) changed
	WHERE c.id = entry.id RETURNING c.* INTO entry;
	IF ranked IS DISTINCT FROM entry.configuration -> 'text_index' THEN
		EXECUTE format('ALTER INDEX %s SET (k1 = %L, b = %L)', pigment._ranking_index(entry), entry.configuration #>> '{text_index,k1}',
			entry.configuration #>> '{text_index,b}');
	END IF;
	RETURN pigment._with_dimension(entry);
EXCEPTION
	WHEN unique_violation THEN
		RAISE EXCEPTION USING ERRCODE = 'duplicate_object', MESSAGE = format('collection "%s" already exists', new_name);
END
$$;
COMMENT ON FUNCTION pigment.modify_collection(text, text, jsonb, jsonb, text, text) IS
	'renames a collection, replaces its metadata, changes its configuration';

-- Drops the table; what depends on it (views, foreign keys) keeps it from being dropped, as it does with DROP TABLE.
CREATE FUNCTION pigment.delete_collection(name text, tenant text DEFAULT NULL, database text DEFAULT NULL) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	entry pigment.collections := pigment.get_collection(name, tenant, database);
BEGIN
	PERFORM pigment._require_owner(entry);
	EXECUTE format('DROP TABLE %s', entry.relation);
END
$$;
COMMENT ON FUNCTION pigment.delete_collection(text, text, text) IS 'drops a collection with its table';

-- The indexes of a collection's table that belong to no constraint.
CREATE FUNCTION pigment._indexes(relation regclass) RETURNS TABLE (index regclass, options text[])
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT i.oid::pg_catalog.regclass, i.reloptions
	FROM pg_catalog.pg_index x JOIN pg_catalog.pg_class i ON i.oid = x.indexrelid
	WHERE x.indrelid = $1 AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint c WHERE c.conindid = x.indexrelid)
	ORDER BY i.oid;
END;
COMMENT ON FUNCTION pigment._indexes(regclass) IS 'indexes of a table that belong to no constraint, with their options';

-- A table has no copy-on-write: the rows are copied, those that the caller may see. The fork is the caller's, as any collection that he
-- makes, and nobody else's before a grant. Its indexes are made when the rows are there, which takes a fraction of what inserts take.
CREATE FUNCTION pigment.fork_collection(name text, new_name text, schema text DEFAULT pg_catalog.current_schema(),
	table_name text DEFAULT NULL, tenant text DEFAULT NULL, database text DEFAULT NULL) RETURNS pigment.collections
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	source pigment.collections := pigment.get_collection(name, tenant, database);
	entry pigment.collections;
	index regclass;
	options text[];
	copied bigint;
	others text;
	message text;
BEGIN
	entry := pigment.create_collection(new_name, source.metadata,
		CASE WHEN source.schema IS NULL THEN source.configuration END, NULL, false, fork_collection.schema, table_name,
		source.tenant, source.database, source.schema);
	UPDATE pigment.collections c SET embedding_function = source.embedding_function, dimension = source.dimension
		WHERE c.id = entry.id RETURNING c.* INTO entry;
	FOR index IN SELECT i.index FROM pigment._indexes(entry.relation) i LOOP
		EXECUTE format('DROP INDEX %s', index);
	END LOOP;
	EXECUTE format('INSERT INTO %s (id, ordinal, embedding, document, metadata, uri) '
		'SELECT id, ordinal, embedding, document, metadata, uri FROM %s ORDER BY ordinal', entry.relation, source.relation);
	GET DIAGNOSTICS copied = ROW_COUNT;
	EXECUTE format('SELECT setval(pg_get_serial_sequence(%L, ''ordinal''), max(ordinal)) FROM %s HAVING count(*) > 0',
		entry.relation, entry.relation);
	SELECT i.options INTO options FROM pigment._indexes(source.relation) i
		JOIN pg_class c ON c.oid = i.index JOIN pg_am a ON a.oid = c.relam WHERE a.amname = 'pigment' LIMIT 1;
	PERFORM pigment._make_indexes(entry.relation, entry.space, entry.configuration, options);
	message := format('%s rows copied from collection "%s" to "%s": %s bytes of table, %s bytes of indexes', copied, name, new_name,
		pg_table_size(entry.relation), pg_indexes_size(entry.relation));
	SELECT string_agg(format('"%s"', a.attname), ', ' ORDER BY a.attnum) INTO others FROM pg_attribute a
		WHERE a.attrelid = source.relation AND a.attnum > 0 AND NOT a.attisdropped
			AND a.attname <> ALL ('{id,ordinal,embedding,document,metadata,uri}');
	IF others IS NULL THEN
		RAISE NOTICE USING MESSAGE = message;
	ELSE
		RAISE NOTICE USING MESSAGE = message, DETAIL = format('columns that are not a collection''s were not copied: %s', others);
	END IF;
	RETURN entry;
END
$$;
COMMENT ON FUNCTION pigment.fork_collection(text, text, text, text, text, text) IS
	'a new collection with copies of the records of another';
