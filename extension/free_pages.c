/* SPDX-License-Identifier: Apache-2.0 */

/*
 * free_pages.c
 *	  Pages that serve for nothing any more: retired, then free, then taken again.
 *
 * What is taken from a list is on it no longer before it is used for something else, and what is put on one is used for nothing any more: a crash in between
 * loses pages, and VACUUM finds them (census.c).
 *
 * Page locks are taken in this order: older list of retired pages or the one that names it, list of free pages, metapage.
 */
#include "postgres.h"

#include <sys/statvfs.h>

#include "common/relpath.h"
#include "compat.h"
#include "miscadmin.h"
#include "storage/procarray.h"
#include "utils/memutils.h"

#include "engine_error.h"
#include "free_pages.h"

/* The tuple and the page that stand for the locks; both are of the metapage and exist in no table. */
#define MAINTENANCE_TUPLE 1

static inline PigPageList *
list_of(Page page)
{
	return (PigPageList *) ((char *) page + PIGMENT_PAGE_HEADER_BYTES);
}

/* ---- locks ---- */

static ItemPointerData
maintenance_tuple(void)
{
	ItemPointerData tid;

	ItemPointerSet(&tid, PIG_META_BLOCK, MAINTENANCE_TUPLE);
	return tid;
}

void
pig_lock_maintenance(Relation index, LOCKMODE mode)
{
	ItemPointerData tid = maintenance_tuple();

	LockTuple(index, &tid, mode);
}

bool
pig_try_lock_maintenance(Relation index)
{
	ItemPointerData tid = maintenance_tuple();

	return pig_try_lock_tuple(index, &tid, ExclusiveLock);
}

void
pig_unlock_maintenance(Relation index, LOCKMODE mode)
{
	ItemPointerData tid = maintenance_tuple();

	UnlockTuple(index, &tid, mode);
}

void
pig_lock_taking(Relation index, LOCKMODE mode)
{
	LockPage(index, PIG_META_BLOCK, mode);
}

void
pig_unlock_taking(Relation index, LOCKMODE mode)
{
	UnlockPage(index, PIG_META_BLOCK, mode);
}

/* ---- lists ---- */

static bool
is_list(Page page, BlockNumber block)
{
	pigment_error *error = NULL;
	bool		result;

	if (PageIsNew(page) || pigment_meta_page_check(page, block, &error) != PIGMENT_OK)
	{
		pigment_error_free(error);
		return false;
	}
	result = list_of(page)->magic == PIG_LIST_MAGIC && list_of(page)->count <= PIG_LIST_BLOCKS;
	return result;
}

static void
check_list(Relation index, Page page, BlockNumber block)
{
	if (!is_list(page, block))
		pig_raise_corrupted(index, block, "no list of pages");
}

bool
pig_read_list(Relation index, BlockNumber block, PGAlignedBlock *page, const PigPageList **list)
{
	if (block >= RelationGetNumberOfBlocks(index))
		return false;
	pig_read_page(index, block, page);
	*list = list_of(page->data);
	return is_list(page->data, block);
}

static void
init_list(Page page, BlockNumber block, BlockNumber next, uint64 next_xid)
{
	PigPageList *list = list_of(page);

	memset(page, 0, BLCKSZ);
	list->magic = PIG_LIST_MAGIC;
	list->next = next;
	list->next_xid = next_xid;
	pig_set_page_header(page);
	pigment_meta_page_seal(page, block);
}

/*
 * A list in a record: exclusively locked, checked, to be changed and sealed.
 */
typedef struct ListChange
{
	Buffer		buffer;
	BlockNumber block;
	Page		page;
	PigPageList *list;			/* in the record's copy of the page */
} ListChange;

static ListChange
begin_list_change(Relation index, GenericXLogState *state, BlockNumber block)
{
	ListChange	change;

	change.block = block;
	change.buffer = ReadBuffer(index, block);
	LockBuffer(change.buffer, BUFFER_LOCK_EXCLUSIVE);
	change.page = GenericXLogRegisterBuffer(state, change.buffer, 0);
	check_list(index, change.page, block);
	change.list = list_of(change.page);
	return change;
}

static void
seal_list(ListChange *change)
{
	pigment_meta_page_seal(change->page, change->block);
}

/* ---- taking ---- */

void
pig_room_init(PigRoom *room, Relation index, const PigMeta *meta)
{
	memset(room, 0, sizeof(*room));
	room->index = index;
	room->list = meta->free;
}

/*
 * Takes free blocks, the lowest of those that came last.
 */
static int
take_blocks(PigRoom *room, int most)
{
	GenericXLogState *state;
	ListChange	change;
	int			count;

	if (room->list == 0)
		return 0;
	state = GenericXLogStart(room->index);
	change = begin_list_change(room->index, state, room->list);
	count = (int) Min(change.list->count, (uint32) most);
	if (count == 0)
		GenericXLogAbort(state);
	else
	{
		change.list->count -= (uint32) count;
		memcpy(room->blocks, &change.list->blocks[change.list->count], sizeof(uint32) * (size_t) count);
		memset(&change.list->blocks[change.list->count], 0, sizeof(uint32) * (size_t) count);
		seal_list(&change);
		GenericXLogFinish(state);
	}
	UnlockReleaseBuffer(change.buffer);
	return count;
}

/*
 * Puts blocks on the list of free pages; returns how many it had no place for.
 */
static int
give_blocks(Relation index, BlockNumber free_list, const BlockNumber *blocks, int count)
{
	GenericXLogState *state = GenericXLogStart(index);
	ListChange	change = begin_list_change(index, state, free_list);
	int			placed = (int) Min(PIG_LIST_BLOCKS - change.list->count, (uint32) count);

	memcpy(&change.list->blocks[change.list->count], blocks, sizeof(uint32) * (size_t) placed);
	change.list->count += (uint32) placed;
	seal_list(&change);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(change.buffer);
	return count - placed;
}

/* ---- from retired to free ---- */

typedef struct RetiredList
{
	BlockNumber block;
	uint64		xid;
} RetiredList;

/*
 * The lists of retired pages, newest first.
 */
static RetiredList *
find_retired_lists(Relation index, const PigMeta *meta, int *count)
{
	int			capacity = 64;
	RetiredList *lists = palloc(sizeof(RetiredList) * (size_t) capacity);
	RetiredList at = {meta->retired, meta->retired_xid};

	for (*count = 0; at.block != PIGMENT_NO_PAGE; (*count)++)
	{
		PGAlignedBlock page;
		const PigPageList *list;

		CHECK_FOR_INTERRUPTS();
		/* a list that leads to itself never ends */
		if (*count > (int) RelationGetNumberOfBlocks(index) || !pig_read_list(index, at.block, &page, &list))
			pig_raise_corrupted(index, at.block, "no list of retired pages");
		if (*count == capacity)
			lists = repalloc(lists, sizeof(RetiredList) * (size_t) (capacity *= 2));
		lists[*count] = at;
		at.block = list->next;
		if (list->next_xid != 0)
			at.xid = list->next_xid;
	}
	return lists;
}

/*
 * Whether no snapshot of this server can need what was retired when `xid` was next; those of standbys get a conflict.
 */
static bool
is_out_of_sight(Relation index, Relation heap, BlockNumber block, uint64 xid)
{
	FullTransactionId full = FullTransactionIdFromU64(xid);

	if (!GlobalVisCheckRemovableFullXid(NULL, full))
		return false;
	if (XLogStandbyInfoActive() && RelationNeedsWAL(index))
		pig_log_page_reuse(index, heap, block, full);
	return true;
}

/*
 * Moves pages from a list of retired ones to that of the free ones, as many as find place; false: not all did.
 */
static bool
move_to_free(Relation index, BlockNumber retired_list, BlockNumber free_list)
{
	GenericXLogState *state = GenericXLogStart(index);
	ListChange	from = begin_list_change(index, state, retired_list);
	ListChange	to = begin_list_change(index, state, free_list);
	uint32		count = Min(from.list->count, PIG_LIST_BLOCKS - to.list->count);
	bool		all = count == from.list->count;

	from.list->count -= count;
	memcpy(&to.list->blocks[to.list->count], &from.list->blocks[from.list->count], sizeof(uint32) * count);
	memset(&from.list->blocks[from.list->count], 0, sizeof(uint32) * count);
	to.list->count += count;
	seal_list(&from);
	seal_list(&to);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(to.buffer);
	UnlockReleaseBuffer(from.buffer);
	return all;
}

/*
 * Takes the oldest list, which is empty, out of the chain and makes its page free. before: the list that names it; PIGMENT_NO_PAGE: the
 * metapage does. False: there was no place for it.
 */
static bool
drop_list(Relation index, BlockNumber retired_list, BlockNumber before, BlockNumber free_list)
{
	GenericXLogState *state = GenericXLogStart(index);
	ListChange	pred = {.buffer = InvalidBuffer};
	ListChange	to;
	bool		fits;

	if (before != PIGMENT_NO_PAGE)
		pred = begin_list_change(index, state, before);
	to = begin_list_change(index, state, free_list);
	fits = to.list->count < PIG_LIST_BLOCKS;
	if (fits)
	{
		to.list->blocks[to.list->count++] = retired_list;
		seal_list(&to);
	}
	if (!fits)
		GenericXLogAbort(state);
	else if (before != PIGMENT_NO_PAGE)
	{
		pred.list->next = PIGMENT_NO_PAGE;
		pred.list->next_xid = 0;
		seal_list(&pred);
		GenericXLogFinish(state);
	}
	else
	{
		PigMetaChange change = pig_begin_meta_change(index, state);

		change.meta->retired = PIGMENT_NO_PAGE;
		change.meta->retired_xid = 0;
		pig_end_meta_change(&change);
	}
	UnlockReleaseBuffer(to.buffer);
	if (BufferIsValid(pred.buffer))
		UnlockReleaseBuffer(pred.buffer);
	return fits;
}

/*
 * Makes the list of free pages when there is none yet.
 */
static BlockNumber
ensure_free_list(Relation index, const PigMeta *meta)
{
	Buffer		buffer;
	GenericXLogState *state;
	PigMetaChange change;
	BlockNumber block;

	if (meta->free != 0)
		return meta->free;
	buffer = pig_extend(index, MAIN_FORKNUM);
	block = BufferGetBlockNumber(buffer);
	state = GenericXLogStart(index);
	init_list(GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE), block, PIGMENT_NO_PAGE, 0);
	change = pig_begin_meta_change(index, state);
	change.meta->free = block;
	pig_end_meta_change(&change);
	UnlockReleaseBuffer(buffer);
	return block;
}

/*
 * Makes retired pages free, the oldest first, as long as nobody can need them and the list has place. The caller holds the maintenance lock.
 */
static BlockNumber
free_retired_pages(Relation index, Relation heap)
{
	PigMeta    *meta = palloc(sizeof(PigMeta));
	RetiredList *lists;
	BlockNumber free_list;
	int			count;

	pig_read_meta(index, meta);
	if (meta->retired == PIGMENT_NO_PAGE)
	{
		free_list = meta->free;
		pfree(meta);
		return free_list;
	}
	free_list = ensure_free_list(index, meta);
	lists = find_retired_lists(index, meta, &count);
	while (count-- > 0)
	{
		if (!is_out_of_sight(index, heap, lists[count].block, lists[count].xid) ||
			!move_to_free(index, lists[count].block, free_list) ||
			!drop_list(index, lists[count].block, count > 0 ? lists[count - 1].block : PIGMENT_NO_PAGE, free_list))
			break;
	}
	pfree(lists);
	pfree(meta);
	return free_list;
}

void
pig_room_init_maintenance(PigRoom *room, Relation index, Relation heap)
{
	memset(room, 0, sizeof(*room));
	room->index = index;
	room->heap = heap;
	room->is_maintenance = true;
	room->list = free_retired_pages(index, heap);
}

Buffer
pig_new_buffer(PigRoom *room)
{
	Buffer		buffer;

	if (room->count == 0)
		room->count = take_blocks(room, room->is_maintenance ? PIG_ROOM_BLOCKS : 1);
	if (room->count == 0 && room->is_maintenance)
	{
		room->list = free_retired_pages(room->index, room->heap);
		room->count = take_blocks(room, PIG_ROOM_BLOCKS);
		/* there is nothing more to be had: what retires from now on is in sight */
		room->is_maintenance = room->count > 0;
	}
	if (room->count == 0)
		return pig_extend(room->index, MAIN_FORKNUM);
	room->count--;
	if (room->blocks[room->count] >= RelationGetNumberOfBlocks(room->index))
		pig_raise_corrupted(room->index, room->list, psprintf("block %u is free, and there is none", room->blocks[room->count]));
	buffer = ReadBuffer(room->index, room->blocks[room->count]);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	return buffer;
}

void
pig_room_return(PigRoom *room)
{
	/* what finds no place is lost until VACUUM looks for it */
	if (room->count > 0)
		(void) give_blocks(room->index, room->list, room->blocks, room->count);
	room->count = 0;
}

static uint64
count_listed(Relation index, BlockNumber block)
{
	PGAlignedBlock page;
	const PigPageList *list;

	return pig_read_list(index, block, &page, &list) ? list->count : 0;
}

/*
 * Pages that maintenance can have without a longer file: those that are free, and retired ones that nobody needs.
 */
static uint64
count_to_be_had(Relation index)
{
	PigMeta    *meta = palloc(sizeof(PigMeta));
	RetiredList *lists;
	uint64		pages;
	int			count;

	pig_read_meta(index, meta);
	pages = meta->free != 0 ? count_listed(index, meta->free) : 0;
	lists = find_retired_lists(index, meta, &count);
	while (count-- > 0 && GlobalVisCheckRemovableFullXid(NULL, FullTransactionIdFromU64(lists[count].xid)))
		pages += count_listed(index, lists[count].block);
	pfree(lists);
	pfree(meta);
	return pages;
}

bool
pig_has_space(Relation index, uint64 pages, uint64 *bytes_left)
{
	Oid			tablespace = index->rd_rel->reltablespace;
	char	   *path = GetDatabasePath(MyDatabaseId, OidIsValid(tablespace) ? tablespace : MyDatabaseTableSpace);
	struct statvfs disk;
	bool		is_known = statvfs(path, &disk) == 0;
	uint64		own_pages;

	pfree(path);
	*bytes_left = is_known ? (uint64) disk.f_bavail * disk.f_frsize : PG_UINT64_MAX;
	if (pages <= *bytes_left / BLCKSZ)
		return true;
	own_pages = count_to_be_had(index);
	return pages <= own_pages || pages - own_pages <= *bytes_left / BLCKSZ;
}

/* ---- retiring ---- */

void
pig_retired_add(PigRetired *retired, BlockNumber block)
{
	if (retired->count == retired->capacity)
	{
		retired->capacity = Max(retired->capacity * 2, 1024);
		if (retired->blocks == NULL)
			retired->blocks = MemoryContextAllocHuge(CurrentMemoryContext, retired->capacity * sizeof(uint32));
		else
			retired->blocks = repalloc_huge(retired->blocks, retired->capacity * sizeof(uint32));
	}
	retired->blocks[retired->count++] = block;
}

static BlockNumber
write_list(PigRoom *room, const uint32 *blocks, uint32 count, BlockNumber next, uint64 next_xid)
{
	Buffer		buffer = pig_new_buffer(room);
	BlockNumber block = BufferGetBlockNumber(buffer);
	GenericXLogState *state = GenericXLogStart(room->index);
	Page		page = GenericXLogRegisterBuffer(state, buffer, GENERIC_XLOG_FULL_IMAGE);

	init_list(page, block, next, next_xid);
	memcpy(list_of(page)->blocks, blocks, sizeof(uint32) * count);
	list_of(page)->count = count;
	pigment_meta_page_seal(page, block);
	GenericXLogFinish(state);
	UnlockReleaseBuffer(buffer);
	return block;
}

BlockNumber
pig_write_retired(PigRoom *room, const PigRetired *retired)
{
	PigMeta    *meta = palloc(sizeof(PigMeta));
	BlockNumber next;
	uint64		next_xid;

	/* what the first list names must stay what the metapage names */
	room->is_maintenance = false;
	pig_read_meta(room->index, meta);
	next = meta->retired;
	next_xid = meta->retired_xid;
	for (Size written = 0; written < retired->count;)
	{
		uint32		count = (uint32) Min(retired->count - written, PIG_LIST_BLOCKS);

		CHECK_FOR_INTERRUPTS();
		next = write_list(room, retired->blocks + written, count, next, next_xid);
		/* those that follow retire together with it */
		next_xid = 0;
		written += count;
	}
	pfree(meta);
	return retired->count > 0 ? next : PIGMENT_NO_PAGE;
}
