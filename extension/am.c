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
#include "utils/guc.h"
#include "utils/lsyscache.h"

#include "am.h"

static relopt_kind option_kind;

/* The library's own. */
#define DEFAULT_RECALL 0.98
#define DEFAULT_K1 1.2
#define DEFAULT_B 0.75

double		pig_target_recall = DEFAULT_RECALL;
int			pig_search_width = 0;

/* Names of DESIGN and of those who come from pgvector. */
static relopt_enum_elt_def index_kinds[] = {
	{"auto", PIGMENT_INDEX_AUTO},
	{"hnsw", PIGMENT_INDEX_GRAPH},
	{"spann", PIGMENT_INDEX_CLUSTERS},
	{"flat", PIGMENT_INDEX_FLAT},
	{NULL}
};

static relopt_enum_elt_def vector_kinds[] = {
	{"f16", PIG_VECTORS_F16},
	{"f32", PIG_VECTORS_F32},
	{NULL}
};

/* Ranges of m and ef_construction are pgvector's; 0, the default, is what suits the vectors. */
#define M_MAX 100
#define EF_CONSTRUCTION_MAX 1000

void
pig_register_options(void)
{
	option_kind = add_reloption_kind();
	add_enum_reloption(option_kind, "kind", "What segments have for searches beside their vectors", index_kinds,
					   PIGMENT_INDEX_AUTO, "Valid values are \"auto\", \"hnsw\", \"spann\" and \"flat\".",
					   AccessExclusiveLock);
	add_int_reloption(option_kind, "m", "Links of a graph's node on each level, as HNSW counts them; 0: what suits the dimension", 0, 0,
					  M_MAX, AccessExclusiveLock);
	add_int_reloption(option_kind, "ef_construction", "Candidates for links of a graph's node; 0: what suits the dimension", 0, 0,
					  EF_CONSTRUCTION_MAX, AccessExclusiveLock);
	add_enum_reloption(option_kind, "full_vectors", "How the numbers of vectors are kept", vector_kinds, PIG_VECTORS_F16,
					   "Valid values are \"f16\" and \"f32\".", AccessExclusiveLock);
	add_real_reloption(option_kind, "k1", "How much more a word says that is in a text more often", DEFAULT_K1, 0, 100,
					   ShareUpdateExclusiveLock);
	add_real_reloption(option_kind, "b", "How much less a word says in a long text", DEFAULT_B, 0, 1, ShareUpdateExclusiveLock);
	DefineCustomRealVariable("pigment.target_recall",
							 "Part of the nearest rows that a scan by distance finds, on average.",
							 "1: all, by looking at every row that the conditions let through.",
							 &pig_target_recall, DEFAULT_RECALL, 0.5, 1, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("pigment.search_width",
							"Nodes of a graph, or clusters, that a scan by distance visits in each segment.",
							"0: as many as pigment.target_recall takes.",
							&pig_search_width, 0, 0, 1000000, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomIntVariable("pigment.pending_list_limit",
							"Size of an index's pending rows from which on an insert makes a segment of them, if there are not 16,384 of them sooner.",
							"Scans look at codes of pending rows, for which a session keeps up to twice as much memory of each index, usually less than half.",
							&pig_pending_limit, 16384, 64, MAX_KILOBYTES, PGC_USERSET, GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomBoolVariable("pigment.background_merge",
							 "Whether inserts ask for a background worker to merge segments that they leave to others, and scans for one to note where many pending rows lie.",
							 "Off, or where no worker is free: VACUUM merges them, and scans look at all pending rows.",
							 &pig_background_merge, true, PGC_USERSET, 0, NULL, NULL, NULL);
}

static bytea *
options(Datum reloptions, bool validate)
{
	static const relopt_parse_elt elements[] = {
		{.optname = "kind", .opttype = RELOPT_TYPE_ENUM, .offset = offsetof(PigOptions, kind)},
		{.optname = "m", .opttype = RELOPT_TYPE_INT, .offset = offsetof(PigOptions, m)},
		{.optname = "ef_construction", .opttype = RELOPT_TYPE_INT, .offset = offsetof(PigOptions, ef_construction)},
		{.optname = "k1", .opttype = RELOPT_TYPE_REAL, .offset = offsetof(PigOptions, k1)},
		{.optname = "b", .opttype = RELOPT_TYPE_REAL, .offset = offsetof(PigOptions, b)},
		{.optname = "full_vectors", .opttype = RELOPT_TYPE_ENUM, .offset = offsetof(PigOptions, full_vectors)},
	};

	return (bytea *) build_reloptions(reloptions, validate, option_kind, sizeof(PigOptions), elements, lengthof(elements));
}

PigOptions
pig_options(Relation index)
{
	return index->rd_options != NULL ? *(PigOptions *) index->rd_options : (PigOptions) {.kind = PIGMENT_INDEX_AUTO, .k1 = DEFAULT_K1, .b = DEFAULT_B,
			.full_vectors = PIG_VECTORS_F16};
}

/*
 * pg_index_column_has_property(..., 'distance_orderable'); the server knows the rest by itself.
 */
static bool
property(Oid index_oid, int attno, IndexAMProperty prop, const char *name, bool *res, bool *isnull)
{
	Oid			family;
	Oid			type;

	if (prop != AMPROP_DISTANCE_ORDERABLE || attno == 0)
		return false;
	*isnull = !get_opclass_opfamily_and_input_type(get_index_column_opclass(index_oid, attno), &family, &type);
	*res = !*isnull && (OidIsValid(get_opfamily_proc(family, type, type, PIG_METRIC_PROC)) ||
						OidIsValid(get_opfamily_proc(family, type, type, PIG_TEXT_OPTIONS_PROC)));
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
		case PIG_PHASE_INDEX:
			return "building index of vectors";
		case PIG_PHASE_PUBLISH:
			return "publishing";
		default:
			return NULL;
	}
}

int32
pig_column_metric(Relation index, int column)
{
	int32		metric = DatumGetInt32(FunctionCall0Coll(index_getprocinfo(index, (AttrNumber) (column + 1), PIG_METRIC_PROC), InvalidOid));

	if (strcmp(pig_metric_name(metric), "unknown") == 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
				 errmsg("support function %d of index \"%s\" names no metric: %d", PIG_METRIC_PROC,
						RelationGetRelationName(index), metric)));
	return metric;
}

int32
pig_index_metric(Relation index)
{
	int			vector = pig_columns(index).vector;

	/* without one no row has a vector, and it does not matter */
	return vector < 0 ? PIGMENT_METRIC_L2 : pig_column_metric(index, vector);
}

uint32
pig_declared_dimension(Relation index)
{
	int			vector = pig_columns(index).vector;
	int32		typmod = vector < 0 ? 0 : TupleDescAttr(RelationGetDescr(index), vector)->atttypmod;

	return typmod > 0 ? (uint32) typmod : 0;
}

const char *
pig_vector_type_name(Relation index)
{
	switch (pig_columns(index).element)
	{
		case PIG_ELEMENT_HALF:
			return "halfvec";
		case PIG_ELEMENT_BIT:
			return "bit";
		case PIG_ELEMENT_FLOAT:
			break;
	}
	return "vector";
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
		case PIGMENT_METRIC_HAMMING:
			return "hamming";
		case PIGMENT_METRIC_JACCARD:
			return "jaccard";
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
METRIC_FUNCTION(hamming, PIGMENT_METRIC_HAMMING)
METRIC_FUNCTION(jaccard, PIGMENT_METRIC_JACCARD)

/*
 * What is absent is off or NULL: no order of its own, no parallel scans, no index-only scans (a standby could see phantom rows).
 */
PG_FUNCTION_INFO_V1(pigment_pg_handler);
Datum
pigment_pg_handler(PG_FUNCTION_ARGS)
{
	IndexAmRoutine *routine = makeNode(IndexAmRoutine);

	routine->amstrategies = 0;
	routine->amsupport = PIG_PROCS;
	routine->amoptsprocnum = PIG_TEXT_OPTIONS_PROC;
	routine->amcanorderbyop = true;
	routine->amcanmulticol = true;
	routine->amoptionalkey = true;
	routine->amsearcharray = true;
	routine->amsearchnulls = true;
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
	routine->amgetbitmap = pig_get_bitmap;
	routine->amendscan = pig_end_scan;
	PG_RETURN_POINTER(routine);
}
