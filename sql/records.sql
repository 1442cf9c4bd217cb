-- SPDX-License-Identifier: Apache-2.0
--
-- Collections, part 3: writing and reading records. The filter grammar is the engine's (pigment.matches); ranking is
-- ORDER BY on the operator of the collection's space, so that the table's index serves it.
--
-- What is wrong is reported in one order, the library's: where, where_document, collection, dimension, then the rest.

-- ---- Filters ------------------------------------------------------------------------------------------------------

CREATE FUNCTION pigment.matches(where_metadata jsonb, where_document jsonb, id text, document text, metadata jsonb,
	uri text DEFAULT NULL) RETURNS boolean
LANGUAGE c IMMUTABLE PARALLEL SAFE COST 100 SUPPORT pigment._matches_support AS 'MODULE_PATHNAME', 'pigment_pg_matches';
COMMENT ON FUNCTION pigment.matches IS 'does a record match a filter in the grammar of where and where_document';

CREATE FUNCTION pigment._check_filter(where_metadata jsonb, where_document jsonb) RETURNS void
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_check_filter';
COMMENT ON FUNCTION pigment._check_filter IS 'an error unless both are filters, or absent';

CREATE FUNCTION pigment._check_indexed(where_metadata jsonb, where_document jsonb, schema jsonb) RETURNS void
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_check_indexed';
COMMENT ON FUNCTION pigment._check_indexed IS 'an error where filters ask for what a schema has disabled';

CREATE FUNCTION pigment._check_ids(ids text[], operation text) RETURNS void
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_check_ids';
COMMENT ON FUNCTION pigment._check_ids IS 'an error unless ids are present, not empty and unique';

-- ---- Embedding functions ------------------------------------------------------------------------------------------

CREATE FUNCTION pigment.embed_lexical(content text, dimension integer DEFAULT 384) RETURNS @extschema@.vector
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 1000 AS 'MODULE_PATHNAME', 'pigment_pg_embed_lexical';
COMMENT ON FUNCTION pigment.embed_lexical IS
	'built-in lexical embedding pigment_lexical_v1: hashed words and character n-grams; a baseline that needs no model';

CREATE FUNCTION pigment.lexical_v1(texts text[], purpose text) RETURNS @extschema@.vector[]
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT pg_catalog.array_agg(pigment.embed_lexical(t.content) ORDER BY t.place)
	FROM pg_catalog.unnest($1) WITH ORDINALITY AS t (content, place);
END;
COMMENT ON FUNCTION pigment.lexical_v1 IS 'pigment_lexical_v1 in 384 dimensions as the embedding function of a collection';

CREATE FUNCTION pigment._call_embedding_function(collection uuid, texts text[], purpose text)
RETURNS @extschema@.vector[]
LANGUAGE c VOLATILE PARALLEL UNSAFE STRICT AS 'MODULE_PATHNAME', 'pigment_pg_call_embedding_function';
COMMENT ON FUNCTION pigment._call_embedding_function IS
	'calls the function of a collection with the rights of its owner, and checks what it returns';

CREATE FUNCTION pigment._embed(entry pigment.collections, texts text[], purpose text) RETURNS @extschema@.vector[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	embeddings @extschema@.vector[];
	got integer;
BEGIN
	IF entry.embedding_function IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'object_not_in_prerequisite_state',
			MESSAGE = format('collection "%s" has no embedding function, and texts were given', entry.name),
			HINT = 'give embeddings';
	END IF;
	embeddings := pigment._call_embedding_function(entry.id, texts, purpose);
	got := @extschema@.vector_dims(embeddings[array_lower(embeddings, 1)]);
	IF got <> entry.dimension THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('embedding function "%s" returned dimension %s, collection "%s" has %s',
				entry.embedding_function, got, entry.name, entry.dimension);
	END IF;
	RETURN embeddings;
END
$$;
COMMENT ON FUNCTION pigment._embed IS 'texts through the embedding function of a collection';

-- ---- Checks -------------------------------------------------------------------------------------------------------

CREATE FUNCTION pigment._check_embeddings(embeddings @extschema@.vector[], what text, collection text, dimension integer)
RETURNS integer
LANGUAGE c IMMUTABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_check_embeddings';
COMMENT ON FUNCTION pigment._check_embeddings IS 'the one dimension of the vectors, which is that of the collection';

CREATE FUNCTION pigment._check_length(ids text[], what text, length integer, shape integer) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF shape > 1 THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('%s must be a one-dimensional array', what);
	ELSIF length <> cardinality(ids) THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('unequal lengths for fields: ids: %s, %s: %s', cardinality(ids), what, length);
	END IF;
END
$$;
COMMENT ON FUNCTION pigment._check_length IS 'an error unless a column is as long as ids';

CREATE FUNCTION pigment._check_present(texts text[], what text, hint text) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	missing bigint := array_position(texts, NULL) - array_lower(texts, 1) + 1;
BEGIN
	IF missing IS NOT NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value', MESSAGE = format('%s[%s] is null', what, missing),
			HINT = COALESCE(hint, '');
	END IF;
END
$$;
COMMENT ON FUNCTION pigment._check_present IS 'an error unless every text is there';

-- Checks a batch and gives back its vectors, made from the documents where none were given.
CREATE FUNCTION pigment._prepare(operation text, entry pigment.collections, ids text[],
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
COMMENT ON FUNCTION pigment._prepare IS 'checks a batch and gives back its vectors';

-- The first record fixes the dimension, in the same transaction.
CREATE FUNCTION pigment._fix_dimension(entry pigment.collections, embeddings @extschema@.vector[]) RETURNS void
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	wanted integer := @extschema@.vector_dims(embeddings[array_lower(embeddings, 1)]);
	stored integer;
BEGIN
	SELECT c.dimension INTO stored FROM pigment.collections c WHERE c.id = entry.id;
	IF stored IS NULL THEN
		UPDATE pigment.collections c SET dimension = wanted WHERE c.id = entry.id AND c.dimension IS NULL;
		SELECT c.dimension INTO stored FROM pigment.collections c WHERE c.id = entry.id;
	END IF;
	IF stored <> wanted THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = format('dimension mismatch: collection "%s" has %s, got %s', entry.name, stored, wanted);
	END IF;
END
$$;
COMMENT ON FUNCTION pigment._fix_dimension IS 'stores the dimension of a collection with its first records';

CREATE FUNCTION pigment._stored_metadata(metadata jsonb) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT NULLIF(NULLIF(pg_catalog.jsonb_strip_nulls($1), 'null'::jsonb), '{}'::jsonb);
END;
COMMENT ON FUNCTION pigment._stored_metadata IS 'metadata as it is stored: without null values, absent when empty';

-- ---- Writing ------------------------------------------------------------------------------------------------------

CREATE FUNCTION pigment.add(collection text, ids text[], embeddings @extschema@.vector[] DEFAULT NULL,
	documents text[] DEFAULT NULL, metadatas jsonb[] DEFAULT NULL, uris text[] DEFAULT NULL,
	tenant text DEFAULT NULL, database text DEFAULT NULL, OUT inserted bigint, OUT skipped bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	entry pigment.collections := pigment.get_collection(collection, tenant, database);
BEGIN
	embeddings := pigment._prepare('add', entry, ids, embeddings, documents, metadatas, uris);
	PERFORM pigment._fix_dimension(entry, embeddings);
	EXECUTE format('INSERT INTO %s (id, embedding, document, metadata, uri) '
		'SELECT r.id, r.embedding, r.document, pigment._stored_metadata(r.metadata), r.uri '
		'FROM unnest($1, $2, $3, $4, $5) WITH ORDINALITY r (id, embedding, document, metadata, uri, place) '
		'ORDER BY r.place ON CONFLICT (id) DO NOTHING', entry.relation)
		USING ids, embeddings, documents, metadatas, uris;
	GET DIAGNOSTICS inserted = ROW_COUNT;
	skipped := cardinality(ids) - inserted;
END
$$;
COMMENT ON FUNCTION pigment.add IS 'inserts records; those whose id exists are left as they are';

CREATE FUNCTION pigment.update(collection text, ids text[], embeddings @extschema@.vector[] DEFAULT NULL,
	documents text[] DEFAULT NULL, metadatas jsonb[] DEFAULT NULL, uris text[] DEFAULT NULL,
	tenant text DEFAULT NULL, database text DEFAULT NULL, OUT updated bigint, OUT skipped bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	entry pigment.collections := pigment.get_collection(collection, tenant, database);
	changes text[] := '{}';
BEGIN
	embeddings := pigment._prepare('update', entry, ids, embeddings, documents, metadatas, uris);
	-- Only what is given is set, so that the index hears of no update that leaves the vector alone.
	changes := changes || CASE WHEN embeddings IS NOT NULL THEN 'embedding = r.embedding' END;
	changes := changes || CASE WHEN documents IS NOT NULL THEN 'document = COALESCE(r.document, t.document)' END;
	changes := changes || CASE WHEN metadatas IS NOT NULL THEN 'metadata = CASE WHEN jsonb_typeof(r.metadata) = ''object'' '
		'THEN pigment._stored_metadata(COALESCE(t.metadata, ''{}'') || r.metadata) ELSE t.metadata END' END;
	changes := changes || CASE WHEN uris IS NOT NULL THEN 'uri = COALESCE(r.uri, t.uri)' END;
	changes := COALESCE(NULLIF(array_remove(changes, NULL), '{}'), '{id = t.id}');
	EXECUTE format('UPDATE %s t SET %s FROM unnest($1, $2, $3, $4, $5) r (id, embedding, document, metadata, uri) '
		'WHERE t.id = r.id', entry.relation, array_to_string(changes, ', '))
		USING ids, embeddings, documents, metadatas, uris;
	GET DIAGNOSTICS updated = ROW_COUNT;
	skipped := cardinality(ids) - updated;
END
$$;
COMMENT ON FUNCTION pigment.update IS
	'changes records; ids that do not exist are skipped; metadata merges by key, and a null value deletes its key';

CREATE FUNCTION pigment.upsert(collection text, ids text[], embeddings @extschema@.vector[] DEFAULT NULL,
	documents text[] DEFAULT NULL, metadatas jsonb[] DEFAULT NULL, uris text[] DEFAULT NULL,
	tenant text DEFAULT NULL, database text DEFAULT NULL, OUT inserted bigint, OUT updated bigint)
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	entry pigment.collections := pigment.get_collection(collection, tenant, database);
	merges jsonb;
BEGIN
	embeddings := pigment._prepare('upsert', entry, ids, embeddings, documents, metadatas, uris);
	PERFORM pigment._fix_dimension(entry, embeddings);
	-- The row proposed for insertion carries metadata as it would be stored; a merge needs the nulls too.
	SELECT jsonb_object_agg(r.id, r.metadata) INTO merges FROM unnest(ids, metadatas) r (id, metadata)
		WHERE jsonb_typeof(r.metadata) = 'object';
	EXECUTE format('WITH written AS (INSERT INTO %s AS t (id, embedding, document, metadata, uri) '
		'SELECT r.id, r.embedding, r.document, pigment._stored_metadata(r.metadata), r.uri '
		'FROM unnest($1, $2, $3, $4, $5) WITH ORDINALITY r (id, embedding, document, metadata, uri, place) '
		'ORDER BY r.place ON CONFLICT (id) DO UPDATE SET embedding = excluded.embedding, '
		'document = COALESCE(excluded.document, t.document), '
		'metadata = CASE WHEN $6 ? excluded.id '
		'THEN pigment._stored_metadata(COALESCE(t.metadata, ''{}'') || ($6 -> excluded.id)) ELSE t.metadata END, '
		'uri = COALESCE(excluded.uri, t.uri) RETURNING t.xmax = ''0'' AS fresh) '
		'SELECT count(*) FILTER (WHERE fresh), count(*) FILTER (WHERE NOT fresh) FROM written', entry.relation)
		INTO inserted, updated USING ids, embeddings, documents, metadatas, uris, merges;
END
$$;
COMMENT ON FUNCTION pigment.upsert IS 'inserts records whose id is new and updates the others, which keep their place';

-- The condition of a record to be in ids ($1, when given) and to match the filters ($2, $3, when given).
CREATE FUNCTION pigment._condition(with_ids boolean, with_filter boolean) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT pg_catalog.concat_ws(' AND ', CASE WHEN $1 THEN 't.id = ANY ($1)' END,
		CASE WHEN $2 THEN 'pigment.matches($2, $3, t.id, t.document, t.metadata, t.uri)' END,
		CASE WHEN NOT $1 AND NOT $2 THEN 'true' END);
END;
COMMENT ON FUNCTION pigment._condition IS 'WHERE clause of get, query and delete; parameters $1 ids, $2 where, $3 where_document';

-- Is there anything in these filters?
CREATE FUNCTION pigment._filters(where_metadata jsonb, where_document jsonb) RETURNS boolean
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT NULLIF($1, 'null'::jsonb) IS NOT NULL OR NULLIF($2, 'null'::jsonb) IS NOT NULL;
END;
COMMENT ON FUNCTION pigment._filters IS 'is a filter given';

CREATE FUNCTION pigment.delete(collection text, ids text[] DEFAULT NULL, where_metadata jsonb DEFAULT NULL,
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
COMMENT ON FUNCTION pigment.delete IS 'deletes the records that are in ids and match the filters; how many there were';

-- ---- Reading ------------------------------------------------------------------------------------------------------

CREATE FUNCTION pigment._check_include(include text[], allowed text[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	word text;
BEGIN
	FOREACH word IN ARRAY COALESCE(include, '{}') LOOP
		IF word = ANY (allowed) IS NOT TRUE THEN
			RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
				MESSAGE = format('include takes %s, got %s', array_to_string(allowed, ', '), COALESCE('"' || word || '"', 'null'));
		END IF;
	END LOOP;
END
$$;
COMMENT ON FUNCTION pigment._check_include IS 'an error unless every word of include is allowed';

-- document, metadata, uri and embedding of t, or NULL for what is not included.
CREATE FUNCTION pigment._columns(include text[]) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
	SELECT pg_catalog.concat_ws(', ',
		CASE WHEN 'documents' = ANY ($1) THEN 't.document' ELSE 'NULL::text AS document' END,
		CASE WHEN 'metadatas' = ANY ($1) THEN 't.metadata' ELSE 'NULL::jsonb AS metadata' END,
		CASE WHEN 'uris' = ANY ($1) THEN 't.uri' ELSE 'NULL::text AS uri' END,
		CASE WHEN 'embeddings' = ANY ($1) THEN 't.embedding' ELSE 'NULL::@extschema@.vector AS embedding' END);
END;
COMMENT ON FUNCTION pigment._columns IS 'the columns of a record that include asks for';

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

-- ---- Querying -----------------------------------------------------------------------------------------------------

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

CREATE TYPE pigment._hit AS (rank bigint, id text, distance real, document text, metadata jsonb, uri text,
	embedding @extschema@.vector, open boolean, number integer);
COMMENT ON TYPE pigment._hit IS 'a row of pigment._query_sql';

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

CREATE FUNCTION pigment._embed_query(entry pigment.collections, texts text[]) RETURNS @extschema@.vector[]
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
	IF texts IS NULL THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'at least one of embeddings or texts must be provided';
	ELSIF cardinality(texts) = 0 THEN
		RAISE EXCEPTION USING ERRCODE = 'invalid_parameter_value',
			MESSAGE = 'expected texts to be a non-empty list, got 0 texts';
	END IF;
	PERFORM pigment._check_present(texts, 'query_texts', '');
	RETURN pigment._embed(entry, texts, 'query');
END
$$;
COMMENT ON FUNCTION pigment._embed_query IS 'the vectors of the texts of a query';

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
