/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am.h
 *	  Access method `pigment`: its callbacks, and what they share.
 */
#ifndef PIGMENT_AM_H
#define PIGMENT_AM_H

#include "access/amapi.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

#include "pages.h"
#include "source.h"
#include "vector.h"

/* Support function of an operator class: metric() returns integer, a PIGMENT_METRIC_*. */
#define PIG_METRIC_PROC 1
/* Strategy of the distance operator. */
#define PIG_DISTANCE_STRATEGY 1

/* Phases of a build, for pg_stat_progress_create_index; the first number is the server's. */
#define PIG_PHASE_WRITE 2
#define PIG_PHASE_PUBLISH 3

extern int32 pig_index_metric(Relation index);
/* Of the column's type modifier; 0: any. */
extern uint32 pig_declared_dimension(Relation index);
extern const char *pig_metric_name(int32 metric);
/* Whether the index has a dimension only of rows that are dead to every snapshot. */
extern bool pig_dimension_is_void(Relation index, Relation heap, const PigMeta *meta);
pg_noreturn extern void pig_refuse_dimension(Relation index, uint32 expected, uint32 got);

/*
 * Segments of an index, open for reading. The engine's objects are freed when `context` is, also after an error.
 */
typedef struct PigSegments
{
	int			count;
	pigment_segment **segments;
	uint8	  **deleted;		/* bits of deleted rows; NULL: none */
	size_t	   *deleted_bytes;
	MemoryContextCallback release;
} PigSegments;

/* Opens all segments of the directory over `source`, whose pages are read in place. */
extern PigSegments *pig_open_segments(PigSource *source, const PigMeta *meta, MemoryContext context);
/* Reads the chain of a segment's deletion pages; rows beyond the chain count as live. blocks: if not NULL, gets the chain's. */
extern uint8 *pig_read_deletions(Relation index, const PigSegmentEntry *entry, size_t *bytes, BlockNumber *blocks);
extern uint32 pig_deletion_pages(const PigSegmentEntry *entry);

static inline bool
pig_bit(const uint8 *bits, uint64 i)
{
	return bits != NULL && (bits[i / 8] >> (i % 8) & 1) != 0;
}

extern IndexBuildResult *pig_build(Relation heap, Relation index, IndexInfo *index_info);
extern void pig_build_empty(Relation index);
extern bool pig_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid, Relation heap,
					   IndexUniqueCheck check_unique, bool index_unchanged, IndexInfo *index_info);
extern IndexScanDesc pig_begin_scan(Relation index, int nkeys, int norderbys);
extern void pig_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys);
extern bool pig_get_tuple(IndexScanDesc scan, ScanDirection direction);
extern void pig_end_scan(IndexScanDesc scan);
extern IndexBulkDeleteResult *pig_bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
											  IndexBulkDeleteCallback callback, void *callback_state);
extern IndexBulkDeleteResult *pig_vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats);
extern void pig_cost_estimate(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup_cost, Cost *total_cost,
							  Selectivity *selectivity, double *correlation, double *pages);
extern bool pig_validate(Oid opclass_oid);

extern void pig_register_options(void);

#endif							/* PIGMENT_AM_H */
