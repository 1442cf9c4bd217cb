/* SPDX-License-Identifier: Apache-2.0 */

/*
 * where_plan.c
 *	  What the planner is told of pigment.matches(): the condition that it gives an index with a column of metadata_ops, and for how many rows it
 *	  holds.
 */
#include "postgres.h"

#include "access/genam.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "am.h"

/* Where nothing is known. */
#define SELECTIVITY_UNKNOWN 0.5

/* Arguments of matches() */
#define MATCHES_WHERE 0
#define MATCHES_METADATA 4

static bool
is_json_null(Jsonb *value)
{
	JsonbValue	scalar;

	return JsonbExtractScalar(&value->root, &scalar) && scalar.type == jbvNull;
}

static Node *
coalesce_to_json_null(Node *where)
{
	CoalesceExpr *coalesce = makeNode(CoalesceExpr);
	Datum		json_null = DirectFunctionCall1(jsonb_in, CStringGetDatum("null"));

	coalesce->coalescetype = JSONBOID;
	coalesce->args = list_make2(where, makeConst(JSONBOID, -1, InvalidOid, -1, json_null, false, false));
	coalesce->location = -1;
	return (Node *) coalesce;
}

/*
 * metadata @~ where, for an index with a column of metadata_ops. It holds for all that match, and perhaps for more; the call stays a filter above
 * the scan.
 */
static List *
index_condition(SupportRequestIndexCondition *request)
{
	Oid			operator = get_opfamily_member(request->opfamily, JSONBOID, JSONBOID, PIG_METADATA_WHERE);
	List	   *arguments;
	Node	   *where;

	if (!OidIsValid(operator) || !is_funcclause(request->node) || request->indexarg != MATCHES_METADATA)
		return NIL;
	arguments = ((FuncExpr *) request->node)->args;
	where = list_nth(arguments, MATCHES_WHERE);
	if (IsA(where, Const))
	{
		/* none is given */
		if (((Const *) where)->constisnull || is_json_null(DatumGetJsonbP(((Const *) where)->constvalue)))
			return NIL;
	}
	else if (is_pseudo_constant_for_index(request->root, where, request->index))
		where = coalesce_to_json_null(where);
	else
		return NIL;
	request->lossy = true;
	return list_make1(make_opclause(operator, BOOLOID, false, list_nth(arguments, MATCHES_METADATA), (Expr *) where, InvalidOid,
									InvalidOid));
}

/* ---- how many rows ---- */

/*
 * An index of the whole table that has the column as metadata; NULL: there is none.
 */
static IndexOptInfo *
index_of(PlannerInfo *root, Node *metadata, int *column)
{
	Var		   *var = (Var *) metadata;
	RelOptInfo *rel;
	ListCell   *cell;

	if (!IsA(var, Var) || var->varlevelsup != 0 || (int) var->varno >= root->simple_rel_array_size)
		return NULL;
	rel = root->simple_rel_array[var->varno];
	foreach(cell, rel != NULL ? rel->indexlist : NIL)
	{
		IndexOptInfo *index = lfirst(cell);

		if (index->amcostestimate != pig_cost_estimate || index->indpred != NIL)
			continue;
		for (*column = 0; *column < index->nkeycolumns; ++*column)
			if (index->indexkeys[*column] == var->varattno &&
				OidIsValid(get_opfamily_member(index->opfamily[*column], JSONBOID, JSONBOID, PIG_METADATA_WHERE)))
				return index;
	}
	return NULL;
}

/*
 * Of the call and of the operator alike, so that what the index counts may stand in the place of either.
 */
static Selectivity
where_selectivity(PlannerInfo *root, Node *metadata, Node *where)
{
	int			column = 0;
	IndexOptInfo *index = index_of(root, metadata, &column);
	Oid			operator;
	Expr	   *clause;
	double		part;

	where = estimate_expression_value(root, where);
	if (!IsA(where, Const) || ((Const *) where)->constisnull)
		return SELECTIVITY_UNKNOWN;
	if (is_json_null(DatumGetJsonbP(((Const *) where)->constvalue)))
		return 1;
	if (index == NULL)
		return SELECTIVITY_UNKNOWN;
	operator = get_opfamily_member(index->opfamily[column], JSONBOID, JSONBOID, PIG_METADATA_WHERE);
	clause = make_opclause(operator, BOOLOID, false, copyObject((Expr *) metadata), (Expr *) where, InvalidOid, InvalidOid);
	part = pig_counted_part(root, index, (Node *) clause, column);
	return part < 0 ? SELECTIVITY_UNKNOWN : part;
}

/* Estimator of metadata @~ where: (root, operator, arguments, relation) */
PG_FUNCTION_INFO_V1(pigment_pg_metadata_selectivity);
Datum
pigment_pg_metadata_selectivity(PG_FUNCTION_ARGS)
{
	PlannerInfo *root = (PlannerInfo *) PG_GETARG_POINTER(0);
	List	   *arguments = (List *) PG_GETARG_POINTER(2);

	PG_RETURN_FLOAT8(where_selectivity(root, linitial(arguments), lsecond(arguments)));
}

PG_FUNCTION_INFO_V1(pigment_pg_matches_support);
Datum
pigment_pg_matches_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);
	Node	   *answer = NULL;

	if (IsA(request, SupportRequestSelectivity))
	{
		SupportRequestSelectivity *asked = (SupportRequestSelectivity *) request;

		if (!asked->is_join)
		{
			asked->selectivity = where_selectivity(asked->root, list_nth(asked->args, MATCHES_METADATA),
												   list_nth(asked->args, MATCHES_WHERE));
			answer = request;
		}
	}
	else if (IsA(request, SupportRequestIndexCondition))
		answer = (Node *) index_condition((SupportRequestIndexCondition *) request);
	PG_RETURN_POINTER(answer);
}
