/* SPDX-License-Identifier: Apache-2.0 */

/*
 * background_merge.c
 *	  A background worker that merges what an insert finds due and leaves to others.
 *
 * The insert asks for it and goes on; where the server has no place for another worker, VACUUM merges. The worker does what VACUUM does at its end, waits for
 * no lock, so that there is one for an index, and gives way to who waits for one of its own, as autovacuum does: it is cancelled, and the merge that it was at
 * is left to the next.
 */
#include "postgres.h"

#include <signal.h>

#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "compat.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "postmaster/bgworker.h"
#include "storage/lmgr.h"
#include "storage/lwlock.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/builtins.h"
#include "utils/guc.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "am.h"
#include "free_pages.h"

bool		pig_background_merge = true;

extern PGDLLEXPORT void pigment_pg_background_merge(Datum index);

/* ---- who asks for it ---- */

/*
 * It has to see the index, and to get the lock of its table beside those of this transaction.
 */
bool
pig_can_merge_in_background(Relation index, Relation heap)
{
	return pig_background_merge && !RelationUsesLocalBuffers(index) && index->rd_index->indisvalid && !pig_is_of_this_transaction(index) &&
		!CheckRelationLockedByMe(heap, ShareLock, true);
}

/* What a worker is told beside the index; settings are those of who asks, so that both plan the same merge. */
typedef struct Order
{
	Oid			database;
	int			memory_kb;
	int			pending_limit_kb;
} Order;

StaticAssertDecl(sizeof(Order) <= BGW_EXTRALEN, "an order fits");

void
pig_start_background_merge(Relation index)
{
	Order		order = {.database = MyDatabaseId, .memory_kb = maintenance_work_mem, .pending_limit_kb = pig_pending_limit};
	BackgroundWorker worker = {
		.bgw_flags = BGWORKER_SHMEM_ACCESS | BGWORKER_BACKEND_DATABASE_CONNECTION,
		.bgw_start_time = BgWorkerStart_RecoveryFinished,
		.bgw_restart_time = BGW_NEVER_RESTART,
		.bgw_library_name = "$libdir/pigment",
		.bgw_function_name = "pigment_pg_background_merge",
		.bgw_type = "pigment merge",
		.bgw_main_arg = ObjectIdGetDatum(RelationGetRelid(index)),
	};

	snprintf(worker.bgw_name, sizeof(worker.bgw_name), "pigment merge of index %u", RelationGetRelid(index));
	memcpy(worker.bgw_extra, &order, sizeof(order));
	/* only DEBUG1: where there is no place, VACUUM merges */
	if (!RegisterDynamicBackgroundWorker(&worker, NULL))
		ereport(DEBUG1, (errmsg_internal("no background worker is free to merge index \"%s\"", RelationGetRelationName(index))));
}

/* ---- the worker ---- */

static void
set_if_known(const char *name, const char *value)
{
	if (GetConfigOption(name, true, false) != NULL)
		SetConfigOption(name, value, PGC_SUSET, PGC_S_OVERRIDE);
}

/*
 * Connects as no role of its own, because an owner's may be one that must not log in, and without what a database sets for its users.
 */
static void
connect_for(const Order *order)
{
	BackgroundWorkerInitializeConnectionByOid(order->database, InvalidOid, BGWORKER_BYPASS_ALLOWCONN);
	set_if_known("search_path", "");
	set_if_known("default_transaction_isolation", "read committed");
	set_if_known("lock_timeout", "0");
	/* since 17 */
	set_if_known("transaction_timeout", "0");
	set_if_known("maintenance_work_mem", psprintf("%d", order->memory_kb));
	set_if_known("pigment.pending_list_limit", psprintf("%d", order->pending_limit_kb));
}

static void
add_status(uint8 flags)
{
	LWLockAcquire(ProcArrayLock, LW_EXCLUSIVE);
	MyProc->statusFlags |= flags;
	ProcGlobal->statusFlags[MyProc->pgxactoff] = MyProc->statusFlags;
	LWLockRelease(ProcArrayLock);
}

/*
 * The index and its table, locked; NULL, and nothing is open: it is gone, is no index of ours any more, or its table is locked. Nothing is waited for.
 */
static Relation
try_open(Oid oid, Relation *table)
{
	Oid			table_oid = IndexGetRelation(oid, true);
	Relation	index;

	if (!OidIsValid(table_oid) || !ConditionalLockRelationOid(table_oid, RowExclusiveLock))
		return NULL;
	*table = try_relation_open(table_oid, NoLock);
	if (*table == NULL)
		return NULL;
	index = ConditionalLockRelationOid(oid, RowExclusiveLock) ? try_relation_open(oid, NoLock) : NULL;
	if (index != NULL && index->rd_rel->relkind == RELKIND_INDEX && index->rd_index->indrelid == table_oid &&
		index->rd_index->indisvalid && index->rd_indam->ambuild == pig_build)
		return index;
	if (index != NULL)
		relation_close(index, NoLock);
	relation_close(*table, NoLock);
	return NULL;
}

static void
show_activity(Relation index)
{
	char	   *schema = get_namespace_name(RelationGetNamespace(index));

	pgstat_report_activity(STATE_RUNNING, psprintf("background merge of index %s",
												   quote_qualified_identifier(schema, RelationGetRelationName(index))));
}

static void
merge_index(Oid oid)
{
	Relation	table;
	Relation	index;
	Oid			user;
	int			security;

	SetCurrentStatementStartTimestamp();
	StartTransactionCommand();
	/* as VACUUM does, before the snapshot: it reads no table, so no dead row is kept for it */
	add_status(PROC_IN_VACUUM);
	PushActiveSnapshot(GetTransactionSnapshot());
	index = try_open(oid, &table);
	if (index != NULL && pig_try_lock_maintenance(index))
	{
		show_activity(index);
		GetUserIdAndSecContext(&user, &security);
		SetUserIdAndSecContext(table->rd_rel->relowner, security | SECURITY_RESTRICTED_OPERATION);
		pig_merge_beside_inserts(index, table);
		SetUserIdAndSecContext(user, security);
	}
	if (index != NULL)
	{
		relation_close(index, NoLock);
		relation_close(table, NoLock);
	}
	PopActiveSnapshot();
	CommitTransactionCommand();
}

/*
 * Whatever ends it, it is not started again.
 */
void
pigment_pg_background_merge(Datum index)
{
	Order		order;
	MemoryContext context = CurrentMemoryContext;

	memcpy(&order, MyBgworkerEntry->bgw_extra, sizeof(order));
	pqsignal(SIGTERM, die);
	BackgroundWorkerUnblockSignals();
	connect_for(&order);
	/* the server cancels it where somebody waits for a lock that it has, and ends it where its database is dropped */
	add_status(PROC_IS_AUTOVACUUM);
	PG_TRY();
	{
		merge_index(DatumGetObjectId(index));
	}
	PG_CATCH();
	{
		if (geterrcode() != ERRCODE_QUERY_CANCELED)
			PG_RE_THROW();
		/* no error: it was to give way */
		MemoryContextSwitchTo(context);
		HOLD_INTERRUPTS();
		FlushErrorState();
		AbortCurrentTransaction();
		RESUME_INTERRUPTS();
		ereport(LOG, (errmsg("background merge of index %u was cancelled", DatumGetObjectId(index))));
	}
	PG_END_TRY();
}
