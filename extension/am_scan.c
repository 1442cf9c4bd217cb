/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_scan.c
 *	  Scans: by distance or by words, by conditions on filter columns, or both.
 *
 * By distance, segments with an index are searched for the recall that is wanted; then a row may come late, behind one that is farther, and
 * all come in the end.
 *
 * By distances of sparse vectors, the index knows of each a bound that it is not below, and the server computes them of the rows that come.
 *
 * A scan reads the directory and copies the deletion bits at its first row. What is inserted later is invisible to its snapshot, what
 * VACUUM removes later was dead to it; so it needs no lock between rows. Pending rows are those that scans of the session read before, and what was
 * appended since. Each call of the engine gives a batch of rows and keeps
 * its place, which makes the scan resumable after an interrupt and its memory bounded.
 */
#include "postgres.h"

#include <math.h>

#include "access/heapam.h"
#include "access/relscan.h"
#include "access/tableam.h"
#include "compat.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/spccache.h"

#include "am.h"
#include "am_reorder.h"
#include "engine_error.h"
#include "ranked_text.h"
#include "sparsevec.h"

#define HITS_MAX 128

/* So many rows ahead their pages of the table are asked for; half as many ahead the rows in them. */
#define ROWS_AHEAD 4

/* Where rows are put in order so many are there to wait: it takes more seldom, and one that is not there costs a search. */
#define WAITING_ROWS_MIN 4

/* So small a part of the rows that are wanted may be a little less surely found: those that stand in for rows that the snapshot does not see. */
#define SPARE_SHARE 4

typedef struct PigScan
{
	MemoryContext context;		/* of everything here, freed at the end of the scan or by an error */
	MemoryContextCallback release;
	bool		started;		/* since the last rescan */
	PigMeta	   *meta;
	PigSource	segment_pages;
	PigSource	pending_pages;
	PigSegments *segments;		/* NULL: not opened yet; kept over rescans, which see the same snapshot */
	MemoryContext rescan_context;	/* of conditions and query: reset by a rescan */
	PigConditions conditions;
	pigment_host_search *search;
	PigReorder *reorder;		/* NULL: rows come in the order of the search */
	bool		is_rounded;		/* by distances that the operator has in more precision, or by bounds of them */
	pigment_host_hit hits[HITS_MAX];
	size_t		hit_count;
	size_t		hit_next;
	int			rows_ahead;		/* 0: nothing is asked for */
	size_t		pages_expected; /* hits that have their page asked for */
	size_t		rows_expected;	/* and their row */
	Buffer		table_buffers[HITS_MAX];	/* where these probably are */
	bool		knows_limit;
	const LimitState *limit;	/* right above; NULL: none */
	size_t		rows_wanted;	/* by it, in this search; 0: nobody knows */
	size_t		rows_taken;		/* of the search, so far */
	uint64		row_given;		/* the last one, where there is one: of this search */
	bool		gave_row;
	PigScanTotals totals;		/* of searches that have ended */
} PigScan;

/*
 * Called when the memory context goes, also after an error: frees memory and nothing else.
 */
static void
release_search(void *arg)
{
	PigScan    *state = (PigScan *) arg;

	pigment_host_search_free(state->search);
	state->search = NULL;
}

/*
 * Adds what the search has done so far.
 */
static void
add_counters(const PigScan *state, PigScanTotals *totals)
{
	pigment_host_search_counters counters = {.struct_size = sizeof(counters)};

	if (state->search == NULL)
		return;
	pigment_host_search_get_counters(state->search, &counters);
	totals->filter_rows += counters.segment_rows + counters.pending_rows;
	totals->rows_scored += counters.rows_scored;
	totals->pages_read += counters.pages_read;
	totals->walks += counters.walks;
	totals->probes += counters.probes;
	totals->visits += counters.visits;
	totals->rows_late += counters.rows_late;
}

bool
pig_scan_totals(IndexScanDesc scan, PigScanTotals *totals)
{
	const PigScan *state = (const PigScan *) scan->opaque;

	if (state == NULL || state->segments == NULL)
		return false;
	*totals = state->totals;
	totals->segments = state->segments->count;
	add_counters(state, totals);
	return true;
}

IndexScanDesc
pig_begin_scan(Relation index, int nkeys, int norderbys)
{
	IndexScanDesc scan = RelationGetIndexScan(index, nkeys, norderbys);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "pigment scan", ALLOCSET_DEFAULT_SIZES);
	PigScan    *state = MemoryContextAllocZero(context, sizeof(PigScan));

	state->context = context;
	state->rescan_context = AllocSetContextCreate(context, "pigment rescan", ALLOCSET_SMALL_SIZES);
	scan->opaque = state;
	if (norderbys > 0)
	{
		scan->xs_orderbyvals = palloc0(sizeof(Datum) * (size_t) norderbys);
		scan->xs_orderbynulls = palloc0(sizeof(bool) * (size_t) norderbys);
	}
	return scan;
}

/*
 * The search ends: those that follow look for the rows that it needed beyond what was wanted.
 */
static void
note_spare_rows(PigScan *state)
{
	size_t		waiting = state->reorder != NULL ? pig_reorder_waiting(state->reorder) : 0;
	PigSpareRows needed = {.waiting = waiting + (state->reorder != NULL ? 1 : 0)};

	if (state->search == NULL || state->rows_wanted == 0)
		return;
	if (state->rows_taken > state->rows_wanted + waiting)
		needed.unseen = state->rows_taken - state->rows_wanted - waiting;
	pig_note_spare_rows(state->segments, &needed);
}

void
pig_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys)
{
	PigScan    *state = (PigScan *) scan->opaque;

	if (keys != NULL && scan->numberOfKeys > 0)
		memmove(scan->keyData, keys, sizeof(ScanKeyData) * (size_t) scan->numberOfKeys);
	if (orderbys != NULL && scan->numberOfOrderBys > 0)
		memmove(scan->orderByData, orderbys, sizeof(ScanKeyData) * (size_t) scan->numberOfOrderBys);
	add_counters(state, &state->totals);
	note_spare_rows(state);
	pigment_host_search_free(state->search);
	state->search = NULL;
	pig_reorder_free(state->reorder);
	state->reorder = NULL;
	MemoryContextReset(state->rescan_context);
	state->is_rounded = false;
	state->started = false;
	state->hit_count = state->hit_next = 0;
	state->rows_wanted = state->rows_taken = 0;
	state->gave_row = false;
}

void
pig_end_scan(IndexScanDesc scan)
{
	PigScan    *state = (PigScan *) scan->opaque;

	note_spare_rows(state);
	if (state->segments != NULL && scan->numberOfOrderBys > 0 && scan->heapRelation != NULL)
		pig_hang_if_due(state->segments, scan->indexRelation, scan->heapRelation);
	pig_reorder_free(state->reorder);
	MemoryContextDelete(state->context);
	scan->opaque = NULL;
}

/*
 * Reads the directory and opens the segments, once per scan.
 */
static void
open_index(IndexScanDesc scan, PigScan *state)
{
	Relation	index = scan->indexRelation;

	state->meta = MemoryContextAlloc(state->context, sizeof(PigMeta));
	pig_read_meta_for(index, scan->xs_snapshot, state->meta);
	pig_source_init(&state->segment_pages, index, scan->xs_snapshot, false, state->context);
	pig_source_init(&state->pending_pages, index, scan->xs_snapshot, true, state->context);
	if (scan->heapRelation != NULL && scan->heapRelation->rd_tableam == GetHeapamTableAmRoutine() &&
		get_tablespace_io_concurrency(scan->heapRelation->rd_rel->reltablespace) > 0)
		state->rows_ahead = ROWS_AHEAD;
	state->segments = pig_hold_segments(&state->segment_pages, state->meta, state->context);
	pig_source_remember(&state->pending_pages, state->segments->open);

	/* registered after the segments' own, so called before it: the search borrows them */
	state->release.func = release_search;
	state->release.arg = state;
	MemoryContextRegisterResetCallback(state->context, &state->release);
}

/*
 * The column that the order is by, where that is not the vector; NULL: there is no such order.
 */
static const PigColumn *
ranking_column(IndexScanDesc scan, const PigColumns *columns)
{
	const PigColumn *column = scan->numberOfOrderBys > 0 ? &columns->columns[scan->orderByData->sk_attno - 1] : NULL;

	return column != NULL && pig_ranks_by_elements(column->kind) ? column : NULL;
}

static void
set_words(IndexScanDesc scan, PigScan *state, pigment_host_search_options *options)
{
	Bm25Query  *query = DatumGetBm25Query(scan->orderByData->sk_argument);

	if (!pig_ranks_alike(scan->indexRelation, query->index))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("a query of index \"%s\" cannot be answered by index \"%s\", which reads texts in another way",
						get_rel_name(query->index), RelationGetRelationName(scan->indexRelation)),
				 errhint("Name the index that is to rank the rows.")));
	options->text = pig_hold_text_query(query, scan->xs_snapshot, state->rescan_context);
	options->text_column = (uint32) (scan->orderByData->sk_attno - 1);
}

/*
 * Made in the current memory context.
 */
static void
set_sparse_vector(IndexScanDesc scan, PigScan *state, int32 metric, pigment_host_search_options *options)
{
	pigment_sparse_vector *vector = palloc(sizeof(pigment_sparse_vector));

	*vector = pig_engine_sparsevec(DatumGetSparseVector(scan->orderByData->sk_argument));
	options->sparse = vector;
	options->sparse_column = (uint32) (scan->orderByData->sk_attno - 1);
	options->metric = metric;
	state->is_rounded = true;
}

/*
 * Sets the words, or the sparse vector, to rank by. Without any, because the query is NULL, all rows come in the order of the table.
 */
static void
set_ranking(IndexScanDesc scan, PigScan *state, pigment_host_search_options *options)
{
	PigColumns	columns = pig_columns(scan->indexRelation);
	const PigColumn *column = ranking_column(scan, &columns);

	if (column == NULL || (scan->orderByData->sk_flags & SK_ISNULL) != 0)
		return;
	if (column->kind == PIG_COLUMN_RANKED)
		set_words(scan, state, options);
	else
		set_sparse_vector(scan, state, column->metric, options);
	/* the best come first, and few are wanted */
	options->batch_rows_first = 0;
}

/*
 * The vector to be near to; without one all rows come in the order of the table. Made in the current memory context.
 */
static PigVector
query_vector(IndexScanDesc scan, const PigMeta *meta, const PigBound *bound)
{
	PigColumns	columns = pig_columns(scan->indexRelation);
	PigVector	query = {0};

	if (scan->numberOfOrderBys == 0 ? !bound->is_bound : ranking_column(scan, &columns) != NULL || (scan->orderByData->sk_flags & SK_ISNULL) != 0)
		return query;
	/* no row had a vector yet when the directory was read: those that came since are not seen */
	if (meta->dimension == 0)
		return query;
	query = scan->numberOfOrderBys == 0 ? bound->center : pig_column_vector(&columns, scan->orderByData->sk_argument);
	if (meta->dimension == query.dimension)
		return query;
	/* no row is there to have another dimension, so the operator would not complain either */
	if (pig_dimension_is_void(scan->indexRelation, scan->heapRelation, meta))
		return (PigVector) {0};
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg(columns.element == PIG_ELEMENT_BIT ? "different bit lengths %u and %u" :
					columns.element == PIG_ELEMENT_HALF ? "different halfvec dimensions %u and %u" : "different vector dimensions %u and %u",
					meta->dimension, query.dimension)));
	pg_unreachable();
}

/*
 * What the search gives of all rows, and in which order. False: none.
 */
static bool
choose_rows(IndexScanDesc scan, PigScan *state, const PigVector *query, float rounding, pigment_host_search_options *options)
{
	const PigBound *bound = &state->conditions.bound;

	options->recall = pig_target_recall;
	options->width = (size_t) pig_search_width;
	if (scan->numberOfOrderBys > 0)
		state->rows_wanted = pig_rows_wanted(state->limit);
	if (state->rows_wanted > 0)
	{
		PigSpareRows spare = pig_spare_rows(state->segments);

		options->rows_spare = Min(spare.unseen, state->rows_wanted / SPARE_SHARE);
		options->rows_wanted = state->rows_wanted + spare.unseen - options->rows_spare;
		if (rounding > 0)
			options->rows_spare += Max(spare.waiting, WAITING_ROWS_MIN);
	}
	if (scan->numberOfOrderBys > 0 && scan->orderByData->sk_strategy == PIG_NAN_FIRST_STRATEGY)
		options->nan = PIGMENT_NAN_FIRST;
	options->no_zero_vectors = pig_has_no_zero_vectors(state->meta);
	/* without an order nobody stops early, and all is to be looked at */
	if (query->values == NULL || scan->numberOfOrderBys == 0)
	{
		options->batch_rows_first = (size_t) options->batch_bytes_max;
		options->recall = 1;
		options->width = 0;
	}
	if (query->values == NULL || !bound->is_bound || !pig_is_same_vector(query, &bound->center))
		return true;
	if (!pig_bound_search(bound, state->meta->metric, options))
		return false;
	if (rounding > 0 && options->has_max_distance)
	{
		options->max_distance = pig_farthest_distance(state->meta->metric, query, rounding, options->max_distance);
		state->conditions.recheck = true;
	}
	return true;
}

static void
start_search(IndexScanDesc scan, PigScan *state)
{
	pigment_host_search_options options = {0};
	MemoryContext caller = MemoryContextSwitchTo(state->rescan_context);
	PigVector	query = query_vector(scan, state->meta, &state->conditions.bound);
	float		rounding = pig_rounding(state->meta);
	pigment_pending_cache *pending;

	MemoryContextSwitchTo(caller);
	options.struct_size = sizeof(options);
	options.metric = state->meta->metric;
	options.dimension = query.dimension != 0 ? query.dimension : Max(state->meta->dimension, 1);
	options.query = query.values;
	options.batch_bytes_max = (uint64) work_mem * 1024;
	options.conditions = state->conditions.conditions;
	options.condition_count = state->conditions.count;
	if (!choose_rows(scan, state, &query, rounding, &options))
	{
		state->conditions.nothing = true;
		return;
	}
	/* the others are single precision, or whole numbers */
	state->is_rounded = query.values != NULL && scan->numberOfOrderBys > 0 && state->meta->metric == PIGMENT_METRIC_JACCARD;
	MemoryContextSwitchTo(state->rescan_context);
	set_ranking(scan, state, &options);
	MemoryContextSwitchTo(caller);
	if (query.values != NULL && scan->numberOfOrderBys > 0 && rounding > 0)
		state->reorder = pig_reorder_new(scan, &query, state->meta->metric, rounding, options.recall == 1 && options.width == 0,
										 state->rescan_context);
	PIG_CALL(NULL, pigment_host_search_new(&options, &state->search, &error));
	pig_source_use(&state->segment_pages);
	for (int i = 0; i < state->segments->count; i++)
		PIG_CALL(&state->segment_pages.error,
				 pigment_host_search_add_segment(state->search, state->segments->segments[i], state->segments->deleted[i],
												 state->segments->deleted_bytes[i], &error));
	pending = pig_hold_pending(state->segments, state->meta);
	if (pending != NULL)
		PIG_CALL(&state->pending_pages.error,
				 pigment_host_search_add_pending_cache(state->search, &state->pending_pages.callbacks, pending, &error));
	else
		PIG_CALL(&state->pending_pages.error,
				 pigment_host_search_add_pending(state->search, &state->pending_pages.callbacks, state->meta->pending_stamp,
												 state->meta->pending_head, &error));
}

PigLastScan pig_last_scan;

static void
begin_report(IndexScanDesc scan, const PigScan *state)
{
	memset(&pig_last_scan, 0, sizeof(pig_last_scan));
	pig_last_scan.index = RelationGetRelid(scan->indexRelation);
	pig_last_scan.ordered = scan->numberOfOrderBys > 0;
	pig_last_scan.recheck = state->conditions.recheck;
	pig_last_scan.conditions = scan->numberOfKeys;
	pig_last_scan.segments = state->segments->count;
}

/*
 * Also learns whether all rows are to be looked at again, because the index does not know of some.
 */
static void
report(IndexScanDesc scan, PigScan *state)
{
	pigment_host_search_counters counters = {.struct_size = sizeof(counters)};

	pigment_host_search_get_counters(state->search, &counters);
	state->conditions.recheck |= counters.unindexed_rows > 0;
	if (pig_last_scan.index != RelationGetRelid(scan->indexRelation))
		begin_report(scan, state);
	pig_last_scan.recheck = state->conditions.recheck;
	pig_last_scan.rows_given += state->hit_count;
	pig_last_scan.counters = counters;
}

/*
 * The first row of a scan or rescan is asked for.
 */
static void
start(IndexScanDesc scan, PigScan *state)
{
	MemoryContext caller = MemoryContextSwitchTo(state->context);

	/* a row pointer may be reused once its row is dead to every MVCC snapshot, and is not checked again */
	if (!IsMVCCSnapshot(scan->xs_snapshot))
		elog(ERROR, "access method pigment serves only MVCC snapshots");
	if (scan->numberOfOrderBys > 1)
		elog(ERROR, "access method pigment orders by one distance, not by %d", scan->numberOfOrderBys);
	pgstat_count_index_scan(scan->indexRelation);
	pig_count_search(scan);
	if (!state->knows_limit && scan->numberOfOrderBys > 0)
		state->limit = pig_limit_above(scan);
	state->knows_limit = true;
	if (state->segments == NULL)
		open_index(scan, state);
	MemoryContextSwitchTo(state->rescan_context);
	state->conditions = pig_conditions(scan->indexRelation, scan->keyData, scan->numberOfKeys);
	MemoryContextSwitchTo(state->context);
	if (!state->conditions.nothing)
		start_search(scan, state);
	state->started = true;
	MemoryContextSwitchTo(caller);
	begin_report(scan, state);
}

/*
 * The engine met rows of a dimension that the index got after the scan began: no row of the old one was left to be seen. The
 * generation tells, and not the dimension, which may be back to what it was; where there were segments, which maintenance changes too, the dimension.
 */
static void
check_dimension_stayed(IndexScanDesc scan, PigScan *state, pigment_error *error)
{
	PigMeta    *now = palloc(sizeof(PigMeta));

	pig_read_meta(scan->indexRelation, now);
	if (now->generation == state->meta->generation || (state->meta->segment_count > 0 && now->dimension == state->meta->dimension))
	{
		pfree(now);
		return;
	}
	pigment_error_free(error);
	ereport(ERROR,
			(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
			 errmsg("the dimension of index \"%s\" changed during a scan, from %u", RelationGetRelationName(scan->indexRelation),
					state->meta->dimension)));
}

static void
next_hits(IndexScanDesc scan, PigScan *state)
{
	ErrorData **kept = &state->segment_pages.error;
	pigment_error *error;
	pigment_status status;

	do
	{
		error = NULL;
		pig_source_use(&state->segment_pages);
		status = pigment_host_search_next(state->search, state->hits, HITS_MAX, &state->hit_count, &error);
		if (state->pending_pages.error != NULL)
			kept = &state->pending_pages.error;
		else if (status == PIGMENT_DATA_LOSS)
			check_dimension_stayed(scan, state, error);
	} while (pig_retry(status, error, kept));
	state->hit_next = state->pages_expected = state->rows_expected = 0;
	report(scan, state);
}

/* ---- the table ahead ---- */

/*
 * The table is the server's, and its rows are all over it: without this each waits for its page, from memory or from the disk, and for what the page
 * says of it.
 */
static void
expect_page(IndexScanDesc scan, PigScan *state, size_t hit)
{
	ItemPointerData tid;

	pig_tid(state->hits[hit].row_pointer, &tid);
	state->table_buffers[hit] = pig_expect_table_page(state->segments, scan->heapRelation, ItemPointerGetBlockNumber(&tid));
}

/*
 * Reads the line pointer without a pin: whatever it says, nothing is read there.
 */
static void
expect_row(const PigScan *state, size_t hit)
{
	ItemPointerData tid;
	Buffer		buffer = state->table_buffers[hit];
	Page		page;

	pig_tid(state->hits[hit].row_pointer, &tid);
	if (!BufferIsValid(buffer) || ItemPointerGetOffsetNumber(&tid) > MaxOffsetNumber)
		return;
	page = BufferGetPage(buffer);
	pig_expect_line((const char *) page + ItemIdGetOffset(PageGetItemId(page, ItemPointerGetOffsetNumber(&tid))));
}

static void
expect_rows(IndexScanDesc scan, PigScan *state)
{
	size_t		end = Min(state->hit_next + (size_t) state->rows_ahead, state->hit_count);

	while (state->pages_expected < end)
		expect_page(scan, state, state->pages_expected++);
	end = Min(state->hit_next + (size_t) state->rows_ahead / 2, end);
	while (state->rows_expected < end)
		expect_row(state, state->rows_expected++);
}

/*
 * Hands the row's page to the table's access method, which keeps the page of the row before and takes it again where that is the one it wants:
 * so it need not look the page up, which is three or four places in memory.
 */
static void
hold_page(IndexScanDesc scan, PigScan *state)
{
	IndexFetchHeapData *fetch = (IndexFetchHeapData *) scan->xs_heapfetch;
	Buffer		buffer = pig_pin_table_page(state->segments, scan->heapRelation, ItemPointerGetBlockNumber(&scan->xs_heaptid), fetch->xs_cbuf);

	if (!BufferIsValid(buffer))
		return;
	if (BufferIsValid(fetch->xs_cbuf))
		ReleaseBuffer(fetch->xs_cbuf);
	fetch->xs_cbuf = buffer;
	/* as it does itself with a page that it looked up */
	heap_page_prune_opt(scan->heapRelation, buffer);
}

/*
 * Makes sure that there is a hit to give; false: all were given.
 */
static bool
has_hit(IndexScanDesc scan, PigScan *state)
{
	if (!state->started)
		start(scan, state);
	if (state->hit_next < state->hit_count)
		return true;
	if (state->conditions.nothing)
		return false;
	CHECK_FOR_INTERRUPTS();
	next_hits(scan, state);
	return state->hit_count > 0;
}

/*
 * The next row; false: all were given.
 */
static bool
next_row(IndexScanDesc scan, PigScan *state, uint64 *row_pointer)
{
	for (;;)
	{
		const pigment_host_hit *hit = state->hit_next < state->hit_count ? &state->hits[state->hit_next] : NULL;

		if (state->reorder != NULL && pig_reorder_give(state->reorder, hit, false, row_pointer))
			return true;
		if (hit == NULL)
		{
			if (has_hit(scan, state))
				continue;
			return state->reorder != NULL && pig_reorder_give(state->reorder, NULL, true, row_pointer);
		}
		if (state->rows_ahead > 0)
			expect_rows(scan, state);
		state->hit_next++;
		state->rows_taken++;
		*row_pointer = hit->row_pointer;
		if (state->reorder == NULL || pig_reorder_take(state->reorder, hit, state->hit_next < state->hit_count ? hit + 1 : NULL))
			return true;
	}
}

/*
 * Distances that are one in single precision need not be one in the operator's double, and those of sparse vectors are not known here: the server is
 * to put such rows in order. It is told a distance that is no larger than the operator's.
 */
static void
tell_distance(IndexScanDesc scan, const PigScan *state)
{
	const pigment_host_hit *hit = &state->hits[state->hit_next - 1];

	scan->xs_recheckorderby = state->is_rounded;
	if (!state->is_rounded)
		return;
	scan->xs_orderbynulls[0] = hit->kind == 2;
	scan->xs_orderbyvals[0] = Float8GetDatum(hit->distance > 0 ? nextafterf(hit->distance, 0) : hit->distance);
}

bool
pig_get_tuple(IndexScanDesc scan, ScanDirection direction)
{
	PigScan    *state = (PigScan *) scan->opaque;
	uint64		row_pointer;

	Assert(ScanDirectionIsForward(direction));
	/* the table has no version of the last row that anybody could see: scans of this session that follow need not look for it */
	if (scan->kill_prior_tuple && state->gave_row)
		PIG_CALL(NULL, pigment_host_search_mark_dead(state->search, state->row_given, &error));
	state->gave_row = next_row(scan, state, &row_pointer);
	if (!state->gave_row)
		return false;
	state->row_given = row_pointer;
	pig_tid(row_pointer, &scan->xs_heaptid);
	if (state->rows_ahead > 0)
		hold_page(scan, state);
	scan->xs_recheck = state->conditions.recheck;
	tell_distance(scan, state);
	return true;
}

int64
pig_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap)
{
	PigScan    *state = (PigScan *) scan->opaque;
	int64		rows = 0;

	while (has_hit(scan, state))
	{
		ItemPointerData tids[HITS_MAX];
		int			count = 0;
		/* what is a filter of an index scan too is looked at by a bitmap scan where it is told to */
		bool		filters = state->conditions.is_lossy || state->conditions.bound.is_bound;

		while (state->hit_next < state->hit_count)
			pig_tid(state->hits[state->hit_next++].row_pointer, &tids[count++]);
		tbm_add_tuples(bitmap, tids, count, filters || state->conditions.recheck);
		rows += count;
	}
	return rows;
}
