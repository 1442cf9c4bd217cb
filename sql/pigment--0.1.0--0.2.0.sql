-- SPDX-License-Identifier: Apache-2.0
--
-- From 0.1.0 to 0.2.0: what maintenance.sql has, schemas of collections, functions of catalog.sql and collections.sql that
-- refuse more clearly, and the reads of records.sql that take more than they did. What uses these in a view or in a
-- function with a parsed body must be dropped before.

\echo Use "ALTER EXTENSION pigment UPDATE TO '0.2.0'" to load this file. \quit

-- Here the build puts the parts that are new as a whole: PIGMENT_SQL_NEW_PARTS of cmake/extension.cmake.
@new_parts@

-- What the planner takes a distance for.
ALTER FUNCTION @extschema@.l2_distance(@extschema@.vector, @extschema@.vector) COST 10;
ALTER FUNCTION @extschema@.cosine_distance(@extschema@.vector, @extschema@.vector) COST 10;
ALTER FUNCTION @extschema@.inner_product(@extschema@.vector, @extschema@.vector) COST 10;
ALTER FUNCTION @extschema@.l1_distance(@extschema@.vector, @extschema@.vector) COST 10;
ALTER FUNCTION @extschema@.vector_negative_inner_product(@extschema@.vector, @extschema@.vector) COST 10;

CREATE FUNCTION pigment._segments(
	index oid,
	OUT segment bigint, OUT kind text, OUT rows bigint, OUT live_rows bigint, OUT bytes bigint)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'pigment_pg_segments' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION pigment._segments(oid) IS
	'segments and pending rows of an index of access method pigment; nothing for anybody but its owner';

CREATE VIEW pigment.segments AS
	SELECT c.oid::pg_catalog.regclass AS index, s.segment, s.kind, s.rows, s.live_rows, s.bytes
	FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_am a ON a.oid OPERATOR(pg_catalog.=) c.relam
		CROSS JOIN LATERAL pigment._segments(c.oid) s
	WHERE c.relkind OPERATOR(pg_catalog.=) 'i' AND a.amname OPERATOR(pg_catalog.=) 'pigment';
COMMENT ON VIEW pigment.segments IS
	'segments of the indexes that the current role owns; rows that are in none yet have kind pending and no number';
GRANT SELECT ON pigment.segments TO PUBLIC;

CREATE FUNCTION pigment.merge(index regclass) RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_merge' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION pigment.merge(regclass) IS
	'makes one segment of all rows of an index, or as few as maintenance_work_mem allows; returns how many there are; for its owner';

-- They tell more than they did.
DROP FUNCTION pigment.stats(regclass);
DROP FUNCTION pigment.check(regclass, boolean);

CREATE FUNCTION pigment.stats(
	index regclass,
	OUT metric text, OUT dimension integer, OUT segments integer, OUT segment_rows bigint, OUT deleted_rows bigint,
	OUT pending_rows bigint, OUT dead_pending_rows bigint, OUT pending_pages bigint, OUT pages bigint, OUT generation bigint,
	OUT retired_pages bigint, OUT free_pages bigint)
	AS 'MODULE_PATHNAME', 'pigment_pg_stats' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION pigment.stats(regclass) IS 'what an index of access method pigment holds; for its owner';

CREATE FUNCTION pigment.check(
	index regclass, heap boolean DEFAULT true,
	OUT pages bigint, OUT meta bigint, OUT segment bigint, OUT deletion bigint, OUT pending bigint, OUT overflow bigint,
	OUT leaked bigint, OUT live_rows bigint, OUT retired bigint, OUT free bigint)
	AS 'MODULE_PATHNAME', 'pigment_pg_check' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION pigment.check(regclass, boolean) IS
	'verifies each page of an index and, with heap, that it has the rows of its table and no others, counts pages by use; raises an error at the first fault; for its owner';

CREATE FUNCTION pigment.differences(index regclass, OUT tid tid, OUT column_name text, OUT problem text) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'pigment_pg_differences' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION pigment.differences(regclass) IS
	'what pigment.check finds of rows, all of it: rows of the table that the index lacks (missing), has more than once (repeated) or with another value in a column (different), and what leads to no row (dangling); for its owner';

CREATE FUNCTION pigment.contains(collection text, ids text[], tenant text DEFAULT NULL, database text DEFAULT NULL)
RETURNS boolean[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	entry pigment.collections := pigment.get_collection(collection, tenant, database);
	found boolean[];
BEGIN
	IF ids IS NULL THEN
		RETURN NULL;
	END IF;
	EXECUTE format('SELECT array_agg(EXISTS (SELECT FROM %s t WHERE t.id = given.id) ORDER BY given.place) '
		'FROM unnest($1) WITH ORDINALITY given (id, place)', entry.relation) INTO found USING ids;
	RETURN coalesce(found, '{}');
END
$$;
COMMENT ON FUNCTION pigment.contains IS 'which of some ids a collection has, one answer for each; reads no document';

CREATE OR REPLACE FUNCTION pigment.get_database(name text, tenant text DEFAULT NULL) RETURNS pigment.databases
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

-- ---- Schemas of collections -----------------------------------------------------------------------------------------

ALTER TABLE pigment.collections ADD COLUMN schema jsonb;
COMMENT ON COLUMN pigment.collections.schema IS 'What may be filtered by, in Chroma''s form; NULL: everything.';

CREATE FUNCTION pigment._check_schema(schema jsonb, metadata jsonb, preferred_space text,
	OUT normalized jsonb, OUT configuration jsonb, OUT space text)
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_check_schema';
COMMENT ON FUNCTION pigment._check_schema(jsonb, jsonb, text) IS
	'a schema with all defaults filled in, the configuration of its vector index, and its space';

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

CREATE FUNCTION pigment._check_indexed(where_metadata jsonb, where_document jsonb, schema jsonb) RETURNS void
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_check_indexed';
COMMENT ON FUNCTION pigment._check_indexed IS 'an error where filters ask for what a schema has disabled';

DROP FUNCTION pigment.get_or_create_collection(text, jsonb, jsonb, regproc, text, text, text, text);
DROP FUNCTION pigment.create_collection(text, jsonb, jsonb, regproc, boolean, text, text, text, text);
DROP FUNCTION pigment._make_table(text, text, text, text);

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

COMMENT ON FUNCTION pigment._check_metadata IS 'True, or an error; kind: 0 a record, 1 a change of a record, 2 a collection, 3 a change of one.';

CREATE OR REPLACE FUNCTION pigment.modify_collection(name text, new_name text DEFAULT NULL, new_metadata jsonb DEFAULT NULL,
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

CREATE OR REPLACE FUNCTION pigment.fork_collection(name text, new_name text, schema text DEFAULT pg_catalog.current_schema(),
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

CREATE OR REPLACE FUNCTION pigment.delete(collection text, ids text[] DEFAULT NULL, where_metadata jsonb DEFAULT NULL,
	where_document jsonb DEFAULT NULL, limit_rows bigint DEFAULT NULL, tenant text DEFAULT NULL,
	database text DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	filtered boolean := pigment._filters(where_metadata, where_document);
	entry pigment.collections;
	deleted bigint;
BEGIN
	PERFORM pigment._check_filter(where_metadata, where_document);
	entry := pigment.get_collection(collection, tenant, database);
	PERFORM pigment._check_indexed(where_metadata, where_document, entry.schema);
	IF ids IS NOT NULL THEN
		PERFORM pigment._check_ids(ids, 'delete');
	ELSIF NOT filtered THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'at least one of ids, where, or where_document must be provided';
	END IF;
	IF limit_rows IS NOT NULL AND NOT filtered THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'limit can only be specified when a where or where_document clause is provided';
	END IF;
	PERFORM pigment._require_page(limit_rows, 0);
	EXECUTE format(CASE WHEN limit_rows IS NULL THEN 'DELETE FROM %1$s t WHERE %2$s'
		ELSE 'DELETE FROM %1$s d WHERE d.id IN (SELECT t.id FROM %1$s t WHERE %2$s ORDER BY t.ordinal LIMIT $4 FOR UPDATE)' END,
		entry.relation, pigment._condition(ids IS NOT NULL, filtered))
		USING ids, where_metadata, where_document, limit_rows;
	GET DIAGNOSTICS deleted = ROW_COUNT;
	RETURN deleted;
END
$$;

CREATE OR REPLACE FUNCTION pigment.matches(where_metadata jsonb, where_document jsonb, id text, document text, metadata jsonb,
	uri text DEFAULT NULL) RETURNS boolean
LANGUAGE c IMMUTABLE PARALLEL SAFE COST 100 SUPPORT pigment._matches_support AS 'MODULE_PATHNAME', 'pigment_pg_matches';

-- ---- Reads -----------------------------------------------------------------------------------------------------------

DROP FUNCTION pigment.peek(text, bigint, text, text);
DROP FUNCTION pigment.get(text, text[], jsonb, jsonb, bigint, bigint, text[], text, text);
DROP FUNCTION pigment.count(text, text, text);
DROP FUNCTION pigment.query(text, @extschema@.vector, bigint, jsonb, jsonb, text[], text[], text, text);
DROP FUNCTION pigment.query(text, @extschema@.vector[], bigint, jsonb, jsonb, text[], text[], text[], text, text);
DROP FUNCTION pigment._query_sql(pigment.collections, @extschema@.vector, boolean, boolean, text[]);
DROP FUNCTION pigment._nearest_sql(pigment.collections, boolean, boolean, text[]);
DROP FUNCTION pigment._check_embeddings(pigment.collections, @extschema@.vector[], text);
ALTER TYPE pigment._hit ADD ATTRIBUTE number integer;

CREATE FUNCTION pigment._check_embeddings(embeddings @extschema@.vector[], what text, collection text, dimension integer)
RETURNS integer
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_check_embeddings';
COMMENT ON FUNCTION pigment._check_embeddings IS 'the one dimension of the vectors, which is that of the collection';

-- Checks a batch and gives back its vectors, made from the documents where none were given.
CREATE OR REPLACE FUNCTION pigment._prepare(operation text, entry pigment.collections, ids text[],
	embeddings @extschema@.vector[], documents text[], metadatas jsonb[], uris text[])
RETURNS @extschema@.vector[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF cardinality(embeddings) > 0 THEN
		PERFORM pigment._check_embeddings(embeddings, 'embeddings', entry.name, entry.dimension);
	END IF;
	PERFORM pigment._check_ids(ids, operation);
	PERFORM pigment._check_length(ids, 'embeddings', cardinality(embeddings), array_ndims(embeddings));
	PERFORM pigment._check_length(ids, 'documents', cardinality(documents), array_ndims(documents));
	PERFORM pigment._check_length(ids, 'metadatas', cardinality(metadatas), array_ndims(metadatas));
	PERFORM pigment._check_length(ids, 'uris', cardinality(uris), array_ndims(uris));
	IF embeddings IS NULL AND documents IS NULL AND operation <> 'update' THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'nothing to embed: embeddings or documents must be provided';
	ELSIF embeddings IS NULL THEN
		PERFORM pigment._check_present(documents, 'documents', 'a document may be absent only where embeddings are given');
	END IF;
	PERFORM pigment._check_metadata(m, CASE operation WHEN 'add' THEN 0 ELSE 1 END) FROM unnest(metadatas) m;
	IF embeddings IS NULL AND documents IS NOT NULL THEN
		RETURN pigment._embed(entry, documents, 'document');
	END IF;
	RETURN embeddings;
END
$$;

CREATE FUNCTION pigment._order_key(order_by jsonb, id text, metadata jsonb, uri text) RETURNS bytea
LANGUAGE c IMMUTABLE PARALLEL SAFE COST 100 AS 'MODULE_PATHNAME', 'pigment_pg_order_key';
COMMENT ON FUNCTION pigment._order_key IS 'bytes whose order is that in which order_by puts records';

CREATE FUNCTION pigment._cursor(collection text, order_by jsonb, key bytea, ordinal bigint) RETURNS text
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_cursor';
COMMENT ON FUNCTION pigment._cursor IS 'a cursor behind the record with this key and ordinal';

CREATE FUNCTION pigment._cursor_place(cursor text, collection text, order_by jsonb, OUT key bytea, OUT ordinal bigint)
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_cursor_place';
COMMENT ON FUNCTION pigment._cursor_place IS 'key and ordinal of a cursor, or an error where it is of another collection or order';

CREATE FUNCTION pigment.get(collection text, ids text[] DEFAULT NULL, where_metadata jsonb DEFAULT NULL,
	where_document jsonb DEFAULT NULL, limit_rows bigint DEFAULT NULL, offset_rows bigint DEFAULT 0,
	include text[] DEFAULT '{documents,metadatas}', tenant text DEFAULT NULL, database text DEFAULT NULL,
	order_by jsonb DEFAULT NULL, cursor text DEFAULT NULL)
RETURNS TABLE (id text, document text, metadata jsonb, uri text, embedding @extschema@.vector)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ROWS 100 SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	entry pigment.collections;
	key bytea;
	after bigint;
	by_key text := CASE WHEN order_by IS NULL THEN '' ELSE 'pigment._order_key($6, t.id, t.metadata, t.uri), ' END;
BEGIN
	PERFORM pigment._check_filter(where_metadata, where_document);
	entry := pigment.get_collection(collection, tenant, database);
	PERFORM pigment._check_indexed(where_metadata, where_document, entry.schema);
	IF ids IS NOT NULL THEN
		PERFORM pigment._check_ids(ids, 'get');
	END IF;
	PERFORM pigment._require_page(limit_rows, offset_rows);
	PERFORM pigment._order_key(order_by, '', NULL, NULL);
	IF cursor IS NOT NULL THEN
		SELECT p.key, p.ordinal INTO key, after FROM pigment._cursor_place(cursor, entry.id::text, order_by) p;
	END IF;
	PERFORM pigment._check_include(include, '{documents,metadatas,embeddings,uris}');
	RETURN QUERY EXECUTE format('SELECT t.id, %s FROM %s t WHERE %s%s ORDER BY %st.ordinal LIMIT $4 OFFSET $5',
		pigment._columns(include), entry.relation,
		pigment._condition(ids IS NOT NULL, pigment._filters(where_metadata, where_document)),
		CASE WHEN cursor IS NULL THEN '' WHEN order_by IS NULL THEN ' AND t.ordinal > $8'
			ELSE ' AND (' || by_key || 't.ordinal) > ($7, $8)' END, by_key)
		USING ids, where_metadata, where_document, limit_rows, offset_rows, order_by, key, after;
END
$$;
COMMENT ON FUNCTION pigment.get IS
	'records that are in ids and match the filters, by order_by or in insertion order, those behind a cursor where one is given';

CREATE FUNCTION pigment.cursor_behind(collection text, id text, order_by jsonb DEFAULT NULL, tenant text DEFAULT NULL,
	database text DEFAULT NULL) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	entry pigment.collections := pigment.get_collection(collection, tenant, database);
	made text;
BEGIN
	EXECUTE format('SELECT pigment._cursor($1, $2, pigment._order_key($2, t.id, t.metadata, t.uri), t.ordinal) '
		'FROM %s t WHERE t.id = $3', entry.relation) INTO made USING entry.id::text, order_by, id;
	RETURN made;
END
$$;
COMMENT ON FUNCTION pigment.cursor_behind IS
	'a cursor for pigment.get that goes on behind a record; null where there is none with this id';

CREATE FUNCTION pigment.peek(collection text, limit_rows bigint DEFAULT 10, tenant text DEFAULT NULL,
	database text DEFAULT NULL)
RETURNS TABLE (id text, document text, metadata jsonb, uri text, embedding @extschema@.vector)
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 10
BEGIN ATOMIC
	SELECT r.* FROM pigment.get($1, limit_rows => $2, include => '{documents,metadatas,embeddings}', tenant => $3,
		database => $4) r;
END;
COMMENT ON FUNCTION pigment.peek IS 'the first records of a collection, with embeddings';

CREATE FUNCTION pigment.count(collection text, tenant text DEFAULT NULL, database text DEFAULT NULL,
	where_metadata jsonb DEFAULT NULL, where_document jsonb DEFAULT NULL, ids text[] DEFAULT NULL) RETURNS bigint
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	entry pigment.collections;
	counted bigint;
BEGIN
	PERFORM pigment._check_filter(where_metadata, where_document);
	entry := pigment.get_collection(collection, tenant, database);
	PERFORM pigment._check_indexed(where_metadata, where_document, entry.schema);
	PERFORM pigment._check_present(ids, 'ids', '');
	EXECUTE format('SELECT count(*) FROM %s t WHERE %s', entry.relation,
		pigment._condition(ids IS NOT NULL, pigment._filters(where_metadata, where_document)))
		INTO counted USING ids, where_metadata, where_document;
	RETURN counted;
END
$$;
COMMENT ON FUNCTION pigment.count IS 'number of records in a collection that are in ids and match the filters';

-- A value of metadata as facets count it, in the form that all equal ones have. Numbers are those that the engine reads: integers without a point,
-- doubles with one. What it calls is immutable, so that the planner puts its body into the statement (to_jsonb is not).
CREATE FUNCTION pigment._facet_value(value jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT CASE WHEN pg_catalog.jsonb_typeof($1) <> 'number' THEN $1
		WHEN pg_catalog.scale($1::numeric) = 0 AND $1::numeric BETWEEN -9223372036854775808 AND 9223372036854775807 THEN $1
		-- Half of the smallest double and below are 0.
		WHEN pg_catalog.abs($1::numeric) <= 2.4703282292062327e-324 THEN '0'
		WHEN $1::numeric::float8 = pg_catalog.trunc($1::numeric::float8)
			AND $1::numeric::float8 >= -9223372036854775808 AND $1::numeric::float8 < 9223372036854775808
			THEN $1::numeric::float8::bigint::text::jsonb
		WHEN $1::numeric::float8 = pg_catalog.trunc($1::numeric::float8)
			THEN pg_catalog.round($1::numeric::float8::text::numeric, 1)::text::jsonb
		ELSE $1::numeric::float8::text::jsonb END;
END;
COMMENT ON FUNCTION pigment._facet_value IS 'a value of metadata as facets count it';

CREATE FUNCTION pigment._check_facet_keys(keys text[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	most constant integer := 1024; -- facet_keys of the engine's limits
	key text;
	known text[] := '{}';
BEGIN
	IF keys IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'keys of facets must be given, got null';
	END IF;
	PERFORM pigment._check_present(keys, 'keys', '');
	IF cardinality(keys) > most THEN
		RAISE EXCEPTION USING ERRCODE = 'insufficient_resources',
			MESSAGE = format('facets of %s keys (limit facet_keys: %s)', cardinality(keys), most);
	END IF;
	FOREACH key IN ARRAY keys LOOP
		IF key = '' OR left(key, 1) IN ('#', '$') OR key = 'chroma:document' THEN
			RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
				MESSAGE = format('facets: expected a metadata key or chroma:uri, got %s', to_jsonb(key));
		ELSIF key = ANY (known) THEN
			RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
				MESSAGE = format('facets: key %s is there twice', to_jsonb(key));
		END IF;
		known := known || key;
	END LOOP;
END
$$;
COMMENT ON FUNCTION pigment._check_facet_keys IS 'an error unless facets can be counted of these keys';

CREATE FUNCTION pigment.facets(collection text, keys text[], where_metadata jsonb DEFAULT NULL, where_document jsonb DEFAULT NULL,
	ids text[] DEFAULT NULL, limit_values bigint DEFAULT NULL, tenant text DEFAULT NULL, database text DEFAULT NULL)
RETURNS TABLE (key text, value jsonb, count bigint)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ROWS 100 SET search_path = pg_catalog, pg_temp
SET extra_float_digits = 1 -- all digits of doubles
AS $$
DECLARE
	entry pigment.collections;
BEGIN
	PERFORM pigment._check_filter(where_metadata, where_document);
	entry := pigment.get_collection(collection, tenant, database);
	PERFORM pigment._check_indexed(where_metadata, where_document, entry.schema);
	PERFORM pigment._check_present(ids, 'ids', '');
	PERFORM pigment._require_page(limit_values, 0);
	PERFORM pigment._check_facet_keys(keys);
	-- A scalar counts once, a list once for each of its different elements.
	RETURN QUERY EXECUTE format('SELECT f.key, f.value, f.count FROM (SELECT v.number, v.key, v.value, count(*) AS count, '
		'row_number() OVER (PARTITION BY v.number ORDER BY count(*) DESC, '
		-- Bools, then numbers, then texts by their bytes.
		'CASE jsonb_typeof(v.value) WHEN ''boolean'' THEN 0 WHEN ''number'' THEN 1 ELSE 2 END, '
		'CASE WHEN jsonb_typeof(v.value) = ''number'' THEN v.value::numeric END, (v.value #>> ''{}'') COLLATE "C") AS rank '
		'FROM (SELECT r.number, r.key, unnest(CASE jsonb_typeof(r.value) '
		'WHEN ''array'' THEN ARRAY(SELECT DISTINCT pigment._facet_value(e.value) FROM jsonb_array_elements(r.value) e) '
		'ELSE ARRAY[pigment._facet_value(r.value)] END) AS value '
		'FROM (SELECT k.number, k.key, CASE k.key WHEN ''chroma:uri'' THEN to_jsonb(t.uri) ELSE t.metadata -> k.key END AS value '
		'FROM %s t CROSS JOIN unnest($4) WITH ORDINALITY k (key, number) WHERE %s OFFSET 0) r '
		'WHERE jsonb_typeof(r.value) IN (''string'', ''number'', ''boolean'', ''array'')) v '
		'GROUP BY v.number, v.key, v.value) f WHERE $5 IS NULL OR f.rank <= $5 ORDER BY f.number, f.rank', entry.relation,
		pigment._condition(ids IS NOT NULL, pigment._filters(where_metadata, where_document)))
		USING ids, where_metadata, where_document, keys, limit_values;
END
$$;
COMMENT ON FUNCTION pigment.facets IS
	'how many of the records that are in ids and match the filters have each value of the keys, the most frequent first';

-- The statement that answers queries: vectors $4 with numbers $7, of whose records rows_read are read in the index's order and $5 wanted, none farther
-- than $6; see _condition for $1 to $3. How many are read is no parameter, because a plan is made for that many. `open`: rows at the distance of the last one may be missing, because the index was not read further.
CREATE FUNCTION pigment._query_sql(entry pigment.collections, of_zeros boolean, with_ids boolean, with_filter boolean,
	include text[], rows_read bigint) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	columns text := pigment._columns(include);
	condition text := pigment._condition(with_ids, with_filter);
	hits text := format('SELECT t.id, t.ordinal, pigment._distance(%L, t.embedding, q.embedding) AS distance, true AS by_index, %s '
		'FROM %s t WHERE %s%s ORDER BY t.embedding OPERATOR(%s.%s) q.embedding LIMIT %s',
		entry.space, columns, entry.relation, condition,
		-- The index gives them last, the space says that their distance is 1: they are looked up apart.
		CASE entry.space WHEN 'cosine' THEN ' AND NOT pigment._is_zero(t.embedding)' ELSE '' END, '@extschema@',
		CASE entry.space WHEN 'l2' THEN '<->' WHEN 'cosine' THEN '<=>' ELSE '<#>' END, rows_read);
	zeros text := format('SELECT t.id, t.ordinal, 1::real AS distance, false AS by_index, %s FROM %s t WHERE %s%s '
		'ORDER BY t.ordinal LIMIT $5', columns, entry.relation, condition,
		-- To a vector of zeros everything is equally far.
		CASE WHEN of_zeros THEN '' ELSE ' AND pigment._is_zero(t.embedding)' END);
BEGIN
	IF of_zeros THEN
		hits := zeros;
	ELSIF entry.space = 'cosine' THEN
		hits := format('(%s) UNION ALL (%s)', hits, zeros);
	END IF;
	RETURN format('SELECT r.rank, r.id, r.distance, r.document, r.metadata, r.uri, r.embedding, '
		'r.rows >= %s AND max(r.distance) OVER (PARTITION BY r.number) >= r.furthest AS open, r.number '
		'FROM (SELECT q.number, h.* FROM unnest($4, $7) q (embedding, number), LATERAL (SELECT hits.*, '
		'row_number() OVER (ORDER BY hits.distance, hits.ordinal) AS rank, count(*) FILTER (WHERE hits.by_index) OVER () AS rows, '
		'max(hits.distance) FILTER (WHERE hits.by_index) OVER () AS furthest FROM (%s) hits) h) r '
		'WHERE r.rank <= $5 AND ($6 IS NULL OR r.distance <= $6)', rows_read, hits);
END
$$;
COMMENT ON FUNCTION pigment._query_sql IS 'the statement that answers queries';

-- The row of a statement that reads `relation`, which is parsed once in a session and, unless it plans anew, planned once for each size of it.
CREATE FUNCTION pigment._run_kept(statement text, relation regclass, plans_anew boolean, ids text[], where_metadata jsonb, where_document jsonb,
	queries @extschema@.vector[], n_results bigint, max_distance double precision, numbers integer[], OUT found pigment._hit[], OUT open integer[])
	AS 'MODULE_PATHNAME', 'pigment_pg_run_kept' LANGUAGE C STABLE PARALLEL UNSAFE;
COMMENT ON FUNCTION pigment._run_kept IS 'the row of a statement whose plan is kept';

-- The hits of some queries, in no order.
CREATE FUNCTION pigment._hits(entry pigment.collections, of_zeros boolean, queries @extschema@.vector[], numbers integer[],
	n_results bigint, where_metadata jsonb, where_document jsonb, ids text[], include text[], max_distance double precision)
RETURNS pigment._hit[]
LANGUAGE plpgsql STABLE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	with_filter boolean := pigment._filters(where_metadata, where_document);
	rows_read bigint := n_results + 1;
	open integer[];
	found pigment._hit[];
	hits pigment._hit[];
BEGIN
	LOOP
		SELECT k.found, k.open INTO found, open FROM pigment._run_kept(format('SELECT array_agg(h.*::pigment._hit) FILTER (WHERE NOT h.open), '
			'array_agg(DISTINCT h.number) FILTER (WHERE h.open) FROM (%s) h',
			pigment._query_sql(entry, of_zeros, ids IS NOT NULL, with_filter, include, rows_read)), entry.relation, ids IS NOT NULL OR with_filter,
			ids, where_metadata, where_document, queries, n_results, max_distance, numbers) k;
		hits := hits || found;
		EXIT WHEN open IS NULL;
		-- Ties at the end: read on until a row lies further away, so that insertion order decides.
		rows_read := rows_read * 2;
		SELECT array_agg(q.embedding), array_agg(q.number) INTO queries, numbers
			FROM unnest(queries, numbers) q (embedding, number) WHERE q.number = ANY (open);
	END LOOP;
	RETURN hits;
END
$$;
COMMENT ON FUNCTION pigment._hits IS 'hits of queries with numbers';

CREATE FUNCTION pigment.query(collection text, query_embeddings @extschema@.vector[] DEFAULT NULL,
	n_results bigint DEFAULT 10, where_metadata jsonb DEFAULT NULL, where_document jsonb DEFAULT NULL,
	ids text[] DEFAULT NULL, include text[] DEFAULT '{documents,metadatas,distances}', query_texts text[] DEFAULT NULL,
	tenant text DEFAULT NULL, database text DEFAULT NULL, max_distance double precision DEFAULT NULL)
RETURNS TABLE (query_index integer, rank bigint, id text, distance real, document text, metadata jsonb, uri text,
	embedding @extschema@.vector)
LANGUAGE plpgsql STABLE PARALLEL UNSAFE ROWS 10 SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	entry pigment.collections;
	batch constant integer := 100; -- queries that one statement answers, whose hits are in memory
	last integer;
	of_zeros boolean;
	queries @extschema@.vector[];
	numbers integer[];
	hits pigment._hit[];
BEGIN
	PERFORM pigment._check_filter(where_metadata, where_document);
	entry := pigment.get_collection(collection, tenant, database);
	PERFORM pigment._check_embeddings(query_embeddings, 'query_embeddings', entry.name, entry.dimension);
	PERFORM pigment._check_indexed(where_metadata, where_document, entry.schema);
	PERFORM pigment._check_present(ids, 'ids', '');
	IF n_results > 0 IS NOT TRUE THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('number of requested results must be positive, got %s', COALESCE(n_results::text, 'null'));
	END IF;
	IF max_distance = 'NaN' THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = 'max_distance must not be NaN';
	END IF;
	PERFORM pigment._check_include(include, '{documents,metadatas,embeddings,uris,distances}');
	IF query_embeddings IS NULL THEN
		query_embeddings := pigment._embed_query(entry, query_texts);
	ELSIF cardinality(query_embeddings) = 0 THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'expected embeddings to be a non-empty list, got 0 rows';
	END IF;

	IF entry.dimension IS NULL AND has_column_privilege(entry.relation, 'embedding', 'SELECT') THEN
		RETURN; -- there is no record yet
	END IF;

	n_results := LEAST(n_results, 1000000000000); -- room to read on within bigint
	FOR start IN 1 .. cardinality(query_embeddings) BY batch LOOP
		last := LEAST(start + batch - 1, cardinality(query_embeddings));
		hits := NULL;
		-- A vector of zeros is a question of its own to cosine.
		FOR of_zeros, queries, numbers IN SELECT entry.space = 'cosine' AND pigment._is_zero(q.embedding), array_agg(q.embedding),
				array_agg(q.number::integer)
			FROM unnest(query_embeddings) WITH ORDINALITY q (embedding, number) WHERE q.number BETWEEN start AND last GROUP BY 1
		LOOP
			hits := hits || pigment._hits(entry, of_zeros, queries, numbers, n_results, where_metadata, where_document, ids, include,
				max_distance);
		END LOOP;
		RETURN QUERY SELECT h.number, h.rank, h.id, CASE WHEN 'distances' = ANY (include) THEN h.distance END,
			h.document, h.metadata, h.uri, h.embedding FROM unnest(hits) h ORDER BY h.number, h.rank;
	END LOOP;
END
$$;
COMMENT ON FUNCTION pigment.query(text, @extschema@.vector[], bigint, jsonb, jsonb, text[], text[], text[], text, text,
	double precision) IS
	'for each query the nearest records, ascending by distance, ties in insertion order; none that is farther than max_distance';

CREATE FUNCTION pigment.query(collection text, query_embedding @extschema@.vector, n_results bigint DEFAULT 10,
	where_metadata jsonb DEFAULT NULL, where_document jsonb DEFAULT NULL, ids text[] DEFAULT NULL,
	include text[] DEFAULT '{documents,metadatas,distances}', tenant text DEFAULT NULL, database text DEFAULT NULL,
	max_distance double precision DEFAULT NULL)
RETURNS TABLE (query_index integer, rank bigint, id text, distance real, document text, metadata jsonb, uri text,
	embedding @extschema@.vector)
LANGUAGE sql STABLE PARALLEL RESTRICTED ROWS 10
BEGIN ATOMIC
	SELECT r.* FROM pigment.query($1, ARRAY[$2], $3, $4, $5, $6, $7, NULL::text[], $8, $9, $10) r;
END;
COMMENT ON FUNCTION pigment.query(text, @extschema@.vector, bigint, jsonb, jsonb, text[], text[], text, text,
	double precision) IS
	'the records nearest to one vector';



COMMENT ON ACCESS METHOD pigment IS 'nearest neighbours of a vector, in order of distance, among the rows that match conditions';

-- ---- Ranked text --------------------------------------------------------------------------------------------------

CREATE TYPE pigment._ranked_hit AS (rank bigint, id text, score real, document text, metadata jsonb, uri text,
	embedding @extschema@.vector);
COMMENT ON TYPE pigment._ranked_hit IS 'a record that pigment.search_text gives';

CREATE FUNCTION pigment._ranked_hits(entry pigment.collections, query @extschema@.bm25query, n_results bigint, where_metadata jsonb,
	where_document jsonb, ids text[], include text[]) RETURNS pigment._ranked_hit[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	-- $5 records are read in the index's order and $6 wanted; see _condition for $1 to $3. A score is the library's, in single precision, so records that
	-- an index tells apart may have one. `open`: some that score as the last one may not have been read.
	statement text := format('SELECT array_agg((h.rank, h.id, h.score, h.document, h.metadata, h.uri, h.embedding)::pigment._ranked_hit), bool_or(h.open) '
		'FROM (SELECT r.*, r.rows >= $5 AND min(r.score) OVER () <= r.least AS open FROM (SELECT hits.*, '
		'row_number() OVER (ORDER BY hits.score DESC, hits.ordinal) AS rank, count(*) OVER () AS rows, min(hits.score) OVER () AS least '
		'FROM (SELECT t.id, t.ordinal, COALESCE((-(t.document OPERATOR(%1$s.<@>) $4))::real, 0) AS score, %2$s '
		'FROM %3$s t WHERE %4$s ORDER BY t.document OPERATOR(%1$s.<@>) $4 LIMIT $5) hits) r WHERE r.rank <= $6 AND r.score > 0) h',
		'@extschema@', pigment._columns(include), entry.relation,
		pigment._condition(ids IS NOT NULL, pigment._filters(where_metadata, where_document)));
	rows_read bigint := n_results + 1;
	hits pigment._ranked_hit[];
	open boolean;
BEGIN
	LOOP
		EXECUTE statement INTO hits, open USING ids, where_metadata, where_document, query, rows_read, n_results;
		EXIT WHEN open IS NOT TRUE;
		-- Ties at the end: read on until a record scores less, so that insertion order decides.
		rows_read := rows_read * 2;
	END LOOP;
	RETURN hits;
END
$$;
COMMENT ON FUNCTION pigment._ranked_hits IS 'the records that score most for a query, in no order';

CREATE FUNCTION pigment.search_text(collection text, queries text[], n_results bigint DEFAULT 10, where_metadata jsonb DEFAULT NULL,
	where_document jsonb DEFAULT NULL, ids text[] DEFAULT NULL, include text[] DEFAULT '{documents,metadatas}', operator text DEFAULT 'any',
	tenant text DEFAULT NULL, database text DEFAULT NULL)
RETURNS TABLE (query_index integer, rank bigint, id text, score real, document text, metadata jsonb, uri text,
	embedding @extschema@.vector)
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED ROWS 10 SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	entry pigment.collections;
	index regclass;
	asked @extschema@.bm25query[];
BEGIN
	PERFORM pigment._check_filter(where_metadata, where_document);
	entry := pigment.get_collection(collection, tenant, database);
	IF COALESCE(cardinality(queries), 0) = 0 THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'expected queries to be a non-empty list, got 0 texts';
	END IF;
	PERFORM pigment._check_present(queries, 'queries', '');
	PERFORM pigment._check_present(ids, 'ids', '');
	IF n_results > 0 IS NOT TRUE THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('number of requested results must be positive, got %s', COALESCE(n_results::text, 'null'));
	END IF;
	IF operator IN ('any', 'all') IS NOT TRUE THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('operator takes any or all, got %s', COALESCE('"' || operator || '"', 'null'));
	END IF;
	PERFORM pigment._check_include(include, '{documents,metadatas,embeddings,uris}');
	index := pigment._ranking_index(entry);
	asked := ARRAY(SELECT @extschema@.to_bm25query(index, q.query, operator) FROM unnest(queries) WITH ORDINALITY q (query, number)
		ORDER BY q.number);
	PERFORM pigment._check_bm25query(q) FROM unnest(asked) q;
	PERFORM pigment._check_indexed(where_metadata, where_document, entry.schema);
	n_results := LEAST(n_results, 1000000000000); -- room to read on within bigint
	FOR number IN 1 .. cardinality(asked) LOOP
		RETURN QUERY SELECT number, h.* FROM unnest(pigment._ranked_hits(entry, asked[number], n_results, where_metadata, where_document, ids,
			include)) h ORDER BY h.rank;
	END LOOP;
END
$$;
COMMENT ON FUNCTION pigment.search_text IS
	'for each query the records whose documents have its words, by BM25, the highest score first, ties in insertion order; docs/text-search.md';
