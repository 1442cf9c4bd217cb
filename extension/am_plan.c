/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_plan.c
 *	  What the planner and CREATE OPERATOR CLASS ask: the cost of a scan, and whether an operator class makes sense.
 */
#include "postgres.h"

#include "access/amvalidate.h"
#include "access/htup_details.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/float.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/spccache.h"
#include "utils/syscache.h"

#include "am.h"

/*
 * A scan looks at every row before it gives the first: all pages and all distances are startup cost.
 *
 * A sequential scan reads out-of-line vectors too and is not charged for them; so where an index is larger than its table, it is charged
 * for the table's pages only. Both are then charged alike, and differ in what a distance and a sort cost.
 */
void
pig_cost_estimate(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup_cost, Cost *total_cost,
				  Selectivity *selectivity, double *correlation, double *pages)
{
	IndexOptInfo *index = path->indexinfo;
	double		spc_seq_page_cost;

	*selectivity = 1;
	*correlation = 0;
	*pages = index->pages;

	/* nothing to serve: only one order, and only distances */
	if (list_length(path->indexorderbys) != 1)
	{
		*startup_cost = *total_cost = get_float8_infinity();
		pig_disable_path(path);
		return;
	}
	get_tablespace_page_costs(index->reltablespace, NULL, &spc_seq_page_cost);
	*startup_cost = Min((double) index->pages, Max((double) index->rel->pages, 1)) * spc_seq_page_cost +
		index->tuples * cpu_operator_cost;
	*total_cost = *startup_cost + index->tuples * cpu_index_tuple_cost;
}

/* ---- operator classes ---- */

static void
complain(bool *valid, const char *family, const char *what)
{
	ereport(INFO,
			(errcode(ERRCODE_INVALID_OBJECT_DEFINITION),
			 errmsg("operator family \"%s\" of access method pigment %s", family, what)));
	*valid = false;
}

/*
 * Support function 1, and no other: metric() returns integer, one of those that the engine knows.
 */
static bool
validate_procedures(Oid family_oid, Oid type, const char *family)
{
	CatCList   *list = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family_oid));
	bool		valid = true;
	int			found = 0;

	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_amproc form = (Form_pg_amproc) GETSTRUCT(&list->members[i]->tuple);
		Oid		   *arguments;
		int			count;
		Oid			result = get_func_signature(form->amproc, &arguments, &count);

		if (form->amprocnum != PIG_METRIC_PROC)
			complain(&valid, family, psprintf("contains function %s with invalid support number %d",
											  format_procedure(form->amproc), form->amprocnum));
		else if (result != INT4OID || count != 0)
			complain(&valid, family, psprintf("contains function %s with wrong signature for support number %d",
											  format_procedure(form->amproc), form->amprocnum));
		else if (strcmp(pig_metric_name(DatumGetInt32(OidFunctionCall0(form->amproc))), "unknown") == 0)
			complain(&valid, family, psprintf("contains function %s, which names no metric", format_procedure(form->amproc)));
		else if (form->amproclefttype == type && form->amprocrighttype == type)
			found++;
	}
	ReleaseCatCacheList(list);
	if (found != 1)
		complain(&valid, family, psprintf("has %d support functions for type %s, not one", found, format_type_be(type)));
	return valid;
}

/*
 * One operator, for ordering, whose result sorts as double precision.
 */
static bool
validate_operators(Oid family_oid, Oid type, const char *family)
{
	CatCList   *list = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family_oid));
	bool		valid = true;
	int			found = 0;

	for (int i = 0; i < list->n_members; i++)
	{
		Form_pg_amop form = (Form_pg_amop) GETSTRUCT(&list->members[i]->tuple);
		Oid			left;
		Oid			right;

		op_input_types(form->amopopr, &left, &right);
		if (form->amopstrategy != PIG_DISTANCE_STRATEGY)
			complain(&valid, family, psprintf("contains operator %s with invalid strategy number %d",
											  format_operator(form->amopopr), form->amopstrategy));
		else if (form->amoppurpose != AMOP_ORDER)
			complain(&valid, family, psprintf("contains operator %s that is not for ordering", format_operator(form->amopopr)));
		else if (get_op_rettype(form->amopopr) != FLOAT8OID || !opfamily_can_sort_type(form->amopsortfamily, FLOAT8OID))
			complain(&valid, family, psprintf("contains operator %s with an incorrect ORDER BY specification",
											  format_operator(form->amopopr)));
		else if (left == type && right == type)
			found++;
	}
	ReleaseCatCacheList(list);
	if (found != 1)
		complain(&valid, family, psprintf("has %d distance operators for type %s, not one", found, format_type_be(type)));
	return valid;
}

bool
pig_validate(Oid opclass_oid)
{
	HeapTuple	tuple = SearchSysCache1(CLAOID, ObjectIdGetDatum(opclass_oid));
	Form_pg_opclass form;
	Oid			family_oid;
	Oid			type;
	char	   *family;
	bool		valid;

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator class %u", opclass_oid);
	form = (Form_pg_opclass) GETSTRUCT(tuple);
	family_oid = form->opcfamily;
	type = form->opcintype;
	ReleaseSysCache(tuple);
	tuple = SearchSysCache1(OPFAMILYOID, ObjectIdGetDatum(family_oid));
	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for operator family %u", family_oid);
	family = pstrdup(NameStr(((Form_pg_opfamily) GETSTRUCT(tuple))->opfname));
	ReleaseSysCache(tuple);
	valid = validate_procedures(family_oid, type, family);
	return validate_operators(family_oid, type, family) && valid;
}
