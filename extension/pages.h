/* SPDX-License-Identifier: Apache-2.0 */

/*
 * pages.h
 *	  The pages of an index of access method `pigment`, and every change of them.
 *
 * All functions that write do so through generic WAL records, one record per step that must be whole; nobody else writes a page.
 * They return with no lock and no pin held. README.md has the order of locks and the argument about crashes.
 *
 * Block 0 is the metapage. Its payload, after the 24 bytes of the server's page header:
 *
 *	offset	size	meaning
 *	0		4		magic, PIG_META_MAGIC
 *	4		4		version of this layout: 12 where rows have keys, otherwise 11; 10 and 9 where all pending pages were made before rows of them
 *					could hang on a segment, 8 and 7, 6 and 5, 4 and 3, 2 and 1 before there were hashes of vectors, or vectors in 12 bits, or in
 *					16 bits, or holes, in them
 *	8		4		dimension of all vectors; 0: no vector was seen yet
 *	12		4		metric, a PIGMENT_METRIC_*
 *	16		8		generation: grows with every change of the directory, when another dimension takes the place of one, and when
 *					row pointers of dead pending entries are about to be free
 *	24		4		first pending page
 *	28		4		last pending page, or one from which the last is reached
 *	32		4		stamp of pending and overflow pages
 *	36		4		stamp that the next segment gets
 *	40		4		segments in the directory
 *	44		4		first page of a directory that goes on elsewhere; PIGMENT_NO_PAGE: all is here
 *	48		4		page of the newest list of retired pages (free_pages.h); PIGMENT_NO_PAGE: none
 *	52		4		page of the list of free pages (free_pages.h); 0: there is none yet
 *	56		8		64-bit transaction id that was next when the pages of the newest list were retired
 *	64		32 each	directory: PigSegmentEntry, PIG_SEGMENTS_MAX of them; what version 0.1 left zero of them are flags and rounding
 *	8128	8		bytes of entries in the pending pages, the last left out; less where an older version appended some
 *	8136	4		how far rounding has taken a vector of a pending entry, at the most, as directory entries say it; never less again
 *	8140	4		first page of what pending rows hang on, the newest part (pigment_pending_cache_set_graft()); 0: there is none
 *	8144	8		what hashes of vectors begin with, by chance; 0: segments have none (am_share.c)
 *
 * What is at 52 and behind 8128 version 0.1 left zero.
 *
 * After the payload's 8,152 bytes comes the engine's trailer, which seals this page as it seals all others. There is no hole: pd_lower,
 * pd_upper and pd_special all point to the trailer. Pending pages have one, between entries and directory, so that a new one is not logged with all
 * its zeros; those that older versions began go on without.
 */
#ifndef PIGMENT_PAGES_H
#define PIGMENT_PAGES_H

#include <float.h>
#include <math.h>

#include "compat.h"
#include "storage/block.h"
#include "storage/bufpage.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "keys.h"

#include "pigment/pigment_host.h"

#define PIG_META_BLOCK 0
#define PIG_META_MAGIC 0x4D474950	/* "PIGM" */
#define PIG_META_VERSION 1
#define PIG_META_VERSION_KEYS 2
/* The same, and pending pages may have a hole, in which a module that does not know of it would lose what it appends. */
#define PIG_META_VERSION_HOLES 3
#define PIG_META_VERSION_KEYS_HOLES 4
/* And vectors of pending entries may be in 16 bits a number. */
#define PIG_META_VERSION_HALVES 5
#define PIG_META_VERSION_KEYS_HALVES 6
/* And in 12 bits a number. */
#define PIG_META_VERSION_TWELVES 7
#define PIG_META_VERSION_KEYS_TWELVES 8
/* And of a vector that a row of a segment has, the hash. */
#define PIG_META_VERSION_HASHES 9
#define PIG_META_VERSION_KEYS_HASHES 10
/* And rows of theirs may hang on a segment, which a module that does not know of it would take away beneath them. */
#define PIG_META_VERSION_GRAFTS 11
#define PIG_META_VERSION_KEYS_GRAFTS 12

typedef struct PigSegmentEntry
{
	uint32		segment;		/* stamp of its pages */
	uint32		root;			/* block of its root */
	uint32		first_deletion; /* first deletion page, or PIGMENT_NO_PAGE */
	uint32		pages;			/* without deletion pages */
	uint64		rows;
	uint32		flags;			/* PIG_SEGMENT_* */
	float		rounding;		/* how far rounding has taken a vector of it, as pigment_segment_builder_rounding() says; 0: nowhere */
} PigSegmentEntry;

/* No vector of it is zero. Where this is not said it may be so all the same. */
#define PIG_SEGMENT_NO_ZERO 1
/* All vectors of it can be kept in 16 bits a number; they are, unless the index is to have all bits. */
#define PIG_SEGMENT_ROUNDS 2

#define PIG_PAYLOAD_BYTES (PIGMENT_PAGE_BYTES - PIGMENT_PAGE_HEADER_BYTES - PIGMENT_PAGE_TRAILER_BYTES)
#define PIG_SEGMENTS_MAX 252

typedef struct PigMeta
{
	uint32		magic;
	uint32		version;
	uint32		dimension;
	int32		metric;
	uint64		generation;
	uint32		pending_head;
	uint32		pending_tail;
	uint32		pending_stamp;
	uint32		next_segment;
	uint32		segment_count;
	uint32		directory;
	uint32		retired;
	uint32		free;
	uint64		retired_xid;
	PigSegmentEntry segments[PIG_SEGMENTS_MAX];
	uint64		pending_bytes;
	float		pending_rounding;
	uint32		graft;
	uint64		vector_seed;
} PigMeta;

StaticAssertDecl(SizeOfPageHeaderData == PIGMENT_PAGE_HEADER_BYTES, "the server's page header");
StaticAssertDecl(BLCKSZ == PIGMENT_PAGE_BYTES, "size of a page");
StaticAssertDecl(offsetof(PigMeta, segments) == 64, "layout of the metapage");
StaticAssertDecl(offsetof(PigMeta, pending_bytes) == 8128, "layout of the metapage");
StaticAssertDecl(offsetof(PigMeta, pending_rounding) == 8136, "layout of the metapage");
StaticAssertDecl(offsetof(PigMeta, graft) == 8140, "layout of the metapage");
StaticAssertDecl(offsetof(PigMeta, vector_seed) == 8144, "layout of the metapage");
StaticAssertDecl(sizeof(PigSegmentEntry) == 32, "layout of a directory entry");
StaticAssertDecl(sizeof(PigMeta) <= PIG_PAYLOAD_BYTES, "the directory fits the metapage");

static inline bool
pig_has_keys(const PigMeta *meta)
{
	/* the even ones */
	return meta->version % 2 == 0;
}

static inline bool
pig_bit(const uint8 *bits, uint64 i)
{
	return bits != NULL && (bits[i / 8] >> (i % 8) & 1) != 0;
}

/* By chance, never 0. */
extern uint64 pig_random(void);

/* How far rounding takes a vector, as a float that is not less. */
static inline float
pig_float_from(double value)
{
	float		nearest = (float) value;

	return nearest < value ? nextafterf(nearest, FLT_MAX) : nearest;
}

typedef struct PigRoom PigRoom;	/* free_pages.h */

/* A heap tuple as the engine's row pointer: ascending with the tuple's place. */
static inline uint64
pig_row_pointer(const ItemPointerData *tid)
{
	return ((uint64) ItemPointerGetBlockNumberNoCheck(tid) << 16) | ItemPointerGetOffsetNumberNoCheck(tid);
}

static inline void
pig_tid(uint64 row_pointer, ItemPointer tid)
{
	ItemPointerSet(tid, (BlockNumber) (row_pointer >> 16), (OffsetNumber) (row_pointer & 0xFFFF));
}

/* A checked copy of the metapage. */
extern void pig_read_meta(Relation index, PigMeta *meta);
extern void pig_read_meta_for(Relation index, Snapshot snapshot, PigMeta *meta);

/* A copy of a page, taken under a share lock; what it holds is not checked. */
extern void pig_read_page(Relation index, BlockNumber block, PGAlignedBlock *page);
/* The same; complains of a snapshot that is too old for the page, from which rows may be gone that it sees (old_snapshot_threshold). NULL: none asks. */
extern void pig_read_page_for(Relation index, Snapshot snapshot, BlockNumber block, PGAlignedBlock *page);

/* The same of a pending page, checked. */
extern void pig_read_pending_page(Relation index, uint32 stamp, BlockNumber block, PGAlignedBlock *page);

/* What all rows of an index have in common. */
typedef struct PigShape
{
	uint32		dimension;		/* declared; 0: of the first vector, or there are none */
	int32		metric;
	bool		has_keys;
} PigShape;

/* Metapage and first pending page of an empty fork. */
extern void pig_write_empty(Relation index, ForkNumber fork, const PigShape *shape);

/* Puts a page of the engine's into a free block, as it is. */
extern BlockNumber pig_write_new_page(PigRoom *room, const void *page);

/* Enters segments into the directory, and the dimension if it was unknown: from here on they exist. For a build, before anybody knows the index. */
extern void pig_publish_segments(Relation index, const PigSegmentEntry *entries, int count, uint32 next_segment, uint32 dimension);

/*
 * What maintenance puts in the place of something else: one segment, or none, in the place of a run of neighbours of the directory, or, where that
 * is empty, behind the last; and the begin of the pending chain.
 */
typedef struct PigChange
{
	const PigSegmentEntry *added;	/* NULL: none */
	uint32		first;			/* place of the first that goes */
	uint32		count;			/* how many go */
	uint32		segments[PIG_SEGMENTS_MAX]; /* their stamps */
	BlockNumber pending_head;	/* PIGMENT_NO_PAGE: it stays */
	uint64		pending_bytes;	/* of the pages before it */
	bool		drops_graft;	/* pending rows hang nowhere from here on */
	BlockNumber retired;		/* newest list of what goes, from pig_write_retired(); PIGMENT_NO_PAGE: nothing does */
} PigChange;

/* Makes a change in one record. The caller holds the maintenance lock. */
extern void pig_publish_change(Relation index, const PigChange *change);

/* Writes a part of what pending rows hang on and makes it known, the newest. The caller holds the maintenance lock. */
extern void pig_publish_graft(PigRoom *room, const PigMeta *meta, const void *part, size_t size);

/* The stamp of a segment that is about to be built; nobody gets it again. */
extern uint32 pig_reserve_segment(Relation index);

/* Has entries go to a new page from here on, unless the last is empty. Returns the last page then. */
extern BlockNumber pig_close_pending(Relation index, const PigMeta *meta);

/* Fixes the dimension when it is still unknown; returns the one that holds. */
extern uint32 pig_fix_dimension(Relation index, uint32 dimension);

/* A row of a segment that has a vector already. */
typedef struct PigShared
{
	pigment_vector_hash hash;
	uint32		segment;
	uint32		row;
	BlockNumber first_deletion; /* of the segment when the row was found alive; PIGMENT_NO_PAGE: none */
	BlockNumber deletion_page;	/* the one with its bit */
	double		rounding;		/* how far that has taken the vector; 0: nowhere */
} PigShared;

typedef struct PigRow
{
	uint64		row_pointer;
	const float *vector;		/* NULL: none */
	PigElement	element;		/* as what the vector is kept; where 16 bits do not hold a number, all are kept in 32 */
	bool		rounds;			/* bits of its numbers may be left out; REQUIRES: PIG_ELEMENT_HALF */
	const PigShared *shared;	/* where the vector is; NULL: nowhere */
	const void *keys;			/* as pig_encode_keys() makes them */
	size_t		keys_size;
} PigRow;

/* What appending a row came to. */
typedef struct PigAppended
{
	uint64		entry_bytes;	/* of the row's entry */
	uint64		full_bytes;		/* 0, or, when a page was full, of the entries in full pages */
} PigAppended;

/*
 * Appends a row to the pending pages. False: nothing was done, because the dimension is another by now, or the row is gone that has the vector.
 * declared: the dimension is the column's and cannot change.
 */
extern bool pig_append_row(Relation index, const PigMeta *meta, const PigRow *row, bool declared, PigAppended *appended);

/*
 * Gives an index without segments another dimension, provided that its pending chain still ends at `last` with `count` entries, all without
 * a vector or dead; false: it does not.
 */
extern bool pig_change_dimension(Relation index, const PigMeta *meta, BlockNumber last, uint32 count, uint32 dimension);

/* Marks entries of a pending page dead. */
extern void pig_kill_entries(Relation index, BlockNumber block, uint32 stamp, const uint32 *entries, int count);

/* Has nobody use from here on what was read of the pending pages before. */
extern void pig_outdate_pending(Relation index);

/* Writes the chain of a segment's deletion pages, all bits clear, and publishes it; returns its first page. */
extern BlockNumber pig_create_deletions(PigRoom *room, const PigSegmentEntry *entry);

/* Sets bits in deletion page `number` of a segment. */
extern void pig_set_deleted(Relation index, BlockNumber block, uint32 segment, uint32 number, const uint32 *rows, int count);

/* ---- for free_pages.c, which writes pages too ---- */

/* The server's part of a page: no item pointers, no hole. */
extern void pig_set_page_header(Page page);

typedef struct PigMetaChange
{
	Buffer		buffer;
	GenericXLogState *state;
	PigMeta    *meta;			/* in the record's copy of the page */
	Page		page;
} PigMetaChange;

/* Locks the metapage exclusively and adds it to a record; state NULL: to a new one. Then changes it and ends the record, or leaves it be. */
extern PigMetaChange pig_begin_meta_change(Relation index, GenericXLogState *state);
extern void pig_end_meta_change(PigMetaChange *change);
extern void pig_abort_meta_change(PigMetaChange *change);

/* ---- errors ---- */

/* The index's error for a page that is not what it should be; a hint tells to REINDEX. */
/* The same with the engine's words; frees the error. */
pg_noreturn extern void pig_raise_damaged_page(Relation index, BlockNumber block, pigment_status status, pigment_error *error);
pg_noreturn extern void pig_raise_corrupted(Relation index, BlockNumber block, const char *why);

#endif							/* PIGMENT_PAGES_H */
