/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_paths.c
 *	  Index paths that the server does not find by itself, because no operator of a clause is one of an index's:
 *
 *	- conditions on a distance, "v <=> q < r" and "1 - (v <=> q) > s". The scan gets an operator of the column's family in their place, "v <=>@
 *	  ball", and the condition stays a filter: what it means, and which error it raises, is the server's business;
 *	- conditions on expressions of a jsonb column (json_plan.c), with which it is the same;
 *	- orders that follow from that of a distance, "1 - (v <=> q) DESC" and "-(v <#> q) DESC";
 *	- an order by a distance and more, whose rest an incremental sort does. From 17 on the server finds that too.
 *
 * Where a row has no vector, or its distance is not a number, an order that ascends has them last, as a scan does. One that descends has them first:
 * NULLs are kept out by a condition or by NOT NULL or come last by the query's wish, otherwise there is no path; for what is not a number there is
 * an operator of its own, whose scan begins with these rows.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/catcache.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "am.h"
#include "am_distance.h"
#include "json_plan.h"

/*
 * Whether a scan may order by the column: of vectors, sparse ones too, or of ranked texts, whose scores are a distance here.
 */
static bool
orders_by(const IndexOptInfo *index, int column)
{
	PigColumnKind kind = pig_column_of(index->opfamily[column], index->opcintype[column], index->indexcollations[column]).kind;

	return kind == PIG_COLUMN_VECTOR || pig_ranks_by_elements(kind);
}

/* ---- conditions ---- */

/*
 * Conditions on the distances from one vector.
 */
typedef struct Bounds
{
	Node	   *center;
	List	   *clauses;		/* IndexClauses */
	bool		excludes_nan;	/* one of them lets through no distance that is not a number */
	Relids		outer;			/* other relations that they take values from; NULL: none */
} Bounds;

Oid
pig_family_operator(const IndexOptInfo *index, int column, int strategy, Oid *right_type)
{
	CatCList   *list = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(index->opfamily[column]));
	Oid			operator = InvalidOid;

	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_amop form = (Form_pg_amop) GETSTRUCT(&list->members[i]->tuple);

		if (form->amopstrategy == strategy && form->amoplefttype == index->opcintype[column])
		{
			operator = form->amopopr;
			*right_type = form->amoprighttype;
		}
	}
	ReleaseCatCacheList(list);
	return operator;
}

Expr *
pig_column_operand(const IndexOptInfo *index, int column)
{
	return copyObject(list_nth_node(TargetEntry, index->indextlist, column)->expr);
}

/*
 * "column <=>@ ROW(center, limit, minuend)", a constant where its parts are.
 */
static RestrictInfo *
ball_clause(PlannerInfo *root, const IndexOptInfo *index, int column, const PigDistance *distance, Node *limit)
{
	Oid			type = InvalidOid;
	Oid			operator = pig_family_operator(index, column, PIG_WITHIN_STRATEGY, &type);
	RowExpr    *ball;
	OpExpr	   *clause;

	if (!OidIsValid(operator))
		return NULL;
	if (exprType(limit) == FLOAT4OID)
		limit = (Node *) makeFuncExpr(F_FLOAT8_FLOAT4, FLOAT8OID, list_make1(limit), InvalidOid, InvalidOid, COERCE_EXPLICIT_CAST);
	ball = makeNode(RowExpr);
	ball->args = list_make3(copyObject(distance->center), copyObject(limit),
							distance->minuend != NULL ? distance->minuend :
							makeNullConst(FLOAT8OID, -1, InvalidOid));
	ball->row_typeid = type;
	ball->row_format = COERCE_EXPLICIT_CAST;
	ball->colnames = list_make3(makeString(pstrdup("center")), makeString(pstrdup("radius")), makeString(pstrdup("minuend")));
	ball->location = -1;
	clause = (OpExpr *) make_opclause(operator, BOOLOID, false, pig_column_operand(index, column),
									  (Expr *) eval_const_expressions(root, (Node *) ball), InvalidOid, InvalidOid);
	set_opfuncid(clause);
	return make_simple_restrictinfo(root, (Expr *) clause);
}

/*
 * A distance below a limit, or what descends with one above it.
 */
static bool
match_bound(PlannerInfo *root, IndexOptInfo *index, int column, RestrictInfo *info, PigDistance *distance, Node **limit, bool *excludes_nan)
{
	const OpExpr *clause = (const OpExpr *) info->clause;
	int			strategy;
	bool		is_above;
	double		number;

	if (info->pseudoconstant || !IsA(clause, OpExpr) || list_length(clause->args) != 2 ||
		!restriction_is_securely_promotable(info, index->rel))
		return false;
	strategy = get_op_opfamily_strategy(clause->opno, pig_float_family());
	if (strategy == InvalidStrategy || strategy == BTEqualStrategyNumber)
		return false;
	is_above = strategy == BTGreaterStrategyNumber || strategy == BTGreaterEqualStrategyNumber;
	*limit = lsecond(clause->args);
	if (!pig_match_distance(root, index, column, linitial(clause->args), distance))
	{
		*limit = linitial(clause->args);
		if (!pig_match_distance(root, index, column, lsecond(clause->args), distance))
			return false;
		is_above = !is_above;
	}
	if ((!distance->is_plain && distance->minuend == NULL) || distance->descends != is_above ||
		!is_pseudo_constant_for_index(root, *limit, index))
		return false;
	/* NaN is above all numbers, and no less than itself */
	*excludes_nan = !is_above && (strategy == BTLessStrategyNumber || strategy == BTGreaterStrategyNumber || pig_finite_constant(*limit, &number));
	return true;
}

/*
 * Adds a condition to those on the distances from the same vector.
 */
static List *
add_bound(PlannerInfo *root, IndexOptInfo *index, int column, RestrictInfo *info, List *all)
{
	PigDistance distance;
	Node	   *limit;
	bool		excludes_nan;
	IndexClause *clause;
	Bounds	   *bounds = NULL;
	RestrictInfo *ball;
	Relids		outer;
	ListCell   *cell;

	if (!match_bound(root, index, column, info, &distance, &limit, &excludes_nan))
		return all;
	ball = ball_clause(root, index, column, &distance, limit);
	if (ball == NULL)
		return all;
	outer = bms_del_member(bms_copy(info->clause_relids), (int) index->rel->relid);
	/* which before 16 may be a set without members */
	if (bms_is_empty(outer))
		outer = NULL;
	foreach(cell, all)
	{
		Bounds	   *other = lfirst(cell);

		if (equal(other->center, distance.center) && bms_equal(other->outer, outer))
			bounds = other;
	}
	if (bounds == NULL)
	{
		bounds = palloc0(sizeof(Bounds));
		bounds->center = distance.center;
		bounds->outer = outer;
		all = lappend(all, bounds);
	}
	clause = makeNode(IndexClause);
	clause->rinfo = info;
	clause->indexquals = list_make1(ball);
	clause->lossy = true;
	clause->indexcol = (AttrNumber) column;
	bounds->clauses = lappend(bounds->clauses, clause);
	bounds->excludes_nan |= excludes_nan;
	return all;
}

static List *
find_bounds(PlannerInfo *root, IndexOptInfo *index, int column)
{
	List	   *all = NIL;
	ListCell   *cell;

	foreach(cell, index->rel->baserestrictinfo)
		all = add_bound(root, index, column, lfirst_node(RestrictInfo, cell), all);
	foreach(cell, index->rel->joininfo)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, cell);

		if (join_clause_is_movable_to(info, index->rel))
			all = add_bound(root, index, column, info, all);
	}
	return all;
}

/* ---- orders ---- */

typedef struct Order
{
	PigDistance distance;
	OpExpr	   *expr;			/* of a scan */
	List	   *pathkeys;		/* what it serves of the query's: one */
} Order;

/*
 * Whether no row that the query lets through has NULL there.
 */
static bool
is_never_null(PlannerInfo *root, const IndexOptInfo *index, int column)
{
	RelOptInfo *rel = index->rel;
	int			attribute = index->indexkeys[column];
	List	   *clauses = list_concat_copy(index->indpred, extract_actual_clauses(rel->baserestrictinfo, false));

	if (attribute == 0)
		return false;
	return pig_attribute_is_not_null(rel, planner_rt_fetch(rel->relid, root)->relid, (AttrNumber) attribute) ||
		pig_has_nonnullable_var((Node *) clauses, (int) rel->relid, (AttrNumber) attribute);
}

/*
 * Whether it is what the server makes of min() or max(), which are the extreme value and not one that is near it.
 */
static bool
is_of_aggregate(const Query *query)
{
	const TargetEntry *only = list_length(query->targetList) == 1 ? linitial_node(TargetEntry, query->targetList) : NULL;

	return only != NULL && only->resname != NULL && strcmp(only->resname, "agg_target") == 0;
}

/*
 * Whether the query's first order is one that a scan gives. Not where equal values must lie together, because rows that an index overlooks come late.
 */
static bool
match_order(PlannerInfo *root, IndexOptInfo *index, int column, const List *bounds, Order *order)
{
	const Query *query = root->parse;
	const PathKey *first = root->query_pathkeys != NIL ? linitial_node(PathKey, root->query_pathkeys) : NULL;
	PigMembers	members;
	EquivalenceMember *member;
	Oid			operator;
	Oid			center_type;
	bool		has_bounds = false;
	bool		nan_first;
	ListCell   *cell;

	if (first == NULL || root->query_pathkeys != root->sort_pathkeys || first->pk_opfamily != pig_float_family() ||
		query->groupClause != NIL || query->groupingSets != NIL || query->distinctClause != NIL || query->hasAggs || query->hasWindowFuncs ||
		is_of_aggregate(query))
		return false;
	pig_members_begin(&members, first->pk_eclass, index->rel);
	do
	{
		member = pig_members_next(&members);
		if (member == NULL)
			return false;
	} while (!bms_equal(member->em_relids, index->rel->relids) ||
			 !pig_match_distance(root, index, column, (Node *) member->em_expr, &order->distance));
	if (order->distance.descends != pig_pathkey_descends(first))
		return false;
	operator = pig_family_operator(index, column, PIG_DISTANCE_STRATEGY, &center_type);
	nan_first = order->distance.descends;
	foreach(cell, bounds)
	{
		const Bounds *some = lfirst(cell);

		if (some->outer != NULL || !equal(some->center, order->distance.center))
			continue;
		has_bounds = true;
		nan_first &= !some->excludes_nan;
	}
	if (first->pk_nulls_first && !has_bounds && !is_never_null(root, index, column))
		return false;
	if (nan_first)
	{
		Oid			nan_operator = pig_family_operator(index, column, PIG_NAN_FIRST_STRATEGY, &center_type);

		if (OidIsValid(nan_operator))
			operator = nan_operator;
		else if (!OidIsValid(pig_family_operator(index, column, PIG_WITHIN_STRATEGY, &center_type)))
			return false;		/* not our operators: nobody knows whether they always give a number, as ours do by the other metrics */
	}
	order->expr = (OpExpr *) make_opclause(operator, FLOAT8OID, false, pig_column_operand(index, column),
										   (Expr *) copyObject(order->distance.center), InvalidOid, InvalidOid);
	set_opfuncid(order->expr);
	order->pathkeys = list_make1((PathKey *) first);
	return true;
}

/* ---- paths ---- */

static IndexPath *
new_path(PlannerInfo *root, IndexOptInfo *index, int column, List *clauses, const Order *order, Relids outer, double loops)
{
	return create_index_path(root, index, list_concat_copy(pig_known_clauses(root, index), clauses),
							 order != NULL ? list_make1(order->expr) : NIL, order != NULL ? list_make1_int(column) : NIL,
							 order != NULL ? order->pathkeys : NIL, ForwardScanDirection, false, outer, loops, false);
}

/*
 * How often a path with values of other relations is likely to be run; as the server guesses it, semijoins left aside.
 */
static double
loops_of(PlannerInfo *root, Relids outer)
{
	double		loops = 0;
	int			relid = -1;

	while ((relid = bms_next_member(outer, relid)) >= 0)
	{
		const RelOptInfo *rel = relid < root->simple_rel_array_size ? root->simple_rel_array[relid] : NULL;

		if (rel != NULL && rel->rows > 0 && (loops == 0 || rel->rows < loops))
			loops = rel->rows;
	}
	return Max(loops, 1);
}

/*
 * A scan without an order, and a bitmap scan.
 */
static void
add_unordered_paths(PlannerInfo *root, IndexOptInfo *index, List *clauses, Relids outer)
{
	RelOptInfo *rel = index->rel;
	Relids		required = bms_union(outer, rel->lateral_relids);
	double		loops = loops_of(root, outer);
	IndexPath  *path;
	BitmapHeapPath *bitmap;

	path = new_path(root, index, -1, clauses, NULL, required, loops);
	add_path(rel, (Path *) path);
	bitmap = create_bitmap_heap_path(root, rel, (Path *) path, required, loops, 0);
	/* what the index knows of its rows */
	bitmap->path.rows = path->path.rows;
	add_path(rel, (Path *) bitmap);
}

/*
 * With conditions on the distance of a column, or in its order; the conditions on expressions of jsonb hold besides. For the distance alone, the
 * server has found the path before.
 */
static void
add_distance_paths(PlannerInfo *root, IndexOptInfo *index, int column, List *json)
{
	List	   *all = find_bounds(root, index, column);
	Order		order;
	bool		is_ordered = match_order(root, index, column, all, &order);
	bool		is_new = is_ordered && (json != NIL || !order.distance.is_plain || list_length(root->query_pathkeys) > 1 ||
										linitial_node(PathKey, root->query_pathkeys)->pk_nulls_first);
	ListCell   *cell;

	foreach(cell, all)
	{
		const Bounds *bounds = lfirst(cell);
		List	   *clauses = list_concat_copy(bounds->clauses, json);

		if (is_ordered && bounds->outer == NULL && equal(bounds->center, order.distance.center))
		{
			add_path(index->rel, (Path *) new_path(root, index, column, clauses, &order, index->rel->lateral_relids, 1));
			is_new = false;
		}
		add_unordered_paths(root, index, clauses, bounds->outer);
	}
	if (is_new)
		add_path(index->rel, (Path *) new_path(root, index, column, json, &order, index->rel->lateral_relids, 1));
}

static set_rel_pathlist_hook_type next_rel_pathlist_hook;

static void
rel_pathlist_hook(PlannerInfo *root, RelOptInfo *rel, Index relid, RangeTblEntry *entry)
{
	ListCell   *cell;

	if (next_rel_pathlist_hook != NULL)
		next_rel_pathlist_hook(root, rel, relid, entry);
	if (entry->rtekind != RTE_RELATION || entry->inh || entry->tablesample != NULL || IS_DUMMY_REL(rel))
		return;
	foreach(cell, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);
		List	   *json;

		if (index->amcostestimate != pig_cost_estimate || (index->indpred != NIL && !index->predOK))
			continue;
		json = pig_json_clauses(root, index);
		for (int column = 0; column < index->nkeycolumns; column++)
			if (orders_by(index, column))
				add_distance_paths(root, index, column, json);
		if (json != NIL)
			add_unordered_paths(root, index, json, NULL);
	}
}

void
pig_register_paths(void)
{
	next_rel_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = rel_pathlist_hook;
}
