/* SPDX-License-Identifier: Apache-2.0 */

/*
 * pages.c
 *	  Every change of an index's pages, and the plain ways to read them.
 *
 * Locks are taken in this order: a pending page, a list of pages, the relation's extension lock, a new page, the metapage.
 */
#include "postgres.h"

#include "access/generic_xlog.h"
#include "access/transam.h"
#include "access/xloginsert.h"
#include "compat.h"
#include "storage/bufpage.h"

#include "engine_error.h"
#include "free_pages.h"
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

void
pig_set_page_header(Page page)
{
	PageHeader	header = (PageHeader) page;

	memset(page, 0, PIGMENT_PAGE_HEADER_BYTES);
	header->pd_lower = header->pd_upper = header->pd_special = BLCKSZ - PIGMENT_PAGE_TRAILER_BYTES;
	PageSetPageSizeAndVersion(page, BLCKSZ, PG_PAGE_LAYOUT_VERSION);
}

/*
 * Leaves what a pending page does not use to the server as its hole.
 */
static void
set_hole(Page page)
{
	PageHeader	header = (PageHeader) page;
	size_t		begin;
	size_t		end;

	pigment_pending_page_unused(page, &begin, &end);
	header->pd_lower = (LocationIndex) begin;
	header->pd_upper = (LocationIndex) end;
}

/*
 * False: an older version began the page. A hole is not made later: its record would not say that modules without holes may read the index no more.
 */
static bool
has_hole(Page page)
{
	return ((PageHeader) page)->pd_lower < ((PageHeader) page)->pd_special;
}

static void
init_pending(Page page, uint32 stamp, BlockNumber block)
{
	memset(page, 0, BLCKSZ);
	pigment_pending_page_init(page, stamp, block);
	pig_set_page_header(page);
	set_hole(page);
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
	if (meta->version < PIG_META_VERSION || meta->version > PIG_META_VERSION_KEYS_GRAFTS)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("index \"%s\" has version %u, this module reads versions %d to %d",
						RelationGetRelationName(index), meta->version, PIG_META_VERSION, PIG_META_VERSION_KEYS_GRAFTS),
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
	pig_read_meta_for(index, NULL, meta);
}

void
pig_read_meta_for(Relation index, Snapshot snapshot, PigMeta *meta)
{
	PGAlignedBlock page;

	pig_read_page_for(index, snapshot, PIG_META_BLOCK, &page);
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

void
pig_read_page_for(Relation index, Snapshot snapshot, BlockNumber block, PGAlignedBlock *page)
{
	pig_read_page(index, block, page);
	if (snapshot != NULL)
		pig_test_for_old_snapshot(snapshot, index, (Page) page->data);
}

static uint32
newest_version(bool has_keys)
{
	return has_keys ? PIG_META_VERSION_KEYS_GRAFTS : PIG_META_VERSION_GRAFTS;
}

static void
init_meta(Page page, const PigShape *shape, uint64 vector_seed)
{
	PigMeta    *meta = meta_of(page);

	memset(page, 0, BLCKSZ);
	meta->magic = PIG_META_MAGIC;
	meta->version = newest_version(shape->has_keys);
	meta->dimension = shape->dimension;
	meta->metric = shape->metric;
	meta->generation = 1;
	meta->pending_head = meta->pending_tail = PIG_META_BLOCK + 1;
	meta->pending_stamp = 1;
	meta->next_segment = 2;
	meta->directory = PIGMENT_NO_PAGE;
	meta->retired = PIGMENT_NO_PAGE;
	meta->vector_seed = vector_seed;
	pig_set_page_header(page);
	pigment_meta_page_seal(page, PIG_META_BLOCK);
}

uint64
pig_random(void)
{
	uint64		value = 0;

	while (value == 0)
		if (!pg_strong_random(&value, sizeof(value)))
			elog(ERROR, "could not generate random values");
	return value;
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
write_empty_init_fork(Buffer meta_buffer, Buffer pending_buffer, const PigShape *shape, uint64 vector_seed)
{
	START_CRIT_SECTION();
	init_meta(BufferGetPage(meta_buffer), shape, vector_seed);
	MarkBufferDirty(meta_buffer);
	log_newpage_buffer(meta_buffer, false);

	init_pending(BufferGetPage(pending_buffer), 1, PIG_META_BLOCK + 1);
	MarkBufferDirty(pending_buffer);
	log_newpage_buffer(pending_buffer, false);
	END_CRIT_SECTION();
}

void
pig_write_empty(Relation index, ForkNumber fork, const PigShape *shape)
{
	Buffer		meta_buffer = extend_to(index, fork, PIG_META_BLOCK);
	Buffer		pending_buffer = extend_to(index, fork, PIG_META_BLOCK + 1);
	uint64		vector_seed = pig_random();

	if (fork == INIT_FORKNUM)
		write_empty_init_fork(meta_buffer, pending_buffer, shape, vector_seed);
	else
	{
		GenericXLogState *state = GenericXLogStart(index);
		Page		meta_page = GenericXLogRegisterBuffer(state, meta_buffer, GENERIC_XLOG_FULL_IMAGE);
		Page		pending_page = GenericXLogRegisterBuffer(state, pending_buffer, GENERIC_XLOG_FULL_IMAGE);

		init_meta(meta_page, shape, vector_seed);
		init_pending(pending_page, 1, PIG_META_BLOCK + 1);
		GenericXLogFinish(state);
	}
	UnlockReleaseBuffer(pending_buffer);
	UnlockReleaseBuffer(meta_buffer);
}

BlockNumber
pig_write_new_page(PigRoom *room, const void *page)
{
	Buffer		buffer = pig_new_buffer(room);
	BlockNumber block = BufferGetBlockNumber(buffer);
	GenericXLogState *state = GenericXLogStart(room->index);
	Page		target = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);

	memcpy(target, page, BLCKSZ);
	pig_set_page_header(target);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
	return block;
}

/* ---- the metapage ---- */

PigMetaChange
pig_begin_meta_change(Relation index, GenericXLogState *state)
{
	PigMetaChange change;

	change.buffer = ReadBuffer(index, PIG_META_BLOCK);
	LockBuffer(change.buffer, BUFFER_LOCK_EXCLUSIVE);
	change.state = state != NULL ? state : GenericXLogStart(index);
	change.page = GenericXLogRegisterBuffer(change.state, change.buffer, 0);
	check_meta(index, change.page);
	change.meta = meta_of(change.page);
	return change;
}

void
pig_end_meta_change(PigMetaChange *change)
{
	pigment_meta_page_seal(change->page, PIG_META_BLOCK);
	GenericXLogFinish(change->state);
	UnlockReleaseBuffer(change->buffer);
}

void
pig_abort_meta_change(PigMetaChange *change)
{
	GenericXLogAbort(change->state);
	UnlockReleaseBuffer(change->buffer);
}

void
pig_publish_segments(Relation index, const PigSegmentEntry *entries, int count, uint32 next_segment, uint32 dimension)
{
	PigMetaChange change = pig_begin_meta_change(index, NULL);
	PigMeta    *meta = change.meta;

	if (meta->segment_count + (uint32) count > PIG_SEGMENTS_MAX)
		elog(ERROR, "the directory of index \"%s\" is full", RelationGetRelationName(index));
	memcpy(&meta->segments[meta->segment_count], entries, sizeof(PigSegmentEntry) * (size_t) count);
	meta->segment_count += (uint32) count;
	meta->next_segment = next_segment;
	meta->dimension = dimension;
	meta->generation++;
	pig_end_meta_change(&change);
}

void
pig_publish_change(Relation index, const PigChange *wanted)
{
	PigMetaChange change = pig_begin_meta_change(index, NULL);
	PigMeta    *meta = change.meta;
	uint32		added = wanted->added != NULL ? 1 : 0;
	uint32		first = wanted->count > 0 ? wanted->first : meta->segment_count;
	uint32		behind = first + wanted->count;

	/* nobody else changes what is there while we hold the maintenance lock */
	if (behind > meta->segment_count || meta->segment_count + added - wanted->count > PIG_SEGMENTS_MAX)
		elog(ERROR, "the directory of index \"%s\" has no such place", RelationGetRelationName(index));
	for (uint32 i = 0; i < wanted->count; i++)
		if (meta->segments[first + i].segment != wanted->segments[i])
			elog(ERROR, "the directory of index \"%s\" has changed", RelationGetRelationName(index));
	memmove(&meta->segments[first + added], &meta->segments[behind], sizeof(PigSegmentEntry) * (meta->segment_count - behind));
	if (wanted->added != NULL)
		meta->segments[first] = *wanted->added;
	meta->segment_count += added - wanted->count;
	memset(&meta->segments[meta->segment_count], 0, sizeof(PigSegmentEntry) * (PIG_SEGMENTS_MAX - meta->segment_count));
	if (wanted->pending_head != PIGMENT_NO_PAGE)
	{
		/* what was rounded when it was appended stays as it is */
		if (wanted->added != NULL)
			meta->segments[first].rounding = Max(meta->segments[first].rounding, meta->pending_rounding);
		meta->pending_head = wanted->pending_head;
		meta->pending_bytes -= Min(meta->pending_bytes, wanted->pending_bytes);
	}
	if (wanted->drops_graft)
		meta->graft = 0;
	if (wanted->retired != PIGMENT_NO_PAGE)
	{
		/* read under the lock: whoever knows the old directory has a snapshot that is no younger */
		meta->retired = wanted->retired;
		meta->retired_xid = U64FromFullTransactionId(ReadNextFullTransactionId());
	}
	meta->generation++;
	pig_end_meta_change(&change);
}

uint32
pig_reserve_segment(Relation index)
{
	PigMetaChange change = pig_begin_meta_change(index, NULL);
	uint32		result = change.meta->next_segment++;

	pig_end_meta_change(&change);
	return result;
}

uint32
pig_fix_dimension(Relation index, uint32 dimension)
{
	PigMetaChange change = pig_begin_meta_change(index, NULL);
	uint32		result = change.meta->dimension;

	if (result != 0)
	{
		pig_abort_meta_change(&change);
		return result;
	}
	change.meta->dimension = dimension;
	pig_end_meta_change(&change);
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

void
pig_read_pending_page(Relation index, uint32 stamp, BlockNumber block, PGAlignedBlock *page)
{
	if (block >= RelationGetNumberOfBlocks(index))
		pig_raise_corrupted(index, block, "the chain of pending pages leads outside the index");
	pig_read_page(index, block, page);
	check_pending(index, page->data, stamp, block);
}

/*
 * Writes an entry that is larger than a page to pages of its own, the last first, because each names the next. Nobody knows them until
 * the pending page that refers to them is written: a crash before that leaves unused pages.
 */
static BlockNumber
write_overflow(PigRoom *room, uint32 stamp, const char *entry, size_t bytes)
{
	size_t		capacity = pigment_overflow_page_capacity();
	uint32		next = PIGMENT_NO_PAGE;

	for (size_t offset = (bytes - 1) / capacity * capacity;; offset -= capacity)
	{
		Buffer		buffer;
		GenericXLogState *state;
		Page		page;

		CHECK_FOR_INTERRUPTS();
		buffer = pig_new_buffer(room);
		state = GenericXLogStart(room->index);
		page = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);
		memset(page, 0, BLCKSZ);
		pigment_overflow_page_init(page, stamp, BufferGetBlockNumber(buffer), entry, bytes, offset, next);
		pig_set_page_header(page);
		GenericXLogFinish(state);
		next = BufferGetBlockNumber(buffer);
		UnlockReleaseBuffer(buffer);
		if (offset == 0)
			return next;
	}
}

void
pig_publish_graft(PigRoom *room, const PigMeta *meta, const void *part, size_t size)
{
	BlockNumber first = write_overflow(room, meta->pending_stamp, part, size);
	PigMetaChange change = pig_begin_meta_change(room->index, NULL);

	/* nobody else changes what is there while we hold the maintenance lock; what sessions keep of pending rows holds, so no new generation */
	change.meta->version = newest_version(pig_has_keys(change.meta));
	change.meta->graft = first;
	pig_end_meta_change(&change);
}

typedef struct PendingEntry
{
	const char *bytes;
	size_t		size;
	uint64		row_pointer;
	BlockNumber overflow;		/* PIGMENT_NO_PAGE: the bytes go to the page itself */
	uint32		dimension;		/* must still be the index's; 0: need not */
	bool		has_vector;
	const PigShared *shared;	/* its row must still be alive; NULL: none */
	float		rounding;		/* how far it has taken the vector; 0: nowhere */
} PendingEntry;

/*
 * Has the metapage say how far an entry's vector was rounded. Somewhat more than that, since others are likely to be rounded a little farther.
 */
static void
note_rounding(PigMeta *meta, const PendingEntry *entry)
{
	if (entry->rounding > meta->pending_rounding)
		meta->pending_rounding = entry->rounding * (1 + 1.0f / 8);
}

static bool
append_entry(Page page, const PendingEntry *entry)
{
	bool		done;

	if (entry->overflow != PIGMENT_NO_PAGE)
		done = pigment_pending_page_append_overflow_row(page, entry->row_pointer, entry->overflow, entry->size, entry->has_vector);
	else
		done = pigment_pending_page_append(page, entry->bytes, entry->size);
	if (done && has_hole(page))
		set_hole(page);
	return done;
}

/*
 * The chain's last page is full: a new one, with the entry if there is one, is linked and made known in one record. Returns the bytes of
 * entries in full pages.
 *
 * The caller holds the exclusive lock on the last page, whose copy in `state` is `page`.
 */
static uint64
append_on_new_page(PigRoom *room, uint32 stamp, GenericXLogState *state, Page page, const PendingEntry *entry)
{
	Buffer		buffer = pig_new_buffer(room);
	BlockNumber block = BufferGetBlockNumber(buffer);
	Page		new_page = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);
	PigMetaChange change;
	uint64		full_bytes;

	init_pending(new_page, stamp, block);
	if (entry != NULL && !append_entry(new_page, entry))
		elog(ERROR, "an entry of %zu bytes does not fit an empty page of index \"%s\"", entry->size,
			 RelationGetRelationName(room->index));
	pigment_pending_page_set_next(page, block);
	change = pig_begin_meta_change(room->index, state);
	change.meta->version = newest_version(pig_has_keys(change.meta));
	if (entry != NULL)
		note_rounding(change.meta, entry);
	change.meta->pending_tail = block;
	change.meta->pending_bytes += pigment_pending_page_bytes(page);
	full_bytes = change.meta->pending_bytes;
	pig_end_meta_change(&change);
	UnlockReleaseBuffer(buffer);
	return full_bytes;
}

/*
 * The entry is on the last page, in `state`; where its vector was rounded farther than those before, one record says both.
 */
static void
finish_append(Relation index, const PigMeta *meta, GenericXLogState *state, const PendingEntry *entry)
{
	PigMetaChange change;

	/* it never gets less, so that of an older copy will do */
	if (entry->rounding <= meta->pending_rounding)
	{
		GenericXLogFinish(state);
		return;
	}
	change = pig_begin_meta_change(index, state);
	note_rounding(change.meta, entry);
	pig_end_meta_change(&change);
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
 * The last page of the chain, exclusively locked, with its copy in a new record. The search for it begins at `block`.
 */
static Buffer
lock_last_page(Relation index, uint32 stamp, BlockNumber block, GenericXLogState **state, Page *page)
{
	for (;;)
	{
		Buffer		buffer = ReadBuffer(index, block);

		LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		*state = GenericXLogStart(index);
		*page = GenericXLogRegisterBuffer(*state, buffer, 0);
		check_pending(index, *page, stamp, block);
		block = pigment_pending_page_next(*page);
		if (block == PIGMENT_NO_PAGE)
			return buffer;
		GenericXLogAbort(*state);
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
	}
}

/*
 * Whether a row of a segment is still alive. Whoever deletes it and drops it later looks at all that was appended before the bit was set (am_merge.c),
 * and therefore waits for the lock on the last pending page, which our caller holds.
 */
static bool
is_still_alive(Relation index, const PigShared *shared)
{
	PGAlignedBlock page;
	bool		is_there = false;

	pig_read_page(index, PIG_META_BLOCK, &page);
	for (uint32 i = 0; i < meta_of(page.data)->segment_count && !is_there; i++)
	{
		const PigSegmentEntry *entry = &meta_of(page.data)->segments[i];

		is_there = entry->segment == shared->segment && entry->first_deletion == shared->first_deletion;
	}
	if (!is_there || shared->first_deletion == PIGMENT_NO_PAGE)
		return is_there;
	pig_read_page(index, shared->deletion_page, &page);
	return !pig_bit(pigment_deletion_page_bits(page.data), shared->row % pigment_deletion_page_rows());
}

typedef enum AppendResult
{
	APPEND_DONE,
	APPEND_OTHER_DIMENSION,		/* the entry's is not the index's any more */
	APPEND_NOT_SHARED,			/* the row that has its vector is gone */
	APPEND_PAGE_FULL			/* and no page may be taken */
} AppendResult;

/*
 * Appends to the chain. Inserters meet only at the last page. takes_page: the caller holds the lock of those who take pages.
 */
static AppendResult
append_to_chain(PigRoom *room, const PigMeta *meta, const PendingEntry *entry, bool takes_page, uint64 *full_bytes)
{
	GenericXLogState *state;
	Page		page;
	Buffer		buffer = lock_last_page(room->index, meta->pending_stamp, meta->pending_tail, &state, &page);
	AppendResult result = APPEND_DONE;

	if (entry->dimension != 0 && entry->dimension != current_dimension(room->index))
		result = APPEND_OTHER_DIMENSION;
	else if (entry->shared != NULL && !is_still_alive(room->index, entry->shared))
		result = APPEND_NOT_SHARED;
	else if (append_entry(page, entry))
		finish_append(room->index, meta, state, entry);
	else if (takes_page)
		*full_bytes = append_on_new_page(room, meta->pending_stamp, state, page, entry);
	else
		result = APPEND_PAGE_FULL;
	if (result != APPEND_DONE)
		GenericXLogAbort(state);
	UnlockReleaseBuffer(buffer);
	return result;
}

typedef enum VectorForm
{
	VECTOR_FLOATS,
	VECTOR_HALVES,
	VECTOR_TWELVES,
	VECTOR_BITS,
	VECTOR_SHARED
} VectorForm;

/*
 * How a row's entry has its vector, and how far rounding takes it then. Where bits may be left out, 12 of a number are kept, or 16 where few numbers
 * are much larger than the others, or where 16 lose nothing and 12 would. Not so in pages that an older version began: only with a new one does the
 * metapage say that older modules may read the index no more.
 */
static VectorForm
choose_form(const PigMeta *meta, const PigRow *row, double *rounding)
{
	if (row->shared != NULL)
	{
		*rounding = row->shared->rounding;
		return VECTOR_SHARED;
	}
	*rounding = 0;
	if (row->vector == NULL || row->element == PIG_ELEMENT_FLOAT)
		return VECTOR_FLOATS;
	if (row->element == PIG_ELEMENT_BIT)
		return VECTOR_BITS;
	if (row->rounds && meta->version >= PIG_META_VERSION_TWELVES &&
		pigment_host_round_to_twelves(meta->metric, row->vector, meta->dimension, NULL, rounding))
		return VECTOR_TWELVES;
	if (meta->version >= PIG_META_VERSION_HALVES &&
		pigment_host_round_to_halves(meta->metric, row->vector, meta->dimension, NULL, rounding))
		return VECTOR_HALVES;
	return VECTOR_FLOATS;
}

static size_t
entry_bytes(VectorForm form, uint32 dimension, const PigRow *row)
{
	switch (form)
	{
		case VECTOR_HALVES:
			return pigment_pending_entry_bytes_with_halves(dimension, row->keys_size);
		case VECTOR_TWELVES:
			return pigment_pending_entry_bytes_with_twelves(dimension, row->keys_size);
		case VECTOR_BITS:
			return pigment_pending_entry_bytes_with_bits(dimension, row->keys_size);
		case VECTOR_SHARED:
			return pigment_pending_entry_bytes_with_hash(row->keys_size);
		case VECTOR_FLOATS:
			break;
	}
	return pigment_pending_entry_bytes_with_keys(dimension, row->vector != NULL, row->keys_size);
}

static void
write_entry(VectorForm form, uint32 dimension, const PigRow *row, void *out)
{
	switch (form)
	{
		case VECTOR_FLOATS:
			pigment_pending_entry_encode_with_keys(row->row_pointer, row->vector, dimension, row->keys, row->keys_size, out);
			return;
		case VECTOR_HALVES:
			pigment_pending_entry_encode_with_halves(row->row_pointer, row->vector, dimension, row->keys, row->keys_size, out);
			return;
		case VECTOR_TWELVES:
			pigment_pending_entry_encode_with_twelves(row->row_pointer, row->vector, dimension, row->keys, row->keys_size, out);
			return;
		case VECTOR_BITS:
			pigment_pending_entry_encode_with_bits(row->row_pointer, row->vector, dimension, row->keys, row->keys_size, out);
			return;
		case VECTOR_SHARED:
			pigment_pending_entry_encode_with_hash(row->row_pointer, &row->shared->hash, dimension, row->keys, row->keys_size, out);
			return;
	}
}

static PendingEntry
encode_row(const PigMeta *meta, const PigRow *row, bool declared)
{
	PendingEntry entry = {.row_pointer = row->row_pointer,.overflow = PIGMENT_NO_PAGE,.has_vector = row->vector != NULL};
	double		rounding;
	VectorForm	form = choose_form(meta, row, &rounding);
	char	   *bytes;

	if (entry.has_vector && !declared)
		entry.dimension = meta->dimension;
	entry.rounding = pig_float_from(rounding);
	entry.shared = row->shared;
	entry.size = entry_bytes(form, meta->dimension, row);
	entry.bytes = bytes = MemoryContextAllocHuge(CurrentMemoryContext, entry.size);
	write_entry(form, meta->dimension, row, bytes);
	return entry;
}

bool
pig_append_row(Relation index, const PigMeta *meta, const PigRow *row, bool declared, PigAppended *appended)
{
	PendingEntry entry = encode_row(meta, row, declared);
	bool		takes_page = entry.size > pigment_pending_entry_bytes_max();
	AppendResult result;
	PigRoom		room;

	*appended = (PigAppended) {.entry_bytes = entry.size};
	pig_room_init(&room, index, meta);
	if (takes_page)
	{
		pig_lock_taking(index, ShareLock);
		entry.overflow = write_overflow(&room, meta->pending_stamp, entry.bytes, entry.size);
	}
	result = append_to_chain(&room, meta, &entry, takes_page, &appended->full_bytes);
	if (result == APPEND_PAGE_FULL)
	{
		/* not under a page's lock, which those who count pages wait for */
		pig_lock_taking(index, ShareLock);
		takes_page = true;
		result = append_to_chain(&room, meta, &entry, takes_page, &appended->full_bytes);
	}
	if (takes_page)
		pig_unlock_taking(index, ShareLock);
	pfree((void *) entry.bytes);
	return result == APPEND_DONE;
}

BlockNumber
pig_close_pending(Relation index, const PigMeta *meta)
{
	GenericXLogState *state;
	Page		page;
	Buffer		buffer;
	PigRoom		room;
	BlockNumber last;

	pig_room_init(&room, index, meta);
	pig_lock_taking(index, ShareLock);
	buffer = lock_last_page(index, meta->pending_stamp, meta->pending_tail, &state, &page);
	last = BufferGetBlockNumber(buffer);
	if (pigment_pending_page_count(page) == 0)
		GenericXLogAbort(state);
	else
	{
		(void) append_on_new_page(&room, meta->pending_stamp, state, page, NULL);
		last = pigment_pending_page_next(BufferGetPage(buffer));
	}
	UnlockReleaseBuffer(buffer);
	pig_unlock_taking(index, ShareLock);
	return last;
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
		PigMetaChange change = pig_begin_meta_change(index, NULL);

		changed = change.meta->dimension == meta->dimension && change.meta->segment_count == 0;
		if (changed)
		{
			change.meta->dimension = dimension;
			change.meta->generation++;
			pig_end_meta_change(&change);
		}
		else
			pig_abort_meta_change(&change);
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

void
pig_outdate_pending(Relation index)
{
	PigMetaChange change = pig_begin_meta_change(index, NULL);

	change.meta->generation++;
	pig_end_meta_change(&change);
}

/* ---- deletion pages ---- */

BlockNumber
pig_create_deletions(PigRoom *room, const PigSegmentEntry *entry)
{
	uint32		per_page = pigment_deletion_page_rows();
	uint32		next = PIGMENT_NO_PAGE;
	PigMetaChange change;

	/* the last first, because each names the next; one metapage record makes the chain known */
	for (uint64 number = (entry->rows + per_page - 1) / per_page; number-- > 0;)
	{
		PGAlignedBlock page;

		memset(page.data, 0, BLCKSZ);
		pigment_deletion_page_init(page.data, entry->segment, (uint32) number, next);
		next = pig_write_new_page(room, page.data);
	}
	change = pig_begin_meta_change(room->index, NULL);
	for (uint32 i = 0; i < change.meta->segment_count; i++)
		if (change.meta->segments[i].segment == entry->segment)
			change.meta->segments[i].first_deletion = next;
	change.meta->generation++;
	pig_end_meta_change(&change);
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
