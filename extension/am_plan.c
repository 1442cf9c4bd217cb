/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_plan.c
 *	  What the planner and CREATE OPERATOR CLASS ask: the cost of a scan, and whether an operator class makes sense.
 */
#include "postgres.h"

#include <math.h>

#include "access/amvalidate.h"
#include "access/genam.h"
#include "access/htup_details.h"
#include "access/stratnum.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_amproc.h"
#include "catalog/pg_opclass.h"
#include "catalog/pg_opfamily.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/plancat.h"
#include "utils/builtins.h"
#include "utils/catcache.h"
#include "utils/float.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/selfuncs.h"
#include "utils/spccache.h"
#include "utils/syscache.h"

#include "am.h"
#include "json_plan.h"
#include "ranked_text.h"

/* Pages that a condition reads of its postings, on average. */
#define PAGES_PER_CONDITION 3
/* As the engine does: fewer rows of a segment are looked up one by one. */
#define FEW_OF_ROWS 8
/* What a search of an index visits, each in a page or two: so many, and some more for each doubling of the rows. */
#define VISITS_BASE 40
#define VISITS_PER_DOUBLING 5
#define PAGES_PER_VISIT 2
/* Pages with the lists of a query's words: some, and a part of the index, as far as that is known before they are read. */
#define PAGES_OF_WORDS 8
#define PART_OF_WORDS 0.05

/*
 * The clause's strategy in the column's family; InvalidStrategy for IS NULL and IS NOT NULL.
 */
static int
strategy_of(const IndexOptInfo *index, int column, Node *clause)
{
	Oid			operator = InvalidOid;

	if (IsA(clause, OpExpr))
		operator = ((OpExpr *) clause)->opno;
	else if (IsA(clause, ScalarArrayOpExpr))
		operator = ((ScalarArrayOpExpr *) clause)->opno;
	return OidIsValid(operator) ? get_op_opfamily_strategy(operator, index->opfamily[column]) : InvalidStrategy;
}

/*
 * What the clause compares its column with; NULL: that is not known yet.
 */
static const Datum *
known_argument(Node *clause)
{
	Node	   *right = IsA(clause, OpExpr) ? (Node *) lsecond(((OpExpr *) clause)->args) : NULL;

	return right != NULL && IsA(right, Const) && !((Const *) right)->constisnull ? &((Const *) right)->constvalue : NULL;
}

/*
 * The conditions of a path that keep rows out by themselves; the others only let the executor look at each row.
 */
typedef struct AnsweredQuals
{
	List	   *filters;		/* on filter columns */
	List	   *filter_columns; /* the column of each */
	List	   *all;			/* these, and those on distances */
	List	   *all_columns;
	List	   *originals;		/* what the query has in the place of each of all */
} AnsweredQuals;

static void
add_answered(AnsweredQuals *quals, const IndexOptInfo *index, const IndexClause *clause, RestrictInfo *info)
{
	PigColumn	column = pig_column_of(index->opfamily[clause->indexcol], index->opcintype[clause->indexcol],
									   index->indexcollations[clause->indexcol]);

	if (!pig_column_answers(&column, strategy_of(index, clause->indexcol, (Node *) info->clause), known_argument((Node *) info->clause)))
		return;
	quals->all = lappend(quals->all, info);
	quals->all_columns = lappend_int(quals->all_columns, clause->indexcol);
	quals->originals = lappend(quals->originals, column.kind == PIG_COLUMN_VECTOR || pig_is_json_test(index, clause->indexcol, (Node *) info->clause) ?
							   clause->rinfo : info);
	if (column.kind == PIG_COLUMN_VECTOR)
		return;
	quals->filters = lappend(quals->filters, info);
	quals->filter_columns = lappend_int(quals->filter_columns, clause->indexcol);
}

static AnsweredQuals
answered_quals(const IndexPath *path)
{
	AnsweredQuals quals = {0};
	ListCell   *cell;

	foreach(cell, path->indexclauses)
	{
		IndexClause *clause = lfirst_node(IndexClause, cell);
		ListCell   *qual;

		foreach(qual, clause->indexquals)
			add_answered(&quals, path->indexinfo, clause, lfirst_node(RestrictInfo, qual));
	}
	return quals;
}

/*
 * What it costs to look up `rows` rows of an index one by one, in ascending order of their pages; as for the heap of a bitmap scan.
 */
static Cost
lookup_cost(double rows, double pages, double seq_page_cost, double random_page_cost)
{
	double		read = Min(2 * pages * rows / (2 * pages + rows), pages);

	return read * (random_page_cost - (random_page_cost - seq_page_cost) * sqrt(read / pages));
}

/*
 * The planner thinks that the scan gives as many rows as statistics say. Where the conditions were counted, it is told better: a limit costs
 * the less of a scan the more rows there are.
 */
static void
correct_rows(PlannerInfo *root, IndexPath *path, List *quals, Selectivity counted)
{
	RelOptInfo *rel = path->indexinfo->rel;
	Selectivity guessed;

	if (path->path.param_info != NULL)
		return;
	guessed = clauselist_selectivity(root, quals, (int) rel->relid, JOIN_INNER, NULL);
	if (guessed > 0)
		path->path.rows = Min(clamp_row_est(rel->rows * counted / guessed), Max(rel->tuples, 1));
}

/*
 * What it costs to find the nearest of `rows` rows, those that conditions let through, by the indexes of segments. Before there are as many rows as
 * make one it is never less than looking at all.
 */
static Cost
search_cost(const IndexOptInfo *index, double rows, double random_page_cost)
{
	double		among = Max(index->tuples / Max(rows, 1), 1);
	double		visits = (VISITS_BASE + VISITS_PER_DOUBLING * log2(Max(index->tuples, 2))) * among;

	if (index->tuples < PIG_INDEX_ROWS_MIN || pig_target_recall >= 1)
		return get_float8_infinity();
	return visits * (PAGES_PER_VISIT * random_page_cost + cpu_operator_cost);
}

/*
 * Whether no row of a segment has a zero vector, so that every distance is a number.
 */
static bool
has_no_zero_vectors(const IndexOptInfo *info)
{
	PigMeta    *meta;
	Relation	index;
	bool		result;

	if (info->hypothetical)
		return true;
	meta = palloc(sizeof(PigMeta));
	/* the planner has locked it */
	index = index_open(info->indexoid, NoLock);
	pig_read_meta(index, meta);
	index_close(index, NoLock);
	result = pig_has_no_zero_vectors(meta);
	pfree(meta);
	return result;
}

/*
 * What the path ranks rows by; PIG_COLUMN_VALUE: by nothing.
 */
static PigColumnKind
order_kind(const IndexPath *path)
{
	const IndexOptInfo *index = path->indexinfo;
	int			column = path->indexorderbys != NIL ? linitial_int(path->indexorderbycols) : -1;

	return column < 0 ? PIG_COLUMN_VALUE :
		pig_column_of(index->opfamily[column], index->opcintype[column], index->indexcollations[column]).kind;
}

/*
 * The bm25query by which texts are to be ranked, perhaps not known yet; NULL: the order is another.
 */
static Node *
words_of_order(PlannerInfo *root, const IndexPath *path, PigColumnKind ranks_by)
{
	if (ranks_by != PIG_COLUMN_RANKED)
		return NULL;
	return estimate_expression_value(root, lsecond(linitial_node(OpExpr, path->indexorderbys)->args));
}

/*
 * Whether the words are those of an index that reads texts in another way, as far as that is known.
 */
static bool
is_of_other_index(const IndexOptInfo *info, const Node *words)
{
	Oid			named = InvalidOid;
	Relation	index;
	bool		is_alike;

	if (info->hypothetical)
		return false;
	if (IsA(words, Const) && !((const Const *) words)->constisnull)
		named = DatumGetBm25Query(((const Const *) words)->constvalue)->index;
	else if (IsA(words, FuncExpr) && IsA(linitial(((const FuncExpr *) words)->args), Const))
	{
		const Const *first = linitial_node(Const, ((const FuncExpr *) words)->args);

		if (first->consttype == REGCLASSOID && !first->constisnull)
			named = DatumGetObjectId(first->constvalue);
	}
	if (!OidIsValid(named) || named == info->indexoid)
		return false;
	/* the planner has locked it */
	index = index_open(info->indexoid, NoLock);
	is_alike = pig_ranks_alike(index, named);
	index_close(index, NoLock);
	return !is_alike;
}

/*
 * What it costs to rank the texts that have any of some words: their lists and the lengths of all texts are read. Likewise of sparse vectors.
 */
static Cost
words_cost(double rows, double pages, double seq_page_cost)
{
	return Min(PAGES_OF_WORDS + pages * PART_OF_WORDS, pages) * seq_page_cost + rows * cpu_operator_cost;
}

/*
 * Whether indexes of segments may give the first rows: an order is asked for, and not one that begins with what is no number, which no index finds.
 */
static bool
gives_nearest_first(const IndexPath *path)
{
	const OpExpr *order = path->indexorderbys != NIL ? linitial_node(OpExpr, path->indexorderbys) : NULL;
	Oid			family = order != NULL ? path->indexinfo->opfamily[linitial_int(path->indexorderbycols)] : InvalidOid;
	int			strategy;
	Oid			left;
	Oid			right;

	if (order == NULL)
		return false;
	get_op_opfamily_properties(order->opno, family, true, &strategy, &left, &right);
	return strategy == PIG_DISTANCE_STRATEGY || has_no_zero_vectors(path->indexinfo);
}

/*
 * A scan by distance that looks at every row that its conditions let through does so before it gives the first: pages and distances are startup
 * cost. One that searches indexes gives the first after a fraction of that, and has done all of it when it gives the last. One with a greatest
 * distance looks at every row too before it ends, because all within are to come.
 *
 * A sequential scan reads out-of-line vectors too and is not charged for them; so where an index is larger than its table, it is charged
 * for the table's pages only. Both are then charged alike, and differ in what a distance and a sort cost.
 */
void
pig_cost_estimate(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup_cost, Cost *total_cost,
				  Selectivity *selectivity, double *correlation, double *pages)
{
	IndexOptInfo *index = path->indexinfo;
	AnsweredQuals quals = answered_quals(path);
	bool		is_bounded = list_length(quals.all) > list_length(quals.filters);
	double		spc_seq_page_cost;
	double		spc_random_page_cost;
	double		looked_at = index->tuples;
	double		rows;
	double		charged_pages;
	Cost		exact_cost = 0;
	PigColumnKind ranks_by = order_kind(path);
	Node	   *words = words_of_order(root, path, ranks_by);
	bool		by_elements = pig_ranks_by_elements(ranks_by);

	pig_note_clauses(root, path);
	*selectivity = 1;
	*correlation = 0;
	*pages = index->pages;

	/* nothing to serve: neither an order, which is one distance, nor a condition that keeps rows out */
	if (list_length(path->indexorderbys) > 1 || (path->indexorderbys == NIL && quals.all == NIL) ||
		(words != NULL && is_of_other_index(index, words)))
	{
		*startup_cost = *total_cost = get_float8_infinity();
		pig_disable_path(path);
		return;
	}
	if (quals.filters != NIL)
		looked_at = clamp_row_est(pig_selectivity(root, index, quals.filters, quals.filter_columns) * index->tuples);
	rows = looked_at;
	if (quals.all != NIL)
	{
		/* what the predicate of a partial index lets through the index knows better than statistics do */
		*selectivity = pig_selectivity(root, index, quals.all, quals.all_columns);
		correct_rows(root, path, quals.originals, *selectivity);
		rows = clamp_row_est(*selectivity * index->tuples);
		*selectivity = Min(rows / Max(index->rel->tuples, 1), 1);
	}
	get_tablespace_page_costs(index->reltablespace, &spc_random_page_cost, &spc_seq_page_cost);
	charged_pages = Max(Min((double) index->pages, Max((double) index->rel->pages, 1)), 1);
	*startup_cost = list_length(quals.filters) * (Min(PAGES_PER_CONDITION, (double) index->pages) * spc_seq_page_cost + cpu_operator_cost * 50);
	if (path->indexorderbys == NIL && !is_bounded)
		*startup_cost += looked_at * cpu_operator_cost;
	else if (by_elements)
		exact_cost = words_cost(looked_at, charged_pages, spc_seq_page_cost);
	else if (looked_at * FEW_OF_ROWS > index->tuples)
		exact_cost = charged_pages * spc_seq_page_cost + looked_at * cpu_operator_cost;
	else
		exact_cost = lookup_cost(looked_at, charged_pages, spc_seq_page_cost, spc_random_page_cost) + looked_at * cpu_operator_cost;
	*total_cost = *startup_cost + exact_cost + rows * cpu_index_tuple_cost;
	if (!by_elements && gives_nearest_first(path))
		exact_cost = Min(exact_cost, search_cost(index, looked_at, spc_random_page_cost));
	*startup_cost += exact_cost;
}

/* ---- boolean columns ---- */

static get_relation_info_hook_type next_relation_info_hook;

/*
 * Before 16 the server takes "flag", "NOT flag" and "flag = true" for conditions of an index only where the column's operator family is one of its
 * own. Ours has the operators of that of B-trees; so while it plans, columns of ours say that one's name. A scan finds the operators in
 * their own family again.
 */
static void
relation_info_hook(PlannerInfo *root, Oid relation, bool inherits, RelOptInfo *rel)
{
	ListCell   *cell;

	if (next_relation_info_hook != NULL)
		next_relation_info_hook(root, relation, inherits, rel);
	foreach(cell, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, cell);

		if (index->amcostestimate != pig_cost_estimate)
			continue;
		for (int i = 0; i < index->nkeycolumns; i++)
			if (index->opcintype[i] == BOOLOID)
				index->opfamily[i] = BOOL_BTREE_FAM_OID;
	}
}

void
pig_register_planner(void)
{
	next_relation_info_hook = get_relation_info_hook;
	get_relation_info_hook = relation_info_hook;
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
 * What is wrong with a support function of a vector column; NULL: nothing.
 */
static const char *
procedure_fault(Form_pg_amproc form)
{
	Oid		   *arguments;
	int			count;
	Oid			result = get_func_signature(form->amproc, &arguments, &count);

	if (form->amprocnum != PIG_METRIC_PROC && form->amprocnum != PIG_HALVES_PROC && form->amprocnum != PIG_SPARSE_PROC)
		return psprintf("contains function %s with invalid support number %d", format_procedure(form->amproc), form->amprocnum);
	if (result != (form->amprocnum == PIG_METRIC_PROC ? INT4OID : BOOLOID) || count != 0)
		return psprintf("contains function %s with wrong signature for support number %d", format_procedure(form->amproc),
						form->amprocnum);
	if (form->amprocnum == PIG_METRIC_PROC && strcmp(pig_metric_name(DatumGetInt32(OidFunctionCall0(form->amproc))), "unknown") == 0)
		return psprintf("contains function %s, which names no metric", format_procedure(form->amproc));
	return NULL;
}

/*
 * Support function 1: metric() returns integer, one of those that the engine knows; for elements of 16 bits 2, halves(), and for sparse vectors 4,
 * sparse(), return boolean.
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
		const char *fault = procedure_fault(form);

		if (fault != NULL)
			complain(&valid, family, fault);
		else if (form->amprocnum == PIG_METRIC_PROC && form->amproclefttype == type && form->amprocrighttype == type)
			found++;
	}
	ReleaseCatCacheList(list);
	if (found != 1)
		complain(&valid, family, psprintf("has %d support functions for type %s, not one", found, format_type_be(type)));
	return valid;
}

/*
 * What is wrong with an operator of a vector column; NULL: nothing.
 */
static const char *
operator_fault(Form_pg_amop form)
{
	if (form->amopstrategy < PIG_DISTANCE_STRATEGY || form->amopstrategy > PIG_NAN_FIRST_STRATEGY)
		return psprintf("contains operator %s with invalid strategy number %d", format_operator(form->amopopr), form->amopstrategy);
	if (form->amopstrategy == PIG_WITHIN_STRATEGY)
	{
		if (form->amoppurpose != AMOP_SEARCH || get_op_rettype(form->amopopr) != BOOLOID)
			return psprintf("contains operator %s that is not for searching", format_operator(form->amopopr));
		return NULL;
	}
	if (form->amoppurpose != AMOP_ORDER)
		return psprintf("contains operator %s that is not for ordering", format_operator(form->amopopr));
	if (get_op_rettype(form->amopopr) != FLOAT8OID || !opfamily_can_sort_type(form->amopsortfamily, FLOAT8OID))
		return psprintf("contains operator %s with an incorrect ORDER BY specification", format_operator(form->amopopr));
	return NULL;
}

/*
 * One distance operator, whose result sorts as double precision, and perhaps those that the planner gives a scan.
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
		const char *fault = operator_fault(form);

		if (fault != NULL)
			complain(&valid, family, fault);
		else if (form->amopstrategy == PIG_DISTANCE_STRATEGY && form->amoplefttype == type && form->amoprighttype == type)
			found++;
	}
	ReleaseCatCacheList(list);
	if (found != 1)
		complain(&valid, family, psprintf("has %d distance operators for type %s, not one", found, format_type_be(type)));
	return valid;
}

/*
 * A filter column's: operators for searching, numbered as keys.h says, and no function.
 */
static bool
validate_filter(Oid family_oid, Oid type, const char *family)
{
	CatCList   *operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family_oid));
	CatCList   *functions = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family_oid));
	int			strategies = type == ANYARRAYOID ? PIG_LIST_EQUAL : type == JSONBOID ? PIG_JSON_TEST :
		type == TEXTOID ? PIG_TEXT_IREGEX : BTMaxStrategyNumber;
	bool		compares = type != ANYARRAYOID && type != JSONBOID;
	bool		valid = true;

	if (functions->n_members > 0)
		complain(&valid, family, "contains support functions, which filter columns do not have");
	for (int i = 0; i < operators->n_members; i++)
	{
		Form_pg_amop form = (Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple);

		if (form->amopstrategy < 1 || form->amopstrategy > strategies)
			complain(&valid, family, psprintf("contains operator %s with invalid strategy number %d",
											  format_operator(form->amopopr), form->amopstrategy));
		else if (form->amoppurpose != AMOP_SEARCH || get_op_rettype(form->amopopr) != BOOLOID)
			complain(&valid, family, psprintf("contains operator %s that is not for searching", format_operator(form->amopopr)));
		else if (compares && (!pig_is_key_type(form->amoplefttype) || !pig_is_key_type(form->amoprighttype)))
			complain(&valid, family, psprintf("contains operator %s of a type that has no keys", format_operator(form->amopopr)));
	}
	ReleaseCatCacheList(operators);
	ReleaseCatCacheList(functions);
	return valid;
}

/*
 * Of ranked text: an order by a number, and options.
 */
static bool
validate_ranked(Oid family_oid, const char *family)
{
	CatCList   *operators = SearchSysCacheList1(AMOPSTRATEGY, ObjectIdGetDatum(family_oid));
	CatCList   *functions = SearchSysCacheList1(AMPROCNUM, ObjectIdGetDatum(family_oid));
	bool		valid = true;

	for (int i = 0; i < functions->n_members; i++)
	{
		Form_pg_amproc form = (Form_pg_amproc) GETSTRUCT(&functions->members[i]->tuple);

		if (form->amprocnum != PIG_TEXT_OPTIONS_PROC || !check_amoptsproc_signature(form->amproc))
			complain(&valid, family, psprintf("contains function %s, which ranked text does not have", format_procedure(form->amproc)));
	}
	for (int i = 0; i < operators->n_members; i++)
	{
		Form_pg_amop form = (Form_pg_amop) GETSTRUCT(&operators->members[i]->tuple);

		if (form->amopstrategy != PIG_DISTANCE_STRATEGY)
			complain(&valid, family, psprintf("contains operator %s with invalid strategy number %d",
											  format_operator(form->amopopr), form->amopstrategy));
		else if (form->amoppurpose != AMOP_ORDER || get_op_rettype(form->amopopr) != FLOAT8OID ||
				 !opfamily_can_sort_type(form->amopsortfamily, FLOAT8OID))
			complain(&valid, family, psprintf("contains operator %s with an incorrect ORDER BY specification",
											  format_operator(form->amopopr)));
	}
	if (operators->n_members != 1)
		complain(&valid, family, psprintf("has %d operators, not one", operators->n_members));
	ReleaseCatCacheList(operators);
	ReleaseCatCacheList(functions);
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
	if (pig_column_of(family_oid, type, InvalidOid).kind == PIG_COLUMN_RANKED)
		return validate_ranked(family_oid, family);
	if (type == ANYARRAYOID || type == JSONBOID || pig_is_key_type(type))
		return validate_filter(family_oid, type, family);
	valid = validate_procedures(family_oid, type, family);
	return validate_operators(family_oid, type, family) && valid;
}
