/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_insert.c
 *	  Inserting one row: it goes to the end of the pending pages.
 *
 * The first vector fixes the dimension of an index whose column declares none. Insertion is not undone by a rollback, so that vector may turn out
 * never to have been there; then, and only then, another dimension takes its place.
 */
#include "postgres.h"

#include "access/tableam.h"
#include "compat.h"
#include "utils/memutils.h"

#include "am.h"
#include "engine_error.h"
#include "free_pages.h"
#include "segment_build.h"

/*
 * Whether no snapshot, now or later, can see the row.
 */
static bool
is_dead_to_all(Relation heap, uint64 row_pointer)
{
	ItemPointerData tid;
	bool		all_dead = false;

	pig_tid(row_pointer, &tid);
	return !table_index_fetch_tuple_check(heap, &tid, SnapshotSelf, &all_dead) && all_dead;
}

/*
 * Whether all entries with vectors of a pending page are of rows that are dead to all; if so and if asked to, marks them dead.
 */
static bool
all_vectors_dead(Relation index, Relation heap, BlockNumber block, uint32 stamp, const void *page, bool kill)
{
	uint32		count = pigment_pending_page_count(page);
	uint32	   *dead = palloc(sizeof(uint32) * (count + 1));
	int			dead_count = 0;

	for (uint32 i = 0; i < count; i++)
	{
		uint64_t	row_pointer;

		if (!pigment_pending_page_entry(page, i, &row_pointer) || !pigment_pending_page_entry_has_vector(page, i))
			continue;
		if (!is_dead_to_all(heap, row_pointer))
			return false;
		dead[dead_count++] = i;
	}
	if (kill && dead_count > 0)
		pig_kill_entries(index, block, stamp, dead, dead_count);
	pfree(dead);
	return true;
}

/*
 * Whether no row with a vector is left in an index whose dimension may change; *last and *count: the end of its pending chain then.
 */
static bool
has_no_vectors(Relation index, Relation heap, const PigMeta *meta, bool kill, BlockNumber *last, uint32 *count)
{
	BlockNumber block = meta->pending_head;

	if (pig_declared_dimension(index) != 0 || meta->segment_count > 0)
		return false;
	while (block != PIGMENT_NO_PAGE)
	{
		PGAlignedBlock page;

		CHECK_FOR_INTERRUPTS();
		pig_read_pending_page(index, meta->pending_stamp, block, &page);
		if (!all_vectors_dead(index, heap, block, meta->pending_stamp, page.data, kill))
			return false;
		*last = block;
		*count = pigment_pending_page_count(page.data);
		block = pigment_pending_page_next(page.data);
	}
	return true;
}

bool
pig_dimension_is_void(Relation index, Relation heap, const PigMeta *meta)
{
	BlockNumber last;
	uint32		count;

	return has_no_vectors(index, heap, meta, false, &last, &count);
}

/*
 * A row that somebody appends meanwhile makes it fail.
 */
static bool
replace_dimension(Relation index, Relation heap, PigMeta *meta, uint32 dimension)
{
	BlockNumber last;
	uint32		count;
	bool		replaced;

	/* nobody may flush entries of the old dimension meanwhile */
	pig_lock_maintenance(index, ExclusiveLock);
	pig_read_meta(index, meta);
	replaced = meta->dimension == dimension ||
		(has_no_vectors(index, heap, meta, true, &last, &count) && pig_change_dimension(index, meta, last, count, dimension));
	pig_unlock_maintenance(index, ExclusiveLock);
	return replaced;
}

static bool
append(Relation index, Relation heap, PigMeta *meta, uint32 dimension, PigRow *row, ItemPointer tid, PigAppended *appended)
{
	bool		declared = pig_declared_dimension(index) != 0;

	pig_read_meta(index, meta);
	if (row->vector == NULL)
		return pig_append_row(index, meta, row, declared, appended);
	if (meta->dimension == 0)
		meta->dimension = pig_fix_dimension(index, dimension);
	if (meta->dimension != dimension)
	{
		if (!replace_dimension(index, heap, meta, dimension))
			pig_refuse_dimension(index, meta->dimension, dimension);
		meta->dimension = dimension;
	}
	/* once: a row that was found and is gone is looked for no more */
	row->shared = tid != NULL ? pig_find_shared(index, heap, tid, meta, row) : NULL;
	return pig_append_row(index, meta, row, declared, appended);
}

bool
pig_insert(Relation index, Datum *values, bool *isnull, ItemPointer tid, Relation heap, IndexUniqueCheck check_unique,
		   bool index_unchanged, IndexInfo *index_info)
{
	/* the detoasted vector and the entry go with this context */
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "pigment insert", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	PigColumns	columns = pig_columns(index);
	PigKeys		keys = pig_row_keys(&columns, values, isnull);
	PigVector	vector = {0};
	PigRow		row = {.row_pointer = pig_row_pointer(tid)};
	PigMeta    *meta = palloc(sizeof(PigMeta));
	PigAppended appended;

	if (columns.vector >= 0 && !isnull[columns.vector])
		vector = pig_column_vector(&columns, values[columns.vector]);
	row.vector = vector.values;
	row.element = pig_build_element(index);
	row.rounds = pig_build_wants_rounding(index);
	row.keys = pig_encode_keys(&keys, &row.keys_size);

	/* again when somebody else changed the dimension in between, or dropped the row that has the vector */
	for (ItemPointer looks_for = tid; !append(index, heap, meta, vector.dimension, &row, looks_for, &appended); looks_for = NULL)
		CHECK_FOR_INTERRUPTS();
	if (appended.full_bytes > 0)
		pig_flush_if_due(index, heap, appended.full_bytes, appended.entry_bytes);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
	return false;
}
