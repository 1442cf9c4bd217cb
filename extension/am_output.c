/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_output.c
 *	  Distances that rows are ordered by and that nobody reads. The server has them computed for each row beside what a query selects, also where the
 *	  index gives the order: from the row's vector, which may lie out of line. Plans get a NULL in their place.
 */
#include "postgres.h"

#include "compat.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/relcache.h"

#include "am.h"

static planner_hook_type next_planner_hook;

static bool
is_ours(const IndexScan *scan)
{
	Relation	index = RelationIdGetRelation(scan->indexid);	/* locked by the planner */
	bool		result;

	if (!RelationIsValid(index))
		return false;
	result = index->rd_indam->ambeginscan == pig_begin_scan;
	RelationClose(index);
	return result;
}

/*
 * Whether the scan is in the order of the expression, as it stands there or with its sides changed.
 */
static bool
is_order(const IndexScan *scan, Expr *expression)
{
	const OpExpr *expr = (const OpExpr *) expression;
	ListCell   *cell;

	foreach(cell, scan->indexorderbyorig)
	{
		const OpExpr *order = lfirst(cell);

		if (equal(order, expr))
			return true;
		if (IsA(order, OpExpr) && IsA(expr, OpExpr) && list_length(expr->args) == 2 && order->opno == get_commutator(expr->opno) &&
			equal(linitial(order->args), lsecond(expr->args)) && equal(lsecond(order->args), linitial(expr->args)))
			return true;
	}
	return false;
}

/*
 * What is more than the distance itself, such as 1 - (v <=> q), may raise an error: it stays.
 */
static void
leave_out_distances(IndexScan *scan)
{
	ListCell   *cell;

	foreach(cell, scan->scan.plan.targetlist)
	{
		TargetEntry *entry = lfirst_node(TargetEntry, cell);

		if (entry->resjunk && is_order(scan, entry->expr))
			entry->expr = (Expr *) makeNullConst(exprType((Node *) entry->expr), -1, exprCollation((Node *) entry->expr));
	}
}

/*
 * is_last: the node's junk columns are read by none above. They end with the query that they belong to, whose last node a limit always is; without one
 * it is the root of a plan. A limit with ties reads them itself.
 */
static void
visit(Plan *plan, bool is_last)
{
	List	   *children = NIL;
	bool		passes = false;
	ListCell   *cell;

	if (plan == NULL)
		return;
	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_IndexScan:
			if (is_last && ((IndexScan *) plan)->indexorderby != NIL && is_ours((IndexScan *) plan))
				leave_out_distances((IndexScan *) plan);
			break;
		case T_Limit:
			passes = ((Limit *) plan)->limitOption == LIMIT_OPTION_COUNT;
			break;
		case T_LockRows:
			passes = is_last;
			break;
		case T_SubqueryScan:
			visit(((SubqueryScan *) plan)->subplan, true);
			break;
		case T_Append:
			children = ((Append *) plan)->appendplans;
			break;
		case T_MergeAppend:
			children = ((MergeAppend *) plan)->mergeplans;
			break;
		default:
			break;
	}
	foreach(cell, children)
		visit(lfirst(cell), false);
	visit(outerPlan(plan), passes);
	visit(innerPlan(plan), false);
}

static PlannedStmt *
plan_query(Query *parse, const char *query_string, int cursor_options, ParamListInfo bound_params)
{
	planner_hook_type plan = next_planner_hook != NULL ? next_planner_hook : standard_planner;
	PlannedStmt *statement = plan(parse, query_string, cursor_options, bound_params);
	ListCell   *cell;

	visit(statement->planTree, true);
	foreach(cell, statement->subplans)
		visit(lfirst(cell), true);
	return statement;
}

void
pig_register_output(void)
{
	next_planner_hook = planner_hook;
	planner_hook = plan_query;
}
