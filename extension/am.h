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
#include "nodes/tidbitmap.h"

#include "keys.h"
#include "pages.h"
#include "source.h"
#include "vector.h"

/* Support function of an operator class: metric() returns integer, a PIGMENT_METRIC_*. */
#define PIG_METRIC_PROC 1
/* Another, that is there where the elements of the column's vectors have 16 bits: halves() returns boolean, and is never called. */
#define PIG_HALVES_PROC 2
/* Of a text column that is ranked, and of no other: options(internal), of the operator class. */
#define PIG_TEXT_OPTIONS_PROC 3
/* That is there where the column has sparse vectors, by sparsevec.h: sparse() returns boolean, and is never called. */
#define PIG_SPARSE_PROC 4
#define PIG_PROCS 4
/* Strategies of a vector column: the distance operator; whether a vector is in a ball; the distance, for an order with what is not a number first. */
#define PIG_DISTANCE_STRATEGY 1
#define PIG_WITHIN_STRATEGY 2
#define PIG_NAN_FIRST_STRATEGY 3

/* Phases of a build, for pg_stat_progress_create_index; the first number is the server's. */
#define PIG_PHASE_WRITE 2
#define PIG_PHASE_INDEX 3
#define PIG_PHASE_PUBLISH 4

/* Vectors from which on they have an index: fewer are looked at in no time. Where there are more of them in other segments, these many. */
#define PIG_INDEX_ROWS_MIN 8192
#define PIG_INDEX_ROWS_MIN_BESIDE 1024
/* A segment is not finished for want of memory before it has so many rows: many small ones are searched no faster than all is looked at. */
#define PIG_SEGMENT_ROWS_MIN 2048

/*
 * What an index was created WITH; am.c says what is taken.
 */
typedef struct PigOptions
{
	int32		vl_len_;
	int			kind;			/* a PIGMENT_INDEX_* */
	int			m;				/* 0: what suits */
	int			ef_construction;	/* 0: what suits */
	double		k1;				/* of BM25; may be changed at any time */
	double		b;
	int			full_vectors;	/* a PIG_VECTORS_* */
} PigOptions;

/* What is kept of a number of a vector. */
enum
{
	PIG_VECTORS_F16,
	PIG_VECTORS_F32
};

extern PigOptions pig_options(Relation index);

/* Settings: the part of the nearest rows that is wanted on average, or how far to search in its place. */
extern double pig_target_recall;
extern int	pig_search_width;

/* Of a column of vectors, sparse ones too; and of the one that is the index's vector. */
extern int32 pig_column_metric(Relation index, int column);
extern int32 pig_index_metric(Relation index);
/* Of the column's type modifier; 0: any. */
extern uint32 pig_declared_dimension(Relation index);
extern const char *pig_metric_name(int32 metric);
/* Of the vector column, for messages. */
extern const char *pig_vector_type_name(Relation index);
/* Whether the index has a dimension only of rows that are dead to every snapshot. */
extern bool pig_dimension_is_void(Relation index, Relation heap, const PigMeta *meta);
pg_noreturn extern void pig_refuse_dimension(Relation index, uint32 expected, uint32 got);

/*
 * Segments of an index, open for reading. The engine's objects are freed when `context` is, also after an error.
 */
struct PigSegments
{
	int			count;
	pigment_segment **segments;
	uint8	  **deleted;		/* bits of deleted rows; NULL: none */
	size_t	   *deleted_bytes;
	PigOpenIndex *open;			/* of pig_hold_segments(); or NULL */
	MemoryContextCallback release;
};

/* Opens all segments of the directory over `source`, whose pages are read in place. */
extern PigSegments *pig_open_segments(PigSource *source, const PigMeta *meta, MemoryContext context);
/* The same, kept open for scans of this session that follow. Before each call that reads them: pig_source_use(). */
extern PigSegments *pig_hold_segments(PigSource *source, const PigMeta *meta, MemoryContext context);
/* The same without bits of deleted rows. */
extern PigSegments *pig_hold_all_rows(PigSource *source, const PigMeta *meta, MemoryContext context);
/* What scans of this session have read of the pending pages of this generation; NULL: they are to be read in their pages. Held as the segments are. */
extern pigment_pending_cache *pig_hold_pending(PigSegments *held, const PigMeta *meta);
/* A cache of the pending rows that there are, and of what they hang on. */
extern pigment_pending_cache *pig_new_pending_cache(const PigMeta *meta);
/* A scan ends that has read pending rows: has a background worker find out what they hang on, if there are many of which nobody did. */
extern void pig_hang_if_due(PigSegments *held, Relation index, Relation heap);
/* Rows beyond its limit that a scan needs. */
typedef struct PigSpareRows
{
	size_t		unseen;			/* because its snapshot does not see as many others */
	size_t		waiting;		/* because others wait to be put in order, and one comes behind them */
} PigSpareRows;

/* How many a scan looks for: as many as one of those lately needed at the most. */
extern PigSpareRows pig_spare_rows(const PigSegments *held);
/* A scan that had a limit ends, and needed so many. */
extern void pig_note_spare_rows(PigSegments *held, const PigSpareRows *needed);
/* A block of the table is likely to be read soon: asks memory for its page, or a disk. The buffer that probably has it, or InvalidBuffer. */
extern Buffer pig_expect_table_page(PigSegments *held, Relation table, BlockNumber block);
/* Pins a block of the table by the buffer that had it last; InvalidBuffer: none is known, or it is the one that the caller has kept. */
extern Buffer pig_pin_table_page(PigSegments *held, Relation table, BlockNumber block, Buffer kept);
extern void pig_register_segment_cache(void);
/* Reads the chain of a segment's deletion pages, for a snapshot or none; rows beyond the chain count as live. blocks: if not NULL, gets the chain's. */
extern uint8 *pig_read_deletions(Relation index, Snapshot snapshot, const PigSegmentEntry *entry, size_t *bytes, BlockNumber *blocks);
extern uint32 pig_deletion_pages(const PigSegmentEntry *entry);
/* One page of it, checked. */
extern void pig_read_deletion_page(Relation index, Snapshot snapshot, const PigSegmentEntry *entry, uint32 number, BlockNumber block,
								   PGAlignedBlock *page);
/* The row of a segment that has the vector of a new row version, if that may be an update that leaves it alone; NULL: it has none, or nobody knows. */
extern const PigShared *pig_find_shared(Relation index, Relation heap, ItemPointer tid, const PigMeta *meta, const PigRow *row);
/* Whether the directory says of all segments that no vector of theirs is zero. */
extern bool pig_has_no_zero_vectors(const PigMeta *meta);
/* Set bits of so many rows; bits NULL: none. */
extern uint64 pig_count_deleted(const uint8 *bits, uint64 rows);

extern IndexBuildResult *pig_build(Relation heap, Relation index, IndexInfo *index_info);
extern void pig_build_empty(Relation index);
extern bool pig_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid, Relation heap,
					   IndexUniqueCheck check_unique, bool index_unchanged, IndexInfo *index_info);
extern IndexScanDesc pig_begin_scan(Relation index, int nkeys, int norderbys);
extern void pig_rescan(IndexScanDesc scan, ScanKey keys, int nkeys, ScanKey orderbys, int norderbys);
extern bool pig_get_tuple(IndexScanDesc scan, ScanDirection direction);
extern int64 pig_get_bitmap(IndexScanDesc scan, TIDBitmap *bitmap);
extern void pig_end_scan(IndexScanDesc scan);
extern IndexBulkDeleteResult *pig_bulk_delete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
											  IndexBulkDeleteCallback callback, void *callback_state);
extern IndexBulkDeleteResult *pig_vacuum_cleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats);
extern void pig_cost_estimate(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup_cost, Cost *total_cost,
							  Selectivity *selectivity, double *correlation, double *pages);
/* What part of the index's rows satisfies conditions, each on the column of the same place in `columns`. */
extern Selectivity pig_selectivity(PlannerInfo *root, IndexOptInfo *index, List *quals, List *columns);
/* The same of one clause, which is not asked for again; negative: it is not known. */
extern double pig_counted_part(PlannerInfo *root, IndexOptInfo *index, const Node *clause, int column);
/*
 * What the server has found so far of conditions of a query on an index's columns, by which each path of it is narrowed: IndexClauses. Told for each
 * path whose cost is asked for.
 */
extern void pig_note_clauses(PlannerInfo *root, const IndexPath *path);
extern List *pig_known_clauses(PlannerInfo *root, const IndexOptInfo *index);
/* The operator of a column's family that has this strategy; InvalidOid: there is none. */
extern Oid	pig_family_operator(const IndexOptInfo *index, int column, int strategy, Oid *right_type);
/* A copy of the column's expression. */
extern Expr *pig_column_operand(const IndexOptInfo *index, int column);
extern bool pig_validate(Oid opclass_oid);

/* kB of entries in pending pages from which on an insert flushes them. */
extern int	pig_pending_limit;
/*
 * When full pages have so many bytes of entries, each of about entry_bytes, that a flush is due: flushes pending pages, and merges small segments,
 * unless somebody does; what it leaves a background worker may merge. `heap` may be NULL before 16 below.
 */
extern void pig_flush_if_due(Relation index, Relation heap, uint64 full_bytes, uint64 entry_bytes);
/* Flushes pending pages, merges what is due and finds lost pages. */
extern void pig_maintain(Relation index, Relation heap);
/*
 * Merges what is due and finds lost pages, then what pending rows hang on; flushes as inserts would, who cannot meanwhile. The maintenance lock is held,
 * and released.
 */
extern void pig_merge_beside_inserts(Relation index, Relation heap);
/* Whether a background worker can and may do this for what an insert leaves; has one do it, if there is one. The maintenance lock is not held then. */
extern bool pig_background_merge;
extern bool pig_can_merge_in_background(Relation index, Relation heap);
extern void pig_start_background_merge(Relation index);
/* Complains of an index that another session keeps for itself, or that was not built to its end. */
extern void pig_check_usable(Relation index);
/* Opens an index of ours that the user owns, and its table before it, both locked. */
extern Relation pig_open_index(Oid oid, LOCKMODE mode, Relation *table);

/* Options of indexes, and settings of searches and of maintenance. */
extern void pig_register_options(void);
/* Has the planner find conditions on boolean columns. */
extern void pig_register_planner(void);
/* Has it find conditions on distances, and orders that follow from one. */
extern void pig_register_paths(void);

/*
 * What the last scan of the session did; pigment.last_scan() shows it.
 */
typedef struct PigLastScan
{
	Oid			index;			/* invalid: there was none */
	bool		ordered;
	bool		recheck;
	int			conditions;
	int			segments;
	uint64		rows_given;
	pigment_host_search_counters counters;
} PigLastScan;

extern PigLastScan pig_last_scan;

/*
 * The same of one scan, from when it began, rescans included.
 */
typedef struct PigScanTotals
{
	int			segments;
	uint64		filter_rows;
	uint64		rows_scored;
	uint64		pages_read;
	uint64		walks;
	uint64		probes;
	uint64		visits;
	uint64		rows_late;
} PigScanTotals;

/* False: it has not asked for a row yet. */
extern bool pig_scan_totals(IndexScanDesc scan, PigScanTotals *totals);
extern const char *pig_strategy_name(bool is_ordered, bool has_conditions);
/* Has EXPLAIN (ANALYZE) show it, where the server lets a module. */
extern void pig_register_explain(void);
/* Has plans leave out distances that nobody reads. */
extern void pig_register_output(void);
/* Has scans find the limit right above them in the query that runs. */
extern void pig_register_limits(void);
/* NULL: there is none, or nobody knows. Stays for as long as the scan does. */
extern const LimitState *pig_limit_above(IndexScanDesc scan);
/* How many rows it lets through, those that it leaves out before among them; 0: there may be many. Asked after the scan was asked for a row. */
extern size_t pig_rows_wanted(const LimitState *limit);

#endif							/* PIGMENT_AM_H */
