/* SPDX-License-Identifier: Apache-2.0 */

/*
 * ranked_plan.c
 *	  What the planner makes of "column <@> 'words'": the same by the column's index, "column <@> bm25query", wherever it stands in a query. So sorts,
 *	  conditions and select lists have the numbers that a scan of the index orders by.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/table.h"
#include "access/htup_details.h"
#include "catalog/namespace.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_class.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "fmgr.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "nodes/supportnodes.h"
#include "optimizer/optimizer.h"
#include "parser/parse_func.h"
#include "parser/parse_relation.h"
#include "parser/parsetree.h"
#include "rewrite/rewriteManip.h"
#include "utils/catcache.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "am.h"
#include "ranked_text.h"

/*
 * "text <@> bm25query" of an index's family, and the type of its right side.
 */
static Oid
ranking_operator(Oid family, Oid *type)
{
	CatCList   *list = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family));
	Oid			operator = InvalidOid;

	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_amop form = (Form_pg_amop) GETSTRUCT(&list->members[i]->tuple);

		if (form->amoppurpose == AMOP_ORDER && form->amoplefttype == TEXTOID)
		{
			operator = form->amopopr;
			*type = form->amoprighttype;
		}
	}
	ReleaseCatCacheList(list);
	return operator;
}

/*
 * Where the columns of an expression are from.
 */
typedef struct Origin
{
	RangeTblEntry *entry;		/* NULL: not from one relation */
	int			relid;			/* its number in the expression */
	Node	   *node;			/* the expression there */
} Origin;

/*
 * The same in subqueries that are planned apart, as with a LIMIT, as long as they give the column as it is.
 */
static Origin
follow_subqueries(Origin origin)
{
	while (origin.entry != NULL && origin.entry->rtekind == RTE_SUBQUERY)
	{
		const Query *query = origin.entry->subquery;
		const TargetEntry *target = IsA(origin.node, Var) && query->setOperations == NULL ?
			get_tle_by_resno(query->targetList, ((Var *) origin.node)->varattno) : NULL;
		const Var  *var = target != NULL && IsA(target->expr, Var) ? (Var *) target->expr : NULL;

		origin.entry = var != NULL && var->varlevelsup == 0 ? rt_fetch(var->varno, query->rtable) : NULL;
		if (origin.entry == NULL)
			break;
		origin.relid = (int) var->varno;
		origin.node = (Node *) var;
	}
	if (origin.entry != NULL && (origin.entry->rtekind != RTE_RELATION || (origin.entry->relkind != RELKIND_RELATION &&
																		   origin.entry->relkind != RELKIND_PARTITIONED_TABLE &&
																		   origin.entry->relkind != RELKIND_MATVIEW)))
		origin.entry = NULL;
	return origin;
}

static Origin
origin_of(PlannerInfo *root, Node *node)
{
	Origin		origin = {.node = node};
	PlannerInfo *owner = root;
	int			relid;

	if (IsA(node, Var))
	{
		/* a column of an outer query has its place there */
		for (Index i = 0; i < ((Var *) node)->varlevelsup && owner != NULL; i++)
			owner = owner->parent_root;
		relid = (int) ((Var *) node)->varno;
	}
	else if (!bms_get_singleton_member(pull_varnos_of_level(root, node, 0), &relid))
		return origin;
	if (owner == NULL || relid <= 0 || relid > list_length(owner->parse->rtable))
		return origin;
	origin.relid = relid;
	origin.entry = rt_fetch(relid, owner->parse->rtable);
	return follow_subqueries(origin);
}

/*
 * Whether the column of an index is the expression, whose columns are of relation `relid`.
 */
static bool
is_of_column(Relation index, int column, Node *node, int relid)
{
	AttrNumber	attribute = index->rd_index->indkey.values[column];
	List	   *expressions;
	Node	   *copy;
	int			before = 0;

	if (attribute != 0)
		return IsA(node, Var) && ((Var *) node)->varattno == attribute;
	if (IsA(node, Var))
		return false;
	for (int i = 0; i < column; i++)
		before += index->rd_index->indkey.values[i] == 0;
	expressions = RelationGetIndexExpressions(index);
	copy = copyObject(node);
	ChangeVarNodes(copy, relid, 1, 0);
	return equal(copy, list_nth(expressions, before));
}

/*
 * The index that ranks the expression; InvalidOid: there is none, or more than one. One of all rows goes before those of a part. Its column's
 * family, too.
 */
static Oid
find_index(Oid table_oid, Node *node, int relid, Oid *family)
{
	Relation	table = table_open(table_oid, AccessShareLock);
	List	   *indexes = RelationGetIndexList(table);
	Oid			found = InvalidOid;
	bool		is_partial = false;
	bool		is_ambiguous = false;
	ListCell   *cell;

	foreach(cell, indexes)
	{
		Relation	index = index_open(lfirst_oid(cell), AccessShareLock);
		int			column = index->rd_index->indisvalid ? pig_ranked_column(index) : -1;

		if (column >= 0 && is_of_column(index, column, node, relid))
		{
			bool		of_part = RelationGetIndexPredicate(index) != NIL;

			if (!OidIsValid(found) || (is_partial && !of_part))
			{
				found = RelationGetRelid(index);
				*family = index->rd_opfamily[column];
				is_partial = of_part;
				is_ambiguous = false;
			}
			else if (is_partial == of_part)
				is_ambiguous = true;
		}
		index_close(index, AccessShareLock);
	}
	list_free(indexes);
	table_close(table, AccessShareLock);
	return is_ambiguous ? InvalidOid : found;
}

static Node *
query_of(Oid index, Oid type, Node *words)
{
	const Const *value = (const Const *) words;
	Bm25Query  *query;
	Const	   *named;
	Oid			types[2] = {type, TEXTOID};
	List	   *name;

	if (IsA(words, Const))
	{
		text	   *given = DatumGetTextPP(value->constvalue);

		query = pig_new_bm25query(index, PIGMENT_QUERY_WORDS, VARDATA_ANY(given), VARSIZE_ANY_EXHDR(given));
	}
	else
		query = pig_new_bm25query(index, PIGMENT_QUERY_WORDS, "", 0);
	named = makeConst(type, -1, InvalidOid, -1, PointerGetDatum(query), false, false);
	if (IsA(words, Const))
		return (Node *) named;
	/* what the words are is known later */
	name = list_make2(makeString(pstrdup("pigment")), makeString(pstrdup("_with_words")));
	return (Node *) makeFuncExpr(LookupFuncName(name, 2, types, false), type, list_make2(named, words), InvalidOid, InvalidOid,
								 COERCE_EXPLICIT_CALL);
}

/*
 * Of bm25_score(text, text); NULL: it stays, and complains when it is called.
 */
static Node *
simplify(SupportRequestSimplify *request)
{
	FuncExpr   *call = request->fcall;
	Node	   *ranked = linitial(call->args);
	Node	   *words = lsecond(call->args);
	Node	   *inner = ranked;
	Origin		origin;
	OpExpr	   *result;
	Oid			family = InvalidOid;
	Oid			index;
	Oid			operator;
	Oid			type;

	/* as an index's column of varchar is matched */
	while (IsA(inner, RelabelType))
		inner = (Node *) ((RelabelType *) inner)->arg;
	if (request->root == NULL || (IsA(words, Const) && ((Const *) words)->constisnull))
		return NULL;
	origin = origin_of(request->root, inner);
	if (origin.entry == NULL)
		return NULL;
	index = find_index(origin.entry->relid, origin.node, origin.relid, &family);
	if (!OidIsValid(index))
		return NULL;
	operator = ranking_operator(family, &type);
	if (!OidIsValid(operator))
		return NULL;
	result = (OpExpr *) make_opclause(operator, FLOAT8OID, false, (Expr *) ranked, (Expr *) query_of(index, type, words),
									  InvalidOid, call->inputcollid);
	set_opfuncid(result);
	return (Node *) result;
}

PG_FUNCTION_INFO_V1(pigment_pg_score_support);
Datum
pigment_pg_score_support(PG_FUNCTION_ARGS)
{
	Node	   *request = (Node *) PG_GETARG_POINTER(0);

	PG_RETURN_POINTER(IsA(request, SupportRequestSimplify) ? simplify((SupportRequestSimplify *) request) : NULL);
}
