/* SPDX-License-Identifier: Apache-2.0 */

/*
 * segment_cache.c
 *	  Segments that scans of this session opened, kept open for those that follow, and the buffers in which their pages were last; pending rows.
 *
 * A segment never changes, and its number is never given again within one file of an index; so what was read and checked of it holds for as long as
 * the directory names it. Pending rows hold for as long as the generation of the metapage stays (README.md). What is kept goes when the relation
 * cache hears of a change of the index, or with the last scan that uses it then.
 */
#include "postgres.h"

#include "access/xact.h"
#include "access/xlog.h"
#include "compat.h"
#include "portability/instr_time.h"
#include "storage/buf_internals.h"
#include "utils/inval.h"
#include "utils/memutils.h"
#include "utils/spccache.h"
#include "utils/timestamp.h"

#include "am.h"
#include "engine_error.h"
#include "free_pages.h"

/* With more indexes than this those that no scan uses are closed. */
#define INDEXES_MAX 64

/*
 * A page that took so long came from a disk, and others will: so many that follow are asked for ahead. Those that the system has in its memory are
 * there sooner than it is asked.
 */
#define DISK_MICROSECONDS 50
#define PAGES_AHEAD 64

/* What scans needed beyond their limits is forgotten after two rounds of so many. */
#define SPARE_ROUND 64
/* Where one needs more, most of the next will find that its rows are not enough, too. */
#define SPARE_ROWS_MAX 256

/* Milliseconds from asking for a worker that finds out what pending rows hang on until it is asked for again. */
#define ASK_AGAIN_MS 10000

/* Of a table the first so many blocks are remembered: 64 MB of a session's memory for 128 GB. */
#define TABLE_BLOCKS_MAX (1 << 24)

typedef struct OpenSegment
{
	PigSegmentEntry entry;
	pigment_segment *segment;
} OpenSegment;

/*
 * Of each block of a relation the buffer that had it last, or InvalidBuffer.
 */
typedef struct KnownBuffers
{
	Buffer	   *buffers;
	BlockNumber blocks;			/* in `buffers` */
	bool		loses;			/* since the last scan began one of these had another block: they are looked at before they are believed */
} KnownBuffers;

struct PigOpenIndex
{
	Oid			index;			/* key */
	Oid			file;
	MemoryContext context;
	pigment_page_source callbacks;	/* of all segments: through `current` */
	PigSource  *current;		/* of the scan that calls the engine */
	int			users;
	bool		stale;			/* not to be found any more; goes with its last user */
	int			count;
	int			capacity;
	OpenSegment *segments;
	pigment_pending_cache *pending; /* or NULL */
	uint64		pending_generation; /* of the metapage that it belongs to */
	uint32		pending_dimension;
	TimestampTz hanging_asked_at;	/* a worker, by pig_hang_if_due() */
	KnownBuffers pages;
	KnownBuffers table_pages;
	PigSpareRows spare_rows;	/* that a scan needed at the most, of those since a round began */
	PigSpareRows spare_rows_before;	/* in the round before */
	int			spare_scans;	/* in this round */
	bool		reads_ahead;	/* as effective_io_concurrency was when the last scan began */
	int			pages_ahead;	/* that are still to be asked for before they are pinned */
	PigOpenIndex *next;
};

static PigOpenIndex *open_indexes;
static int	open_count;

/*
 * Frees memory and nothing else.
 */
static void
close_index(PigOpenIndex *open)
{
	for (int i = 0; i < open->count; i++)
		pigment_segment_free(open->segments[i].segment);
	pigment_pending_cache_free(open->pending);
	MemoryContextDelete(open->context);
}

static void
unlink_index(PigOpenIndex *open)
{
	PigOpenIndex **place = &open_indexes;

	while (*place != open)
		place = &(*place)->next;
	*place = open->next;
	open_count--;
	open->stale = true;
	if (open->users == 0)
		close_index(open);
}

/*
 * InvalidOid: of all indexes.
 */
static void
relation_changed(Datum arg, Oid relation)
{
	PigOpenIndex *next;

	for (PigOpenIndex *open = open_indexes; open != NULL; open = next)
	{
		next = open->next;
		if (relation == InvalidOid || relation == open->index)
			unlink_index(open);
	}
}

void
pig_register_segment_cache(void)
{
	CacheRegisterRelcacheCallback(relation_changed, (Datum) 0);
}

static void
close_unused(void)
{
	PigOpenIndex *next;

	for (PigOpenIndex *open = open_indexes; open != NULL; open = next)
	{
		next = open->next;
		if (open->users == 0)
			unlink_index(open);
	}
}

static pigment_status
pin_current(void *context, uint32_t physical, const void **page)
{
	PigSource  *source = ((PigOpenIndex *) context)->current;

	return source->callbacks.pin(source, physical, page);
}

static void
unpin_current(void *context, uint32_t physical, const void *page)
{
	PigSource  *source = ((PigOpenIndex *) context)->current;

	source->callbacks.unpin(source, physical, page);
}

const char *
pig_likely_page(Buffer buffer)
{
	if (!BufferIsLocal(buffer))
		pig_expect_line(GetBufferDescriptor(buffer - 1));
	return BufferGetPage(buffer);
}

/*
 * Looks at a descriptor that may change meanwhile.
 */
static bool
seems_to_have(Buffer buffer, BlockNumber block)
{
	const BufferDesc *descriptor = BufferIsLocal(buffer) ? GetLocalBufferDescriptor((uint32) (-buffer - 1)) :
		GetBufferDescriptor((uint32) (buffer - 1));

	return descriptor->tag.blockNum == block;
}

static void
grow_buffers(PigOpenIndex *open, KnownBuffers *known, BlockNumber blocks)
{
	if (blocks <= known->blocks)
		return;
	if (known->buffers == NULL)
		known->buffers = MemoryContextAllocHuge(open->context, sizeof(Buffer) * (Size) blocks);
	else
		known->buffers = repalloc_huge(known->buffers, sizeof(Buffer) * (Size) blocks);
	memset(known->buffers + known->blocks, 0, sizeof(Buffer) * (Size) (blocks - known->blocks));
	known->blocks = blocks;
}

/*
 * Where the block was last; InvalidBuffer: nobody knows.
 */
static Buffer
likely_buffer(const KnownBuffers *known, BlockNumber block)
{
	Buffer		buffer = block < known->blocks ? known->buffers[block] : InvalidBuffer;

	if (BufferIsValid(buffer) && known->loses && !seems_to_have(buffer, block))
		return InvalidBuffer;
	return buffer;
}

/*
 * Pins the block if the buffer still has it.
 */
static bool
pin_likely_buffer(KnownBuffers *known, Relation relation, BlockNumber block, Buffer buffer)
{
	if (pig_read_recent_buffer(relation, block, buffer))
		return true;
	known->buffers[block] = InvalidBuffer;
	known->loses = true;
	return false;
}

/*
 * Looks the block up, and has it read from the disk where it is in no buffer.
 */
static PrefetchBufferResult
ask_for_block(KnownBuffers *known, Relation relation, BlockNumber block)
{
	PrefetchBufferResult result = PrefetchBuffer(relation, MAIN_FORKNUM, block);

	if (block < known->blocks)
		known->buffers[block] = result.recent_buffer;
	return result;
}

static const void *
likely_page(void *context, uint32_t physical)
{
	Buffer		buffer = likely_buffer(&((const PigOpenIndex *) context)->pages, physical);

	return BufferIsValid(buffer) ? pig_likely_page(buffer) : NULL;
}

/*
 * May raise: called with an error handler around. *waits: the page is in no buffer.
 */
static void
ask_for_page(PigOpenIndex *open, BlockNumber block, bool *waits)
{
	PrefetchBufferResult result = ask_for_block(&open->pages, open->current->index, block);

	if (BufferIsValid(result.recent_buffer))
		pig_expect_line(pig_likely_page(result.recent_buffer));
	*waits = result.initiated_io;
}

static bool
read_ahead(void *context, uint32_t physical)
{
	PigOpenIndex *open = (PigOpenIndex *) context;
	PigSource  *source = open->current;
	bool		waits = false;

	if (open->pages_ahead == 0 || !open->reads_ahead || source->error != NULL || physical >= open->pages.blocks)
		return false;
	open->pages_ahead--;
	PIG_KEEPING(source->error, source->context, ask_for_page(open, physical, &waits));
	return source->error == NULL && waits;
}

static PigOpenIndex *
find_index(Relation index)
{
	PigOpenIndex *open = open_indexes;
	MemoryContext context;

	while (open != NULL && open->index != RelationGetRelid(index))
		open = open->next;
	if (open != NULL && open->file == index->rd_rel->relfilenode)
		return open;
	if (open != NULL)
		unlink_index(open);
	if (open_count >= INDEXES_MAX)
		close_unused();
	context = AllocSetContextCreate(CacheMemoryContext, "pigment segments", ALLOCSET_SMALL_SIZES);
	open = MemoryContextAllocZero(context, sizeof(PigOpenIndex));
	open->index = RelationGetRelid(index);
	open->file = index->rd_rel->relfilenode;
	open->context = context;
	open->callbacks.struct_size = sizeof(open->callbacks);
	open->callbacks.pin = pin_current;
	open->callbacks.unpin = unpin_current;
	open->callbacks.likely = likely_page;
	open->callbacks.read_ahead = read_ahead;
	open->callbacks.context = open;
	open->callbacks.name = MemoryContextStrdup(context, RelationGetRelationName(index));
	open->callbacks.name_size = strlen(open->callbacks.name);
	open->next = open_indexes;
	open_indexes = open;
	open_count++;
	return open;
}

static bool
is_in_directory(const PigMeta *meta, const PigSegmentEntry *entry)
{
	for (uint32 i = 0; i < meta->segment_count; i++)
		if (meta->segments[i].segment == entry->segment)
			return true;
	return false;
}

/*
 * Closes segments that merges have replaced. REQUIRES: no scan uses any.
 */
static void
close_replaced(PigOpenIndex *open, const PigMeta *meta)
{
	int			kept = 0;

	for (int i = 0; i < open->count; i++)
	{
		if (is_in_directory(meta, &open->segments[i].entry))
			open->segments[kept++] = open->segments[i];
		else
			pigment_segment_free(open->segments[i].segment);
	}
	open->count = kept;
}

static pigment_segment *
hold_segment(PigOpenIndex *open, PigSource *source, const PigSegmentEntry *entry)
{
	OpenSegment *segment;

	for (int i = 0; i < open->count; i++)
	{
		segment = &open->segments[i];
		if (segment->entry.segment == entry->segment && segment->entry.root == entry->root)
			return segment->segment;
	}
	if (open->count == open->capacity)
	{
		int			capacity = Max(open->capacity * 2, 8);

		if (open->segments == NULL)
			open->segments = MemoryContextAlloc(open->context, sizeof(OpenSegment) * (Size) capacity);
		else
			open->segments = repalloc(open->segments, sizeof(OpenSegment) * (Size) capacity);
		open->capacity = capacity;
	}
	segment = &open->segments[open->count];
	segment->entry = *entry;
	PIG_CALL(&source->error, pigment_segment_open(&open->callbacks, entry->segment, entry->root, &segment->segment, &error));
	open->count++;
	return segment->segment;
}

/*
 * Called when the scan's memory context goes, also after an error: frees memory and nothing else.
 */
static void
release_segments(void *arg)
{
	PigOpenIndex *open = ((PigSegments *) arg)->open;

	if (--open->users == 0 && open->stale)
		close_index(open);
}

static PigSegments *
hold_segments(PigSource *source, const PigMeta *meta, bool reads_deletions, MemoryContext context)
{
	MemoryContext caller = MemoryContextSwitchTo(context);
	PigSegments *held = palloc0(sizeof(PigSegments));
	PigOpenIndex *open = find_index(source->index);

	if (open->users == 0)
		close_replaced(open, meta);
	open->users++;
	open->pages.loses = open->table_pages.loses = false;
	held->open = open;
	pig_source_remember(source, open);
	open->reads_ahead = get_tablespace_io_concurrency(source->index->rd_rel->reltablespace) > 0;
	held->release.func = release_segments;
	held->release.arg = held;
	MemoryContextRegisterResetCallback(context, &held->release);
	pig_source_use(source);

	held->count = (int) meta->segment_count;
	held->segments = palloc0(sizeof(pigment_segment *) * (Size) (held->count + 1));
	held->deleted = palloc0(sizeof(uint8 *) * (Size) (held->count + 1));
	held->deleted_bytes = palloc0(sizeof(size_t) * (Size) (held->count + 1));
	for (int i = 0; i < held->count; i++)
	{
		const PigSegmentEntry *entry = &meta->segments[i];

		held->segments[i] = hold_segment(open, source, entry);
		if (reads_deletions)
			held->deleted[i] = pig_read_deletions(source->index, source->snapshot, entry, &held->deleted_bytes[i], NULL);
	}
	MemoryContextSwitchTo(caller);
	return held;
}

PigSegments *
pig_hold_segments(PigSource *source, const PigMeta *meta, MemoryContext context)
{
	return hold_segments(source, meta, true, context);
}

PigSegments *
pig_hold_all_rows(PigSource *source, const PigMeta *meta, MemoryContext context)
{
	return hold_segments(source, meta, false, context);
}

static void
set_graft(pigment_pending_cache *cache, const PigMeta *meta)
{
	pigment_pending_cache_set_graft(cache, meta->graft != 0 ? meta->graft : PIGMENT_NO_PAGE);
}

pigment_pending_cache *
pig_new_pending_cache(const PigMeta *meta)
{
	pigment_pending_cache_options options = {.struct_size = sizeof(options)};
	pigment_pending_cache *cache;

	options.stamp = meta->pending_stamp;
	options.first = meta->pending_head;
	options.dimension = meta->dimension;
	options.bytes_max = (uint64) pig_pending_limit * 1024 * 2;
	PIG_CALL(NULL, pigment_pending_cache_new(&options, &cache, &error));
	set_graft(cache, meta);
	return cache;
}

pigment_pending_cache *
pig_hold_pending(PigSegments *held, const PigMeta *meta)
{
	PigOpenIndex *open = held->open;

	/* then each page is to be asked whether the snapshot is too old for it */
	if (pig_snapshots_grow_old())
		return NULL;
	if (open->pending != NULL && open->pending_generation == meta->generation && open->pending_dimension == meta->dimension)
	{
		/* an older metapage may know of none */
		if (meta->graft != 0)
			set_graft(open->pending, meta);
		return open->pending;
	}
	/* a scan that copied the metapage long ago does not take it from those that follow; the dimension that comes first makes no generation */
	if (open->pending != NULL && (open->pending_generation > meta->generation ||
								  (open->pending_generation == meta->generation && meta->dimension == 0)))
		return NULL;
	pigment_pending_cache_free(open->pending);
	open->pending = NULL;
	open->pending = pig_new_pending_cache(meta);
	open->pending_generation = meta->generation;
	open->pending_dimension = meta->dimension;
	return open->pending;
}

void
pig_hang_if_due(PigSegments *held, Relation index, Relation heap)
{
	PigOpenIndex *open = held->open;
	bool		may_hang = false;
	TimestampTz now;

	for (int i = 0; open->pending != NULL && i < held->count; i++)
		may_hang |= pigment_pending_cache_may_hang(open->pending, held->segments[i]);
	if (!may_hang || RecoveryInProgress() || IsInParallelMode() || !pig_can_merge_in_background(index, heap))
		return;
	now = GetCurrentTimestamp();
	if (!TimestampDifferenceExceeds(open->hanging_asked_at, now, ASK_AGAIN_MS))
		return;
	open->hanging_asked_at = now;
	/* whoever has the lock does it, or will be asked again */
	if (!pig_try_lock_maintenance(index))
		return;
	pig_unlock_maintenance(index, ExclusiveLock);
	pig_start_background_merge(index);
}

static PigSpareRows
most_of(const PigSpareRows *a, const PigSpareRows *b)
{
	return (PigSpareRows) {.unseen = Max(a->unseen, b->unseen), .waiting = Max(a->waiting, b->waiting)};
}

PigSpareRows
pig_spare_rows(const PigSegments *held)
{
	return most_of(&held->open->spare_rows, &held->open->spare_rows_before);
}

void
pig_note_spare_rows(PigSegments *held, const PigSpareRows *needed)
{
	PigOpenIndex *open = held->open;
	PigSpareRows noted = {.unseen = Min(needed->unseen, SPARE_ROWS_MAX), .waiting = Min(needed->waiting, SPARE_ROWS_MAX)};

	open->spare_rows = most_of(&open->spare_rows, &noted);
	if (++open->spare_scans < SPARE_ROUND)
		return;
	open->spare_rows_before = open->spare_rows;
	open->spare_rows = (PigSpareRows) {0};
	open->spare_scans = 0;
}

void
pig_source_use(PigSource *source)
{
	if (source->open != NULL)
		source->open->current = source;
}

void
pig_source_remember(PigSource *source, PigOpenIndex *open)
{
	source->open = open;
	source->blocks = open->pages.blocks;
}

void
pig_grow_buffers(PigSource *source)
{
	if (source->open != NULL)
		grow_buffers(source->open, &source->open->pages, source->blocks);
}

Buffer
pig_expect_table_page(PigSegments *held, Relation table, BlockNumber block)
{
	PigOpenIndex *open = held->open;
	KnownBuffers *known = &open->table_pages;
	Buffer		buffer;

	if (block >= known->blocks && block < TABLE_BLOCKS_MAX)
		grow_buffers(open, known, Min(RelationGetNumberOfBlocks(table), TABLE_BLOCKS_MAX));
	buffer = likely_buffer(known, block);
	if (!BufferIsValid(buffer))
		buffer = ask_for_block(known, table, block).recent_buffer;
	if (BufferIsValid(buffer))
		pig_expect_line(pig_likely_page(buffer));
	return buffer;
}

Buffer
pig_pin_table_page(PigSegments *held, Relation table, BlockNumber block, Buffer kept)
{
	KnownBuffers *known = &held->open->table_pages;
	Buffer		buffer = likely_buffer(known, block);

	if (!BufferIsValid(buffer) || buffer == kept || !pin_likely_buffer(known, table, block, buffer))
		return InvalidBuffer;
	return buffer;
}

static Buffer
read_buffer(PigOpenIndex *open, Relation index, BlockNumber block)
{
	instr_time	begin;
	instr_time	end;
	Buffer		buffer;

	INSTR_TIME_SET_CURRENT(begin);
	buffer = ReadBuffer(index, block);
	INSTR_TIME_SET_CURRENT(end);
	INSTR_TIME_SUBTRACT(end, begin);
	if (INSTR_TIME_GET_MICROSEC(end) >= DISK_MICROSECONDS)
		open->pages_ahead = PAGES_AHEAD;
	return buffer;
}

Buffer
pig_read_known_buffer(PigSource *source, BlockNumber block)
{
	PigOpenIndex *open = source->open;
	Buffer		buffer;

	if (open == NULL || block >= open->pages.blocks)
		return ReadBuffer(source->index, block);
	buffer = open->pages.buffers[block];
	if (BufferIsValid(buffer) && pin_likely_buffer(&open->pages, source->index, block, buffer))
		return buffer;
	return open->pages.buffers[block] = read_buffer(open, source->index, block);
}
