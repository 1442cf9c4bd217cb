/* SPDX-License-Identifier: Apache-2.0 */

/*
 * segment_build.c
 *	  A segment of an index that is being built.
 */
#include "postgres.h"

#include <fcntl.h>

#include "commands/tablespace.h"
#include "compat.h"
#include "storage/fd.h"
#include "utils/guc.h"

#include "am.h"
#include "engine_error.h"
#include "segment_build.h"

/* A row pointer and what else the engine keeps of a row, twice while it makes room for more. */
#define BUILD_BYTES_PER_ROW 32
/* Three times the most links of a node, of four bytes. */
#define SCRATCH_LINK_BYTES 384

/*
 * Called when the memory context goes, also after an error: frees memory and nothing else.
 */
static void
release_builder(void *arg)
{
	PigBuild   *build = (PigBuild *) arg;

	pigment_segment_builder_free(build->builder);
	build->builder = NULL;
}

void
pig_build_init(PigBuild *build, Relation index, PigRoom *room, MemoryContext context)
{
	memset(build, 0, sizeof(*build));
	build->room = room;
	build->context = context;
	build->metric = pig_index_metric(index);
	build->has_keys = pig_columns(index).has_keys;
	build->key_seed = pig_random();
	build->release.func = release_builder;
	build->release.arg = build;
	MemoryContextRegisterResetCallback(context, &build->release);
}

static void
do_beside(PigBuild *build)
{
	if (build->beside != NULL)
		build->beside(build->beside_arg);
}

static pigment_status
write_page(void *context, const void *page, uint32_t *physical)
{
	PigBuild   *build = (PigBuild *) context;

	PIG_KEEPING(build->error, build->context,
				CHECK_FOR_INTERRUPTS();
				do_beside(build);
				*physical = pig_write_new_page(build->room, page));
	return build->error != NULL ? PIGMENT_INTERNAL : PIGMENT_OK;
}

/*
 * Called now and then while an index of vectors is built.
 */
static pigment_status
pause_build(void *context)
{
	PigBuild   *build = (PigBuild *) context;

	PIG_KEEPING(build->error, build->context,
				pig_vacuum_delay_point();
				do_beside(build));
	return build->error != NULL ? PIGMENT_INTERNAL : PIGMENT_OK;
}

/*
 * A temporary file without a name. The engine gives it its size, and lets go of it with the build.
 */
static int
make_scratch(void)
{
	File		file;
	int			descriptor;

	PrepareTempTablespaces();
	file = OpenTemporaryFile(false);
	descriptor = fcntl(FileGetRawDesc(file), F_DUPFD_CLOEXEC, 0);
	if (descriptor < 0)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not open temporary file \"%s\" again: %m", FilePathName(file))));
	FileClose(file);
	return descriptor;
}

static pigment_status
open_scratch(void *context, uint64_t bytes, int *descriptor)
{
	PigBuild   *build = (PigBuild *) context;

	/* an insert or VACUUM should not fail for want of it: there are more segments then */
	if (temp_file_limit >= 0 && bytes / 1024 > (uint64) temp_file_limit)
		return PIGMENT_RESOURCE_EXHAUSTED;
	PIG_KEEPING(build->error, build->context, *descriptor = make_scratch());
	return build->error != NULL ? PIGMENT_INTERNAL : PIGMENT_OK;
}

/* Candidates that the engine looks at by itself are worth so many of HNSW's. */
#define USUAL_EF_CONSTRUCTION 100

/*
 * What an index of vectors is to be like, by what its users chose.
 */
static pigment_segment_options
index_options(Relation index, uint32 dimension, int32 metric, uint64 memory_bytes)
{
	pigment_segment_options options = {.struct_size = sizeof(options)};
	PigOptions	chosen = pig_options(index);

	options.dimension = dimension;
	options.metric = metric;
	options.half_vectors = pig_columns(index).element == PIG_ELEMENT_HALF;
	options.bit_vectors = pig_columns(index).element == PIG_ELEMENT_BIT;
	options.memory_budget_bytes = memory_bytes;
	options.open_scratch = open_scratch;
	options.index = chosen.kind;
	options.graph_rows_min = PIG_INDEX_ROWS_MIN;
	/* HNSW has twice as many on its lowest level, and ours leave out what others lead to */
	options.links_max = (uint32) chosen.m * 3 / 2;
	options.effort = (float) chosen.ef_construction / USUAL_EF_CONSTRUCTION;
	return options;
}

void
pig_build_begin(PigBuild *build, uint32 segment, uint64 memory_bytes, uint64 rows_beside)
{
	pigment_segment_options options = index_options(build->room->index, build->dimension, build->metric, memory_bytes);

	options.segment = build->segment = segment;
	options.index_rows_min = rows_beside >= PIG_INDEX_ROWS_MIN ? PIG_INDEX_ROWS_MIN_BESIDE : PIG_INDEX_ROWS_MIN;
	if (build->quick && options.index != PIGMENT_INDEX_FLAT)
		options.index = PIGMENT_INDEX_CLUSTERS;
	options.vectors_expected = build->vectors_expected;
	options.threads = build->threads;
	options.round_to_halves = build->rounds;
	options.pause = pause_build;
	options.write_page = write_page;
	options.context = build;
	options.has_keys = build->has_keys;
	options.key_seed = build->key_seed;
	options.vector_seed = build->vector_seed;
	PIG_CALL(&build->error, pigment_segment_builder_new(&options, &build->builder, &error));
}

void
pig_build_abandon(PigBuild *build)
{
	pigment_segment_builder_free(build->builder);
	build->builder = NULL;
}

void
pig_build_finish(PigBuild *build, PigSegmentEntry *entry)
{
	uint32_t	root;
	uint32_t	pages;
	uint64_t	rows;

	PIG_CALL(&build->error, pigment_segment_builder_finish(build->builder, &root, &pages, &rows, &error));
	memset(entry, 0, sizeof(*entry));
	if (pigment_segment_builder_zero_vectors(build->builder) == 0)
		entry->flags |= PIG_SEGMENT_NO_ZERO;
	build->has_given_up_index = pigment_segment_builder_has_given_up_index(build->builder);
	if (build->rounds)
		entry->flags |= PIG_SEGMENT_ROUNDS;
	entry->rounding = pig_float_from(pigment_segment_builder_rounding(build->builder));
	pig_build_abandon(build);
	entry->segment = build->segment;
	entry->root = root;
	entry->first_deletion = PIGMENT_NO_PAGE;
	entry->pages = pages;
	entry->rows = rows;
}

bool
pig_build_wants_rounding(Relation index)
{
	PigColumns	columns = pig_columns(index);

	return columns.vector >= 0 && columns.element == PIG_ELEMENT_FLOAT && pig_options(index).full_vectors == PIG_VECTORS_F16;
}

PigElement
pig_build_element(Relation index)
{
	return pig_build_wants_rounding(index) ? PIG_ELEMENT_HALF : pig_columns(index).element;
}

size_t
pig_vector_bytes(Relation index, uint32 dimension)
{
	if (pig_build_wants_rounding(index))
		return (size_t) dimension * 3 / 2;
	switch (pig_build_element(index))
	{
		case PIG_ELEMENT_BIT:
			return dimension / BITS_PER_BYTE;
		case PIG_ELEMENT_HALF:
			return dimension * sizeof(uint16);
		case PIG_ELEMENT_FLOAT:
			break;
	}
	return dimension * sizeof(float);
}

uint64
pig_build_memory(void)
{
	return (uint64) maintenance_work_mem * 1024;
}

uint64
pig_build_pointers_max(uint64 memory_bytes)
{
	return memory_bytes / BUILD_BYTES_PER_ROW;
}

bool
pig_build_has_room(PigBuild *build)
{
	bool		has_room = pigment_segment_builder_has_room(build->builder);

	/* of scratch */
	(void) pig_retry(PIGMENT_OK, NULL, &build->error);
	return has_room;
}

uint64
pig_build_vectors_max(Relation index, uint32 dimension, uint32 threads, uint64 memory_bytes)
{
	pigment_segment_options options = index_options(index, dimension, pig_index_metric(index), memory_bytes);
	uint64		vectors;

	options.threads = threads;
	vectors = pigment_segment_index_rows_max(&options);
	if (temp_file_limit >= 0)
	{
		/* room for vectors is made by doubling; links of a graph that waits take as much as a short vector */
		uint64		in_file = (uint64) temp_file_limit * 1024 / Max(2 * (dimension + 1) * sizeof(float), SCRATCH_LINK_BYTES);

		options.open_scratch = NULL;
		vectors = Max(pigment_segment_index_rows_max(&options), Min(vectors, in_file));
	}

	/* memory is taken by steps, so not all of it may be of use */
	return Max(vectors - vectors / 8, PIG_SEGMENT_ROWS_MIN);
}

/*
 * As many as there would be processes. They share the memory of one and need no place among the server's workers; so neither maintenance_work_mem
 * nor the size of the table, whose vectors may lie elsewhere, makes them fewer, as it does in plan_create_index_workers().
 */
uint32
pig_build_threads(Relation heap)
{
	int			workers = RelationGetParallelWorkers(heap, -1);

	return 1 + (uint32) (workers < 0 ? max_parallel_maintenance_workers : Min(workers, max_parallel_maintenance_workers));
}
