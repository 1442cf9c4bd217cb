/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_check.c
 *	  pigment.stats(), pigment.segments, pigment.check() and pigment.differences(): what an index holds, and whether it is sound.
 *
 * The check reads every page that something refers to, finds which block serves for what, has the engine verify segments, and compares the
 * rows with the table: each tuple visible to a fresh snapshot must be in the index exactly once, with its vector, bit for bit, its distance to a
 * fixed one, and its values; and what the index has must lead to a row version, or to what VACUUM left of one until it comes to the index.
 * Maintenance is kept away meanwhile, inserts and scans are not.
 */
#include "postgres.h"

#include <math.h>

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/tableam.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "catalog/index.h"
#include "compat.h"
#include "funcapi.h"
#include "storage/bufmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/memutils.h"

#include "am.h"
#include "am_reorder.h"
#include "census.h"
#include "engine_error.h"
#include "free_pages.h"

/* What a block serves for. */
typedef enum BlockUse
{
	BLOCK_LEAKED,				/* nothing refers to it */
	BLOCK_META,
	BLOCK_SEGMENT,
	BLOCK_DELETION,
	BLOCK_PENDING,
	BLOCK_OVERFLOW,
	BLOCK_RETIRED,				/* somebody may still read it */
	BLOCK_FREE,
	BLOCK_USES
} BlockUse;

static const char *const block_use_names[] = {"leaked", "meta", "segment", "deletion", "pending", "overflow", "retired", "free"};

typedef struct CheckedRow
{
	uint64		row_pointer;
	float		distance;
	int32		kind;			/* as of pigment_host_hit */
	bool		has_vector;		/* known: `vector` is its fingerprint */
	bool		has_keys;		/* known: `keys` is their fingerprint */
	bool		is_repeated;
	bool		is_different;	/* its keys are not those of the table */
	uint64		vector;
	uint64		keys;			/* of one column, where it is sought which is different */
} CheckedRow;

/* What is wrong with a tuple, as pigment.differences() calls it. */
typedef enum Difference
{
	DIFFERENCE_MISSING,
	DIFFERENCE_REPEATED,
	DIFFERENCE_VALUE,
	DIFFERENCE_DANGLING
} Difference;

static const char *const difference_names[] = {"missing", "repeated", "different", "dangling"};

typedef struct CheckState
{
	Relation	index;
	MemoryContext context;
	PigMeta		meta;
	PigColumns	columns;
	BlockNumber blocks;			/* when the check began; later ones are not judged */
	uint8	   *uses;			/* a BlockUse for each */
	CheckedRow *rows;			/* what a search gives, by row pointer */
	Size		row_count;
	Size		row_capacity;
	Size		different_rows; /* by their keys */
	ReturnSetInfo *differences; /* where they are listed; NULL: the first is an error */
	float	   *query;
	MemoryContext row_context;
	MemoryContextCallback release;
	pigment_host_search *search;
	pigment_segment *segment;	/* the one being verified */
} CheckState;

void
pig_check_usable(Relation index)
{
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("\"%s\" is a temporary index of another session", RelationGetRelationName(index))));
	if (!index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid", RelationGetRelationName(index)),
				 errhint("It was not built to its end: REINDEX or drop it.")));
}

Relation
pig_open_index(Oid oid, LOCKMODE mode, Relation *table)
{
	Oid			table_oid = IndexGetRelation(oid, true);
	Relation	index;

	/* the order in which everybody locks them */
	*table = OidIsValid(table_oid) ? table_open(table_oid, mode) : NULL;
	index = relation_open(oid, mode);
	if (*table == NULL || index->rd_rel->relkind != RELKIND_INDEX || index->rd_indam->ambuild != pig_build)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not an index of access method pigment", RelationGetRelationName(index))));
	if (!pig_owns_class(oid))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX, RelationGetRelationName(index));
	pig_check_usable(index);
	return index;
}

static uint64
count_live_entries(const void *page)
{
	uint64		live = 0;

	for (uint32 i = 0; i < pigment_pending_page_count(page); i++)
	{
		uint64_t	row_pointer;

		live += pigment_pending_page_entry(page, i, &row_pointer);
	}
	return live;
}

static uint64
count_deleted(Relation index, const PigSegmentEntry *entry)
{
	size_t		bytes;
	uint8	   *bits = pig_read_deletions(index, NULL, entry, &bytes, NULL);
	uint64		deleted = pig_count_deleted(bits, entry->rows);

	if (bits != NULL)
		pfree(bits);
	return deleted;
}

typedef struct ListedPages
{
	uint64		retired;
	uint64		free;
} ListedPages;

/*
 * As far as they are found: a list may go while it is looked for, because nothing is locked.
 */
static ListedPages
count_listed(Relation index, const PigMeta *meta)
{
	ListedPages result = {0};
	BlockNumber block = meta->retired;
	PGAlignedBlock page;
	const PigPageList *list;

	/* a list that has gone may be another now, and lead back */
	for (BlockNumber seen = 0; seen < RelationGetNumberOfBlocks(index) && block != PIGMENT_NO_PAGE; seen++)
	{
		CHECK_FOR_INTERRUPTS();
		if (!pig_read_list(index, block, &page, &list))
			break;
		result.retired += list->count;
		block = list->next;
	}
	if (meta->free != 0 && pig_read_list(index, meta->free, &page, &list))
		result.free = list->count;
	return result;
}

static Datum
record_of(FunctionCallInfo fcinfo, Datum *values)
{
	TupleDesc	descriptor;
	bool		nulls[16] = {false};

	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE || descriptor->natts > 16)
		elog(ERROR, "return type must be a row type");
	return HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls));
}

PG_FUNCTION_INFO_V1(pigment_pg_stats);
Datum
pigment_pg_stats(PG_FUNCTION_ARGS)
{
	Relation	table;
	Relation	index = pig_open_index(PG_GETARG_OID(0), AccessShareLock, &table);
	PigMeta	   *meta = palloc(sizeof(PigMeta));
	uint64		rows = 0;
	uint64		deleted = 0;
	uint64		pending = 0;
	uint64		dead = 0;
	uint64		pending_pages = 0;
	ListedPages listed;
	Datum		values[12];

	pig_read_meta(index, meta);
	for (uint32 i = 0; i < meta->segment_count; i++)
	{
		rows += meta->segments[i].rows;
		deleted += count_deleted(index, &meta->segments[i]);
	}
	for (BlockNumber block = meta->pending_head; block != PIGMENT_NO_PAGE; pending_pages++)
	{
		PGAlignedBlock page;

		CHECK_FOR_INTERRUPTS();
		pig_read_pending_page(index, meta->pending_stamp, block, &page);
		pending += count_live_entries(page.data);
		dead += pigment_pending_page_count(page.data) - count_live_entries(page.data);
		block = pigment_pending_page_next(page.data);
	}
	/* no metric where no row has a vector */
	values[0] = CStringGetTextDatum(pig_columns(index).vector < 0 ? "none" : pig_metric_name(meta->metric));
	values[1] = Int32GetDatum((int32) meta->dimension);
	values[2] = Int32GetDatum((int32) meta->segment_count);
	values[3] = Int64GetDatum((int64) rows);
	values[4] = Int64GetDatum((int64) deleted);
	values[5] = Int64GetDatum((int64) pending);
	values[6] = Int64GetDatum((int64) dead);
	values[7] = Int64GetDatum((int64) pending_pages);
	values[8] = Int64GetDatum((int64) RelationGetNumberOfBlocks(index));
	values[9] = Int64GetDatum((int64) meta->generation);
	listed = count_listed(index, meta);
	values[10] = Int64GetDatum((int64) listed.retired);
	values[11] = Int64GetDatum((int64) listed.free);
	relation_close(index, AccessShareLock);
	table_close(table, AccessShareLock);
	PG_RETURN_DATUM(record_of(fcinfo, values));
}

/*
 * Whether the current role may look into an index, which must be a whole one of ours; for lists, where the others are passed over.
 */
static bool
is_listed(Relation index)
{
	return index->rd_rel->relkind == RELKIND_INDEX && index->rd_indam->ambuild == pig_build && index->rd_index->indisvalid &&
		!RELATION_IS_OTHER_TEMP(index);
}

static void
put_segment_row(ReturnSetInfo *result, uint32 segment, const char *kind, uint64 rows, uint64 live, uint64 pages)
{
	Datum		values[5] = {Int64GetDatum((int64) segment), CStringGetTextDatum(kind), Int64GetDatum((int64) rows),
	Int64GetDatum((int64) live), Int64GetDatum((int64) (pages * BLCKSZ))};
	bool		nulls[5] = {segment == 0};

	tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
}

/* Words of the engine's own lists. */
static const char *
index_name(const pigment_segment *segment)
{
	pigment_segment_info info = {.struct_size = sizeof(info)};

	pigment_segment_get_info(segment, &info);
	switch (info.index)
	{
		case PIGMENT_INDEX_GRAPH:
			return "graph";
		case PIGMENT_INDEX_CLUSTERS:
			return "clusters";
		default:
			return "flat";
	}
}

static void
list_segments(ReturnSetInfo *result, Relation index)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "pigment segments", ALLOCSET_DEFAULT_SIZES);
	PigSource	source;
	PigSegments *segments;
	PigMeta    *meta = palloc(sizeof(PigMeta));
	uint64		rows = 0;
	uint64		live = 0;
	uint64		pages = 0;

	pig_read_meta(index, meta);
	pig_source_init(&source, index, NULL, false, context);
	segments = pig_open_segments(&source, meta, context);
	for (uint32 i = 0; i < meta->segment_count; i++)
	{
		const PigSegmentEntry *entry = &meta->segments[i];

		CHECK_FOR_INTERRUPTS();
		put_segment_row(result, entry->segment, index_name(segments->segments[i]), entry->rows,
						entry->rows - pig_count_deleted(segments->deleted[i], entry->rows), entry->pages);
	}
	for (BlockNumber block = meta->pending_head; block != PIGMENT_NO_PAGE; pages++)
	{
		PGAlignedBlock page;

		CHECK_FOR_INTERRUPTS();
		pig_read_pending_page(index, meta->pending_stamp, block, &page);
		rows += pigment_pending_page_count(page.data);
		live += count_live_entries(page.data);
		block = pigment_pending_page_next(page.data);
	}
	if (rows > 0)
		put_segment_row(result, 0, "pending", rows, live, pages);
	pfree(meta);
	MemoryContextDelete(context);
}

PG_FUNCTION_INFO_V1(pigment_pg_segments);
Datum
pigment_pg_segments(PG_FUNCTION_ARGS)
{
	Oid			oid = PG_GETARG_OID(0);
	Oid			table_oid = IndexGetRelation(oid, true);
	Relation	table;
	Relation	index;

	InitMaterializedSRF(fcinfo, 0);
	/* before any lock: nobody waits for a table that is not theirs */
	if (!OidIsValid(table_oid) || !pig_owns_class(oid))
		return (Datum) 0;
	table = try_relation_open(table_oid, AccessShareLock);
	if (table == NULL)
		return (Datum) 0;
	index = try_relation_open(oid, AccessShareLock);
	if (index != NULL)
	{
		if (is_listed(index))
			list_segments((ReturnSetInfo *) fcinfo->resultinfo, index);
		relation_close(index, AccessShareLock);
	}
	relation_close(table, AccessShareLock);
	return (Datum) 0;
}

/* ---- blocks ---- */

static void
claim(CheckState *check, BlockNumber block, BlockUse use)
{
	if (block >= check->blocks)
		return;
	if (check->uses[block] != BLOCK_LEAKED)
		pig_raise_corrupted(check->index, block,
							psprintf("used for %s and for %s", block_use_names[check->uses[block]], block_use_names[use]));
	check->uses[block] = (uint8) use;
}

/*
 * Claims what the engine read through a source.
 */
static void
claim_visited(CheckState *check, const PigSource *source, BlockUse use)
{
	for (BlockNumber block = 0; block < check->blocks; block++)
		if (pig_bit(source->visited, block))
			claim(check, block, use);
}

static void
record_visits(CheckState *check, PigSource *source)
{
	source->visited_blocks = check->blocks;
	source->visited = palloc0(check->blocks / 8 + 1);
}

static void
check_segment(CheckState *check, PigSource *source, const PigSegmentEntry *entry)
{
	BlockNumber *blocks = palloc(sizeof(BlockNumber) * (pig_deletion_pages(entry) + 1));
	pigment_segment_info info = {.struct_size = sizeof(info)};
	size_t		bytes;
	uint8	   *deleted = pig_read_deletions(check->index, NULL, entry, &bytes, blocks);

	/* each segment's visits apart, from its root on, so that two that share a page are found */
	record_visits(check, source);
	PIG_CALL(&source->error, pigment_segment_open(&source->callbacks, entry->segment, entry->root, &check->segment, &error));
	pigment_segment_get_info(check->segment, &info);
	if (info.rows != entry->rows || info.pages != entry->pages || info.metric != check->meta.metric ||
		info.dimension != check->meta.dimension)
		pig_raise_corrupted(check->index, entry->root, psprintf("segment %u is not what the directory says", entry->segment));
	PIG_CALL(&source->error, pigment_segment_verify(check->segment, &error));
	pigment_segment_free(check->segment);
	check->segment = NULL;
	claim_visited(check, source, BLOCK_SEGMENT);
	for (uint32 i = 0; deleted != NULL && i < pig_deletion_pages(entry); i++)
		claim(check, blocks[i], BLOCK_DELETION);
}

static void
check_pending_chain(CheckState *check, PigSource *pending_pages)
{
	PigRetired	pages = {0};
	BlockNumber last = PIGMENT_NO_PAGE;

	for (BlockNumber block = check->meta.pending_head; block != PIGMENT_NO_PAGE;)
	{
		PGAlignedBlock page;

		CHECK_FOR_INTERRUPTS();
		pig_read_pending_page(check->index, check->meta.pending_stamp, block, &page);
		claim(check, block, BLOCK_PENDING);
		last = block;
		block = pigment_pending_page_next(page.data);
	}
	pig_collect_pending(pending_pages, check->meta.pending_stamp, check->meta.pending_head, last, &pages);
	for (Size i = 0; i < pages.count; i++)
		if (pages.blocks[i] >= check->blocks || check->uses[pages.blocks[i]] != BLOCK_PENDING)
			claim(check, pages.blocks[i], BLOCK_OVERFLOW);
	pfree(pages.blocks);
}

/*
 * What pending rows hang on, which must be a segment that there is.
 */
static void
check_graft(CheckState *check, PigSource *pending_pages)
{
	PigRetired	pages = {0};
	uint32		segment;
	bool		is_there = false;

	if (check->meta.graft == 0)
		return;
	segment = pig_collect_graft(pending_pages, check->meta.pending_stamp, check->meta.graft, &pages);
	for (uint32 i = 0; i < check->meta.segment_count; i++)
		is_there |= check->meta.segments[i].segment == segment;
	if (!is_there)
		pig_raise_corrupted(check->index, check->meta.graft, psprintf("rows hang on segment %u, which is not there", segment));
	for (Size i = 0; i < pages.count; i++)
		claim(check, pages.blocks[i], BLOCK_OVERFLOW);
	pfree(pages.blocks);
}

/*
 * A list's page and what it names; returns the next. On a standby, which replays changes meanwhile, it may be none any more, and what it names
 * may serve for something by now.
 */
static BlockNumber
check_list(CheckState *check, BlockNumber block, BlockUse use)
{
	bool		may_change = RecoveryInProgress();
	PGAlignedBlock page;
	const PigPageList *list;

	CHECK_FOR_INTERRUPTS();
	if (!pig_read_list(check->index, block, &page, &list))
	{
		if (may_change)
			return PIGMENT_NO_PAGE;
		pig_raise_corrupted(check->index, block, "no list of pages");
	}
	if (may_change && block < check->blocks && check->uses[block] != BLOCK_LEAKED)
		return PIGMENT_NO_PAGE;
	claim(check, block, BLOCK_META);
	for (uint32 i = 0; i < list->count; i++)
		if (!may_change || list->blocks[i] >= check->blocks || check->uses[list->blocks[i]] == BLOCK_LEAKED)
			claim(check, list->blocks[i], use);
	return list->next;
}

/*
 * The last thing that is looked at: free pages may be taken meanwhile, but nothing becomes free.
 */
static void
check_lists(CheckState *check)
{
	PigMeta	   *now = palloc(sizeof(PigMeta));

	pig_read_meta(check->index, now);
	/* a list that leads to itself is claimed twice */
	for (BlockNumber block = now->retired; block != PIGMENT_NO_PAGE;)
		block = check_list(check, block, BLOCK_RETIRED);
	if (now->free != 0)
		(void) check_list(check, now->free, BLOCK_FREE);
	pfree(now);
}

/* ---- rows ---- */

/*
 * Called when the memory context goes, also after an error: frees memory and nothing else.
 */
static void
release_objects(void *arg)
{
	pigment_host_search_free(((CheckState *) arg)->search);
	pigment_segment_free(((CheckState *) arg)->segment);
}

static void
keep_row(CheckState *check, const pigment_host_hit *hit)
{
	if (check->row_count == check->row_capacity)
	{
		check->row_capacity = Max(check->row_capacity * 2, 1024);
		check->rows = check->rows == NULL ?
			MemoryContextAllocHuge(check->context, check->row_capacity * sizeof(CheckedRow)) :
			repalloc_huge(check->rows, check->row_capacity * sizeof(CheckedRow));
	}
	check->rows[check->row_count].row_pointer = hit->row_pointer;
	check->rows[check->row_count].distance = hit->distance;
	check->rows[check->row_count].kind = hit->kind;
	check->rows[check->row_count].has_keys = false;
	check->rows[check->row_count].is_different = false;
	check->row_count++;
}

static void
raise_difference(const char *index, ItemPointer tid, const char *column, Difference difference)
{
	BlockNumber block = ItemPointerGetBlockNumberNoCheck(tid);
	OffsetNumber offset = ItemPointerGetOffsetNumberNoCheck(tid);
	char	   *message = NULL;

	switch (difference)
	{
		case DIFFERENCE_MISSING:
			message = psprintf("index \"%s\" lacks tuple (%u,%u) of its table", index, block, offset);
			break;
		case DIFFERENCE_REPEATED:
			message = psprintf("index \"%s\" has tuple (%u,%u) more than once", index, block, offset);
			break;
		case DIFFERENCE_VALUE:
			message = psprintf("index \"%s\" has another value in column \"%s\" of tuple (%u,%u) than its table", index, column, block, offset);
			break;
		case DIFFERENCE_DANGLING:
			message = psprintf("index \"%s\" has tuple (%u,%u), which its table has not", index, block, offset);
			break;
	}
	ereport(ERROR, (errcode(ERRCODE_INDEX_CORRUPTED), errmsg_internal("%s", message), errhint("Please REINDEX it.")));
}

/*
 * column: of the index; -1: the whole row is meant.
 */
static void
tell_difference(CheckState *check, uint64 row_pointer, int column, Difference difference)
{
	const char *name = column >= 0 ? NameStr(TupleDescAttr(RelationGetDescr(check->index), column)->attname) : NULL;
	ItemPointerData tid;
	Datum		values[3];
	bool		nulls[3] = {false, name == NULL};

	pig_tid(row_pointer, &tid);
	if (check->differences == NULL)
		raise_difference(RelationGetRelationName(check->index), &tid, name, difference);
	values[0] = PointerGetDatum(&tid);
	values[1] = name != NULL ? CStringGetTextDatum(name) : (Datum) 0;
	values[2] = CStringGetTextDatum(difference_names[difference]);
	tuplestore_putvalues(check->differences->setResult, check->differences->setDesc, values, nulls);
}

static int
compare_rows(const void *a, const void *b)
{
	uint64		left = ((const CheckedRow *) a)->row_pointer;
	uint64		right = ((const CheckedRow *) b)->row_pointer;

	return (left > right) - (left < right);
}

/*
 * All rows of the index by a search of the engine, which reads every vector that is alive.
 */
static void
collect_rows(CheckState *check, PigSegments *segments, PigSource *segment_pages, PigSource *pending_pages)
{
	pigment_host_search_options options = {.struct_size = sizeof(options)};
	uint32		dimension = Max(check->meta.dimension, 1);
	pigment_host_hit *hits = palloc(sizeof(pigment_host_hit) * 1024);
	size_t		count;

	check->query = palloc(sizeof(float) * dimension);
	for (uint32 i = 0; i < dimension; i++)
		check->query[i] = (float) ((int) (i * 7919 % 101) - 50) / 37.0f;
	options.metric = check->meta.metric;
	options.dimension = dimension;
	options.query = check->query;
	options.batch_rows_first = 65536;
	options.batch_bytes_max = (uint64) maintenance_work_mem * 1024;
	PIG_CALL(NULL, pigment_host_search_new(&options, &check->search, &error));
	for (int i = 0; i < segments->count; i++)
		PIG_CALL(&segment_pages->error, pigment_host_search_add_segment(check->search, segments->segments[i], segments->deleted[i],
																		segments->deleted_bytes[i], &error));
	PIG_CALL(&pending_pages->error, pigment_host_search_add_pending(check->search, &pending_pages->callbacks, check->meta.pending_stamp,
																	check->meta.pending_head, &error));
	do
	{
		ErrorData **kept;
		pigment_error *error;
		pigment_status status;

		CHECK_FOR_INTERRUPTS();
		do
		{
			error = NULL;
			status = pigment_host_search_next(check->search, hits, 1024, &count, &error);
			kept = pending_pages->error != NULL ? &pending_pages->error : &segment_pages->error;
		} while (pig_retry(status, error, kept));
		for (size_t i = 0; i < count; i++)
			keep_row(check, &hits[i]);
	} while (count > 0);

	if (check->row_count > 0)
		qsort(check->rows, check->row_count, sizeof(CheckedRow), compare_rows);
}

static CheckedRow *
find_row(CheckState *check, uint64 row_pointer)
{
	CheckedRow	key = {.row_pointer = row_pointer};

	return check->row_count == 0 ? NULL : bsearch(&key, check->rows, check->row_count, sizeof(CheckedRow), compare_rows);
}

/*
 * Called by the engine: must not raise. Rows that came since the search are none of ours.
 */
static pigment_status
keep_keys(void *context, uint64_t row_pointer, uint64_t fingerprint)
{
	CheckedRow *row = find_row((CheckState *) context, row_pointer);

	if (row != NULL)
	{
		row->has_keys = true;
		row->keys = fingerprint;
	}
	return PIGMENT_OK;
}

static pigment_status
keep_vector(void *context, uint64_t row_pointer, uint64_t fingerprint)
{
	CheckedRow *row = find_row((CheckState *) context, row_pointer);

	if (row != NULL)
	{
		row->is_repeated = row->has_vector;
		row->has_vector = true;
		row->vector = fingerprint;
	}
	return PIGMENT_OK;
}

/* The pages of an index, by what is read there. */
typedef struct CheckPages
{
	PigSource  *segments;
	PigSource  *pending;
} CheckPages;

/*
 * Whether vectors that pending rows have of others are there. A standby may have published their segment after its directory was read.
 */
static void
check_hashes(CheckState *check, const PigSegments *segments, CheckPages *pages)
{
	ErrorData **kept;
	pigment_error *error;
	pigment_status status;
	bool		rounds;

	if (RecoveryInProgress())
		return;
	pig_source_share(pages->pending, segments);
	do
	{
		error = NULL;
		status = pigment_pending_rounds_to_halves(&pages->pending->callbacks, check->meta.pending_stamp, check->meta.pending_head, PIGMENT_NO_PAGE,
												  &rounds, &error);
		kept = pages->pending->error != NULL ? &pages->pending->error : &pages->segments->error;
	} while (pig_retry(status, error, kept));
}

/* In the place of a filter column. */
#define ALL_FILTER_COLUMNS (-2)
#define VECTOR_COLUMN (-1)

/*
 * What the index has of each row in a filter column, in all of them, or as its vector.
 */
static void
collect_column(CheckState *check, const CheckPages *pages, int column)
{
	ErrorData **kept;
	pigment_error *error;
	pigment_status status;

	do
	{
		/* after an interrupt it begins anew */
		for (Size i = 0; column == VECTOR_COLUMN && i < check->row_count; i++)
			check->rows[i].has_vector = check->rows[i].is_repeated = false;
		error = NULL;
		if (column == ALL_FILTER_COLUMNS)
			status = pigment_host_search_visit_keys(check->search, keep_keys, check, &error);
		else
			status = pigment_host_search_visit_column(check->search, column, column == VECTOR_COLUMN ? keep_vector : keep_keys, check, &error);
		kept = pages->pending->error != NULL ? &pages->pending->error : &pages->segments->error;
	} while (pig_retry(status, error, kept));
}

static uint64
keys_fingerprint(const CheckState *check, Datum *values, bool *isnull, int column)
{
	PigKeys		keys = pig_row_keys(&check->columns, values, isnull);
	size_t		first = 0;
	size_t		end = keys.count;

	if (column != ALL_FILTER_COLUMNS)
	{
		while (first < keys.count && keys.keys[first].column < (uint32) column)
			first++;
		end = first;
		while (end < keys.count && keys.keys[end].column == (uint32) column)
			end++;
	}
	return pigment_host_keys_fingerprint(keys.keys + first, end - first);
}

static bool
has_vector(const CheckState *check, const CheckedRow *row, const float *vector)
{
	float		distance = pigment_host_distance(check->meta.metric, vector, check->query, check->meta.dimension);
	int32		kind = isnan(distance) ? 1 : 0;

	if (row->kind != kind || (kind == 0 && memcmp(&row->distance, &distance, sizeof(float)) != 0))
		return false;
	return !row->has_vector || row->vector == pigment_host_vector_fingerprint(vector, check->meta.dimension);
}

/*
 * Whether the index has the row's vector, or what rounding makes of it where that is done.
 */
static bool
has_same_vector(const CheckState *check, const CheckedRow *row, Datum *values, bool *isnull)
{
	int			place = check->columns.vector;
	PigVector	vector;
	float	   *rounded;

	if (place < 0 || isnull[place])
		return row->kind == 2;
	vector = pig_column_vector(&check->columns, values[place]);
	if (check->meta.dimension != vector.dimension)
		return false;
	if (has_vector(check, row, vector.values))
		return true;
	if (pig_rounding(&check->meta) == 0)
		return false;
	rounded = palloc(sizeof(float) * vector.dimension);
	if (pigment_host_round_to_halves(check->meta.metric, vector.values, vector.dimension, rounded, NULL) && has_vector(check, row, rounded))
		return true;
	return pigment_host_round_to_twelves(check->meta.metric, vector.values, vector.dimension, rounded, NULL) && has_vector(check, row, rounded);
}

static void
compare_tuple(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	CheckState *check = (CheckState *) arg;
	MemoryContext caller = MemoryContextSwitchTo(check->row_context);
	CheckedRow *row = find_row(check, pig_row_pointer(tid));

	if (row == NULL)
		tell_difference(check, pig_row_pointer(tid), -1, DIFFERENCE_MISSING);
	else
	{
		if (!has_same_vector(check, row, values, isnull))
			tell_difference(check, row->row_pointer, check->columns.vector, DIFFERENCE_VALUE);
		/* which of its columns it is, is asked when there is such a row */
		if (row->has_keys && row->keys != keys_fingerprint(check, values, isnull, ALL_FILTER_COLUMNS))
		{
			row->is_different = true;
			check->different_rows++;
		}
	}
	MemoryContextSwitchTo(caller);
	MemoryContextReset(check->row_context);
}

typedef struct ComparedColumn
{
	CheckState *check;
	int			column;
} ComparedColumn;

/*
 * Of the rows that are known to be different somewhere.
 */
static void
compare_column(Relation index, ItemPointer tid, Datum *values, bool *isnull, bool alive, void *arg)
{
	const ComparedColumn *compared = (const ComparedColumn *) arg;
	CheckState *check = compared->check;
	MemoryContext caller = MemoryContextSwitchTo(check->row_context);
	CheckedRow *row = find_row(check, pig_row_pointer(tid));

	if (row != NULL && row->is_different && row->keys != keys_fingerprint(check, values, isnull, compared->column))
		tell_difference(check, row->row_pointer, compared->column, DIFFERENCE_VALUE);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(check->row_context);
}

/*
 * Calls back for each row of the table that the snapshot sees. It is older than the rows that were collected, so each tuple that it sees had its
 * entry by then.
 */
static void
visit_table(CheckState *check, Relation table, Snapshot snapshot, IndexBuildCallback visit, void *arg)
{
	IndexInfo  *info = BuildIndexInfo(check->index);
	TableScanDesc scan;
	Oid			user;
	int			security;
	int			nest_level;

	/* an expression of the index runs as its owner and may change nothing, whoever asks for the check */
	GetUserIdAndSecContext(&user, &security);
	SetUserIdAndSecContext(table->rd_rel->relowner, security | SECURITY_RESTRICTED_OPERATION);
	nest_level = NewGUCNestLevel();
	scan = table_beginscan_strat(table, snapshot, 0, NULL, true, true);
	/* makes the scan use our snapshot and index what it sees */
	info->ii_Concurrent = true;
	info->ii_Unique = false;
	table_index_build_scan(table, check->index, info, true, false, visit, arg, scan);
	AtEOXact_GUC(false, nest_level);
	SetUserIdAndSecContext(user, security);
}

/*
 * Rows that were found more than once by collect_column(): a search gives those with one distance once. A standby gives a row pointer to another row
 * while it is read, and is not asked.
 */
static void
tell_repeated(CheckState *check)
{
	for (Size i = 0; !RecoveryInProgress() && i < check->row_count; i++)
		if (check->rows[i].is_repeated)
			tell_difference(check, check->rows[i].row_pointer, -1, DIFFERENCE_REPEATED);
}

static void
compare_with_table(CheckState *check, const CheckPages *pages, Relation table, Snapshot snapshot)
{
	if (check->index->rd_index->indcheckxmin &&
		!TransactionIdPrecedes(HeapTupleHeaderGetXmin(check->index->rd_indextuple->t_data), snapshot->xmin))
		ereport(ERROR,
				(errcode(ERRCODE_T_R_SERIALIZATION_FAILURE),
				 errmsg("index \"%s\" cannot be compared with its table yet", RelationGetRelationName(check->index)),
				 errhint("Repeat when the transactions that were open at its creation have ended.")));
	visit_table(check, table, snapshot, compare_tuple, check);
	for (int column = 0; check->different_rows > 0 && column < check->columns.count; column++)
	{
		if (column == check->columns.vector)
			continue;
		collect_column(check, pages, column);
		visit_table(check, table, snapshot, compare_column, &(ComparedColumn) {check, column});
	}
}

/*
 * Whether there is a row version, or what is left of one that VACUUM has not removed from the indexes. A heap-only tuple is in none.
 */
static bool
has_tuple(Page page, OffsetNumber offset)
{
	ItemId		item;

	if (offset < FirstOffsetNumber || offset > PageGetMaxOffsetNumber(page))
		return false;
	item = PageGetItemId(page, offset);
	if (!ItemIdIsNormal(item))
		return ItemIdIsUsed(item);
	return !HeapTupleHeaderIsHeapOnly((HeapTupleHeader) PageGetItem(page, item));
}

/*
 * Whether what the index has leads anywhere. A bulk delete, which frees row pointers when all indexes have let go of them, waits for the maintenance
 * lock: so what the index had when the check began is there as long as the check is. A standby has no such lock, and frees them as it replays.
 */
static void
check_row_pointers(CheckState *check, Relation table)
{
	BlockNumber blocks = RelationGetNumberOfBlocks(table);
	BufferAccessStrategy strategy = GetAccessStrategy(BAS_BULKREAD);
	Buffer		buffer = InvalidBuffer;

	for (Size i = 0; i < check->row_count; i++)
	{
		uint64		block = check->rows[i].row_pointer >> 16;
		bool		is_there = block < blocks;

		if (is_there)
		{
			if (!BufferIsValid(buffer) || BufferGetBlockNumber(buffer) != block)
			{
				CHECK_FOR_INTERRUPTS();
				if (BufferIsValid(buffer))
					ReleaseBuffer(buffer);
				buffer = ReadBufferExtended(table, MAIN_FORKNUM, (BlockNumber) block, RBM_NORMAL, strategy);
			}
			LockBuffer(buffer, BUFFER_LOCK_SHARE);
			is_there = has_tuple(BufferGetPage(buffer), (OffsetNumber) (check->rows[i].row_pointer & 0xFFFF));
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		}
		if (!is_there)
			tell_difference(check, check->rows[i].row_pointer, -1, DIFFERENCE_DANGLING);
	}
	if (BufferIsValid(buffer))
		ReleaseBuffer(buffer);
	FreeAccessStrategy(strategy);
}

static void
check_index(CheckState *check, Relation table)
{
	PigSource  *segment_pages = palloc(sizeof(PigSource));
	PigSource  *pending_pages = palloc(sizeof(PigSource));
	CheckPages	pages = {segment_pages, pending_pages};
	Snapshot	snapshot = table != NULL ? RegisterSnapshot(GetTransactionSnapshot()) : InvalidSnapshot;
	PigSegments *segments;

	pig_read_meta(check->index, &check->meta);
	check->columns = pig_columns(check->index);
	if (check->columns.has_keys != pig_has_keys(&check->meta))
		pig_raise_corrupted(check->index, PIG_META_BLOCK, "the catalog has other columns than the index");
	check->blocks = RelationGetNumberOfBlocks(check->index);
	check->uses = MemoryContextAllocExtended(CurrentMemoryContext, check->blocks, MCXT_ALLOC_HUGE | MCXT_ALLOC_ZERO);
	claim(check, PIG_META_BLOCK, BLOCK_META);
	pig_source_init(segment_pages, check->index, NULL, false, check->context);
	pig_source_init(pending_pages, check->index, NULL, true, check->context);
	segments = pig_open_segments(segment_pages, &check->meta, check->context);
	/* called before the segments' own: the search borrows them */
	check->release.func = release_objects;
	check->release.arg = check;
	MemoryContextRegisterResetCallback(check->context, &check->release);
	for (int i = 0; i < segments->count; i++)
		check_segment(check, segment_pages, &check->meta.segments[i]);
	segment_pages->visited = NULL;
	check_pending_chain(check, pending_pages);
	check_graft(check, pending_pages);
	check_hashes(check, segments, &pages);
	collect_rows(check, segments, segment_pages, pending_pages);
	check_lists(check);
	collect_column(check, &pages, VECTOR_COLUMN);
	tell_repeated(check);
	if (check->columns.has_keys)
		collect_column(check, &pages, ALL_FILTER_COLUMNS);
	if (table != NULL)
	{
		compare_with_table(check, &pages, table, snapshot);
		UnregisterSnapshot(snapshot);
		if (!RecoveryInProgress() && table->rd_tableam == GetHeapamTableAmRoutine())
			check_row_pointers(check, table);
	}
}

/*
 * Locks what it needs of an index, and checks it. heap: against its table too. counts: of blocks, by BlockUse.
 */
static Size
run_check(Oid oid, bool heap, ReturnSetInfo *differences, int64 *counts)
{
	Relation	table;
	Relation	index = pig_open_index(oid, AccessShareLock, &table);
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "pigment check", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	CheckState *check = palloc0(sizeof(CheckState));
	bool		has_lock = !RecoveryInProgress();
	Size		rows;

	check->index = index;
	check->context = context;
	check->row_context = AllocSetContextCreate(context, "pigment check row", ALLOCSET_DEFAULT_SIZES);
	check->differences = differences;
	/* what a page serves for does not change meanwhile, but for pages that inserts take */
	if (has_lock)
		pig_lock_maintenance(index, ShareLock);
	check_index(check, heap ? table : NULL);
	if (has_lock)
		pig_unlock_maintenance(index, ShareLock);
	for (BlockNumber block = 0; block < check->blocks; block++)
		counts[check->uses[block]]++;
	rows = check->row_count;
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	relation_close(index, AccessShareLock);
	table_close(table, AccessShareLock);
	return rows;
}

PG_FUNCTION_INFO_V1(pigment_pg_check);
Datum
pigment_pg_check(PG_FUNCTION_ARGS)
{
	int64		counts[BLOCK_USES] = {0};
	Size		rows = run_check(PG_GETARG_OID(0), PG_GETARG_BOOL(1), NULL, counts);
	int64		pages = 0;
	Datum		values[10];

	for (int use = 0; use < BLOCK_USES; use++)
		pages += counts[use];
	values[0] = Int64GetDatum(pages);
	values[1] = Int64GetDatum(counts[BLOCK_META]);
	values[2] = Int64GetDatum(counts[BLOCK_SEGMENT]);
	values[3] = Int64GetDatum(counts[BLOCK_DELETION]);
	values[4] = Int64GetDatum(counts[BLOCK_PENDING]);
	values[5] = Int64GetDatum(counts[BLOCK_OVERFLOW]);
	values[6] = Int64GetDatum(counts[BLOCK_LEAKED]);
	values[7] = Int64GetDatum((int64) rows);
	values[8] = Int64GetDatum(counts[BLOCK_RETIRED]);
	values[9] = Int64GetDatum(counts[BLOCK_FREE]);
	PG_RETURN_DATUM(record_of(fcinfo, values));
}

PG_FUNCTION_INFO_V1(pigment_pg_differences);
Datum
pigment_pg_differences(PG_FUNCTION_ARGS)
{
	int64		counts[BLOCK_USES] = {0};

	InitMaterializedSRF(fcinfo, 0);
	(void) run_check(PG_GETARG_OID(0), true, (ReturnSetInfo *) fcinfo->resultinfo, counts);
	return (Datum) 0;
}
