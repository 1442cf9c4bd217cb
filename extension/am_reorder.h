/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_reorder.h
 *	  Rows in the order of the table's vectors, where the index has them rounded.
 *
 * What the engine gives is in the order of the rounded vectors, and says how far off a distance may be. A row that no other can be nearer than goes on as
 * it is; of the others the vector is read in the table, and they wait until nothing that comes can be nearer. Rows that the snapshot does not see
 * go then.
 */
#ifndef PIGMENT_AM_REORDER_H
#define PIGMENT_AM_REORDER_H

#include "access/genam.h"
#include "compat.h"

#include "am.h"
#include "pages.h"

#include "pigment/pigment_host.h"

typedef struct PigReorder PigReorder;

/* How far rounding takes a vector of any segment or pending entry, at the most; 0: none is rounded. */
extern float pig_rounding(const PigMeta *meta);

/* The distance of the engine that a row has at the most, given one by rounded vectors. */
extern float pig_farthest_distance(int32 metric, const PigVector *query, float rounding, float distance);

/*
 * Made in `context`. rounding: pig_rounding(). exact: it may keep any number of rows, so that none comes late. The vector of the query is borrowed. Pins are held during calls only.
 */
extern PigReorder *pig_reorder_new(IndexScanDesc scan, const PigVector *query, int32 metric, float rounding, bool exact, MemoryContext context);
/* Lets go of what reads the table; memory goes with its context. NULL: there is none. */
extern void pig_reorder_free(PigReorder *reorder);

/* Rows that wait. */
extern size_t pig_reorder_waiting(const PigReorder *reorder);

/* Takes the next row of the search. behind: the one that comes then; NULL: not known yet. True: it is the nearest that is left, and was not kept. */
extern bool pig_reorder_take(PigReorder *reorder, const pigment_host_hit *hit, const pigment_host_hit *behind);

/* Gives the nearest row that waits, unless what comes may be nearer. behind: the next row of the search; NULL: not known. ended: there is none. */
extern bool pig_reorder_give(PigReorder *reorder, const pigment_host_hit *behind, bool ended, uint64 *row_pointer);

#endif							/* PIGMENT_AM_REORDER_H */
