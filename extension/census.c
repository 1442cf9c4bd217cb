/* SPDX-License-Identifier: Apache-2.0 */

/*
 * census.c
 *	  Which pages of an index nobody refers to.
 *
 * Places of segments' pages are known by their roots, so that no page of theirs is read. Of pending pages all are, and of their entries the overflow
 * pages.
 */
#include "postgres.h"

#include "compat.h"
#include "utils/memutils.h"

#include "census.h"
#include "engine_error.h"

typedef struct Collection
{
	PigRetired *pages;
	Size		before;			/* that they had when it began */
	MemoryContext context;
	ErrorData  *error;			/* raised in the callback */
} Collection;

static Collection
begin_collection(PigRetired *pages)
{
	return (Collection) {pages, pages->count, CurrentMemoryContext, NULL};
}

/*
 * For a call that may be repeated: what it gave before is left out.
 */
static Collection *
begin_anew(Collection *collection)
{
	collection->pages->count = collection->before;
	return collection;
}

static ErrorData **
kept_error(Collection *collection, PigSource *source)
{
	return collection->error != NULL ? &collection->error : &source->error;
}

static pigment_status
collect_page(void *context, uint32_t physical)
{
	Collection *collection = (Collection *) context;
	MemoryContext caller = MemoryContextSwitchTo(collection->context);

	PIG_KEEPING(collection->error, collection->context, pig_retired_add(collection->pages, physical));
	MemoryContextSwitchTo(caller);
	return collection->error != NULL ? PIGMENT_INTERNAL : PIGMENT_OK;
}

void
pig_collect_segment(PigSource *source, const pigment_segment *segment, const PigSegmentEntry *entry, PigRetired *pages)
{
	Collection	collection = begin_collection(pages);
	uint32		count = entry->first_deletion != PIGMENT_NO_PAGE ? pig_deletion_pages(entry) : 0;
	BlockNumber *blocks = palloc(sizeof(BlockNumber) * (count + 1));
	size_t		bytes;

	PIG_CALL(&collection.error, pigment_segment_visit_pages(segment, collect_page, &collection, &error));
	if (count > 0)
		pfree(pig_read_deletions(source->index, NULL, entry, &bytes, blocks));
	for (uint32 i = 0; i < count; i++)
		pig_retired_add(pages, blocks[i]);
	pfree(blocks);
}

void
pig_collect_pending(PigSource *source, uint32 stamp, BlockNumber first, BlockNumber last, PigRetired *pages)
{
	Collection	collection = begin_collection(pages);

	PIG_CALL(kept_error(&collection, source),
			 pigment_pending_visit_pages(&source->callbacks, stamp, first, last, collect_page, begin_anew(&collection), &error));
}

uint32
pig_collect_graft(PigSource *source, uint32 stamp, BlockNumber first, PigRetired *pages)
{
	Collection	collection = begin_collection(pages);
	uint32_t	segment;

	PIG_CALL(kept_error(&collection, source),
			 pigment_pending_graft_visit_pages(&source->callbacks, stamp, first, collect_page, begin_anew(&collection), &segment, &error));
	return segment;
}

/* ---- the census ---- */

typedef struct Census
{
	Relation	index;
	BlockNumber blocks;			/* when it began; later ones are not judged */
	uint8	   *used;			/* a bit for each */
} Census;

static void
mark(Census *census, BlockNumber block)
{
	if (block >= census->blocks)
		return;
	if (pig_bit(census->used, block))
		pig_raise_corrupted(census->index, block, "used for two things");
	census->used[block / 8] |= (uint8) (1 << (block % 8));
}

static void
mark_pages(Census *census, PigRetired *pages)
{
	for (Size i = 0; i < pages->count; i++)
		mark(census, pages->blocks[i]);
	pages->count = 0;
}

/*
 * A list's page and what it names; returns the next.
 */
static BlockNumber
mark_list(Census *census, BlockNumber block)
{
	PGAlignedBlock page;
	const PigPageList *list;

	CHECK_FOR_INTERRUPTS();
	if (!pig_read_list(census->index, block, &page, &list))
		pig_raise_corrupted(census->index, block, "no list of pages");
	mark(census, block);
	for (uint32 i = 0; i < list->count; i++)
		mark(census, list->blocks[i]);
	return list->next;
}

void
pig_find_lost(Relation index, const PigMeta *meta, const PigSegments *segments, PigSource *segment_pages,
			  PigSource *pending_pages, PigRetired *lost)
{
	Census		census = {.index = index, .blocks = RelationGetNumberOfBlocks(index)};
	PigRetired	pages = {0};
	PigMeta    *now = palloc(sizeof(PigMeta));

	census.used = MemoryContextAllocExtended(CurrentMemoryContext, census.blocks / 8 + 1, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	mark(&census, PIG_META_BLOCK);
	for (int i = 0; i < segments->count; i++)
	{
		pig_collect_segment(segment_pages, segments->segments[i], &meta->segments[i], &pages);
		mark_pages(&census, &pages);
	}
	/* a list that leads to itself is marked twice */
	for (BlockNumber block = meta->retired; block != PIGMENT_NO_PAGE;)
		block = mark_list(&census, block);
	if (meta->graft != 0)
		(void) pig_collect_graft(pending_pages, meta->pending_stamp, meta->graft, &pages);
	mark_pages(&census, &pages);

	/* nobody has a page in hand: what was taken is linked */
	pig_lock_taking(index, ExclusiveLock);
	pig_read_meta(index, now);
	pig_collect_pending(pending_pages, now->pending_stamp, now->pending_head, PIGMENT_NO_PAGE, &pages);
	mark_pages(&census, &pages);
	if (now->free != 0)
		(void) mark_list(&census, now->free);
	pig_unlock_taking(index, ExclusiveLock);

	for (BlockNumber block = 0; block < census.blocks; block++)
		if (!pig_bit(census.used, block))
			pig_retired_add(lost, block);
	pfree(census.used);
	pfree(now);
}
