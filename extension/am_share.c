/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_share.c
 *	  An update that leaves the vector alone: its entry has a hash in place of the vector, which a row of a segment has.
 *
 * The server gives the new row version alone, so that row is found by the vector itself: segments have the hashes of theirs, sorted. README.md has the
 * argument why it stays there for as long as the entry is pending.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "compat.h"
#include "storage/bufmgr.h"

#include "am.h"
#include "engine_error.h"
#include "segment_build.h"

/* Rows with one vector that are asked whether they are alive. */
#define ROWS_MAX 64

/*
 * Whether the row version may be an update. Where the table does not tell, it may.
 */
static bool
may_be_update(Relation heap, ItemPointer tid)
{
	Buffer		buffer;
	Page		page;
	ItemId		item;
	bool		result;

	if (heap->rd_tableam != GetHeapamTableAmRoutine())
		return true;
	buffer = ReadBuffer(heap, ItemPointerGetBlockNumber(tid));
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	item = PageGetItemId(page, ItemPointerGetOffsetNumber(tid));
	result = ItemIdIsNormal(item) && (((HeapTupleHeader) PageGetItem(page, item))->t_infomask & HEAP_UPDATED) != 0;
	UnlockReleaseBuffer(buffer);
	return result;
}

/*
 * Whether the row is alive, and the page that says so.
 */
static bool
is_alive(Relation index, const PigSegmentEntry *entry, PigShared *shared)
{
	uint32		number = shared->row / pigment_deletion_page_rows();
	BlockNumber block = entry->first_deletion;
	PGAlignedBlock page;

	shared->first_deletion = shared->deletion_page = block;
	for (uint32 i = 0; block != PIGMENT_NO_PAGE; i++)
	{
		pig_read_deletion_page(index, NULL, entry, i, block, &page);
		shared->deletion_page = block;
		if (i == number)
			return !pig_bit(pigment_deletion_page_bits(page.data), shared->row % pigment_deletion_page_rows());
		block = pigment_deletion_page_next(page.data);
	}
	return entry->first_deletion == PIGMENT_NO_PAGE;
}

/*
 * Looks for a live row with exactly this vector, in the newest segments first.
 */
static bool
find_vector(PigSource *source, const PigSegments *segments, const PigMeta *meta, const float *vector, PigShared *shared)
{
	for (int i = segments->count - 1; i >= 0; i--)
	{
		uint32_t	rows[ROWS_MAX];
		size_t		count;

		pig_source_use(source);
		PIG_CALL(&source->error, pigment_segment_find_vector(segments->segments[i], vector, meta->dimension, rows, ROWS_MAX, &count,
															 &shared->hash, &error));
		shared->segment = meta->segments[i].segment;
		for (size_t j = 0; j < count; j++)
		{
			shared->row = rows[j];
			if (is_alive(source->index, &meta->segments[i], shared))
				return true;
		}
	}
	return false;
}

const PigShared *
pig_find_shared(Relation index, Relation heap, ItemPointer tid, const PigMeta *meta, const PigRow *row)
{
	PigShared  *shared;
	PigSource  *source;
	PigSegments *segments;
	float	   *rounded;

	if (meta->segment_count == 0 || meta->vector_seed == 0 || meta->version < PIG_META_VERSION_HASHES ||
		pig_vector_bytes(index, meta->dimension) <= sizeof(pigment_vector_hash) || !may_be_update(heap, tid))
		return NULL;
	/* what has no room in its page is in pages where nobody looks for hashes */
	if (pigment_pending_entry_bytes_with_hash(row->keys_size) > pigment_pending_entry_bytes_max())
		return NULL;
	shared = palloc0(sizeof(PigShared));
	source = palloc(sizeof(PigSource));
	pig_source_init(source, index, NULL, false, CurrentMemoryContext);
	segments = pig_hold_all_rows(source, meta, CurrentMemoryContext);
	if (!row->rounds)
		return find_vector(source, segments, meta, row->vector, shared) ? shared : NULL;
	/* as CREATE INDEX rounds it, and as rows that came later were */
	rounded = palloc(sizeof(float) * meta->dimension);
	if (pigment_host_round_to_halves(meta->metric, row->vector, meta->dimension, rounded, &shared->rounding) &&
		find_vector(source, segments, meta, rounded, shared))
		return shared;
	if (pigment_host_round_to_twelves(meta->metric, row->vector, meta->dimension, rounded, &shared->rounding) &&
		find_vector(source, segments, meta, rounded, shared))
		return shared;
	return NULL;
}
