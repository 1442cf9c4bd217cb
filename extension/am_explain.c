/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_explain.c
 *	  What EXPLAIN (ANALYZE) shows of a scan beside what the server knows of it. The module is there in time without preloading, since the planner
 *	  has opened the index.
 */
#include "postgres.h"

#include "access/relscan.h"
#include "compat.h"

#include "am.h"

#ifdef PIG_HAS_EXPLAIN_HOOK

static explain_per_node_hook_type next_explain_hook;

/*
 * The scan of a node; NULL: there is none, or none yet.
 */
static IndexScanDesc
scan_of(const PlanState *node)
{
	switch (nodeTag(node))
	{
		case T_IndexScanState:
			return ((const IndexScanState *) node)->iss_ScanDesc;
		case T_BitmapIndexScanState:
			return ((const BitmapIndexScanState *) node)->biss_ScanDesc;
		default:
			return NULL;
	}
}

/*
 * What is nothing is shown only where a program reads it.
 */
static void
show_count(const char *label, uint64 count, ExplainState *es)
{
	if (count > 0 || es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyUInteger(label, NULL, count, es);
}

static void
explain_node(PlanState *node, List *ancestors, const char *relationship, const char *plan_name, ExplainState *es)
{
	IndexScanDesc scan = es->analyze ? scan_of(node) : NULL;
	PigScanTotals totals;

	if (next_explain_hook != NULL)
		next_explain_hook(node, ancestors, relationship, plan_name, es);
	if (scan == NULL || scan->indexRelation->rd_indam->ambeginscan != pig_begin_scan || !pig_scan_totals(scan, &totals))
		return;
	ExplainPropertyText("Index Strategy", pig_strategy_name(scan->numberOfOrderBys > 0, scan->numberOfKeys > 0), es);
	ExplainPropertyInteger("Index Segments", NULL, totals.segments, es);
	ExplainPropertyUInteger("Index Pages Read", NULL, totals.pages_read, es);
	if (scan->numberOfKeys > 0)
		ExplainPropertyUInteger("Rows by Conditions", NULL, totals.filter_rows, es);
	show_count("Rows Scored", totals.rows_scored, es);
	show_count("Graph Walks", totals.walks, es);
	show_count("Cluster Probes", totals.probes, es);
	show_count("Visits", totals.visits, es);
	show_count("Rows Late", totals.rows_late, es);
}

void
pig_register_explain(void)
{
	next_explain_hook = explain_per_node_hook;
	explain_per_node_hook = explain_node;
}

#else

void
pig_register_explain(void)
{
}

#endif
