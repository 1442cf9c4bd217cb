/* SPDX-License-Identifier: Apache-2.0 */

/*
 * free_pages.h
 *	  Pages that serve for nothing any more: retired, then free, then taken again.
 *
 * A page that maintenance replaces is retired: it stays as it is, because scans that began before still read it. When no snapshot is left that
 * could need it, here or on a standby, it becomes free. Whoever needs a page takes a free one, or makes the relation longer.
 *
 * Both kinds are known by their numbers, in pages of lists. The newest list of retired pages is named by the metapage, each names the next older
 * one; they are made when pages retire and go when theirs are free. There is one list of free pages, made once, never moved.
 *
 * Payload of a list, after the 24 bytes of the server's page header (sealed as the metapage is):
 *
 *	offset	size	meaning
 *	0		4		magic, PIG_LIST_MAGIC
 *	4		4		page of the next older list, or PIGMENT_NO_PAGE
 *	8		8		64-bit transaction id that was next when that one's pages were retired; 0: the same as for this one's. (That of
 *					the newest is in the metapage: it is known only when the metapage is written.)
 *	16		4		pages in this list
 *	20		4		zero
 *	24		4 each	their numbers
 *
 * Locks of whole steps, not of pages: the *maintenance lock* is held by whoever changes the directory, the begin of the pending chain or a list of
 * retired pages, and by VACUUM while it deletes; the *taking lock* is shared by those who append to pending pages, from when they take a page until it is linked,
 * and held alone by who looks for pages that nobody refers to. The first is a tuple's lock, so that others may be waited for under it and deadlocks are
 * found; the second is a page's, under which nothing is waited for but the extension of the relation.
 */
#ifndef PIGMENT_FREE_PAGES_H
#define PIGMENT_FREE_PAGES_H

#include "pages.h"

#define PIG_LIST_MAGIC 0x4C474950	/* "PIGL" */
#define PIG_LIST_BLOCKS ((PIG_PAYLOAD_BYTES - 24) / (int) sizeof(uint32))

typedef struct PigPageList
{
	uint32		magic;
	uint32		next;
	uint64		next_xid;
	uint32		count;
	uint32		unused;
	uint32		blocks[PIG_LIST_BLOCKS];
} PigPageList;

StaticAssertDecl(offsetof(PigPageList, blocks) == 24, "layout of a list of pages");
StaticAssertDecl(sizeof(PigPageList) <= PIG_PAYLOAD_BYTES, "a list of pages fits a page");

/* The maintenance lock; `mode` ExclusiveLock, or ShareLock to keep maintenance away. They are released by the end of the transaction too. */
extern void pig_lock_maintenance(Relation index, LOCKMODE mode);
extern bool pig_try_lock_maintenance(Relation index);
extern void pig_unlock_maintenance(Relation index, LOCKMODE mode);

/* The taking lock, ShareLock or ExclusiveLock. Not to be waited for under a page's content lock. */
extern void pig_lock_taking(Relation index, LOCKMODE mode);
extern void pig_unlock_taking(Relation index, LOCKMODE mode);

/*
 * Where new pages go. A room takes one free page at a time; that of maintenance many, and makes retired pages free when it finds none.
 */
#define PIG_ROOM_BLOCKS 64

struct PigRoom
{
	Relation	index;
	BlockNumber list;			/* of free pages; 0: none */
	bool		is_maintenance;		/* the caller holds the maintenance lock */
	Relation	heap;			/* of maintenance; NULL where unknown, before 16 */
	int			count;			/* taken and not used yet */
	BlockNumber blocks[PIG_ROOM_BLOCKS];
};

extern void pig_room_init(PigRoom *room, Relation index, const PigMeta *meta);
extern void pig_room_init_maintenance(PigRoom *room, Relation index, Relation heap);
/* A page to overwrite as a whole, exclusively locked. */
extern Buffer pig_new_buffer(PigRoom *room);
/*
 * Whether a file system that is about to be full has room for so many pages more, beside those that the index has to spare. Where there is none, who
 * begins nevertheless takes all that is left, and keeps it: the file does not shrink.
 */
extern bool pig_has_space(Relation index, uint64 pages, uint64 *bytes_left);
/* Gives back what was taken and not used. After an error it is lost until VACUUM finds it. */
extern void pig_room_return(PigRoom *room);

/* Pages that retire together. */
typedef struct PigRetired
{
	uint32	   *blocks;
	Size		count;
	Size		capacity;
} PigRetired;

extern void pig_retired_add(PigRetired *retired, BlockNumber block);
/* Writes their lists, before those that are there; PigChange.retired is the result. PIGMENT_NO_PAGE: none are to retire. From here on, until it is published, nobody
   may make pages free: the room does so no more. */
extern BlockNumber pig_write_retired(PigRoom *room, const PigRetired *retired);

/* A copy of a list's page. False: it is none (any more). */
extern bool pig_read_list(Relation index, BlockNumber block, PGAlignedBlock *page, const PigPageList **list);

#endif							/* PIGMENT_FREE_PAGES_H */
