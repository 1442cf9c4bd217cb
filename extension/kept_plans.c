/* SPDX-License-Identifier: Apache-2.0 */

/*
 * kept_plans.c
 *	  The statement that answers queries of a collection, prepared once in a session: to parse and plan it takes longer than to run it.
 *
 * A plan is for a table of about one size: it is made anew when the table is twice as large, or half, because one without conditions is made for every
 * vector, and the server makes it anew for statistics alone. What else changes a plan (the table, its policies, who asks) the server's cache knows.
 */
#include "postgres.h"

#include "access/relation.h"
#include "compat.h"
#include "executor/spi.h"
#include "fmgr.h"
#include "funcapi.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/memutils.h"
#include "utils/rel.h"

/* Beyond so many the one that was used longest ago is forgotten. */
#define PLANS_MAX 32

/* Arguments before those that are the statement's parameters. */
#define ARGUMENTS_BEFORE 3
#define PARAMETERS_MAX 16

typedef struct KeptPlan
{
	struct KeptPlan *next;
	char	   *statement;
	int			size;			/* of the table, as size_of() says it */
	SPIPlanPtr	plan;
	int			users;			/* calls that run it */
} KeptPlan;

/* The last that was used first. */
static KeptPlan *kept_plans;

/*
 * Pages of a table as a power of two.
 */
static int
size_of(Oid table)
{
	Relation	relation = try_relation_open(table, AccessShareLock);
	BlockNumber blocks = 0;

	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("relation with OID %u does not exist", table)));
	if (RELKIND_HAS_STORAGE(relation->rd_rel->relkind))
		blocks = RelationGetNumberOfBlocks(relation);
	relation_close(relation, NoLock);
	return pg_leftmost_one_pos32(blocks + 1);
}

/*
 * The plan is the first then.
 */
static KeptPlan *
find_plan(const char *statement, int size)
{
	KeptPlan  **place = &kept_plans;
	KeptPlan   *found;

	while (*place != NULL && ((*place)->size != size || strcmp((*place)->statement, statement) != 0))
		place = &(*place)->next;
	found = *place;
	if (found != NULL)
	{
		*place = found->next;
		found->next = kept_plans;
		kept_plans = found;
	}
	return found;
}

static void
forget_plans(void)
{
	KeptPlan  **place = &kept_plans;

	for (int i = 0; *place != NULL; i++)
	{
		KeptPlan   *plan = *place;

		if (i < PLANS_MAX || plan->users > 0)
		{
			place = &plan->next;
			continue;
		}
		*place = plan->next;
		SPI_freeplan(plan->plan);
		pfree(plan->statement);
		pfree(plan);
	}
}

static KeptPlan *
keep_plan(const char *statement, int size, int options, int count, Oid *types)
{
	SPIPlanPtr	prepared = SPI_prepare_cursor(statement, count, types, options);
	KeptPlan   *plan;

	if (prepared == NULL)
		elog(ERROR, "SPI_prepare_cursor: %s", SPI_result_code_string(SPI_result));
	plan = MemoryContextAllocZero(TopMemoryContext, sizeof(KeptPlan));
	plan->statement = MemoryContextStrdup(TopMemoryContext, statement);
	plan->size = size;
	SPI_keepplan(prepared);
	plan->plan = prepared;
	plan->next = kept_plans;
	kept_plans = plan;
	forget_plans();
	return plan;
}

/*
 * The one row that a plan gives.
 */
static Datum
run_plan(KeptPlan *plan, Datum *values, const char *nulls, TupleDesc expected)
{
	volatile Datum result = (Datum) 0;

	plan->users++;
	PG_TRY();
	{
		int			status = SPI_execute_plan(plan->plan, values, nulls, true, 1);

		if (status != SPI_OK_SELECT || SPI_processed != 1 || SPI_tuptable->tupdesc->natts != expected->natts)
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("the statement does not give one row of %d columns", expected->natts)));
		for (int i = 0; i < expected->natts; i++)
			if (TupleDescAttr(SPI_tuptable->tupdesc, i)->atttypid != TupleDescAttr(expected, i)->atttypid)
				ereport(ERROR,
						(errcode(ERRCODE_DATATYPE_MISMATCH),
						 errmsg("column %d of the statement has type %s, expected %s", i + 1,
								format_type_be(TupleDescAttr(SPI_tuptable->tupdesc, i)->atttypid),
								format_type_be(TupleDescAttr(expected, i)->atttypid))));
		result = PointerGetDatum(SPI_returntuple(SPI_tuptable->vals[0], expected));
	}
	PG_FINALLY();
	{
		plan->users--;
	}
	PG_END_TRY();
	return result;
}

/*
 * _run_kept(statement, table, plans_anew, parameters...): the one row of a statement that reads, of the columns that are declared. plans_anew: with
 * the parameters, as their values may change the plan much; only parsing is saved then.
 */
PG_FUNCTION_INFO_V1(pigment_pg_run_kept);
Datum
pigment_pg_run_kept(PG_FUNCTION_ARGS)
{
	int			count = PG_NARGS() - ARGUMENTS_BEFORE;
	Datum		values[PARAMETERS_MAX];
	char		nulls[PARAMETERS_MAX];
	Oid			types[PARAMETERS_MAX];
	char	   *statement;
	TupleDesc	expected;
	KeptPlan   *plan;
	Datum		result;
	int			size;

	for (int i = 0; i < ARGUMENTS_BEFORE; i++)
		if (PG_ARGISNULL(i))
			ereport(ERROR,
					(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
					 errmsg("argument %d must not be null", i + 1)));
	if (count > PARAMETERS_MAX || get_call_result_type(fcinfo, NULL, &expected) != TYPEFUNC_COMPOSITE)
		elog(ERROR, "the function is not declared as it should be");
	statement = text_to_cstring(PG_GETARG_TEXT_PP(0));
	for (int i = 0; i < count; i++)
	{
		types[i] = get_fn_expr_argtype(fcinfo->flinfo, ARGUMENTS_BEFORE + i);
		values[i] = PG_GETARG_DATUM(ARGUMENTS_BEFORE + i);
		nulls[i] = PG_ARGISNULL(ARGUMENTS_BEFORE + i) ? 'n' : ' ';
	}
	size = size_of(PG_GETARG_OID(1));
	SPI_connect();
	plan = find_plan(statement, size);
	if (plan == NULL)
		plan = keep_plan(statement, size, PG_GETARG_BOOL(2) ? CURSOR_OPT_CUSTOM_PLAN : CURSOR_OPT_GENERIC_PLAN, count, types);
	result = run_plan(plan, values, nulls, BlessTupleDesc(expected));
	SPI_finish();
	PG_RETURN_DATUM(result);
}
