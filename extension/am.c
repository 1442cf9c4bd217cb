/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am.c
 *	  Access method `pigment`: the handler, and the small callbacks.
 */
#include "postgres.h"

#include "access/reloptions.h"
#include "catalog/pg_type.h"
#include "commands/progress.h"
#include "compat.h"
#include "utils/fmgrprotos.h"

#include "am.h"

static relopt_kind option_kind;

void
pig_register_options(void)
{
	option_kind = add_reloption_kind();
}

/*
 * There are no options yet: the server refuses each by its name.
 */
static bytea *
options(Datum reloptions, bool validate)
{
	return (bytea *) build_reloptions(reloptions, validate, option_kind, sizeof(StdRdOptions), NULL, 0);
}

/*
 * pg_index_column_has_property(..., 'distance_orderable'); the server knows the rest by itself.
 */
static bool
property(Oid index_oid, int attno, IndexAMProperty prop, const char *name, bool *res, bool *isnull)
{
	if (prop != AMPROP_DISTANCE_ORDERABLE || attno == 0)
		return false;
	*res = true;
	*isnull = false;
	return true;
}

static char *
build_phase_name(int64 phase)
{
	switch (phase)
	{
		case PROGRESS_CREATEIDX_SUBPHASE_INITIALIZE:
			return "initializing";
		case PIG_PHASE_WRITE:
			return "writing rows";
		case PIG_PHASE_PUBLISH:
			return "publishing";
		default:
			return NULL;
	}
}

int32
pig_index_metric(Relation index)
{
	FmgrInfo   *function = index_getprocinfo(index, 1, PIG_METRIC_PROC);
	int32		metric = DatumGetInt32(FunctionCall0Coll(function, InvalidOid));

	if (strcmp(pig_metric_name(metric), "unknown") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("support function %d of index \"%s\" names no metric: %d", PIG_METRIC_PROC,
						RelationGetRelationName(index), metric)));
	return metric;
}

uint32
pig_declared_dimension(Relation index)
{
	int32		typmod = TupleDescAttr(RelationGetDescr(index), 0)->atttypmod;

	return typmod > 0 ? (uint32) typmod : 0;
}

const char *
pig_metric_name(int32 metric)
{
	switch (metric)
	{
		case PIGMENT_METRIC_L2:
			return "l2";
		case PIGMENT_METRIC_COSINE:
		case PIGMENT_METRIC_COSINE_NAN:
			return "cosine";
		case PIGMENT_METRIC_IP:
		case PIGMENT_METRIC_NEGATIVE_IP:
			return "ip";
		case PIGMENT_METRIC_L1:
			return "l1";
		default:
			return "unknown";
	}
}

#define METRIC_FUNCTION(name, metric) \
	PG_FUNCTION_INFO_V1(pigment_pg_metric_##name); \
	Datum pigment_pg_metric_##name(PG_FUNCTION_ARGS) { PG_RETURN_INT32(metric); }

METRIC_FUNCTION(l2, PIGMENT_METRIC_L2)
METRIC_FUNCTION(cosine, PIGMENT_METRIC_COSINE_NAN)
METRIC_FUNCTION(ip, PIGMENT_METRIC_NEGATIVE_IP)
METRIC_FUNCTION(l1, PIGMENT_METRIC_L1)

/*
 * What is absent is off or NULL: no order of its own, no parallel scans, no index-only scans (a standby could see phantom rows), no
 * bitmap scans (there is nothing to search for yet but an order).
 */
PG_FUNCTION_INFO_V1(pigment_pg_handler);
Datum
pigment_pg_handler(PG_FUNCTION_ARGS)
{
	IndexAmRoutine *routine = makeNode(IndexAmRoutine);

	routine->amstrategies = 0;
	routine->amsupport = 1;
	routine->amcanorderbyop = true;
	routine->amoptionalkey = true;
	routine->amusemaintenanceworkmem = false;
	routine->amparallelvacuumoptions = VACUUM_OPTION_PARALLEL_BULKDEL | VACUUM_OPTION_PARALLEL_COND_CLEANUP;
	routine->amkeytype = InvalidOid;

	routine->ambuild = pig_build;
	routine->ambuildempty = pig_build_empty;
	routine->aminsert = pig_insert;
	routine->ambulkdelete = pig_bulk_delete;
	routine->amvacuumcleanup = pig_vacuum_cleanup;
	routine->amcostestimate = pig_cost_estimate;
	routine->amoptions = options;
	routine->amproperty = property;
	routine->ambuildphasename = build_phase_name;
	routine->amvalidate = pig_validate;
	routine->ambeginscan = pig_begin_scan;
	routine->amrescan = pig_rescan;
	routine->amgettuple = pig_get_tuple;
	routine->amendscan = pig_end_scan;
	PG_RETURN_POINTER(routine);
}
