/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_build.c
 *	  Building an index.
 *
 * A build reads the table once and streams rows to the engine, whose pages go straight to new blocks; memory is that of the row
 * pointers. When they fill maintenance_work_mem the segment is finished and another begun. One metapage record publishes them all.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "catalog/index.h"
#include "commands/progress.h"
#include "compat.h"
#include "pgstat.h"
#include "utils/backend_progress.h"
#include "utils/memutils.h"

#include "am.h"
#include "engine_error.h"

/* A row pointer and what else the engine keeps of a row, twice while it makes room for more. */
#define BUILD_BYTES_PER_ROW 32

typedef struct BuildState
{
	Relation	index;
	MemoryContext context;		/* of the whole build; frees the builder when it goes */
	MemoryContext row_context;	/* reset after each row */
	MemoryContextCallback release;
	ErrorData  *error;			/* raised in write_page */
	int32		metric;
	uint32		dimension;		/* 0: still unknown */
	pigment_segment_builder *builder;
	uint64		builder_rows;
	uint64		segment_rows_max;
	uint32		next_segment;
	uint32		builder_segment;
	PigSegmentEntry segments[PIG_SEGMENTS_MAX];
	int			segment_count;
	uint64	   *early;			/* rows without a vector before the first vector, which tells the dimension */
	Size		early_count;
	Size		early_capacity;
	double		rows;
} BuildState;

static void
release_builder(void *arg)
{
	BuildState *build = (BuildState *) arg;

	pigment_segment_builder_free(build->builder);
	build->builder = NULL;
}

static pigment_status
write_page(void *context, const void *page, uint32_t *physical)
{
	BuildState *build = (BuildState *) context;
	MemoryContext caller = CurrentMemoryContext;

	PG_TRY();
	{
		CHECK_FOR_INTERRUPTS();
		*physical = pig_write_new_page(build->index, page);
	}
	PG_CATCH();
	{
		build->error = pig_keep_error(build->context);
		MemoryContextSwitchTo(caller);
	}
	PG_END_TRY();
	return build->error != NULL ? PIGMENT_INTERNAL : PIGMENT_OK;
}

static void
begin_segment(BuildState *build)
{
	pigment_segment_options options = {0};

	options.struct_size = sizeof(options);
	options.segment = build->builder_segment = build->next_segment++;
	options.dimension = build->dimension;
	options.metric = build->metric;
	/* the directory's last place takes all that is left */
	options.memory_budget_bytes = build->segment_count == PIG_SEGMENTS_MAX - 1 ? 0 : (uint64) maintenance_work_mem * 1024;
	options.write_page = write_page;
	options.context = build;
	build->builder_rows = 0;
	PIG_CALL(&build->error, pigment_segment_builder_new(&options, &build->builder, &error));
}

static void
finish_segment(BuildState *build)
{
	PigSegmentEntry *entry = &build->segments[build->segment_count];
	uint32_t	root;
	uint32_t	pages;
	uint64_t	rows;

	PIG_CALL(&build->error, pigment_segment_builder_finish(build->builder, &root, &pages, &rows, &error));
	pigment_segment_builder_free(build->builder);
	build->builder = NULL;
	memset(entry, 0, sizeof(*entry));
	entry->segment = build->builder_segment;
	entry->root = root;
	entry->first_deletion = PIGMENT_NO_PAGE;
	entry->pages = pages;
	entry->rows = rows;
	build->segment_count++;
}

static void
add_row(BuildState *build, const float *vector, uint64 row_pointer)
{
	if (build->builder != NULL && build->builder_rows == build->segment_rows_max && build->segment_count < PIG_SEGMENTS_MAX - 1)
		finish_segment(build);
	if (build->builder == NULL)
		begin_segment(build);
	PIG_CALL(&build->error, pigment_segment_builder_add(build->builder, vector, row_pointer, &error));
	build->builder_rows++;
}

/*
 * Keeps a row without a vector until the dimension is known.
 */
static void
add_early_row(BuildState *build, uint64 row_pointer)
{
	if (build->early_count == build->early_capacity)
	{
		Size		capacity = Max(build->early_capacity * 2, 1024);

		if (build->early == NULL)
			build->early = MemoryContextAllocHuge(build->context, capacity * sizeof(uint64));
		else
			build->early = repalloc_huge(build->early, capacity * sizeof(uint64));
		build->early_capacity = capacity;
	}
	build->early[build->early_count++] = row_pointer;
}

static void
set_dimension(BuildState *build, uint32 dimension)
{
	build->dimension = dimension;
	for (Size i = 0; i < build->early_count; i++)
		add_row(build, NULL, build->early[i]);
	build->early_count = 0;
}

void
pig_refuse_dimension(Relation index, uint32 expected, uint32 got)
{
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("dimension mismatch: index \"%s\" has %u, got %u", RelationGetRelationName(index), expected, got),
			 errhint("All vectors of an index have the same number of dimensions. Declare it, as in vector(%u), or index an expression.",
					 expected)));
}

static void
build_row(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	BuildState *build = (BuildState *) arg;
	MemoryContext caller = MemoryContextSwitchTo(build->row_context);
	Vector	   *vector = isnull[0] ? NULL : DatumGetVector(values[0]);

	if (vector != NULL && build->dimension == 0)
		set_dimension(build, (uint32) vector->dim);
	if (vector != NULL && build->dimension != (uint32) vector->dim)
		pig_refuse_dimension(index, build->dimension, (uint32) vector->dim);
	if (build->dimension == 0)
		add_early_row(build, pig_row_pointer(tid));
	else
		add_row(build, vector != NULL ? vector->x : NULL, pig_row_pointer(tid));
	build->rows += 1;
	if ((uint64) build->rows % 1024 == 0)
		pgstat_progress_update_param(PROGRESS_CREATEIDX_TUPLES_DONE, (int64) build->rows);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(build->row_context);
}

static void
publish(BuildState *build)
{
	PigMeta		meta;

	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PIG_PHASE_PUBLISH);
	if (build->builder != NULL)
		finish_segment(build);
	if (build->segment_count > 0)
		pig_publish_segments(build->index, build->segments, build->segment_count, build->next_segment, build->dimension);
	pig_read_meta(build->index, &meta);
	/* a table without any vector: its rows wait in pending pages for the first one */
	for (Size i = 0; i < build->early_count; i++)
	{
		CHECK_FOR_INTERRUPTS();
		(void) pig_append_row(build->index, &meta, build->early[i], NULL, false);
	}
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
	build->index = index;
	build->context = context;
	build->row_context = AllocSetContextCreate(context, "pigment build row", ALLOCSET_DEFAULT_SIZES);
	build->metric = pig_index_metric(index);
	build->dimension = pig_declared_dimension(index);
	build->next_segment = 2;
	build->segment_rows_max = (uint64) maintenance_work_mem * 1024 / BUILD_BYTES_PER_ROW;
	build->release.func = release_builder;
	build->release.arg = build;
	MemoryContextRegisterResetCallback(context, &build->release);

	pig_write_empty(index, MAIN_FORKNUM, build->dimension, build->metric);
	pgstat_progress_update_param(PROGRESS_CREATEIDX_SUBPHASE, PIG_PHASE_WRITE);
	result->heap_tuples = table_index_build_scan(heap, index, index_info, true, true, build_row, build, NULL);
	publish(build);
	result->index_tuples = build->rows;
	MemoryContextDelete(context);
	return result;
}

void
pig_build_empty(Relation index)
{
	pig_write_empty(index, INIT_FORKNUM, pig_declared_dimension(index), pig_index_metric(index));
}
