/* SPDX-License-Identifier: Apache-2.0 */

/*
 * embedding.c
 *	  Embedding functions in SQL: the built-in lexical one, and calling a collection's own.
 *
 * A collection names its function as data. It is looked up when texts come, and runs with the rights of the owner of the
 * collection's table, who chose it: whoever adds a text to, or queries, somebody else's collection does not lend that
 * person his rights. This is what the server does for functions in indexes and materialized views.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_proc.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "parser/parse_func.h"
#include "utils/acl.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/syscache.h"

#include "engine_error.h"
#include "vector.h"
#include "vector_text.h"

PG_FUNCTION_INFO_V1(pigment_pg_embed_lexical);
Datum
pigment_pg_embed_lexical(PG_FUNCTION_ARGS)
{
	text	   *content = PG_GETARG_TEXT_PP(0);
	int32		dimension = PG_GETARG_INT32(1);
	int64_t		offsets[2] = {0, VARSIZE_ANY_EXHDR(content)};
	pigment_text_column column = {.offsets = offsets, .bytes = VARDATA_ANY(content)};
	pigment_error *error = NULL;
	Vector	   *result;

	pig_check_dimension(dimension);
	result = pig_vector_new(dimension);
	pig_check(pigment_embed_lexical(1, &column, (size_t) dimension, result->x, &error), &error);
	PG_RETURN_VECTOR(result);
}

/* What the catalog says of a collection that the caller may see. */
typedef struct Collection
{
	Oid			owner;			/* of its table */
	char	   *function;		/* schema and name */
} Collection;

static Oid
owner_of(Oid relation)
{
	HeapTuple	tuple = SearchSysCache1(RELOID, ObjectIdGetDatum(relation));
	Oid			owner;

	if (!HeapTupleIsValid(tuple))
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", relation)));
	owner = ((Form_pg_class) GETSTRUCT(tuple))->relowner;
	ReleaseSysCache(tuple);
	return owner;
}

/*
 * The name comes from the catalog, where only the owner of the table can have put it: a name that the caller gave would
 * run what he likes as somebody else.
 */
static Collection
find_collection(Datum id)
{
	Oid			types[1] = {UUIDOID};
	Collection	result;
	MemoryContext context = CurrentMemoryContext;
	bool		absent;
	Datum		value;

	SPI_connect();
	if (SPI_execute_with_args("SELECT relation, embedding_function FROM pigment.collections "
							  "WHERE id OPERATOR(pg_catalog.=) $1 AND embedding_function IS NOT NULL",
							  1, types, &id, NULL, true, 1) != SPI_OK_SELECT || SPI_processed != 1)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("collection has no embedding function, and texts were given")));
	result.owner = owner_of(DatumGetObjectId(SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 1, &absent)));
	value = SPI_getbinval(SPI_tuptable->vals[0], SPI_tuptable->tupdesc, 2, &absent);
	result.function = MemoryContextStrdup(context, TextDatumGetCString(value));
	SPI_finish();
	return result;
}

/* The function of that name with arguments (text[], text) that returns `result_type` and that `owner` may call. */
static Oid
find_function(const char *name, Oid result_type, Oid owner)
{
	Oid			arguments[2] = {TEXTARRAYOID, TEXTOID};
	Oid			function = LookupFuncName(pig_qualified_name_list(name), 2, arguments, true);

	if (!OidIsValid(function) || get_func_rettype(function) != result_type || get_func_retset(function) ||
		get_func_prokind(function) != PROKIND_FUNCTION)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("embedding function \"%s\" (texts text[], purpose text) returning vector[] does not exist", name),
				 errhint("give embeddings, or create the function again")));
	if (!pig_may_execute(function, owner))
		ereport(ERROR,
				(errcode(ERRCODE_INSUFFICIENT_PRIVILEGE),
				 errmsg("permission denied for embedding function \"%s\"", name),
				 errdetail("It runs with the rights of the owner of the collection's table.")));
	return function;
}

static void
check_answer(const char *name, ArrayType *answer, int expected)
{
	Datum	   *vectors;
	bool	   *nulls;
	int			count;
	int			dimension = 0;
	int16		length;
	bool		by_value;
	char		alignment;

	if (ARR_NDIM(answer) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("embedding function \"%s\" returned an array of %d dimensions, expected 1", name, ARR_NDIM(answer))));
	get_typlenbyvalalign(ARR_ELEMTYPE(answer), &length, &by_value, &alignment);
	deconstruct_array(answer, ARR_ELEMTYPE(answer), length, by_value, alignment, &vectors, &nulls, &count);
	if (count != expected)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("embedding function \"%s\" returned %d vectors for %d texts", name, count, expected)));
	for (int row = 0; row < count; row++)
	{
		Vector	   *vector;

		if (nulls[row])
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("embedding function \"%s\" returned null at row %d", name, row)));
		vector = DatumGetVector(vectors[row]);
		if (row > 0 && vector->dim != dimension)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("embedding function \"%s\" returned dimension %d at row %d after %d", name, vector->dim, row,
							dimension)));
		dimension = vector->dim;
		/* A function in C can build what the type's input would have refused. */
		for (int i = 0; i < vector->dim; i++)
			pig_check_finite("vector", vector->x[i], i);
	}
}

/* call_embedding_function(collection, texts, purpose) */
PG_FUNCTION_INFO_V1(pigment_pg_call_embedding_function);
Datum
pigment_pg_call_embedding_function(PG_FUNCTION_ARGS)
{
	ArrayType  *texts = PG_GETARG_ARRAYTYPE_P(1);
	Collection	collection = find_collection(PG_GETARG_DATUM(0));
	const char *name = collection.function;
	Oid			function = find_function(name, get_func_rettype(fcinfo->flinfo->fn_oid), collection.owner);
	int			expected = ArrayGetNItems(ARR_NDIM(texts), ARR_DIMS(texts));
	Oid			caller;
	int			security;
	int			settings;
	FmgrInfo	call;
	LOCAL_FCINFO(arguments, 2);
	Datum		answer;

	/* An error restores all three with the transaction. The caller's search path would choose what the function finds. */
	GetUserIdAndSecContext(&caller, &security);
	SetUserIdAndSecContext(collection.owner, security | SECURITY_RESTRICTED_OPERATION);
	settings = NewGUCNestLevel();
	(void) set_config_option("search_path", "pg_catalog, pg_temp", PGC_USERSET, PGC_S_SESSION, GUC_ACTION_SAVE, true, 0,
							 false);
	fmgr_info(function, &call);
	InitFunctionCallInfoData(*arguments, &call, 2, InvalidOid, NULL, NULL);
	arguments->args[0].value = PointerGetDatum(texts);
	arguments->args[0].isnull = false;
	arguments->args[1].value = PG_GETARG_DATUM(2);
	arguments->args[1].isnull = false;
	answer = FunctionCallInvoke(arguments);
	AtEOXact_GUC(false, settings);
	SetUserIdAndSecContext(caller, security);

	if (arguments->isnull)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("embedding function \"%s\" returned null for %d texts", name, expected)));
	check_answer(name, DatumGetArrayTypeP(answer), expected);
	PG_RETURN_DATUM(answer);
}
