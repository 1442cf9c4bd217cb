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
 *	4		4		version of this layout, PIG_META_VERSION
 *	8		4		dimension of all vectors; 0: no vector was seen yet
 *	12		4		metric, a PIGMENT_METRIC_*
 *	16		8		generation: grows with every change of the directory, and when another dimension takes the place of one
 *	24		4		first pending page
 *	28		4		last pending page, or one from which the last is reached
 *	32		4		stamp of pending and overflow pages
 *	36		4		stamp that the next segment gets
 *	40		4		segments in the directory
 *	44		4		first page of a directory that goes on elsewhere; PIGMENT_NO_PAGE: all is here
 *	48		4		first page of a list of retired pages; PIGMENT_NO_PAGE: none, pages are not retired yet
 *	52		4		zero
 *	56		8		64-bit transaction id that retired the newest of them; 0
 *	64		32 each	directory: PigSegmentEntry
 *
 * After the payload's 8,152 bytes comes the engine's trailer, which seals this page as it seals all others. There is no hole: pd_lower,
 * pd_upper and pd_special all point to the trailer.
 */
#ifndef PIGMENT_PAGES_H
#define PIGMENT_PAGES_H

#include "compat.h"
#include "storage/block.h"
#include "storage/bufpage.h"
#include "storage/itemptr.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "pigment/pigment_host.h"

#define PIG_META_BLOCK 0
#define PIG_META_MAGIC 0x4D474950	/* "PIGM" */
#define PIG_META_VERSION 1

typedef struct PigSegmentEntry
{
	uint32		segment;		/* stamp of its pages */
	uint32		root;			/* block of its root */
	uint32		first_deletion; /* first deletion page, or PIGMENT_NO_PAGE */
	uint32		pages;			/* without deletion pages */
	uint64		rows;
	uint64		unused;			/* zero */
} PigSegmentEntry;

#define PIG_PAYLOAD_BYTES (PIGMENT_PAGE_BYTES - PIGMENT_PAGE_HEADER_BYTES - PIGMENT_PAGE_TRAILER_BYTES)
#define PIG_SEGMENTS_MAX ((PIG_PAYLOAD_BYTES - 64) / (int) sizeof(PigSegmentEntry))

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
	uint32		unused;
	uint64		retired_xid;
	PigSegmentEntry segments[PIG_SEGMENTS_MAX];
} PigMeta;

StaticAssertDecl(SizeOfPageHeaderData == PIGMENT_PAGE_HEADER_BYTES, "the server's page header");
StaticAssertDecl(BLCKSZ == PIGMENT_PAGE_BYTES, "size of a page");
StaticAssertDecl(offsetof(PigMeta, segments) == 64, "layout of the metapage");
StaticAssertDecl(sizeof(PigSegmentEntry) == 32, "layout of a directory entry");
StaticAssertDecl(sizeof(PigMeta) <= PIG_PAYLOAD_BYTES, "the directory fits the metapage");

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

/* A copy of a page, taken under a share lock; what it holds is not checked. */
extern void pig_read_page(Relation index, BlockNumber block, PGAlignedBlock *page);

/* Metapage and first pending page of an empty fork. */
extern void pig_write_empty(Relation index, ForkNumber fork, uint32 dimension, int32 metric);

/* Puts a page of the engine's into a new block, as it is. */
extern BlockNumber pig_write_new_page(Relation index, const void *page);

/* Enters segments into the directory, and the dimension if it was unknown: from here on they exist. */
extern void pig_publish_segments(Relation index, const PigSegmentEntry *entries, int count, uint32 next_segment, uint32 dimension);

/* Fixes the dimension when it is still unknown; returns the one that holds. */
extern uint32 pig_fix_dimension(Relation index, uint32 dimension);

/*
 * Appends a row to the pending pages; vector NULL: one without. False: nothing was done, because the dimension is another by now. declared: it
 * is the column's and cannot change.
 */
extern bool pig_append_row(Relation index, const PigMeta *meta, uint64 row_pointer, const float *vector, bool declared);

/*
 * Gives an index without segments another dimension, provided that its pending chain still ends at `last` with `count` entries, all without
 * a vector or dead; false: it does not.
 */
extern bool pig_change_dimension(Relation index, const PigMeta *meta, BlockNumber last, uint32 count, uint32 dimension);

/* Marks entries of a pending page dead. */
extern void pig_kill_entries(Relation index, BlockNumber block, uint32 stamp, const uint32 *entries, int count);

/* Writes the chain of a segment's deletion pages, all bits clear, and publishes it; returns its first page. */
extern BlockNumber pig_create_deletions(Relation index, const PigSegmentEntry *entry);

/* Sets bits in deletion page `number` of a segment. */
extern void pig_set_deleted(Relation index, BlockNumber block, uint32 segment, uint32 number, const uint32 *rows, int count);

/* The index's error for a page that is not what it should be; a hint tells to REINDEX. */
/* The same with the engine's words; frees the error. */
pg_noreturn extern void pig_raise_damaged_page(Relation index, BlockNumber block, pigment_status status, pigment_error *error);
pg_noreturn extern void pig_raise_corrupted(Relation index, BlockNumber block, const char *why);

#endif							/* PIGMENT_PAGES_H */
