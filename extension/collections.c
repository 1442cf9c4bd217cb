/* SPDX-License-Identifier: Apache-2.0 */

/*
 * collections.c
 *	  What SQL collections (sql/catalog.sql, collections.sql, records.sql) need of the engine: its checks of names,
 *	  ids, metadata and configurations, the filter, and the distances of collections.
 *
 * JSON crosses as text. Every error is the engine's, with its code and message.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "compat.h"
#include "fmgr.h"
#include "funcapi.h"
#include "utils/array.h"
#include "utils/arrayaccess.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/jsonb.h"
#include "utils/memutils.h"

#include "collections.h"
#include "engine_error.h"
#include "vector.h"

/* Read through current_setting(), so that the values live with the settings. */
static char *session_tenant = NULL;
static char *session_database = NULL;

void
pig_register_session_defaults(void)
{
	DefineCustomStringVariable("pigment.tenant",
							   "Tenant in which collections are looked up when a call names none.",
							   "Empty: default_tenant.",
							   &session_tenant, "", PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomStringVariable("pigment.database",
							   "Database in which collections are looked up when a call names none.",
							   "Empty: default_database.",
							   &session_database, "", PGC_USERSET, 0, NULL, NULL, NULL);
}

typedef struct Text
{
	const char *bytes;			/* NULL: absent */
	size_t		size;
} Text;

static Text
text_argument(FunctionCallInfo fcinfo, int number)
{
	Text		result = {NULL, 0};

	if (!PG_ARGISNULL(number))
	{
		text	   *value = PG_GETARG_TEXT_PP(number);

		result.bytes = VARDATA_ANY(value);
		result.size = VARSIZE_ANY_EXHDR(value);
	}
	return result;
}

/* As text; absent when NULL. */
static Text
jsonb_argument(FunctionCallInfo fcinfo, int number)
{
	Text		result = {NULL, 0};

	if (!PG_ARGISNULL(number))
	{
		Jsonb	   *value = PG_GETARG_JSONB_P(number);
		StringInfoData json;

		initStringInfo(&json);
		JsonbToCString(&json, &value->root, VARSIZE(value));
		result.bytes = json.data;
		result.size = json.len;
	}
	return result;
}

/* A document of the engine's as jsonb; the buffer is freed, also when it is not JSON to the server. */
static Datum
jsonb_result(pigment_buffer *buffer)
{
	size_t		size;
	const char *json = pigment_buffer_data(buffer, &size);
	char	   *copy = pnstrdup(json, size);

	pigment_buffer_free(buffer);
	return DirectFunctionCall1(jsonb_in, CStringGetDatum(copy));
}

/* ---- Checks ------------------------------------------------------------------------------------------------------ */

PG_FUNCTION_INFO_V1(pigment_pg_check_name);
Datum
pigment_pg_check_name(PG_FUNCTION_ARGS)
{
	char	   *kind = text_to_cstring(PG_GETARG_TEXT_PP(0));
	Text		name = text_argument(fcinfo, 1);
	pigment_error *error = NULL;

	if (strcmp(kind, "collection") == 0)
		pig_check(pigment_check_collection_name(name.bytes, name.size, &error), &error);
	else if (strcmp(kind, "database") == 0)
		pig_check(pigment_check_database_name(name.bytes, name.size, &error), &error);
	else if (strcmp(kind, "tenant") == 0)
		pig_check(pigment_check_tenant_name(name.bytes, name.size, &error), &error);
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("unknown kind of name \"%s\"", kind)));
	PG_RETURN_VOID();
}

PG_FUNCTION_INFO_V1(pigment_pg_check_metadata);
Datum
pigment_pg_check_metadata(PG_FUNCTION_ARGS)
{
	Text		metadata = jsonb_argument(fcinfo, 0);
	pigment_error *error = NULL;

	pig_check(pigment_check_metadata(metadata.bytes, metadata.size, PG_GETARG_INT32(1), &error), &error);
	PG_RETURN_BOOL(true);
}

/* A row of the function's result type, whose columns are all there. */
static Datum
row_result(FunctionCallInfo fcinfo, Datum *values)
{
	TupleDesc	row;
	bool		nulls[8] = {false};

	if (get_call_result_type(fcinfo, NULL, &row) != TYPEFUNC_COMPOSITE || row->natts > (int) lengthof(nulls))
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(row), values, nulls));
}

static Datum
space_name(int32_t metric)
{
	return CStringGetTextDatum(metric == PIGMENT_METRIC_COSINE ? "cosine" : metric == PIGMENT_METRIC_IP ? "ip" : "l2");
}

PG_FUNCTION_INFO_V1(pigment_pg_check_configuration);
Datum
pigment_pg_check_configuration(PG_FUNCTION_ARGS)
{
	Text		configuration = jsonb_argument(fcinfo, 0);
	Text		metadata = jsonb_argument(fcinfo, 1);
	Text		preferred = text_argument(fcinfo, 2);
	pigment_buffer *normalized = NULL;
	pigment_error *error = NULL;
	int32_t		metric = 0;
	Datum		values[2];

	pig_check(pigment_check_configuration(configuration.bytes, configuration.size, metadata.bytes, metadata.size,
										  preferred.bytes, preferred.size, &normalized, &metric, &error), &error);
	values[0] = jsonb_result(normalized);
	values[1] = space_name(metric);
	return row_result(fcinfo, values);
}

PG_FUNCTION_INFO_V1(pigment_pg_check_schema);
Datum
pigment_pg_check_schema(PG_FUNCTION_ARGS)
{
	Text		schema = jsonb_argument(fcinfo, 0);
	Text		metadata = jsonb_argument(fcinfo, 1);
	Text		preferred = text_argument(fcinfo, 2);
	pigment_buffer *normalized = NULL;
	pigment_buffer *configuration = NULL;
	pigment_error *error = NULL;
	int32_t		metric = 0;
	Datum		values[3];

	pig_check(pigment_check_schema(schema.bytes, schema.size, metadata.bytes, metadata.size, preferred.bytes,
								   preferred.size, &normalized, &configuration, &metric, &error), &error);
	values[0] = jsonb_result(normalized);
	values[1] = jsonb_result(configuration);
	values[2] = space_name(metric);
	return row_result(fcinfo, values);
}

PG_FUNCTION_INFO_V1(pigment_pg_check_configuration_update);
Datum
pigment_pg_check_configuration_update(PG_FUNCTION_ARGS)
{
	Text		current = jsonb_argument(fcinfo, 0);
	Text		change = jsonb_argument(fcinfo, 1);
	pigment_buffer *normalized = NULL;
	pigment_error *error = NULL;

	pig_check(pigment_check_configuration_update(current.bytes, current.size, change.bytes, change.size, &normalized,
												 &error), &error);
	PG_RETURN_DATUM(jsonb_result(normalized));
}

PG_FUNCTION_INFO_V1(pigment_pg_check_ids);
Datum
pigment_pg_check_ids(PG_FUNCTION_ARGS)
{
	Text		operation = text_argument(fcinfo, 1);
	Datum	   *values = NULL;
	bool	   *nulls = NULL;
	int			count = 0;
	int64_t    *offsets;
	StringInfoData bytes;
	pigment_text_column column = {0};
	pigment_error *error = NULL;

	if (!PG_ARGISNULL(0))
	{
		ArrayType  *ids = PG_GETARG_ARRAYTYPE_P(0);

		if (ARR_NDIM(ids) > 1)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("ids must be a one-dimensional array")));
		deconstruct_array(ids, TEXTOID, -1, false, TYPALIGN_INT, &values, &nulls, &count);
	}
	offsets = palloc(sizeof(int64_t) * ((size_t) count + 1));
	offsets[0] = 0;
	initStringInfo(&bytes);
	for (int row = 0; row < count; row++)
	{
		if (nulls[row])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("ids[%d] is null", row + 1)));
		appendBinaryStringInfo(&bytes, VARDATA_ANY(DatumGetPointer(values[row])),
							   VARSIZE_ANY_EXHDR(DatumGetPointer(values[row])));
		offsets[row + 1] = bytes.len;
	}
	column.offsets = offsets;
	column.bytes = bytes.data;
	pig_check(pigment_check_ids((size_t) count, &column, operation.bytes, operation.size, &error), &error);
	PG_RETURN_VOID();
}

/* check_embeddings(embeddings, what, collection, dimension): the one dimension of the vectors, which is the collection's where it has one */
PG_FUNCTION_INFO_V1(pigment_pg_check_embeddings);
Datum
pigment_pg_check_embeddings(PG_FUNCTION_ARGS)
{
	char	   *what = PG_ARGISNULL(1) ? "embeddings" : text_to_cstring(PG_GETARG_TEXT_PP(1));
	char	   *collection = PG_ARGISNULL(2) ? "" : text_to_cstring(PG_GETARG_TEXT_PP(2));
	int			expected = PG_ARGISNULL(3) ? 0 : PG_GETARG_INT32(3);
	AnyArrayType *embeddings;
	array_iter	iterator;
	int			count;

	if (PG_ARGISNULL(0))
		PG_RETURN_DATUM(PG_ARGISNULL(3) ? (fcinfo->isnull = true, (Datum) 0) : PG_GETARG_DATUM(3));
	/* as it is, so that nothing of it is copied */
	embeddings = PG_GETARG_ANY_ARRAY_P(0);
	if (AARR_NDIM(embeddings) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s must be a one-dimensional array", what)));
	count = ArrayGetNItems(AARR_NDIM(embeddings), AARR_DIMS(embeddings));
	array_iter_setup(&iterator, embeddings);
	for (int i = 0; i < count; i++)
	{
		bool		is_null;
		Datum		element = array_iter_next(&iterator, &is_null, i, -1, false, TYPALIGN_INT);
		Vector	   *vector;

		if (is_null)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("%s[%d] is null", what, i + 1)));
		vector = DatumGetVector(element);
		if (expected != 0 && vector->dim != expected)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 PG_ARGISNULL(3) ?
					 errmsg("%s must have one dimension, got %d after %d", what, vector->dim, expected) :
					 errmsg("dimension mismatch: collection \"%s\" has %d, got %d", collection, expected, vector->dim),
					 errdetail("%s[%d]", what, i + 1)));
		expected = vector->dim;
		if ((Pointer) vector != DatumGetPointer(element))
			pfree(vector);
	}
	if (expected == 0)
		PG_RETURN_NULL();
	PG_RETURN_INT32(expected);
}

/* ---- Filters ----------------------------------------------------------------------------------------------------- */

/* Kept from call to call of one expression in a statement; all its memory lies in `context`. */
typedef struct FilterCache
{
	MemoryContext context;
	Jsonb	   *where;			/* what `filter` was compiled from; NULL: absent */
	Jsonb	   *where_document;
	pigment_filter *filter;		/* or NULL */
} FilterCache;

/* A callback of the memory context: frees memory only. */
static void
free_filter(void *argument)
{
	FilterCache *cache = argument;

	pigment_filter_free(cache->filter);
	cache->filter = NULL;
}

static bool
same_jsonb(const Jsonb *a, const Jsonb *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	return VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0;
}

static Jsonb *
copy_jsonb(MemoryContext context, const Jsonb *value)
{
	return value == NULL ? NULL : memcpy(MemoryContextAlloc(context, VARSIZE(value)), value, VARSIZE(value));
}

/* The filter of arguments 0 and 1, compiled when they differ from the last call's. */
static pigment_filter *
current_filter(FunctionCallInfo fcinfo)
{
	Jsonb	   *where = PG_ARGISNULL(0) ? NULL : PG_GETARG_JSONB_P(0);
	Jsonb	   *where_document = PG_ARGISNULL(1) ? NULL : PG_GETARG_JSONB_P(1);
	FilterCache *cache = fcinfo->flinfo->fn_extra;
	Text		where_json;
	Text		where_document_json;
	pigment_error *error = NULL;
	MemoryContext context;
	MemoryContextCallback *callback;

	if (cache != NULL)
	{
		if (cache->filter != NULL && same_jsonb(cache->where, where) && same_jsonb(cache->where_document, where_document))
			return cache->filter;
		fcinfo->flinfo->fn_extra = NULL;
		MemoryContextDelete(cache->context);
	}

	where_json = jsonb_argument(fcinfo, 0);
	where_document_json = jsonb_argument(fcinfo, 1);
	context = AllocSetContextCreate(fcinfo->flinfo->fn_mcxt, "pigment filter", ALLOCSET_SMALL_SIZES);
	cache = MemoryContextAllocZero(context, sizeof(FilterCache));
	cache->context = context;
	cache->where = copy_jsonb(context, where);
	cache->where_document = copy_jsonb(context, where_document);
	callback = MemoryContextAlloc(context, sizeof(MemoryContextCallback));
	callback->func = free_filter;
	callback->arg = cache;
	MemoryContextRegisterResetCallback(context, callback);
	fcinfo->flinfo->fn_extra = cache;
	pig_check(pigment_filter_compile(where_json.bytes, where_json.size, where_document_json.bytes,
									 where_document_json.size, &cache->filter, &error), &error);
	return cache->filter;
}

PG_FUNCTION_INFO_V1(pigment_pg_check_filter);
Datum
pigment_pg_check_filter(PG_FUNCTION_ARGS)
{
	Text		where = jsonb_argument(fcinfo, 0);
	Text		where_document = jsonb_argument(fcinfo, 1);
	pigment_filter *filter = NULL;
	pigment_error *error = NULL;

	pig_check(pigment_filter_compile(where.bytes, where.size, where_document.bytes, where_document.size, &filter,
									 &error), &error);
	pigment_filter_free(filter);
	PG_RETURN_VOID();
}

/* check_indexed(where, where_document, schema) */
PG_FUNCTION_INFO_V1(pigment_pg_check_indexed);
Datum
pigment_pg_check_indexed(PG_FUNCTION_ARGS)
{
	Text		schema = jsonb_argument(fcinfo, 2);
	pigment_error *error = NULL;

	if (schema.bytes != NULL)
		pig_check(pigment_filter_check_schema(current_filter(fcinfo), schema.bytes, schema.size, &error), &error);
	PG_RETURN_VOID();
}

/* ---- Orders and cursors ------------------------------------------------------------------------------------------ */

/* The engine's bytes as bytea or text; the buffer is freed. */
static Datum
bytes_result(pigment_buffer *buffer)
{
	size_t		size;
	const char *bytes = pigment_buffer_data(buffer, &size);
	text	   *result = cstring_to_text_with_len(bytes, (int) size);

	pigment_buffer_free(buffer);
	PG_RETURN_TEXT_P(result);
}

/* _order_key(order_by, id, metadata, uri) */
PG_FUNCTION_INFO_V1(pigment_pg_order_key);
Datum
pigment_pg_order_key(PG_FUNCTION_ARGS)
{
	Text		order_by = jsonb_argument(fcinfo, 0);
	Text		id = text_argument(fcinfo, 1);
	Text		metadata = jsonb_argument(fcinfo, 2);
	Text		uri = text_argument(fcinfo, 3);
	pigment_filter_record record = {.struct_size = sizeof record};
	pigment_buffer *key = NULL;
	pigment_error *error = NULL;

	record.id = id.bytes;
	record.id_size = id.size;
	record.metadata_json = metadata.bytes;
	record.metadata_json_size = metadata.size;
	record.uri = uri.bytes;
	record.uri_size = uri.size;
	pig_check(pigment_order_key(order_by.bytes, order_by.size, &record, &key, &error), &error);
	return bytes_result(key);
}

/* Arguments `number` and the next: what a cursor is bound to. */
static pigment_cursor_place
cursor_place(FunctionCallInfo fcinfo, int number)
{
	Text		collection = text_argument(fcinfo, number);
	Text		order_by = jsonb_argument(fcinfo, number + 1);
	pigment_cursor_place place = {.struct_size = sizeof place};

	place.collection = collection.bytes;
	place.collection_size = collection.size;
	place.order_by_json = order_by.bytes;
	place.order_by_json_size = order_by.size;
	return place;
}

/* _cursor(collection, order_by, key, ordinal) */
PG_FUNCTION_INFO_V1(pigment_pg_cursor);
Datum
pigment_pg_cursor(PG_FUNCTION_ARGS)
{
	pigment_cursor_place place = cursor_place(fcinfo, 0);
	Text		key = text_argument(fcinfo, 2);
	pigment_buffer *cursor = NULL;
	pigment_error *error = NULL;

	place.key = key.bytes;
	place.key_size = key.size;
	place.ordinal = (uint64_t) PG_GETARG_INT64(3);
	pig_check(pigment_cursor_write(&place, &cursor, &error), &error);
	return bytes_result(cursor);
}

/* _cursor_place(cursor, collection, order_by, OUT key, OUT ordinal) */
PG_FUNCTION_INFO_V1(pigment_pg_cursor_place);
Datum
pigment_pg_cursor_place(PG_FUNCTION_ARGS)
{
	Text		cursor = text_argument(fcinfo, 0);
	pigment_cursor_place place = cursor_place(fcinfo, 1);
	pigment_buffer *key = NULL;
	uint64_t	ordinal = 0;
	pigment_error *error = NULL;
	Datum		values[2];

	pig_check(pigment_cursor_read(cursor.bytes, cursor.size, &place, &key, &ordinal, &error), &error);
	values[0] = bytes_result(key);
	values[1] = Int64GetDatum((int64) ordinal);
	return row_result(fcinfo, values);
}

/* matches(where, where_document, id, document, metadata, uri) */
PG_FUNCTION_INFO_V1(pigment_pg_matches);
Datum
pigment_pg_matches(PG_FUNCTION_ARGS)
{
	pigment_filter *filter = current_filter(fcinfo);
	Text		id = text_argument(fcinfo, 2);
	Text		document = text_argument(fcinfo, 3);
	Text		metadata = jsonb_argument(fcinfo, 4);
	Text		uri = text_argument(fcinfo, 5);
	pigment_filter_record record = {.struct_size = sizeof record};
	pigment_error *error = NULL;
	bool		matches = false;

	record.id = id.bytes;
	record.id_size = id.size;
	record.document = document.bytes;
	record.document_size = document.size;
	record.metadata_json = metadata.bytes;
	record.metadata_json_size = metadata.size;
	record.uri = uri.bytes;
	record.uri_size = uri.size;
	pig_check(pigment_filter_matches(filter, &record, &matches, &error), &error);
	PG_RETURN_BOOL(matches);
}

/* ---- Filters in an index ----------------------------------------------------------------------------------------- */

/* metadata @~ where; NULL metadata is that of a record that has none */
PG_FUNCTION_INFO_V1(pigment_pg_metadata_may_match);
Datum
pigment_pg_metadata_may_match(PG_FUNCTION_ARGS)
{
	Text		metadata = jsonb_argument(fcinfo, 0);
	Text		where = jsonb_argument(fcinfo, 1);
	pigment_error *error = NULL;
	bool		holds = false;

	if (where.bytes == NULL)
		PG_RETURN_NULL();
	pig_check(pigment_host_where_holds(where.bytes, where.size, metadata.bytes, metadata.size, &holds, &error), &error);
	PG_RETURN_BOOL(holds);
}

/* ---- Distances --------------------------------------------------------------------------------------------------- */

PG_FUNCTION_INFO_V1(pigment_pg_space_distance);
Datum
pigment_pg_space_distance(PG_FUNCTION_ARGS)
{
	text	   *space = PG_GETARG_TEXT_PP(0);
	Vector	   *a = PG_GETARG_VECTOR(1);
	Vector	   *b = PG_GETARG_VECTOR(2);
	const char *name = VARDATA_ANY(space);
	size_t		size = VARSIZE_ANY_EXHDR(space);
	int32_t		metric;

	if (size == 2 && memcmp(name, "l2", 2) == 0)
		metric = PIGMENT_METRIC_L2;
	else if (size == 6 && memcmp(name, "cosine", 6) == 0)
		metric = PIGMENT_METRIC_COSINE;
	else if (size == 2 && memcmp(name, "ip", 2) == 0)
		metric = PIGMENT_METRIC_IP;
	else
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("expected space l2, cosine or ip, got \"%s\"", text_to_cstring(space))));
	pig_check_same_dimension(a, b);
	PG_RETURN_FLOAT4(pigment_host_distance(metric, a->x, b->x, (size_t) a->dim));
}

PG_FUNCTION_INFO_V1(pigment_pg_is_zero);
Datum
pigment_pg_is_zero(PG_FUNCTION_ARGS)
{
	Vector	   *vector = PG_GETARG_VECTOR(0);

	for (int i = 0; i < vector->dim; i++)
	{
		if (vector->x[i] != 0)
			PG_RETURN_BOOL(false);
	}
	PG_RETURN_BOOL(true);
}
