/* SPDX-License-Identifier: Apache-2.0 */

/*
 * segments.c
 *	  Opening the segments of an index, and reading which of their rows were deleted.
 */
#include "postgres.h"

#include "compat.h"

#include "am.h"
#include "engine_error.h"

/*
 * Called when the memory context goes, also after an error: frees memory and nothing else.
 */
static void
release_segments(void *arg)
{
	PigSegments *opened = (PigSegments *) arg;

	for (int i = 0; i < opened->count; i++)
		pigment_segment_free(opened->segments[i]);
	opened->count = 0;
}

uint32
pig_deletion_pages(const PigSegmentEntry *entry)
{
	uint32		per_page = pigment_deletion_page_rows();

	return (uint32) ((entry->rows + per_page - 1) / per_page);
}

void
pig_read_deletion_page(Relation index, Snapshot snapshot, const PigSegmentEntry *entry, uint32 number, BlockNumber block, PGAlignedBlock *page)
{
	pigment_error *error = NULL;
	pigment_status status;

	CHECK_FOR_INTERRUPTS();
	if (block >= RelationGetNumberOfBlocks(index))
		pig_raise_corrupted(index, block, "the chain of deletion pages leads outside the index");
	pig_read_page_for(index, snapshot, block, page);
	status = pigment_deletion_page_check(page->data, entry->segment, number, &error);
	if (status != PIGMENT_OK)
		pig_raise_damaged_page(index, block, status, error);
}

uint8 *
pig_read_deletions(Relation index, Snapshot snapshot, const PigSegmentEntry *entry, size_t *bytes, BlockNumber *blocks)
{
	uint32		per_page = pigment_deletion_page_rows();
	uint32		pages = pig_deletion_pages(entry);
	BlockNumber block = entry->first_deletion;
	uint8	   *bits;

	*bytes = 0;
	if (block == PIGMENT_NO_PAGE)
		return NULL;
	bits = MemoryContextAllocHuge(CurrentMemoryContext, (Size) pages * (per_page / 8));
	for (uint32 number = 0; number < pages; number++)
	{
		PGAlignedBlock page;

		pig_read_deletion_page(index, snapshot, entry, number, block, &page);
		memcpy(bits + (Size) number * (per_page / 8), pigment_deletion_page_bits(page.data), per_page / 8);
		if (blocks != NULL)
			blocks[number] = block;
		block = pigment_deletion_page_next(page.data);
	}
	*bytes = (size_t) ((entry->rows + 7) / 8);
	return bits;
}

uint64
pig_count_deleted(const uint8 *bits, uint64 rows)
{
	uint64		deleted = 0;

	for (uint64 row = 0; bits != NULL && row < rows; row++)
		deleted += pig_bit(bits, row);
	return deleted;
}

PigSegments *
pig_open_segments(PigSource *source, const PigMeta *meta, MemoryContext context)
{
	MemoryContext caller = MemoryContextSwitchTo(context);
	PigSegments *opened = palloc0(sizeof(PigSegments));

	opened->segments = palloc0(sizeof(pigment_segment *) * (meta->segment_count + 1));
	opened->deleted = palloc0(sizeof(uint8 *) * (meta->segment_count + 1));
	opened->deleted_bytes = palloc0(sizeof(size_t) * (meta->segment_count + 1));
	opened->release.func = release_segments;
	opened->release.arg = opened;
	MemoryContextRegisterResetCallback(context, &opened->release);

	for (uint32 i = 0; i < meta->segment_count; i++)
	{
		const PigSegmentEntry *entry = &meta->segments[i];

		PIG_CALL(&source->error, pigment_segment_open(&source->callbacks, entry->segment, entry->root,
													  &opened->segments[i], &error));
		opened->count++;
		opened->deleted[i] = pig_read_deletions(source->index, source->snapshot, entry, &opened->deleted_bytes[i], NULL);
	}
	MemoryContextSwitchTo(caller);
	return opened;
}

void
pig_source_share(PigSource *pending, const PigSegments *segments)
{
	pending->callbacks.segments = (const pigment_segment *const *) segments->segments;
	pending->callbacks.segment_count = (size_t) segments->count;
}

bool
pig_has_no_zero_vectors(const PigMeta *meta)
{
	for (uint32 i = 0; i < meta->segment_count; i++)
		if ((meta->segments[i].flags & PIG_SEGMENT_NO_ZERO) == 0)
			return false;
	return true;
}
