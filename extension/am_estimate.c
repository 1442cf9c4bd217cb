/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_estimate.c
 *	  How many rows conditions let through, from the postings of the index: exact where statistics guess, for conditions that go together too. And
 *	  how many are within a distance, from a sample of the vectors.
 *
 * Asked while a query is planned, for conditions whose values are known by then. One count costs about what the filter of one scan does, some
 * tens of microseconds, and a sample a tenth of a millisecond; a planner that looks at several paths asks for the same again, so counts are kept until
 * it has ended.
 */
#include "postgres.h"

#include "access/genam.h"
#include "compat.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/selfuncs.h"

#include "am.h"
#include "engine_error.h"
#include "json_plan.h"

/* With fewer rows it does not matter. */
#define ROWS_MIN 1000
/* So many rows are looked at to learn how many are within a distance; some tenths of a microsecond each. */
#define SAMPLE_ROWS 256
/* The part that is within a distance of which nothing is known; the server has as much for ranges. */
#define WITHIN_GUESS 0.005

/* ---- clauses as scan keys ---- */

static bool
set_argument(ScanKey key, const Node *node)
{
	const Const *value = (const Const *) node;

	if (!IsA(node, Const))
		return false;
	key->sk_argument = value->constvalue;
	if (value->constisnull)
		key->sk_flags |= SK_ISNULL;
	return true;
}

/*
 * False: its value is not known yet.
 */
static bool
set_key(ScanKey key, const IndexOptInfo *index, int column, const Node *clause)
{
	Oid			operator;
	Oid			left;
	List	   *arguments;
	int			strategy;

	memset(key, 0, sizeof(*key));
	key->sk_attno = (AttrNumber) (column + 1);
	if (IsA(clause, NullTest))
	{
		key->sk_flags = SK_ISNULL | (((const NullTest *) clause)->nulltesttype == IS_NULL ? SK_SEARCHNULL : SK_SEARCHNOTNULL);
		return true;
	}
	if (IsA(clause, OpExpr))
	{
		operator = ((const OpExpr *) clause)->opno;
		arguments = ((const OpExpr *) clause)->args;
	}
	else if (IsA(clause, ScalarArrayOpExpr))
	{
		operator = ((const ScalarArrayOpExpr *) clause)->opno;
		arguments = ((const ScalarArrayOpExpr *) clause)->args;
		key->sk_flags = SK_SEARCHARRAY;
	}
	else
		return false;
	if (!op_in_opfamily(operator, index->opfamily[column]))
		return false;
	get_op_opfamily_properties(operator, index->opfamily[column], false, &strategy, &left, &key->sk_subtype);
	key->sk_strategy = (StrategyNumber) strategy;
	return set_argument(key, lsecond(arguments));
}

/*
 * Whether it is a condition on a distance that the planner was given for one of the query's.
 */
static bool
is_within(const IndexOptInfo *index, int column, const Node *clause)
{
	return IsA(clause, OpExpr) && pig_column_of(index->opfamily[column], index->opcintype[column], InvalidOid).kind == PIG_COLUMN_VECTOR &&
		get_op_opfamily_strategy(((const OpExpr *) clause)->opno, index->opfamily[column]) == PIG_WITHIN_STRATEGY;
}

/* ---- counting ---- */

typedef struct Count
{
	MemoryContextCallback release;
	PigSource	pages;
	PigMeta		meta;
	pigment_host_search *search;
} Count;

/*
 * Called when the memory context goes, also after an error: frees memory and nothing else.
 */
static void
release_count(void *arg)
{
	pigment_host_search_free(((Count *) arg)->search);
}

/*
 * The part of the rows that a search would give which is within its greatest distance. Of none in the sample it is taken for half a row.
 */
static double
sample_within(Count *count)
{
	uint64_t	rows;
	uint64_t	within;

	PIG_CALL(&count->pages.error, pigment_host_search_sample_within(count->search, SAMPLE_ROWS, &rows, &within, &error));
	return rows > 0 ? Max((double) within, 0.5) / (double) rows : 1;
}

/*
 * The part of the rows of segments, deleted ones included, for which conditions hold; negative: there are no segments.
 */
static double
count_in_segments(Relation index, const PigConditions *conditions)
{
	Count	   *count = palloc0(sizeof(Count));
	pigment_host_search_options options = {.struct_size = sizeof(options)};
	pigment_host_search_counters counters = {.struct_size = sizeof(counters)};
	PigSegments *segments;
	double		rows = 0;

	pig_read_meta(index, &count->meta);
	pig_source_init(&count->pages, index, NULL, false, CurrentMemoryContext);
	segments = pig_hold_segments(&count->pages, &count->meta, CurrentMemoryContext);
	count->release.func = release_count;
	count->release.arg = count;
	MemoryContextRegisterResetCallback(CurrentMemoryContext, &count->release);
	options.conditions = conditions->conditions;
	options.condition_count = conditions->count;
	if (conditions->bound.is_bound && conditions->bound.center.dimension == count->meta.dimension)
	{
		options.metric = count->meta.metric;
		options.dimension = count->meta.dimension;
		options.query = conditions->bound.center.values;
		if (!pig_bound_search(&conditions->bound, options.metric, &options))
			return 0;
	}
	PIG_CALL(NULL, pigment_host_search_new(&options, &count->search, &error));
	for (int i = 0; i < segments->count; i++)
	{
		PIG_CALL(&count->pages.error, pigment_host_search_add_segment(count->search, segments->segments[i], NULL, 0, &error));
		rows += (double) count->meta.segments[i].rows;
	}
	pigment_host_search_get_counters(count->search, &counters);
	if (rows == 0)
		return -1;
	return (double) counters.segment_rows / rows * (options.has_max_distance ? sample_within(count) : 1);
}

static double
count_rows(const IndexOptInfo *info, ScanKey keys, int key_count)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "pigment estimate", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	/* the planner has locked it */
	Relation	index = index_open(info->indexoid, NoLock);
	PigConditions conditions = pig_conditions(index, keys, key_count);
	double		part = conditions.nothing ? 0 : count_in_segments(index, &conditions);

	index_close(index, NoLock);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return part;
}

/* ---- what one run of the planner has asked ---- */

typedef struct KnownCount
{
	Oid			index;
	List	   *quals;			/* RestrictInfos, compared as pointers */
	double		part;
} KnownCount;

typedef struct KnownClauses
{
	const IndexOptInfo *index;
	List	   *clauses;		/* IndexClauses */
} KnownClauses;

static PlannerInfo *known_root;
static List *known_counts;
static List *known_clauses;

static void
forget_all(void *arg)
{
	known_root = NULL;
	known_counts = NIL;
	known_clauses = NIL;
}

/*
 * From here on what is known is that of this run.
 */
static void
know(PlannerInfo *root)
{
	MemoryContextCallback *callback;

	if (known_root == root)
		return;
	callback = MemoryContextAllocZero(root->planner_cxt, sizeof(MemoryContextCallback));
	callback->func = forget_all;
	MemoryContextRegisterResetCallback(root->planner_cxt, callback);
	forget_all(NULL);
	known_root = root;
}

static void
remember_count(PlannerInfo *root, Oid index, List *quals, double part)
{
	MemoryContext caller = MemoryContextSwitchTo(root->planner_cxt);
	KnownCount *known = palloc(sizeof(KnownCount));

	know(root);
	known->index = index;
	known->quals = list_copy(quals);
	known->part = part;
	known_counts = lappend(known_counts, known);
	MemoryContextSwitchTo(caller);
}

static bool
recall_count(PlannerInfo *root, Oid index, List *quals, double *part)
{
	ListCell   *cell;

	if (known_root != root)
		return false;
	foreach(cell, known_counts)
	{
		const KnownCount *known = lfirst(cell);

		if (known->index == index && list_length(known->quals) == list_length(quals) && list_difference_ptr(known->quals, quals) == NIL)
		{
			*part = known->part;
			return true;
		}
	}
	return false;
}

static KnownClauses *
find_known_clauses(const IndexOptInfo *index)
{
	ListCell   *cell;

	foreach(cell, known_clauses)
		if (((KnownClauses *) lfirst(cell))->index == index)
			return lfirst(cell);
	return NULL;
}

/*
 * Not of paths for an arm of an OR, for joins, and for conditions that the server does not find.
 */
static bool
are_restrictions(const IndexOptInfo *index, const List *clauses)
{
	ListCell   *cell;

	foreach(cell, clauses)
	{
		const IndexClause *clause = lfirst_node(IndexClause, cell);

		if (!list_member_ptr(index->rel->baserestrictinfo, clause->rinfo) ||
			is_within(index, clause->indexcol, (Node *) linitial_node(RestrictInfo, clause->indexquals)->clause) ||
			pig_is_json_test(index, clause->indexcol, (Node *) linitial_node(RestrictInfo, clause->indexquals)->clause))
			return false;
	}
	return true;
}

void
pig_note_clauses(PlannerInfo *root, const IndexPath *path)
{
	MemoryContext caller;
	KnownClauses *known;

	if (!are_restrictions(path->indexinfo, path->indexclauses))
		return;
	know(root);
	caller = MemoryContextSwitchTo(root->planner_cxt);
	known = find_known_clauses(path->indexinfo);
	if (known == NULL)
	{
		known = palloc0(sizeof(KnownClauses));
		known->index = path->indexinfo;
		known_clauses = lappend(known_clauses, known);
	}
	/* some paths leave out conditions that others have */
	if (list_length(path->indexclauses) > list_length(known->clauses))
		known->clauses = list_copy(path->indexclauses);
	MemoryContextSwitchTo(caller);
}

List *
pig_known_clauses(PlannerInfo *root, const IndexOptInfo *index)
{
	KnownClauses *known = known_root == root ? find_known_clauses(index) : NULL;

	return known != NULL ? known->clauses : NIL;
}

/* ---- estimates ---- */

/*
 * Under row security and behind security barriers EXPLAIN would tell how many hidden rows there are of any value.
 */
static bool
may_count(const PlannerInfo *root, const IndexOptInfo *index)
{
	return !index->hypothetical && index->tuples >= ROWS_MIN && root->qual_security_level == 0;
}

double
pig_counted_part(PlannerInfo *root, IndexOptInfo *index, const Node *clause, int column)
{
	ScanKeyData key;

	if (!may_count(root, index) || !set_key(&key, index, column, clause))
		return -1;
	return count_rows(index, &key, 1);
}

/*
 * By statistics, which know nothing of distances and little of jsonb.
 */
static Selectivity
guess(PlannerInfo *root, const IndexOptInfo *index, List *quals, List *columns)
{
	List	   *known_kinds = NIL;
	double		within = 1;
	double		tests = 1;
	ListCell   *qual;
	ListCell   *column;

	forboth(qual, quals, column, columns)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, qual);

		if (is_within(index, lfirst_int(column), (Node *) info->clause))
			within = WITHIN_GUESS;
		else if (pig_is_json_test(index, lfirst_int(column), (Node *) info->clause))
			tests *= pig_guess_json_test((Node *) info->clause);
		else
			known_kinds = lappend(known_kinds, info);
	}
	return within * tests * clauselist_selectivity(root, known_kinds, (int) index->rel->relid, JOIN_INNER, NULL);
}

Selectivity
pig_selectivity(PlannerInfo *root, IndexOptInfo *index, List *quals, List *columns)
{
	ScanKeyData *keys = palloc(sizeof(ScanKeyData) * (Size) list_length(quals));
	List	   *counted = NIL;
	List	   *guessed = NIL;
	List	   *guessed_columns = NIL;
	ListCell   *qual;
	ListCell   *column;
	int			count = 0;
	double		part = -1;

	forboth(qual, quals, column, columns)
	{
		RestrictInfo *info = lfirst_node(RestrictInfo, qual);

		if (may_count(root, index) &&
			set_key(&keys[count], index, lfirst_int(column), (Node *) info->clause))
		{
			count++;
			counted = lappend(counted, info);
		}
		else
		{
			guessed = lappend(guessed, info);
			guessed_columns = lappend_int(guessed_columns, lfirst_int(column));
		}
	}
	if (count > 0 && !recall_count(root, index->indexoid, counted, &part))
	{
		part = count_rows(index, keys, count);
		remember_count(root, index->indexoid, counted, part);
	}
	pfree(keys);
	return part < 0 ? guess(root, index, quals, columns) : part * guess(root, index, guessed, guessed_columns);
}
