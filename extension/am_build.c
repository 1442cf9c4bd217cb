/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_build.c
 *	  Building an index.
 *
 * A build reads the table once and streams rows to the engine, whose pages go straight to new blocks; memory is that of the vectors until their
 * index is built, and of rows without a vector, which come behind them. When they fill maintenance_work_mem the segment is finished and another
 * begun. Where that cannot be, because it has too few rows or the directory no place, the segment goes on without an index of its vectors.
 * One metapage record publishes them all.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "compat.h"
#include "pgstat.h"
#include "storage/buffile.h"
#include "utils/backend_progress.h"
#include "utils/memutils.h"

#include "am.h"
#include "engine_error.h"
#include "segment_build.h"

/* A row without a vector in a temporary file; its keys follow. */
typedef struct EarlyRow
{
	uint64		row_pointer;
	uint64		keys_size;
} EarlyRow;

typedef struct BuildState
{
	Relation	index;
	MemoryContext context;		/* of the whole build; frees the builder when it goes */
	MemoryContext row_context;	/* reset after each row */
	PigRoom		room;
	PigBuild	segment;		/* the one being built; its dimension is 0 while it is unknown */
	uint64		segment_rows;
	uint64		segment_rows_max;
	uint32		next_segment;
	PigSegmentEntry segments[PIG_SEGMENTS_MAX];
	int			segment_count;
	int			segments_without_index; /* for want of memory */
	PigColumns	columns;
	BufFile    *early;			/* rows without a vector before the first vector, which tells the dimension; NULL: none */
	uint64		early_count;
	PigMeta		meta;			/* while rows go to pending pages */
	double		rows;
	double		rows_expected;	/* about; 0: nobody knows */
} BuildState;

static void
begin_segment(BuildState *build)
{
	/* one that is a little too small would have all of them copied once more */
	build->segment.vectors_expected = (uint64) (Max(build->rows_expected - build->rows, 0) * 1.05);
	pig_build_begin(&build->segment, build->next_segment++, pig_build_memory(), (uint64) build->rows);
	build->segment_rows = 0;
}

static void
finish_segment(BuildState *build)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PIG_PHASE_INDEX);
	pig_build_finish(&build->segment, &build->segments[build->segment_count]);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PIG_PHASE_WRITE);
	build->segment_count++;
	build->segments_without_index += build->segment.has_given_up_index;
}

/*
 * Whether the segment has no memory for more rows, and there is place for another: the directory's last takes all that is left.
 */
static bool
is_full(BuildState *build)
{
	if (build->segment_count == PIG_SEGMENTS_MAX - 1)
		return false;
	if (build->segment_rows == build->segment_rows_max)
		return true;
	return build->segment_rows >= PIG_SEGMENT_ROWS_MIN && !pig_build_has_room(&build->segment);
}

static void
begin_or_go_on(BuildState *build)
{
	if (build->segment.builder != NULL && is_full(build))
		finish_segment(build);
	if (build->segment.builder == NULL)
		begin_segment(build);
}

/*
 * From the first vector on that 16 bits a number do not hold, segments have all of their bits.
 */
static void
widen(BuildState *build)
{
	build->segment.rounds = false;
	if (build->segment_rows == 0)
	{
		pig_build_abandon(&build->segment);
		return;
	}
	if (build->segment_count == PIG_SEGMENTS_MAX - 1)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("index \"%s\" has no place for another segment, with vectors that 16 bits a number do not hold",
						RelationGetRelationName(build->index)),
				 errhint("Create it WITH (full_vectors = f32).")));
	finish_segment(build);
}

static void
add_row(BuildState *build, const PigRow *row)
{
	begin_or_go_on(build);
	if (build->segment.rounds && row->vector != NULL &&
		!pigment_host_round_to_halves(build->segment.metric, row->vector, build->segment.dimension, NULL, NULL))
	{
		widen(build);
		begin_or_go_on(build);
	}
	PIG_CALL(&build->segment.error, pigment_segment_builder_add_row(build->segment.builder, row->vector, row->row_pointer, row->keys,
															row->keys_size, &error));
	build->segment_rows++;
}

/*
 * Keeps a row without a vector until the dimension is known: all of a table may be such rows.
 */
static void
keep_early_row(BuildState *build, const PigRow *row)
{
	EarlyRow	head = {row->row_pointer, row->keys_size};

	if (build->early == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(build->context);

		build->early = BufFileCreateTemp(false);
		MemoryContextSwitchTo(caller);
	}
	BufFileWrite(build->early, &head, sizeof(head));
	if (row->keys_size > 0)
		BufFileWrite(build->early, unconstify(void *, row->keys), row->keys_size);
	build->early_count++;
}

/*
 * Gives those that wait to `take`, in their order.
 */
static void
take_early_rows(BuildState *build, void (*take) (BuildState *build, const PigRow *row))
{
	MemoryContext context;
	MemoryContext caller;

	if (build->early == NULL)
		return;
	context = AllocSetContextCreate(build->context, "pigment early row", ALLOCSET_DEFAULT_SIZES);
	caller = MemoryContextSwitchTo(context);
	if (BufFileSeek(build->early, 0, 0, SEEK_SET) != 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not rewind a temporary file: %m")));
	for (uint64 i = 0; i < build->early_count; i++)
	{
		EarlyRow	head;
		PigRow		row = {0};

		CHECK_FOR_INTERRUPTS();
		BufFileReadExact(build->early, &head, sizeof(head));
		row.row_pointer = head.row_pointer;
		row.keys_size = head.keys_size;
		if (head.keys_size > 0)
		{
			void	   *keys = MemoryContextAllocHuge(context, head.keys_size);

			BufFileReadExact(build->early, keys, head.keys_size);
			row.keys = keys;
		}
		take(build, &row);
		MemoryContextReset(context);
	}
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	BufFileClose(build->early);
	build->early = NULL;
}

static void
set_dimension(BuildState *build, uint32 dimension)
{
	build->segment.dimension = dimension;
	take_early_rows(build, add_row);
}

void
pig_refuse_dimension(Relation index, uint32 expected, uint32 got)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("dimension mismatch: index \"%s\" has %u, got %u", RelationGetRelationName(index), expected, got),
			 errhint("All vectors of an index have the same number of dimensions. Declare it, as in %s(%u), or index an expression.",
					 pig_vector_type_name(index), expected)));
}

static void
build_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	BuildState *build = (BuildState *) arg;
	MemoryContext caller = MemoryContextSwitchTo(build->row_context);
	int			place = build->columns.vector;
	PigVector	vector = {0};
	PigKeys		keys = pig_row_keys(&build->columns, values, isnull);
	PigRow		row = {.row_pointer = pig_row_pointer(tid)};

	if (place >= 0 && !isnull[place])
		vector = pig_column_vector(&build->columns, values[place]);
	row.vector = vector.values;
	row.keys = pig_encode_keys(&keys, &row.keys_size);

	if (vector.dimension != 0 && build->segment.dimension == 0)
		set_dimension(build, vector.dimension);
	if (vector.dimension != 0 && build->segment.dimension != vector.dimension)
		pig_refuse_dimension(index, build->segment.dimension, vector.dimension);
	if (build->segment.dimension == 0 && place >= 0)
		keep_early_row(build, &row);
	else
		add_row(build, &row);
	build->rows += 1;
	if ((uint64) build->rows % 1024 == 0)
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, (int64) build->rows);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(build->row_context);
}

/*
 * What a build in little memory costs those who search.
 */
static void
tell_segments(const BuildState *build)
{
	if (build->segments_without_index > 0)
		ereport(WARNING,
				(errmsg("index \"%s\" has no graph or clusters in %d of its %d segments, because its rows do not fit into maintenance_work_mem",
						RelationGetRelationName(build->index), build->segments_without_index, build->segment_count),
				 errdetail("A scan by distance looks at every row of these."),
				 errhint("Increase maintenance_work_mem.")));
	else if (build->segment_count > 1 && !build->segment.rounds && pig_build_wants_rounding(build->index))
		ereport(NOTICE,
				(errmsg("index \"%s\" has %d segments, because 16 bits a number do not hold all of its vectors",
						RelationGetRelationName(build->index), build->segment_count),
				 errhint("Create it WITH (full_vectors = f32) for fewer.")));
	else if (build->segment_count > 1 && pig_options(build->index).kind != PIGMENT_INDEX_FLAT)
		ereport(NOTICE,
				(errmsg("index \"%s\" has %d segments, because its vectors do not fit into maintenance_work_mem",
						RelationGetRelationName(build->index), build->segment_count),
				 errhint("A scan by distance searches one after the other. Increase maintenance_work_mem for fewer.")));
}

static void
append_row(BuildState *build, const PigRow *row)
{
	PigAppended appended;

	/* it tells where the chain ends by now */
	pig_read_meta(build->index, &build->meta);
	(void) pig_append_row(build->index, &build->meta, row, false, &appended);
}

static void
publish(BuildState *build)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PIG_PHASE_PUBLISH);
	if (build->segment.builder != NULL)
		finish_segment(build);
	if (build->segment_count > 0)
		pig_publish_segments(build->index, build->segments, build->segment_count, build->next_segment, build->segment.dimension);
	/* a table without any vector: its rows wait in pending pages for the first one */
	take_early_rows(build, append_row);
}

/*
 * How many rows are to come, as the planner would guess; 0: of a partial index nobody knows.
 */
static double
guess_rows(Relation heap, const IndexInfo *index_info)
{
	BlockNumber pages;
	double		rows;
	double		all_visible;

	if (index_info->ii_Predicate != NIL)
		return 0;
	table_relation_estimate_size(heap, NULL, &pages, &rows, &all_visible);
	return rows;
}

static void
tell_rows(const BuildState *build)
{
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL, (int64) build->rows);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, (int64) build->rows);
}

IndexBuildResult *
pig_build(Relation heap, Relation index, IndexInfo *index_info)
{
	IndexBuildResult *result = palloc0(sizeof(IndexBuildResult));
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "pigment build", ALLOCSET_DEFAULT_SIZES);
	BuildState *build = MemoryContextAllocZero(context, sizeof(BuildState));

	if (RelationGetNumberOfBlocks(index) != 0)
		elog(ERROR, "index \"%s\" already contains data", RelationGetRelationName(index));
	if (index_info->ii_ExclusionOps != NULL)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("access method \"pigment\" does not support exclusion constraints")));
	build->index = index;
	build->context = context;
	build->row_context = AllocSetContextCreate(context, "pigment build row", ALLOCSET_DEFAULT_SIZES);
	build->columns = pig_columns(index);
	/* every block is a new one */
	build->room.index = index;
	pig_build_init(&build->segment, index, &build->room, context);
	build->segment.dimension = pig_declared_dimension(index);
	build->segment.rounds = pig_build_wants_rounding(index);
	build->segment.threads = pig_build_threads(heap);
	build->next_segment = 2;
	build->segment_rows_max = pig_build_pointers_max(pig_build_memory());

	pig_write_empty(index, MAIN_FORKNUM, &(PigShape) {build->segment.dimension, build->segment.metric, build->columns.has_keys});
	pig_read_meta(index, &build->meta);
	build->segment.vector_seed = build->meta.vector_seed;
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PIG_PHASE_WRITE);
	build->rows_expected = guess_rows(heap, index_info);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_TOTAL, (int64) build->rows_expected);
	result->heap_tuples = table_index_build_scan(heap, index, index_info, true, true, build_row, build, NULL);
	tell_rows(build);
	publish(build);
	tell_segments(build);
	result->index_tuples = build->rows;
	MemoryContextDelete(context);
	return result;
}

void
pig_build_empty(Relation index)
{
	PigShape	shape = {pig_declared_dimension(index), pig_index_metric(index), pig_columns(index).has_keys};

	pig_write_empty(index, INIT_FORKNUM, &shape);
}
