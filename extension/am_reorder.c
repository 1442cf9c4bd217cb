/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_reorder.c
 *	  Rows in the order of the table's vectors, where the index has them rounded.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "access/relscan.h"
#include "access/tableam.h"
#include "catalog/index.h"
#include "compat.h"
#include "executor/executor.h"
#include "utils/float.h"
#include "utils/memutils.h"

#include "am_reorder.h"

/* So many rows wait at the most, unless the order is to be exact: of many thousand copies nobody wants all read. */
#define WAITING_MAX 1000

/* Room for the first rows. */
#define CAPACITY_MIN 32

typedef struct WaitingRow
{
	float		distance;		/* of the vector in the table */
	uint64		row_pointer;
} WaitingRow;

struct PigReorder
{
	IndexScanDesc scan;
	PigColumns	columns;
	int32		metric;
	PigVector	query;
	double		shift;			/* of a distance, by rounding */
	bool		exact;
	float		reached;		/* by rounded vectors, of the farthest row so far */
	WaitingRow *rows;			/* a heap, the nearest first */
	int			count;
	int			capacity;
	MemoryContext context;
	MemoryContext row_context;	/* reset after each row */

	/* made for the first row that is looked at */
	IndexInfo  *info;
	EState	   *estate;
	struct IndexFetchTableData *fetch;
	TupleTableSlot *slot;
};

float
pig_rounding(const PigMeta *meta)
{
	float		rounding = meta->pending_rounding;

	for (uint32 i = 0; i < meta->segment_count; i++)
		rounding = Max(rounding, meta->segments[i].rounding);
	return rounding;
}

/*
 * How far a distance may be from that of the rounded vector. Both are computed in single precision.
 */
static double
shift_of(int32 metric, const PigVector *query, float rounding)
{
	/* a little more, for what computing loses */
	double		shift = rounding * (1 + 1.0 / 64);

	return metric == PIGMENT_METRIC_NEGATIVE_IP ? shift * pigment_host_norm(query->values, query->dimension) : shift;
}

/*
 * A distance of the engine that is farther by so much, or nearer. That of L2 is a square.
 */
static double
shifted(int32 metric, double distance, double shift)
{
	double		slack = fabs(distance) * 4 * FLT_EPSILON;
	double		root;

	if (metric == PIGMENT_METRIC_NEGATIVE_IP)
		return distance + shift + (shift < 0 ? -slack : slack);
	if (metric != PIGMENT_METRIC_L2)
		return Max(distance + shift + (shift < 0 ? -slack : slack), 0);
	root = sqrt(distance) + shift;
	return root <= 0 ? 0 : root * root + (shift < 0 ? -slack : slack);
}

float
pig_farthest_distance(int32 metric, const PigVector *query, float rounding, float distance)
{
	double		farthest = shifted(metric, distance, shift_of(metric, query, rounding));

	return farthest > FLT_MAX ? get_float4_infinity() : nextafterf((float) farthest, get_float4_infinity());
}

PigReorder *
pig_reorder_new(IndexScanDesc scan, const PigVector *query, int32 metric, float rounding, bool exact, MemoryContext context)
{
	PigReorder *reorder = MemoryContextAllocZero(context, sizeof(PigReorder));

	reorder->scan = scan;
	reorder->columns = pig_columns(scan->indexRelation);
	reorder->metric = metric;
	reorder->query = *query;
	reorder->shift = shift_of(metric, query, rounding);
	reorder->exact = exact;
	reorder->reached = -get_float4_infinity();
	reorder->context = context;
	return reorder;
}

void
pig_reorder_free(PigReorder *reorder)
{
	if (reorder == NULL || reorder->slot == NULL)
		return;
	table_index_fetch_end(reorder->fetch);
	ExecDropSingleTupleTableSlot(reorder->slot);
	FreeExecutorState(reorder->estate);
	reorder->slot = NULL;
}

static double
nearest_of(const PigReorder *reorder, float distance)
{
	return shifted(reorder->metric, distance, -reorder->shift);
}

static double
farthest_of(const PigReorder *reorder, float distance)
{
	return shifted(reorder->metric, distance, reorder->shift);
}

/* ---- the heap ---- */

static bool
is_before(const WaitingRow *a, const WaitingRow *b)
{
	return a->distance != b->distance ? a->distance < b->distance : a->row_pointer < b->row_pointer;
}

static void
push(PigReorder *reorder, WaitingRow row)
{
	int			place = reorder->count++;

	if (place == reorder->capacity)
	{
		reorder->capacity = Max(reorder->capacity * 2, CAPACITY_MIN);
		reorder->rows = reorder->rows == NULL
			? MemoryContextAlloc(reorder->context, sizeof(WaitingRow) * (Size) reorder->capacity)
			: repalloc_huge(reorder->rows, sizeof(WaitingRow) * (Size) reorder->capacity);
	}
	for (; place > 0 && is_before(&row, &reorder->rows[(place - 1) / 2]); place = (place - 1) / 2)
		reorder->rows[place] = reorder->rows[(place - 1) / 2];
	reorder->rows[place] = row;
}

static uint64
pop(PigReorder *reorder)
{
	uint64		nearest = reorder->rows[0].row_pointer;
	WaitingRow	last = reorder->rows[--reorder->count];
	int			place = 0;

	for (int child = 1; child < reorder->count; child = place * 2 + 1)
	{
		if (child + 1 < reorder->count && is_before(&reorder->rows[child + 1], &reorder->rows[child]))
			child++;
		if (!is_before(&reorder->rows[child], &last))
			break;
		reorder->rows[place] = reorder->rows[child];
		place = child;
	}
	reorder->rows[place] = last;
	return nearest;
}

/* ---- the table ---- */

/*
 * The vector of the row in the slot; an expression is computed as the executor would. Allocated in the current memory context.
 */
static PigVector
slot_vector(PigReorder *reorder)
{
	int			place = reorder->columns.vector;
	AttrNumber	attribute = reorder->info->ii_IndexAttrNumbers[place];
	Datum		values[INDEX_MAX_KEYS];
	bool		isnull[INDEX_MAX_KEYS];

	if (attribute != 0)
		values[place] = slot_getattr(reorder->slot, attribute, &isnull[place]);
	else
	{
		GetPerTupleExprContext(reorder->estate)->ecxt_scantuple = reorder->slot;
		FormIndexDatum(reorder->info, reorder->slot, reorder->estate, values, isnull);
	}
	return isnull[place] ? (PigVector) {0} : pig_column_vector(&reorder->columns, values[place]);
}

/*
 * The distance of a row in the table; false: the snapshot does not see it.
 */
static bool
read_distance(PigReorder *reorder, uint64 row_pointer, float *distance)
{
	IndexScanDesc scan = reorder->scan;
	MemoryContext caller = MemoryContextSwitchTo(reorder->context);
	ItemPointerData tid;
	bool		again = false;
	bool		is_visible;

	if (reorder->slot == NULL)
	{
		reorder->row_context = AllocSetContextCreate(reorder->context, "pigment row of the table", ALLOCSET_DEFAULT_SIZES);
		reorder->info = BuildIndexInfo(scan->indexRelation);
		reorder->estate = CreateExecutorState();
		reorder->fetch = table_index_fetch_begin(scan->heapRelation);
		reorder->slot = table_slot_create(scan->heapRelation, NULL);
	}
	pig_tid(row_pointer, &tid);
	is_visible = table_index_fetch_tuple(reorder->fetch, &tid, scan->xs_snapshot, reorder->slot, &again, NULL);
	if (is_visible)
	{
		PigVector	vector;

		MemoryContextSwitchTo(reorder->row_context);
		vector = slot_vector(reorder);
		*distance = get_float4_infinity();
		if (vector.dimension == reorder->query.dimension)
			*distance = pigment_host_distance(reorder->metric, reorder->query.values, vector.values, vector.dimension);
		if (isnan(*distance))
			*distance = get_float4_infinity();
	}
	ExecClearTuple(reorder->slot);
	table_index_fetch_reset(reorder->fetch);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(reorder->row_context);
	ResetPerTupleExprContext(reorder->estate);
	return is_visible;
}

/* ---- the order ---- */

size_t
pig_reorder_waiting(const PigReorder *reorder)
{
	return (size_t) reorder->count;
}

bool
pig_reorder_take(PigReorder *reorder, const pigment_host_hit *hit, const pigment_host_hit *behind)
{
	WaitingRow	row = {.row_pointer = hit->row_pointer};

	/* what has no distance has none in the table either */
	if (hit->kind != 0)
		return true;
	reorder->reached = Max(reorder->reached, hit->distance);
	if (reorder->count == 0 && behind != NULL && (behind->kind != 0 || farthest_of(reorder, hit->distance) <= nearest_of(reorder, behind->distance)))
		return true;
	if (read_distance(reorder, hit->row_pointer, &row.distance))
		push(reorder, row);
	return false;
}

bool
pig_reorder_give(PigReorder *reorder, const pigment_host_hit *behind, bool ended, uint64 *row_pointer)
{
	bool		is_next = ended || (behind != NULL && behind->kind != 0) || (reorder->count >= WAITING_MAX && !reorder->exact);

	if (reorder->count == 0)
		return false;
	if (!is_next && reorder->rows[0].distance > nearest_of(reorder, behind != NULL ? behind->distance : reorder->reached))
		return false;
	*row_pointer = pop(reorder);
	return true;
}
