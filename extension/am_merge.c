/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_merge.c
 *	  Maintenance: pending rows are flushed into a segment, segments are merged, lost pages are found; what pending rows hang on.
 *
 * One at a time does it, under the maintenance lock, which bulk deletes hold too: what is read here and published later has lost no row in between.
 * Others go on: scans read the pages that they know, which stay as they are until no snapshot is left that is as old; inserts append to
 * the last pending page, which a flush leaves alone. New pages are written first; one record of the metapage puts them in the place of the old.
 */
#include "postgres.h"

#include "access/relation.h"
#include "access/table.h"
#include "access/xlog.h"
#include "catalog/pg_class.h"
#include "compat.h"
#include "fmgr.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/timestamp.h"

#include "am.h"
#include "census.h"
#include "engine_error.h"
#include "free_pages.h"
#include "segment_build.h"

/* kB. The more there are, the fewer steps rows go through; and the longer takes the first scan of a session, which reads all. */
int			pig_pending_limit = 16384;

/* Scans look at each of them, however short they are. */
#define PENDING_ROWS_MAX 16384

/* An insert merges segments that are no larger than so many flushes, nor than so many bytes; larger ones wait for others: four take seconds. */
#define INSERT_MERGE_FLUSHES_MAX 4
#define INSERT_MERGE_BYTES_MAX ((uint64) 12 << 20)

/* Of flushes, while others may fill pages without an end. */
#define ROUNDS_MAX 8

/* Milliseconds between two looks at what has come during a merge, and the part of its memory that a flush of this takes. */
#define LOOK_MS 100
#define MEMORY_BESIDE_PART 4

/* Of a pending entry beside its vector: about. */
#define ENTRY_BYTES 24

/* Places of the directory that are kept for rows whose vectors others have. */
#define PLACES_FOR_HASHES 16

typedef struct Maintenance
{
	Relation	index;
	Relation	heap;			/* NULL where unknown, before 16 */
	PigColumns	columns;
	bool		quick;			/* an insert waits for it, or many rows do */
	uint32		threads;		/* that build an index of vectors; 0 is 1 */
	uint64		memory_bytes;	/* for one */
	bool		must;			/* somebody has asked for it, and is told what is not done */
	bool		told_of_space;
	MemoryContext context;		/* of one step: reset after it */
	TimestampTz looked_at;		/* pending rows, during a merge */
	int			merges_beside;	/* during how many more merges what comes is flushed: after these they end */
	PigMeta    *meta;
	PigSource  *segment_pages;
	PigSource  *pending_pages;
} Maintenance;

/*
 * What a step needs, made anew for each in a context of its own.
 */
static MemoryContext
begin_step(Maintenance *work)
{
	MemoryContext caller = MemoryContextSwitchTo(work->context);

	work->meta = palloc(sizeof(PigMeta));
	work->segment_pages = palloc(sizeof(PigSource));
	work->pending_pages = palloc(sizeof(PigSource));
	pig_read_meta(work->index, work->meta);
	pig_source_init(work->segment_pages, work->index, NULL, false, work->context);
	pig_source_init(work->pending_pages, work->index, NULL, true, work->context);
	/* a builder that was interrupted has some of the rows, and cannot go on */
	work->segment_pages->serves = work->pending_pages->serves = true;
	return caller;
}

static void
end_step(Maintenance *work, MemoryContext caller)
{
	MemoryContextSwitchTo(caller);
	MemoryContextReset(work->context);
}

/*
 * Bytes of pending entries, of which one takes so many, from which on they are flushed.
 */
static uint64
pending_bytes_max(uint64 entry_bytes)
{
	return Min((uint64) pig_pending_limit * 1024, entry_bytes * PENDING_ROWS_MAX);
}

static uint64
entry_bytes_of(const Maintenance *work)
{
	return pig_vector_bytes(work->index, work->meta->dimension) + ENTRY_BYTES;
}

static uint64
count_rows(const PigMeta *meta)
{
	uint64		rows = 0;

	for (uint32 i = 0; i < meta->segment_count; i++)
		rows += meta->segments[i].rows;
	return rows;
}

/* What is to become a segment: rows that are alive, and of these, at the most, those with a vector. */
typedef struct Load
{
	uint64		rows;
	uint64		vectors;
} Load;

/*
 * What there is memory for in one segment. Of rows without a vector there is nothing in memory but where they lie.
 */
static Load
most_of(const Maintenance *work)
{
	return (Load) {pig_build_pointers_max(work->memory_bytes),
		pig_build_vectors_max(work->index, work->meta->dimension, work->threads, work->memory_bytes)};
}

static bool
fits(Load load, Load most)
{
	return load.vectors <= most.vectors && load.rows <= most.rows;
}

static Load
sum(Load a, Load b)
{
	return (Load) {a.rows + b.rows, a.vectors + b.vectors};
}

/*
 * Whether there is space for what is to be written. Maintenance can wait for it, and leaves it to others until there is more.
 */
static bool
has_space(Maintenance *work, uint64 pages)
{
	uint64		bytes_left;

	if (pig_has_space(work->index, pages, &bytes_left))
		return true;
	if (!work->told_of_space)
		ereport(work->must ? ERROR : work->quick ? DEBUG1 : WARNING,
				(errcode(ERRCODE_DISK_FULL),
				 errmsg("no space to flush or merge index \"%s\"", RelationGetRelationName(work->index)),
				 errdetail("It takes some %llu kB, and %llu kB are left.", (unsigned long long) pages * (BLCKSZ / 1024),
						   (unsigned long long) bytes_left / 1024),
				 errhint("Check free disk space.")));
	work->told_of_space = true;
	return false;
}

/*
 * Begins the segment that is to replace others.
 */
static PigBuild *
begin_build(Maintenance *work, PigRoom *room, Load load, bool rounds)
{
	PigBuild   *build = palloc(sizeof(PigBuild));

	pig_build_init(build, work->index, room, work->context);
	build->dimension = work->meta->dimension;
	build->vector_seed = work->meta->vector_seed;
	build->quick = work->quick;
	build->threads = work->threads;
	build->vectors_expected = load.vectors;
	build->rounds = rounds;
	pig_build_begin(build, pig_reserve_segment(work->index), work->memory_bytes, count_rows(work->meta));
	return build;
}

/*
 * A segment without an index is slow to search. Who inserts can do nothing about it; who reads the log can.
 */
static void
tell_given_up(const Maintenance *work, const PigBuild *build, const PigSegmentEntry *entry)
{
	if (build->has_given_up_index)
		ereport(work->quick ? LOG : WARNING,
				(errmsg("index \"%s\" has no graph or clusters in its segment %u, because its rows do not fit into maintenance_work_mem",
						RelationGetRelationName(work->index), entry->segment),
				 errdetail("A scan by distance looks at each of its %llu rows.", (unsigned long long) entry->rows),
				 errhint("Increase maintenance_work_mem.")));
}

/*
 * What pending rows hang on goes with the segment, and with these rows. Looked at as it is now: a flush beside a merge may have taken it.
 */
static void
drop_graft(Maintenance *work, PigChange *change, PigRetired *retired)
{
	PigMeta    *now;
	PigRetired	pages = {0};
	uint32		segment;

	if (change->pending_head == PIGMENT_NO_PAGE && change->count == 0)
		return;
	now = palloc(sizeof(PigMeta));
	pig_read_meta(work->index, now);
	if (now->graft == 0)
		return;
	segment = pig_collect_graft(work->pending_pages, now->pending_stamp, now->graft, &pages);
	change->drops_graft = change->pending_head != PIGMENT_NO_PAGE;
	for (uint32 i = 0; i < change->count; i++)
		change->drops_graft |= change->segments[i] == segment;
	for (Size i = 0; i < pages.count && change->drops_graft; i++)
		pig_retired_add(retired, pages.blocks[i]);
}

/*
 * Writes the lists of what goes, and publishes the change.
 */
static void
replace(Maintenance *work, PigRoom *room, PigChange *change, PigRetired *retired)
{
	drop_graft(work, change, retired);
	change->retired = pig_write_retired(room, retired);
	pig_publish_change(work->index, change);
	pig_room_return(room);
}

static PigChange *
new_change(void)
{
	PigChange  *change = palloc0(sizeof(PigChange));

	change->pending_head = PIGMENT_NO_PAGE;
	change->retired = PIGMENT_NO_PAGE;
	return change;
}

/* ---- flush ---- */

typedef struct FullPages
{
	BlockNumber last;			/* of those that are flushed; PIGMENT_NO_PAGE: none */
	BlockNumber next;			/* the page behind it */
	Load		load;
	uint64		bytes;
	bool		has_hashes;		/* of vectors that are in segments */
} FullPages;

/*
 * The pending pages to which nobody appends any more, as many as memory is there for.
 */
static FullPages
find_full_pages(Maintenance *work)
{
	FullPages	found = {.last = PIGMENT_NO_PAGE};
	Load		most = most_of(work);

	for (BlockNumber block = work->meta->pending_head;;)
	{
		PGAlignedBlock page;
		BlockNumber next;

		pig_vacuum_delay_point();
		pig_read_pending_page(work->index, work->meta->pending_stamp, block, &page);
		next = pigment_pending_page_next(page.data);
		if (next == PIGMENT_NO_PAGE)
			return found;
		found.last = block;
		found.next = next;
		found.bytes += pigment_pending_page_bytes(page.data);
		found.has_hashes |= pigment_pending_page_has_hashes(page.data);
		for (uint32 i = 0; i < pigment_pending_page_count(page.data); i++)
		{
			bool		is_live = pigment_pending_page_entry(page.data, i, NULL);

			found.load.rows += is_live;
			found.load.vectors += is_live && pigment_pending_page_entry_has_vector(page.data, i);
		}
		if (!fits(found.load, most))
			return found;
		block = next;
	}
}

/*
 * Of a call that reads pending rows, whose vectors may be in segments.
 */
static ErrorData **
pending_error(Maintenance *work)
{
	return work->pending_pages->error != NULL ? &work->pending_pages->error : &work->segment_pages->error;
}

/*
 * Copies rows of one of the PIGMENT_ROWS_*: those with a vector, then those without, which an index has behind them, so that none waits in memory.
 */
static void
copy_pending(Maintenance *work, PigBuild *build, BlockNumber last, int32 rows)
{
	PIG_CALL(&build->error, pigment_segment_builder_choose_rows(build->builder, rows, &error));
	PIG_CALL(build->error != NULL ? &build->error : pending_error(work),
			 pigment_segment_builder_add_pending(build->builder, &work->pending_pages->callbacks, work->meta->pending_stamp,
												 work->meta->pending_head, last, &error));
}

/*
 * Whether vectors of pending pages are to be rounded, and can be.
 */
static bool
pending_rounds(Maintenance *work, BlockNumber last)
{
	bool		rounds;

	if (!pig_build_wants_rounding(work->index))
		return false;
	PIG_CALL(pending_error(work),
			 pigment_pending_rounds_to_halves(&work->pending_pages->callbacks, work->meta->pending_stamp, work->meta->pending_head, last,
											  &rounds, &error));
	return rounds;
}

/*
 * Makes a segment of the rows in full pending pages, in one of so many places of the directory. False: there is no such page, or no place or space for a
 * segment.
 */
static bool
flush_to(Maintenance *work, uint32 places)
{
	MemoryContext caller = begin_step(work);
	FullPages	pages;
	PigChange  *change;
	PigBuild   *build = NULL;
	PigSegmentEntry entry;
	PigRetired	retired = {0};
	PigRoom		room;
	bool		possible;

	/* before the first vector nobody knows how long those of a segment are */
	possible = work->columns.vector < 0 || work->meta->dimension != 0;
	if (possible)
	{
		pages = find_full_pages(work);
		possible = pages.last != PIGMENT_NO_PAGE &&
			(pages.load.rows == 0 || (work->meta->segment_count < places && has_space(work, pages.bytes / BLCKSZ)));
	}
	if (!possible)
	{
		end_step(work, caller);
		return false;
	}
	change = new_change();
	change->pending_head = pages.next;
	change->pending_bytes = pages.bytes;
	pig_room_init_maintenance(&room, work->index, work->heap);
	if (pages.load.rows > 0)
	{
		if (pages.has_hashes)
			pig_source_share(work->pending_pages, pig_open_segments(work->segment_pages, work->meta, work->context));
		build = begin_build(work, &room, pages.load, pending_rounds(work, pages.last));
		copy_pending(work, build, pages.last, PIGMENT_ROWS_WITH_VECTOR);
		if (pages.load.rows > pages.load.vectors)
			copy_pending(work, build, pages.last, PIGMENT_ROWS_WITHOUT_VECTOR);
		pig_build_finish(build, &entry);
		change->added = &entry;
	}
	pig_collect_pending(work->pending_pages, work->meta->pending_stamp, work->meta->pending_head, pages.last, &retired);
	replace(work, &room, change, &retired);
	if (build != NULL)
		tell_given_up(work, build, &entry);
	end_step(work, caller);
	return true;
}

static bool
flush(Maintenance *work)
{
	return flush_to(work, PIG_SEGMENTS_MAX - PLACES_FOR_HASHES);
}

/*
 * Whether a pending row before page `end` has its vector in a segment. Not so if that page is in the chain no more. REQUIRES: a step.
 */
static bool
has_hashes(const Maintenance *work, BlockNumber end)
{
	BlockNumber block = work->meta->pending_head;
	bool		result = false;

	while (block != end && block != PIGMENT_NO_PAGE)
	{
		PGAlignedBlock page;

		pig_vacuum_delay_point();
		pig_read_pending_page(work->index, work->meta->pending_stamp, block, &page);
		result |= pigment_pending_page_has_hashes(page.data);
		block = pigment_pending_page_next(page.data);
	}
	return result && block == end;
}

/*
 * Gives pending rows that have the vector of another their own. False: there is no space.
 */
static bool
flush_hashes(Maintenance *work)
{
	BlockNumber end = PIGMENT_NO_PAGE;

	for (;;)
	{
		MemoryContext caller = begin_step(work);
		bool		more;

		if (end == PIGMENT_NO_PAGE)
			end = pig_close_pending(work->index, work->meta);
		more = has_hashes(work, end);
		end_step(work, caller);
		if (!more)
			return true;
		if (!flush_to(work, PIG_SEGMENTS_MAX))
			return false;
	}
}

static bool
is_flush_due(Maintenance *work)
{
	MemoryContext caller = begin_step(work);
	bool		due = work->meta->pending_bytes >= pending_bytes_max(entry_bytes_of(work));

	end_step(work, caller);
	return due;
}

/*
 * Called during a merge that nobody waits for, or who waits has asked for: rows that come meanwhile are flushed by it, because nobody else may. Their
 * segment stands behind those that are merged. What memory that takes comes on top of the merge's.
 */
static void
flush_beside(void *arg)
{
	Maintenance *work = (Maintenance *) arg;
	Maintenance beside = {.index = work->index, .heap = work->heap, .columns = work->columns, .quick = true};
	TimestampTz now = GetCurrentTimestamp();

	if (!TimestampDifferenceExceeds(work->looked_at, now, LOOK_MS))
		return;
	beside.memory_bytes = work->memory_bytes / MEMORY_BESIDE_PART;
	beside.context = AllocSetContextCreate(work->context, "pigment flush beside a merge", ALLOCSET_DEFAULT_SIZES);
	if (is_flush_due(&beside))
		(void) flush(&beside);
	MemoryContextDelete(beside.context);
	work->looked_at = GetCurrentTimestamp();
}

/* ---- merge ---- */

/* Neighbours of the directory, and what is open of it. */
typedef struct Run
{
	uint32		first;
	uint32		count;			/* 0: none */
	Load		load;
	PigSegments *segments;		/* of the whole directory */
} Run;

static Load
load_of(const Maintenance *work, const PigSegments *segments, uint32 place)
{
	uint64		rows = work->meta->segments[place].rows;
	uint64		live = rows - pig_count_deleted(segments->deleted[place], rows);
	pigment_segment_info info = {.struct_size = sizeof(info)};

	/* which of its rows were deleted nobody asks */
	pigment_segment_get_info(segments->segments[place], &info);
	return (Load) {live, Min(info.vectors, live)};
}

/*
 * As copy_pending(), of all segments of a run.
 */
static void
copy_run(Maintenance *work, PigBuild *build, const Run *run, int32 rows)
{
	PIG_CALL(&build->error, pigment_segment_builder_choose_rows(build->builder, rows, &error));
	for (uint32 place = run->first; place < run->first + run->count; place++)
		PIG_CALL(build->error != NULL ? &build->error : &work->segment_pages->error,
				 pigment_segment_builder_add_segment(build->builder, run->segments->segments[place], run->segments->deleted[place],
													 run->segments->deleted_bytes[place], &error));
}

/*
 * Puts one segment, or none when no row of theirs is alive, in the place of a run. False: there is no space.
 */
static bool
merge(Maintenance *work, const Run *run)
{
	const PigMeta *meta = work->meta;
	PigChange  *change = new_change();
	PigSegmentEntry entry;
	PigRetired	retired = {0};
	PigBuild   *build = NULL;
	PigRoom		room;
	uint64		rows = 0;
	float		rounding = 0;
	bool		rounds = pig_build_wants_rounding(work->index);

	change->first = run->first;
	change->count = run->count;
	for (uint32 i = 0; i < run->count; i++)
	{
		uint32		place = run->first + i;

		change->segments[i] = meta->segments[place].segment;
		pig_collect_segment(work->segment_pages, run->segments->segments[place], &meta->segments[place], &retired);
		rows += meta->segments[place].rows;
		rounding = Max(rounding, meta->segments[place].rounding);
		rounds &= (meta->segments[place].flags & PIG_SEGMENT_ROUNDS) != 0;
	}
	/* as many pages for a row as now: an index of vectors may be larger for more of them */
	if (run->load.rows > 0 && !has_space(work, (uint64) ((double) retired.count * run->load.rows / rows)))
		return false;
	pig_room_init_maintenance(&room, work->index, work->heap);
	if (run->load.rows > 0)
	{
		build = begin_build(work, &room, run->load, rounds);
		/* an insert that merges waits, and merges what is small */
		if (!work->quick && work->merges_beside > 0)
		{
			work->merges_beside--;
			build->beside = flush_beside;
			build->beside_arg = work;
		}
		copy_run(work, build, run, PIGMENT_ROWS_WITH_VECTOR);
		copy_run(work, build, run, PIGMENT_ROWS_WITHOUT_VECTOR);
		pig_build_finish(build, &entry);
		/* what was rounded before stays as it is */
		entry.rounding = Max(entry.rounding, rounding);
		change->added = &entry;
	}
	replace(work, &room, change, &retired);
	if (build != NULL)
		tell_given_up(work, build, &entry);
	return true;
}

/*
 * What is due by the sizes of segments. pages_max: larger ones are left alone.
 */
static Run
plan_merge(Maintenance *work, uint64 pages_max)
{
	const PigMeta *meta = work->meta;
	pigment_merge_shape *shapes = palloc0(sizeof(pigment_merge_shape) * (meta->segment_count + 1));
	uint64		row_bytes = entry_bytes_of(work);
	Run			run = {.segments = pig_open_segments(work->segment_pages, meta, work->context)};
	Load		most = most_of(work);
	size_t		first;
	size_t		count;

	for (uint32 i = 0; i < meta->segment_count; i++)
	{
		Load		load = load_of(work, run.segments, i);

		shapes[i].rows = meta->segments[i].rows;
		shapes[i].deleted_rows = shapes[i].rows - load.rows;
		shapes[i].is_busy = meta->segments[i].pages > pages_max || !fits(load, most);
	}
	PIG_CALL(NULL, pigment_plan_merge(shapes, meta->segment_count, Max(pending_bytes_max(row_bytes) / row_bytes, 1), &first,
									  &count, &error));
	run.first = (uint32) first;
	while (run.count < count)
	{
		Load		load = sum(run.load, load_of(work, run.segments, run.first + run.count));

		/* more than there is memory for: these wait until it is set higher */
		if (!fits(load, most))
			break;
		run.load = load;
		run.count++;
	}
	if (run.count < 2 && run.count < count)
		run.count = 0;
	return run;
}

/*
 * Whether a run leaves rows out, which were deleted.
 */
static bool
drops_rows(const Maintenance *work, const Run *run)
{
	uint64		rows = 0;

	for (uint32 i = 0; i < run->count; i++)
		rows += work->meta->segments[run->first + i].rows;
	return run->load.rows < rows;
}

/*
 * Whether something is, of whatever size.
 */
static bool
is_merge_due(Maintenance *work)
{
	MemoryContext caller = begin_step(work);
	bool		due = plan_merge(work, PG_UINT64_MAX).count > 0;

	end_step(work, caller);
	return due;
}

/*
 * Begins a step with what is planned for it. Before rows are dropped that were deleted, pending rows that have the vector of one get their own; then it
 * is planned anew. None that comes later has the vector of a deleted row, because whoever appends it asks under the lock of the last page, which is
 * taken for that. False: there is no space for it, and no step.
 */
static bool
begin_merge(Maintenance *work, Run (*plan) (Maintenance *work, uint64 argument), uint64 argument, MemoryContext *caller, Run *run)
{
	*caller = begin_step(work);
	*run = plan(work, argument);
	if (!drops_rows(work, run) || !has_hashes(work, PIGMENT_NO_PAGE))
		return true;
	/* with the step goes its plan */
	end_step(work, *caller);
	if (!flush_hashes(work))
		return false;
	*caller = begin_step(work);
	*run = plan(work, argument);
	return true;
}

/*
 * Merges what is due once. False: nothing is, or there is no space.
 */
static bool
merge_due(Maintenance *work, uint64 pages_max)
{
	MemoryContext caller;
	Run			run;
	bool		done;

	if (!begin_merge(work, plan_merge, pages_max, &caller, &run))
		return false;
	done = run.count > 0 && merge(work, &run);
	end_step(work, caller);
	return done;
}

/*
 * Neighbours from place `first` on for which there is memory together.
 */
static Run
longest_run(Maintenance *work, uint64 first)
{
	Run			run = {.first = (uint32) first, .segments = pig_open_segments(work->segment_pages, work->meta, work->context)};
	Load		most = most_of(work);

	while (first + run.count < work->meta->segment_count)
	{
		Load		load = sum(run.load, load_of(work, run.segments, run.first + run.count));

		if (run.count > 0 && !fits(load, most))
			break;
		run.load = load;
		run.count++;
	}
	return run;
}

/*
 * Whether a run is to be written anew. One that stays alone is for its deleted rows, but not where that would take its index: that is worth more.
 */
static bool
is_worth_merging(const Maintenance *work, const Run *run)
{
	const PigSegmentEntry *entry = &work->meta->segments[run->first];
	pigment_segment_info info = {.struct_size = sizeof(info)};

	if (run->count > 1 || run->load.rows == entry->rows)
		return run->count > 1;
	pigment_segment_get_info(run->segments->segments[run->first], &info);
	if (info.index == PIGMENT_INDEX_FLAT || run->load.vectors <= most_of(work).vectors)
		return true;
	ereport(WARNING,
			(errmsg("index \"%s\" keeps %llu deleted rows in its segment %u, because its vectors do not fit into maintenance_work_mem",
					RelationGetRelationName(work->index), (unsigned long long) (entry->rows - run->load.rows), entry->segment),
			 errhint("Increase maintenance_work_mem.")));
	return false;
}

/*
 * Makes one segment of all, or as few as there is memory for.
 */
static void
merge_all(Maintenance *work)
{
	for (uint32 first = 0;; first++)
	{
		MemoryContext caller;
		Run			run;

		if (!begin_merge(work, longest_run, first, &caller, &run))
			return;
		if (run.count > 0 && is_worth_merging(work, &run))
			(void) merge(work, &run);
		/* nothing is left in its place */
		if (run.count > 0 && run.load.rows == 0)
			first--;
		end_step(work, caller);
		if (run.count == 0)
			return;
	}
}

/* ---- what pending rows hang on ---- */

typedef struct HungRows
{
	pigment_pending_cache *cache;
	pigment_buffer *part;
	MemoryContextCallback release;
} HungRows;

/*
 * Called when the memory context goes, also after an error: frees memory and nothing else.
 */
static void
release_hung(void *arg)
{
	HungRows   *hung = (HungRows *) arg;

	pigment_buffer_free(hung->part);
	pigment_pending_cache_free(hung->cache);
}

/*
 * Finds out what pending rows hang on of which nobody did, where that is worth it.
 */
static void
hang_pending(Maintenance *work)
{
	MemoryContext caller = begin_step(work);
	/* as scans do, because it is as many searches */
	PigSegments *segments = pig_hold_all_rows(work->segment_pages, work->meta, work->context);
	HungRows   *hung = palloc0(sizeof(HungRows));
	const char *bytes;
	size_t		size;

	hung->release.func = release_hung;
	hung->release.arg = hung;
	MemoryContextRegisterResetCallback(work->context, &hung->release);
	hung->cache = pig_new_pending_cache(work->meta);
	pig_source_share(work->pending_pages, segments);
	PIG_CALL(pending_error(work), pigment_pending_cache_hang(hung->cache, &work->pending_pages->callbacks, &hung->part, &error));
	bytes = pigment_buffer_data(hung->part, &size);
	if (bytes != NULL && has_space(work, size / BLCKSZ + 1))
	{
		PigRoom		room;

		pig_room_init_maintenance(&room, work->index, work->heap);
		pig_publish_graft(&room, work->meta, bytes, size);
		pig_room_return(&room);
	}
	end_step(work, caller);
}

/* ---- lost pages ---- */

/*
 * Pages that nobody refers to retire, as those do that somebody referred to: so they cannot be in anybody's hands when they are taken.
 */
static void
reclaim_lost(Maintenance *work)
{
	MemoryContext caller = begin_step(work);
	PigSegments *segments = pig_open_segments(work->segment_pages, work->meta, work->context);
	PigRetired	lost = {0};
	PigRoom		room;

	pig_find_lost(work->index, work->meta, segments, work->segment_pages, work->pending_pages, &lost);
	pig_room_init_maintenance(&room, work->index, work->heap);
	if (lost.count > 0)
		replace(work, &room, new_change(), &lost);
	end_step(work, caller);
}

/* ---- who asks for it ---- */

static Maintenance
begin_maintenance(Relation index, Relation heap)
{
	Maintenance work = {.index = index, .heap = heap, .columns = pig_columns(index), .memory_bytes = pig_build_memory(),
		.merges_beside = ROUNDS_MAX};

	work.context = AllocSetContextCreate(CurrentMemoryContext, "pigment maintenance", ALLOCSET_DEFAULT_SIZES);
	return work;
}

static void
end_maintenance(Maintenance *work)
{
	pig_unlock_maintenance(work->index, ExclusiveLock);
	MemoryContextDelete(work->context);
}

void
pig_flush_if_due(Relation index, Relation heap, uint64 full_bytes, uint64 entry_bytes)
{
	uint64		limit = pending_bytes_max(entry_bytes);
	Maintenance work;
	PigMeta    *meta;
	bool		leaves_merge = false;

	if (full_bytes < limit || !pig_try_lock_maintenance(index))
		return;
	work = begin_maintenance(index, heap);
	work.quick = true;
	meta = MemoryContextAlloc(work.context, sizeof(PigMeta));
	pig_read_meta(index, meta);
	/* unless somebody did while we asked */
	if (meta->pending_bytes >= limit && flush(&work))
	{
		(void) merge_due(&work, Min(limit * INSERT_MERGE_FLUSHES_MAX, INSERT_MERGE_BYTES_MAX) / BLCKSZ);
		leaves_merge = pig_can_merge_in_background(index, heap) && is_merge_due(&work);
	}
	end_maintenance(&work);
	/* the worker does not wait for the lock */
	if (leaves_merge)
		pig_start_background_merge(index);
}

void
pig_maintain(Relation index, Relation heap)
{
	Maintenance work;

	pig_lock_maintenance(index, ExclusiveLock);
	work = begin_maintenance(index, heap);
	reclaim_lost(&work);
	for (int round = 0; round < ROUNDS_MAX; round++)
	{
		while (merge_due(&work, PG_UINT64_MAX))
			;
		if (!flush(&work))
			break;
	}
	end_maintenance(&work);
}

void
pig_merge_beside_inserts(Relation index, Relation heap)
{
	Maintenance work = begin_maintenance(index, heap);

	/* as long as rows come, until somebody waits for its locks */
	work.merges_beside = INT_MAX;
	reclaim_lost(&work);
	while (merge_due(&work, PG_UINT64_MAX))
		;
	hang_pending(&work);
	end_maintenance(&work);
}

PG_FUNCTION_INFO_V1(pigment_pg_merge);
Datum
pigment_pg_merge(PG_FUNCTION_ARGS)
{
	Relation	table;
	Relation	index;
	Maintenance work;
	PigMeta    *meta = palloc(sizeof(PigMeta));

	if (RecoveryInProgress())
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("recovery is in progress"),
				 errhint("Indexes are maintained on the primary.")));
	index = pig_open_index(PG_GETARG_OID(0), RowExclusiveLock, &table);
	pig_lock_maintenance(index, ExclusiveLock);
	work = begin_maintenance(index, table);
	work.must = true;
	work.threads = pig_build_threads(table);
	reclaim_lost(&work);
	pig_read_meta(index, meta);
	(void) pig_close_pending(index, meta);
	for (int round = 0; round < ROUNDS_MAX && flush(&work); round++)
		;
	merge_all(&work);
	/* a directory that was full had no place for a flush */
	if (flush(&work))
		merge_all(&work);
	pig_read_meta(index, meta);
	end_maintenance(&work);
	relation_close(index, RowExclusiveLock);
	table_close(table, RowExclusiveLock);
	PG_RETURN_INT32((int32) meta->segment_count);
}
