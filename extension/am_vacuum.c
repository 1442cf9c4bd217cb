/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_vacuum.c
 *	  VACUUM: sets a bit for each dead row of a segment, marks dead entries of pending pages.
 *
 * Sessions keep pending rows from scan to scan, and a row pointer leads to another row once the bulk delete has returned. So it ends with another
 * generation of the metapage, by which scans know that they must read the pending pages again (README.md).
 *
 * Only row pointers are read: no vector, no heap. Every live row is reported to the callback exactly once, whatever it answers: CREATE INDEX
 * CONCURRENTLY collects them with one that never says yes. The table's lock keeps other VACUUMs away.
 */
#include "postgres.h"

#include "compat.h"
#include "utils/memutils.h"

#include "am.h"
#include "engine_error.h"
#include "free_pages.h"

#define ROWS_PER_CALL 4096

typedef struct VacuumState
{
	Relation	index;
	IndexBulkDeleteCallback callback;	/* NULL: count only */
	void	   *callback_state;
	IndexBulkDeleteResult *stats;
	MemoryContext context;
	PigSource	source;
	PigRoom		room;			/* for deletion pages */
} VacuumState;

static bool
is_dead(VacuumState *vacuum, uint64 row_pointer)
{
	ItemPointerData tid;

	if (vacuum->callback == NULL)
		return false;
	pig_tid(row_pointer, &tid);
	return vacuum->callback(&tid, vacuum->callback_state);
}

/*
 * A segment's deletion pages while rows are being marked; dead rows collect until the page changes.
 */
typedef struct Deletions
{
	PigSegmentEntry entry;
	BlockNumber *blocks;		/* of its deletion pages; NULL: there are none yet */
	uint32		number;			/* the page of the rows below */
	uint32		rows[ROWS_PER_CALL];
	int			count;
} Deletions;

static void
flush_deletions(VacuumState *vacuum, Deletions *deletions)
{
	if (deletions->count == 0)
		return;
	if (deletions->blocks == NULL)
	{
		size_t		bytes;

		deletions->entry.first_deletion = pig_create_deletions(&vacuum->room, &deletions->entry);
		deletions->blocks = palloc(sizeof(BlockNumber) * pig_deletion_pages(&deletions->entry));
		(void) pig_read_deletions(vacuum->index, NULL, &deletions->entry, &bytes, deletions->blocks);
	}
	pig_set_deleted(vacuum->index, deletions->blocks[deletions->number], deletions->entry.segment, deletions->number,
					deletions->rows, deletions->count);
	deletions->count = 0;
}

static void
delete_row(VacuumState *vacuum, Deletions *deletions, uint32 row)
{
	uint32		number = row / pigment_deletion_page_rows();

	if (deletions->count == ROWS_PER_CALL || number != deletions->number)
		flush_deletions(vacuum, deletions);
	deletions->number = number;
	deletions->rows[deletions->count++] = row;
	vacuum->stats->tuples_removed += 1;
}

static void
vacuum_segment(VacuumState *vacuum, const pigment_segment *segment, const PigSegmentEntry *entry)
{
	Deletions  *deletions = palloc0(sizeof(Deletions));
	uint64	   *pointers = palloc(sizeof(uint64) * ROWS_PER_CALL);
	size_t		deleted_bytes;
	uint8	   *deleted;

	deletions->entry = *entry;
	if (entry->first_deletion != PIGMENT_NO_PAGE)
		deletions->blocks = palloc(sizeof(BlockNumber) * pig_deletion_pages(entry));
	deleted = pig_read_deletions(vacuum->index, NULL, entry, &deleted_bytes, deletions->blocks);
	for (uint64 first = 0; first < entry->rows; first += ROWS_PER_CALL)
	{
		size_t		count = (size_t) Min(entry->rows - first, ROWS_PER_CALL);

		pig_vacuum_delay_point();
		PIG_CALL(&vacuum->source.error, pigment_segment_row_pointers(segment, first, count, pointers, &error));
		for (size_t i = 0; i < count; i++)
		{
			if (pig_bit(deleted, first + i))
				continue;
			if (is_dead(vacuum, pointers[i]))
				delete_row(vacuum, deletions, (uint32) (first + i));
			else
				vacuum->stats->num_index_tuples += 1;
		}
	}
	flush_deletions(vacuum, deletions);
}

/*
 * Entries are appended and marked, never moved: what a copy of the page tells stays true for the page. Returns whether one is dead, by now or before.
 */
static bool
vacuum_pending_page(VacuumState *vacuum, BlockNumber block, uint32 stamp, const void *page)
{
	uint32		count = pigment_pending_page_count(page);
	uint32	   *dead = palloc(sizeof(uint32) * (count + 1));
	int			dead_count = 0;
	bool		has_dead = false;

	for (uint32 i = 0; i < count; i++)
	{
		uint64_t	row_pointer;

		if (!pigment_pending_page_entry(page, i, &row_pointer))
			has_dead = true;
		else if (is_dead(vacuum, row_pointer))
			dead[dead_count++] = i;
		else
			vacuum->stats->num_index_tuples += 1;
	}
	if (dead_count > 0)
		pig_kill_entries(vacuum->index, block, stamp, dead, dead_count);
	vacuum->stats->tuples_removed += dead_count;
	pfree(dead);
	return has_dead || dead_count > 0;
}

static void
vacuum_pending(VacuumState *vacuum, const PigMeta *meta)
{
	BlockNumber block = meta->pending_head;
	bool		has_dead = false;

	while (block != PIGMENT_NO_PAGE)
	{
		PGAlignedBlock page;

		pig_vacuum_delay_point();
		pig_read_pending_page(vacuum->index, meta->pending_stamp, block, &page);
		has_dead |= vacuum_pending_page(vacuum, block, meta->pending_stamp, page.data);
		block = pigment_pending_page_next(page.data);
	}
	/* also for marks that a VACUUM left which was interrupted before it came here */
	if (has_dead && vacuum->callback != NULL)
		pig_outdate_pending(vacuum->index);
}

static IndexBulkDeleteResult *
vacuum_index(IndexVacuumInfo *info, IndexBulkDeleteResult *stats, IndexBulkDeleteCallback callback, void *callback_state)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "pigment vacuum", ALLOCSET_DEFAULT_SIZES);
	VacuumState vacuum = {.index = info->index, .callback = callback, .callback_state = callback_state};
	MemoryContext caller;
	PigMeta	   *meta;
	PigSegments *segments;

	if (stats == NULL)
		stats = palloc0(sizeof(IndexBulkDeleteResult));
	caller = MemoryContextSwitchTo(context);
	vacuum.stats = stats;
	vacuum.context = context;
	stats->num_index_tuples = 0;
	stats->estimated_count = false;

	/* nothing that was read before a row pointer went may be published after it went, and no page be reused: VACUUM has no snapshot */
	pig_lock_maintenance(info->index, ExclusiveLock);
	meta = palloc(sizeof(PigMeta));
	pig_read_meta(info->index, meta);
	pig_room_init(&vacuum.room, info->index, meta);
	pig_source_init(&vacuum.source, info->index, NULL, false, context);
	segments = pig_open_segments(&vacuum.source, meta, context);
	for (uint32 i = 0; i < meta->segment_count; i++)
		vacuum_segment(&vacuum, segments->segments[i], &meta->segments[i]);
	vacuum_pending(&vacuum, meta);
	pig_unlock_maintenance(info->index, ExclusiveLock);

	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	return stats;
}

IndexBulkDeleteResult *
pig_bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats, IndexBulkDeleteCallback callback, void *callback_state)
{
	return vacuum_index(info, stats, callback, callback_state);
}

/*
 * Flushes and merges what is due, and finds lost pages. Without a bulk delete before, counts the rows.
 */
IndexBulkDeleteResult *
pig_vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	if (info->analyze_only)
		return stats;
	if (stats == NULL)
		stats = vacuum_index(info, NULL, NULL, NULL);
	pig_maintain(info->index, pig_vacuumed_table(info));
	stats->num_pages = RelationGetNumberOfBlocks(info->index);
	return stats;
}
