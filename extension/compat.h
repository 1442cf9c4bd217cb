/* SPDX-License-Identifier: Apache-2.0 */

/*
 * compat.h
 *	  The one place that knows how PostgreSQL 15 to 18 differ.
 *
 * The code is written for the newest interface and this header gives it to the older servers, so that no other file asks
 * for PG_VERSION_NUM.
 */
#ifndef PIGMENT_COMPAT_H
#define PIGMENT_COMPAT_H

#include "access/generic_xlog.h"
#include "access/genam.h"
#include "access/gist_private.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_attribute.h"
#include "catalog/pg_proc.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "nodes/pathnodes.h"
#include "optimizer/clauses.h"
#include "optimizer/paths.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/lmgr.h"
#include "utils/acl.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#if PG_VERSION_NUM < 150000
#error "Pigment needs PostgreSQL 15 or later"
#endif

#if BLCKSZ != 8192
#error "Pigment's pages are 8192 bytes; this server was built with another BLCKSZ"
#endif

#if PG_VERSION_NUM >= 160000
#include "varatt.h"
#include "access/sysattr.h"
#include "catalog/pg_class.h"
#include "nodes/multibitmapset.h"
#endif

/* 18 writes it before the declaration. */
#ifndef pg_noreturn
#define pg_noreturn __attribute__((noreturn))
#endif

/* 18 lets a module tell its name and version. */
#if PG_VERSION_NUM >= 180000
#define PIGMENT_MODULE_MAGIC(text) PG_MODULE_MAGIC_EXT(.name = "pigment", .version = text)
#else
#define PIGMENT_MODULE_MAGIC(text) PG_MODULE_MAGIC
#endif

/* 18 lets a module add to the nodes that EXPLAIN shows. */
#if PG_VERSION_NUM >= 180000
#include "commands/explain.h"
#include "commands/explain_format.h"
#include "commands/explain_state.h"
#define PIG_HAS_EXPLAIN_HOOK
#endif

/* 16 reads all that is asked for, or raises. */
#if PG_VERSION_NUM < 160000
#include "storage/buffile.h"

static inline void
BufFileReadExact(BufFile *file, void *to, size_t size)
{
	if (BufFileRead(file, to, size) != size)
		ereport(ERROR, (errcode_for_file_access(), errmsg("could not read from temporary file: %m")));
}
#endif

/* 18 counts searches for EXPLAIN (ANALYZE). */
#if PG_VERSION_NUM >= 180000
#define pig_count_search(scan) ((void) ((scan)->instrument != NULL && (scan)->instrument->nsearches++))
#else
#define pig_count_search(scan) ((void) (scan))
#endif

/* 18 tells whether the caller is ANALYZE. */
#if PG_VERSION_NUM >= 180000
#define pig_vacuum_delay_point() vacuum_delay_point(false)
#else
#define pig_vacuum_delay_point() vacuum_delay_point()
#endif

/* 18 counts what a cost cannot forbid; before, an infinite cost is enough. */
#if PG_VERSION_NUM >= 180000
#define pig_disable_path(index_path) ((index_path)->path.disabled_nodes = 2)
#else
#define pig_disable_path(index_path) ((void) (index_path))
#endif

/* 18 runs a query once or several times without being told which. */
#if PG_VERSION_NUM >= 180000
#define PIG_RUN_PARAMETERS QueryDesc *query, ScanDirection direction, uint64 count
#define PIG_RUN_ARGUMENTS query, direction, count
#else
#define PIG_RUN_PARAMETERS QueryDesc *query, ScanDirection direction, uint64 count, bool once
#define PIG_RUN_ARGUMENTS query, direction, count, once
#endif

/* 17 dropped old_snapshot_threshold. */
#if PG_VERSION_NUM >= 170000
#define pig_test_for_old_snapshot(snapshot, relation, page) ((void) (snapshot))
#define pig_snapshots_grow_old() false
#else
#define pig_test_for_old_snapshot(snapshot, relation, page) TestForOldSnapshot(snapshot, relation, page)
#define pig_snapshots_grow_old() OldSnapshotThresholdActive()
#endif

/* 18 asks the locale itself. */
#if PG_VERSION_NUM >= 180000
#define pig_collation_is_c(collation) (pg_newlocale_from_collation(collation)->collate_is_c)
#else
#define pig_collation_is_c(collation) lc_collate_is_c(collation)
#endif

/* 18 keeps members of an equivalence class for child relations apart, and names the direction of a sort otherwise. */
#if PG_VERSION_NUM >= 180000
typedef EquivalenceMemberIterator PigMembers;
#define pig_members_begin(members, class, rel) setup_eclass_member_iterator(members, class, (rel)->relids)
#define pig_members_next(members) eclass_member_iterator_next(members)
#define pig_pathkey_descends(pathkey) ((pathkey)->pk_cmptype == COMPARE_GT)
#else
typedef struct PigMembers
{
	const List *list;
	int			next;
} PigMembers;

static inline void
pig_members_begin(PigMembers *members, const EquivalenceClass *eclass, const RelOptInfo *rel)
{
	members->list = eclass->ec_members;
	members->next = 0;
}

static inline EquivalenceMember *
pig_members_next(PigMembers *members)
{
	return members->next < list_length(members->list) ? (EquivalenceMember *) list_nth(members->list, members->next++) : NULL;
}

#define pig_pathkey_descends(pathkey) ((pathkey)->pk_strategy == BTGreaterStrategyNumber)
#endif

/* Whether clauses that all hold keep out NULL in this column; 16 gave the set of such columns another form. */
static inline bool
pig_has_nonnullable_var(Node *clauses, int relid, AttrNumber attribute)
{
#if PG_VERSION_NUM >= 160000
	return mbms_is_member(relid, attribute - FirstLowInvalidHeapAttributeNumber, find_nonnullable_vars(clauses));
#else
	ListCell   *cell;

	foreach(cell, find_nonnullable_vars(clauses))
	{
		const Var  *var = lfirst_node(Var, cell);

		if (var->varno == relid && var->varattno == attribute && var->varlevelsup == 0)
			return true;
	}
	return false;
#endif
}

/* Whether a column is NOT NULL; since 18 that may be declared and not validated, which the planner's own set tells. */
static inline bool
pig_attribute_is_not_null(const RelOptInfo *rel, Oid relation, AttrNumber attribute)
{
#if PG_VERSION_NUM >= 170000
	return bms_is_member(attribute, rel->notnullattnums);
#else
	HeapTuple	tuple = SearchSysCache2(ATTNUM, ObjectIdGetDatum(relation), Int16GetDatum(attribute));
	bool		not_null = HeapTupleIsValid(tuple) && ((Form_pg_attribute) GETSTRUCT(tuple))->attnotnull;

	if (HeapTupleIsValid(tuple))
		ReleaseSysCache(tuple);
	return not_null;
#endif
}

/* A new page of the fork, exclusively locked. */
static inline Buffer
pig_extend(Relation index, ForkNumber fork)
{
#if PG_VERSION_NUM >= 160000
	return ExtendBufferedRel(BMR_REL(index), fork, NULL, EB_LOCK_FIRST);
#else
	Buffer		buffer;
	bool		lock = !RELATION_IS_LOCAL(index);

	if (lock)
		LockRelationForExtension(index, ExclusiveLock);
	buffer = ReadBufferExtended(index, fork, P_NEW, RBM_NORMAL, NULL);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (lock)
		UnlockRelationForExtension(index, ExclusiveLock);
	return buffer;
#endif
}

/* Pins the buffer if it still has the block, without looking the block up. 16 gave the place of a file another name. */
static inline bool
pig_read_recent_buffer(Relation relation, BlockNumber block, Buffer buffer)
{
#if PG_VERSION_NUM >= 160000
	bool		has = ReadRecentBuffer(relation->rd_locator, MAIN_FORKNUM, block, buffer);
#else
	bool		has = ReadRecentBuffer(relation->rd_node, MAIN_FORKNUM, block, buffer);
#endif

	if (!has)
		return false;
	pgstat_count_buffer_read(relation);
	pgstat_count_buffer_hit(relation);
	return true;
}

/* Whether others do not see the relation, or not the file that it has now. 16 gave the place of a file another name. */
static inline bool
pig_is_of_this_transaction(Relation relation)
{
#if PG_VERSION_NUM >= 160000
	return relation->rd_createSubid != InvalidSubTransactionId || relation->rd_firstRelfilelocatorSubid != InvalidSubTransactionId;
#else
	return relation->rd_createSubid != InvalidSubTransactionId || relation->rd_firstRelfilenodeSubid != InvalidSubTransactionId;
#endif
}

/* Says to standbys that pages which transaction `xid` retired are about to be reused. 16 also asks for the table, which before may be unknown. */
static inline void
pig_log_page_reuse(Relation index, Relation heap, BlockNumber block, FullTransactionId xid)
{
#if PG_VERSION_NUM >= 160000
	gistXLogPageReuse(index, heap, block, xid);
#else
	(void) heap;
	gistXLogPageReuse(index, block, xid);
#endif
}

/* 16 tells VACUUM of an index which table it is of. */
#if PG_VERSION_NUM >= 160000
#define pig_vacuumed_table(info) ((info)->heaprel)
#else
#define pig_vacuumed_table(info) ((Relation) NULL)
#endif

/* 18 can log that a lock was not to be had. */
#if PG_VERSION_NUM >= 180000
#define pig_try_lock_tuple(relation, tid, mode) ConditionalLockTuple(relation, tid, mode, false)
#else
#define pig_try_lock_tuple(relation, tid, mode) ConditionalLockTuple(relation, tid, mode)
#endif

/* 16 renamed pg_class_ownercheck and its kin. */
static inline bool
pig_owns_class(Oid relation)
{
#if PG_VERSION_NUM >= 160000
	return object_ownercheck(RelationRelationId, relation, GetUserId());
#else
	return pg_class_ownercheck(relation, GetUserId());
#endif
}

/* 16 can report a bad name softly. */
#if PG_VERSION_NUM >= 160000
#define pig_qualified_name_list(text) stringToQualifiedNameList(text, NULL)
#else
#define pig_qualified_name_list(text) stringToQualifiedNameList(text)
#endif

/* 16 made one function of the checks of every kind of object. */
static inline bool
pig_may_execute(Oid function, Oid role)
{
#if PG_VERSION_NUM >= 160000
	return object_aclcheck(ProcedureRelationId, function, role, ACL_EXECUTE) == ACLCHECK_OK;
#else
	return pg_proc_aclcheck(function, role, ACL_EXECUTE) == ACLCHECK_OK;
#endif
}

#endif							/* PIGMENT_COMPAT_H */
