/* SPDX-License-Identifier: Apache-2.0 */

/*
 * pages.c
 *	  Every change of an index's pages, and the plain ways to read them.
 *
 * Locks are taken in this order: a pending page, the relation's extension lock, a new page, the metapage.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/xloginsert.h"
#include "compat.h"
#include "storage/bufpage.h"

#include "engine_error.h"
#include "pages.h"

static inline PigMeta *
meta_of(Page page)
{
	return (PigMeta *) ((char *) page + PIGMENT_PAGE_HEADER_BYTES);
}

void
pig_raise_corrupted(Relation index, BlockNumber block, const char *why)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupted at block %u: %s", RelationGetRelationName(index), block, why),
			 errhint("Please REINDEX it.")));
	pg_unreachable();
}

void
pig_raise_damaged_page(Relation index, BlockNumber block, pigment_status status, pigment_error *error)
{
	char		why[512];
	const char *reason;

	if (error == NULL || status != PIGMENT_DATA_LOSS)
		pig_raise(status, error);
	strlcpy(why, pigment_error_message(error), sizeof(why));
	pigment_error_free(error);
	/* the engine was told neither index nor block, and its words begin with what it took for them */
	reason = strstr(why, "\": ");
	pig_raise_corrupted(index, block, reason != NULL ? reason + 3 : why);
}

/*
 * The server's part of a page whose rest the engine wrote: no item pointers, no hole.
 */
static void
set_page_header(Page page)
{
	PageHeader	header = (PageHeader) page;

	memset(page, 0, PIGMENT_PAGE_HEADER_BYTES);
	header->pd_lower = header->pd_upper = header->pd_special = BLCKSZ - PIGMENT_PAGE_TRAILER_BYTES;
	PageSetPageSizeAndVersion(page, BLCKSZ, PG_PAGE_LAYOUT_VERSION);
}

static void
check_meta(Relation index, Page page)
{
	PigMeta    *meta = meta_of(page);
	pigment_error *error = NULL;
	pigment_status status;

	if (PageIsNew(page))
		pig_raise_corrupted(index, PIG_META_BLOCK, "the metapage is empty");
	if (meta->magic != PIG_META_MAGIC)
		pig_raise_corrupted(index, PIG_META_BLOCK, "no metapage of access method pigment");
	if (meta->version != PIG_META_VERSION)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" has version %u, this module reads version %d",
						RelationGetRelationName(index), meta->version, PIG_META_VERSION),
				 errhint("REINDEX it, or install the version of Pigment that wrote it.")));
	status = pigment_meta_page_check(page, PIG_META_BLOCK, &error);
	if (status != PIGMENT_OK)
		pig_raise_damaged_page(index, PIG_META_BLOCK, status, error);
	if (meta->segment_count > PIG_SEGMENTS_MAX)
		pig_raise_corrupted(index, PIG_META_BLOCK, "more segments than fit");
}

void
pig_read_meta(Relation index, PigMeta *meta)
{
	PGAlignedBlock page;

	pig_read_page(index, PIG_META_BLOCK, &page);
	check_meta(index, page.data);
	*meta = *meta_of(page.data);
}

void
pig_read_page(Relation index, BlockNumber block, PGAlignedBlock *page)
{
	Buffer		buffer = ReadBuffer(index, block);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	memcpy(page->data, BufferGetPage(buffer), BLCKSZ);
	UnlockReleaseBuffer(buffer);
}

static void
init_meta(Page page, uint32 dimension, int32 metric)
{
	PigMeta    *meta = meta_of(page);

	memset(page, 0, BLCKSZ);
	meta->magic = PIG_META_MAGIC;
	meta->version = PIG_META_VERSION;
	meta->dimension = dimension;
	meta->metric = metric;
	meta->generation = 1;
	meta->pending_head = meta->pending_tail = PIG_META_BLOCK + 1;
	meta->pending_stamp = 1;
	meta->next_segment = 2;
	meta->directory = PIGMENT_NO_PAGE;
	meta->retired = PIGMENT_NO_PAGE;
	set_page_header(page);
	pigment_meta_page_seal(page, PIG_META_BLOCK);
}

/*
 * A new block of the fork, which must be the one expected: nobody else extends an empty index.
 */
static Buffer
extend_to(Relation index, ForkNumber fork, BlockNumber expected)
{
	Buffer		buffer = pig_extend(index, fork);

	if (BufferGetBlockNumber(buffer) != expected)
		elog(ERROR, "index \"%s\" is not empty", RelationGetRelationName(index));
	return buffer;
}

/*
 * Page images as WAL records of their own, not generic ones: those skip unlogged relations, whose init fork must be logged.
 */
static void
write_empty_init_fork(Buffer meta_buffer, Buffer pending_buffer, uint32 dimension, int32 metric)
{
	START_CRIT_SECTION();
	init_meta(BufferGetPage(meta_buffer), dimension, metric);
	MarkBufferDirty(meta_buffer);
	log_newpage_buffer(meta_buffer, false);

	memset(BufferGetPage(pending_buffer), 0, BLCKSZ);
	pigment_pending_page_init(BufferGetPage(pending_buffer), 1, PIG_META_BLOCK + 1);
	set_page_header(BufferGetPage(pending_buffer));
	MarkBufferDirty(pending_buffer);
	log_newpage_buffer(pending_buffer, false);
	END_CRIT_SECTION();
}

void
pig_write_empty(Relation index, ForkNumber fork, uint32 dimension, int32 metric)
{
	Buffer		meta_buffer = extend_to(index, fork, PIG_META_BLOCK);
	Buffer		pending_buffer = extend_to(index, fork, PIG_META_BLOCK + 1);

	if (fork == INIT_FORKNUM)
		write_empty_init_fork(meta_buffer, pending_buffer, dimension, metric);
	else
	{
		GenericXLogState *state = GenericXLogStart(index);
		Page		meta_page = GenericXLogRegisterBuffer(state, meta_buffer, GENERIC_XLOG_FULL_IMAGE);
		Page		pending_page = GenericXLogRegisterBuffer(state, pending_buffer, GENERIC_XLOG_FULL_IMAGE);

		init_meta(meta_page, dimension, metric);
		memset(pending_page, 0, BLCKSZ);
		pigment_pending_page_init(pending_page, 1, PIG_META_BLOCK + 1);
		set_page_header(pending_page);
		GenericXLogFinish(state);
	}
	UnlockReleaseBuffer(pending_buffer);
	UnlockReleaseBuffer(meta_buffer);
}

BlockNumber
pig_write_new_page(Relation index, const void *page)
{
	Buffer		buffer = pig_extend(index, MAIN_FORKNUM);
	BlockNumber block = BufferGetBlockNumber(buffer);
	GenericXLogState *state = GenericXLogStart(index);
	Page		target = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);

	memcpy(target, page, BLCKSZ);
	set_page_header(target);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
	return block;
}

/* ---- the metapage ---- */

typedef struct MetaChange
{
	Buffer		buffer;
	GenericXLogState *state;
	PigMeta    *meta;			/* in the record's copy of the page */
	Page		page;
} MetaChange;

/*
 * Locks the metapage exclusively and adds it to a record; state NULL: to a new one.
 */
static MetaChange
begin_meta_change(Relation index, GenericXLogState *state)
{
	MetaChange	change;

	change.buffer = ReadBuffer(index, PIG_META_BLOCK);
	LockBuffer(change.buffer, BUFFER_LOCK_EXCLUSIVE);
	change.state = state != NULL ? state : GenericXLogStart(index);
	change.page = GenericXLogRegisterBuffer(change.state, change.buffer, 0);
	check_meta(index, change.page);
	change.meta = meta_of(change.page);
	return change;
}

static void
end_meta_change(MetaChange *change)
{
	pigment_meta_page_seal(change->page, PIG_META_BLOCK);
	GenericXLogFinish(change->state);
	UnlockReleaseBuffer(change->buffer);
}

void
pig_publish_segments(Relation index, const PigSegmentEntry *entries, int count, uint32 next_segment, uint32 dimension)
{
	MetaChange	change = begin_meta_change(index, NULL);
	PigMeta    *meta = change.meta;

	if (meta->segment_count + (uint32) count > PIG_SEGMENTS_MAX)
		elog(ERROR, "the directory of index \"%s\" is full", RelationGetRelationName(index));
	memcpy(&meta->segments[meta->segment_count], entries, sizeof(PigSegmentEntry) * (size_t) count);
	meta->segment_count += (uint32) count;
	meta->next_segment = next_segment;
	meta->dimension = dimension;
	meta->generation++;
	end_meta_change(&change);
}

uint32
pig_fix_dimension(Relation index, uint32 dimension)
{
	MetaChange	change = begin_meta_change(index, NULL);
	uint32		result = change.meta->dimension;

	if (result != 0)
	{
		GenericXLogAbort(change.state);
		UnlockReleaseBuffer(change.buffer);
		return result;
	}
	change.meta->dimension = dimension;
	end_meta_change(&change);
	return dimension;
}

/* ---- pending pages ---- */

static void
check_pending(Relation index, const void *page, uint32 stamp, BlockNumber block)
{
	pigment_error *error = NULL;
	pigment_status status = pigment_pending_page_check(page, stamp, block, &error);

	if (status != PIGMENT_OK)
		pig_raise_damaged_page(index, block, status, error);
}

/*
 * Writes an entry that is larger than a page to pages of its own, the last first, because each names the next. Nobody knows them until
 * the pending page that refers to them is written: a crash before that leaves unused pages.
 */
static BlockNumber
write_overflow(Relation index, uint32 stamp, const char *entry, size_t bytes)
{
	size_t		capacity = pigment_overflow_page_capacity();
	uint32		next = PIGMENT_NO_PAGE;

	for (size_t offset = (bytes - 1) / capacity * capacity;; offset -= capacity)
	{
		Buffer		buffer;
		GenericXLogState *state;
		Page		page;

		CHECK_FOR_INTERRUPTS();
		buffer = pig_extend(index, MAIN_FORKNUM);
		state = GenericXLogStart(index);
		page = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);
		memset(page, 0, BLCKSZ);
		pigment_overflow_page_init(page, stamp, BufferGetBlockNumber(buffer), entry, bytes, offset, next);
		set_page_header(page);
		GenericXLogFinish(state);
		next = BufferGetBlockNumber(buffer);
		UnlockReleaseBuffer(buffer);
		if (offset == 0)
			return next;
	}
}

typedef struct PendingEntry
{
	const char *bytes;
	size_t		size;
	uint64		row_pointer;
	BlockNumber overflow;		/* PIGMENT_NO_PAGE: the bytes go to the page itself */
	uint32		dimension;		/* must still be the index's; 0: need not */
} PendingEntry;

static bool
append_entry(Page page, const PendingEntry *entry)
{
	if (entry->overflow != PIGMENT_NO_PAGE)
		return pigment_pending_page_append_overflow(page, entry->row_pointer, entry->overflow, entry->size);
	return pigment_pending_page_append(page, entry->bytes, entry->size);
}

/*
 * The chain's last page is full: a new one with the entry is linked and made known in one record.
 *
 * The caller holds the exclusive lock on the last page, whose copy in `state` is `page`.
 */
static void
append_on_new_page(Relation index, uint32 stamp, GenericXLogState *state, Page page, const PendingEntry *entry)
{
	Buffer		buffer = pig_extend(index, MAIN_FORKNUM);
	BlockNumber block = BufferGetBlockNumber(buffer);
	Page		new_page = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);
	MetaChange	change;

	memset(new_page, 0, BLCKSZ);
	pigment_pending_page_init(new_page, stamp, block);
	set_page_header(new_page);
	if (!append_entry(new_page, entry))
		elog(ERROR, "an entry of %zu bytes does not fit an empty page of index \"%s\"", entry->size,
			 RelationGetRelationName(index));
	pigment_pending_page_set_next(page, block);
	change = begin_meta_change(index, state);
	change.meta->pending_tail = block;
	end_meta_change(&change);
	UnlockReleaseBuffer(buffer);
}

/*
 * The dimension as it is now. Whoever changes it holds the lock on the last pending page, as our caller does.
 */
static uint32
current_dimension(Relation index)
{
	Buffer		buffer = ReadBuffer(index, PIG_META_BLOCK);
	uint32		dimension;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	dimension = meta_of(BufferGetPage(buffer))->dimension;
	UnlockReleaseBuffer(buffer);
	return dimension;
}

/*
 * Appends to the chain, beginning the search for its end at `block`. Inserters meet only at the last page. False: the entry's dimension is
 * not the index's any more.
 */
static bool
append_to_chain(Relation index, uint32 stamp, BlockNumber block, const PendingEntry *entry)
{
	for (;;)
	{
		Buffer		buffer = ReadBuffer(index, block);
		GenericXLogState *state;
		Page		page;

		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		state = GenericXLogStart(index);
		page = GenericXLogRegisterBuffer(state, buffer, 0);
		check_pending(index, page, stamp, block);
		block = pigment_pending_page_next(page);
		if (block == PIGMENT_NO_PAGE)
		{
			bool		fits = entry->dimension == 0 || entry->dimension == current_dimension(index);

			if (!fits)
				GenericXLogAbort(state);
			else if (append_entry(page, entry))
				GenericXLogFinish(state);
			else
				append_on_new_page(index, stamp, state, page, entry);
			UnlockReleaseBuffer(buffer);
			return fits;
		}
		GenericXLogAbort(state);
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}
}

bool
pig_append_row(Relation index, const PigMeta *meta, uint64 row_pointer, const float *vector, bool declared)
{
	size_t		size = pigment_pending_entry_bytes(meta->dimension, vector != NULL);
	char	   *bytes = palloc(size);
	PendingEntry entry = {bytes, size, row_pointer, PIGMENT_NO_PAGE, vector == NULL || declared ? 0 : meta->dimension};
	bool		appended;

	pigment_pending_entry_encode(row_pointer, vector, meta->dimension, bytes);
	if (size > pigment_pending_entry_bytes_max())
		entry.overflow = write_overflow(index, meta->pending_stamp, bytes, size);
	appended = append_to_chain(index, meta->pending_stamp, meta->pending_tail, &entry);
	pfree(bytes);
	return appended;
}

bool
pig_change_dimension(Relation index, const PigMeta *meta, BlockNumber last, uint32 count, uint32 dimension)
{
	Buffer		buffer = ReadBuffer(index, last);
	Page		page = BufferGetPage(buffer);
	bool		changed = false;

	/* nobody appends while we hold the last page */
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	check_pending(index, page, meta->pending_stamp, last);
	if (pigment_pending_page_next(page) == PIGMENT_NO_PAGE && pigment_pending_page_count(page) == count)
	{
		MetaChange	change = begin_meta_change(index, NULL);

		changed = change.meta->dimension == meta->dimension && change.meta->segment_count == 0;
		if (changed)
		{
			change.meta->dimension = dimension;
			change.meta->generation++;
			end_meta_change(&change);
		}
		else
		{
			GenericXLogAbort(change.state);
			UnlockReleaseBuffer(change.buffer);
		}
	}
	UnlockReleaseBuffer(buffer);
	return changed;
}

void
pig_kill_entries(Relation index, BlockNumber block, uint32 stamp, const uint32 *entries, int count)
{
	Buffer		buffer = ReadBuffer(index, block);
	GenericXLogState *state;
	Page		page;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	state = GenericXLogStart(index);
	page = GenericXLogRegisterBuffer(state, buffer, 0);
	check_pending(index, page, stamp, block);
	for (int i = 0; i < count; i++)
		pigment_pending_page_kill(page, entries[i]);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
}

/* ---- deletion pages ---- */

BlockNumber
pig_create_deletions(Relation index, const PigSegmentEntry *entry)
{
	uint32		per_page = pigment_deletion_page_rows();
	uint32		next = PIGMENT_NO_PAGE;
	MetaChange	change;

	/* the last first, because each names the next; one metapage record makes the chain known */
	for (uint64 number = (entry->rows + per_page - 1) / per_page; number-- > 0;)
	{
		PGAlignedBlock page;

		memset(page.data, 0, BLCKSZ);
		pigment_deletion_page_init(page.data, entry->segment, (uint32) number, next);
		next = pig_write_new_page(index, page.data);
	}
	change = begin_meta_change(index, NULL);
	for (uint32 i = 0; i < change.meta->segment_count; i++)
		if (change.meta->segments[i].segment == entry->segment)
			change.meta->segments[i].first_deletion = next;
	change.meta->generation++;
	end_meta_change(&change);
	return next;
}

void
pig_set_deleted(Relation index, BlockNumber block, uint32 segment, uint32 number, const uint32 *rows, int count)
{
	Buffer		buffer = ReadBuffer(index, block);
	GenericXLogState *state;
	Page		page;
	pigment_error *error = NULL;
	pigment_status status;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	state = GenericXLogStart(index);
	page = GenericXLogRegisterBuffer(state, buffer, 0);
	status = pigment_deletion_page_check(page, segment, number, &error);
	if (status != PIGMENT_OK)
		pig_raise_damaged_page(index, block, status, error);
	pigment_deletion_page_set(page, rows, (size_t) count);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
}
