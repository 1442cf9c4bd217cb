/* SPDX-License-Identifier: Apache-2.0 */

/*
 * census.h
 *	  Which pages of an index nobody refers to.
 */
#ifndef PIGMENT_CENSUS_H
#define PIGMENT_CENSUS_H

#include "am.h"
#include "free_pages.h"

/* Collects the places of a segment's pages, its deletion pages included. */
extern void pig_collect_segment(PigSource *source, const pigment_segment *segment, const PigSegmentEntry *entry, PigRetired *pages);
/* Of the pending pages from `first` to `last` (PIGMENT_NO_PAGE: the last there is), and of their entries' overflow pages. */
extern void pig_collect_pending(PigSource *source, uint32 stamp, BlockNumber first, BlockNumber last, PigRetired *pages);
/* Of what pending rows hang on, from the newest part on; gives the stamp of the segment that they hang on. */
extern uint32 pig_collect_graft(PigSource *source, uint32 stamp, BlockNumber first, PigRetired *pages);

/*
 * Collects what a crash or an error left behind: pages that were written and never made known. The caller holds the maintenance lock. `segments`
 * are those of `meta`; `pending` copies pages.
 */
extern void pig_find_lost(Relation index, const PigMeta *meta, const PigSegments *segments, PigSource *segment_pages,
						  PigSource *pending_pages, PigRetired *lost);

#endif							/* PIGMENT_CENSUS_H */
