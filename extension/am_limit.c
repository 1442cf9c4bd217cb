/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_limit.c
 *	  How many rows the query above a scan wants: an access method is not told. The plan that the executor runs says it, where a limit is right above
 *	  the scan.
 */
#include "postgres.h"

#include "compat.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "nodes/nodeFuncs.h"

#include "am.h"

/* Each scan of a plan looks for itself in it: among so many nodes. */
#define NODES_MAX 64

/* Of more rows than this nobody knows whether they will all be asked for. */
#define ROWS_MAX 1000

static ExecutorRun_hook_type next_run_hook;

/* The innermost query that the executor runs; NULL: none. */
static QueryDesc *running;

static void
run_query(PIG_RUN_PARAMETERS)
{
	QueryDesc  *outer = running;
	ExecutorRun_hook_type run = next_run_hook != NULL ? next_run_hook : standard_ExecutorRun;

	running = query;
	PG_TRY();
	{
		run(PIG_RUN_ARGUMENTS);
	}
	PG_FINALLY();
	{
		running = outer;
	}
	PG_END_TRY();
}

void
pig_register_limits(void)
{
	next_run_hook = ExecutorRun_hook;
	ExecutorRun_hook = run_query;
}

typedef struct LimitSearch
{
	IndexScanDesc scan;
	int			nodes;
	const LimitState *limit;
} LimitSearch;

/*
 * Whether the node gives the rows of one below it as they come, none more and none less; that one then.
 */
static PlanState *
passes_rows_of(PlanState *node)
{
	if (node->qual != NULL)
		return NULL;
	if (IsA(node, LockRowsState))
		return outerPlanState(node);
	if (IsA(node, ResultState))
		return ((ResultState *) node)->resconstantqual == NULL ? outerPlanState(node) : NULL;
	if (IsA(node, SubqueryScanState))
		return ((SubqueryScanState *) node)->subplan;
	return NULL;
}

static bool
is_scan(const PlanState *node, IndexScanDesc scan)
{
	return IsA(node, IndexScanState) && ((const IndexScanState *) node)->iss_ScanDesc == scan;
}

static bool
find_limit(PlanState *node, void *context)
{
	LimitSearch *search = (LimitSearch *) context;

	if (++search->nodes > NODES_MAX || is_scan(node, search->scan))
		return true;
	if (IsA(node, LimitState))
	{
		PlanState  *below = outerPlanState(node);
		PlanState  *next;

		while ((next = passes_rows_of(below)) != NULL)
			below = next;
		if (below->qual == NULL && is_scan(below, search->scan))
		{
			search->limit = (LimitState *) node;
			return true;
		}
	}
	return planstate_tree_walker(node, find_limit, context);
}

const LimitState *
pig_limit_above(IndexScanDesc scan)
{
	LimitSearch search = {.scan = scan};

	if (running != NULL && running->planstate != NULL)
		(void) find_limit(running->planstate, &search);
	return search.limit;
}

size_t
pig_rows_wanted(const LimitState *limit)
{
	if (limit == NULL || limit->noCount || limit->offset > ROWS_MAX || limit->count > ROWS_MAX - limit->offset)
		return 0;
	return (size_t) (limit->offset + limit->count);
}
