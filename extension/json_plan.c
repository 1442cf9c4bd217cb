/* SPDX-License-Identifier: Apache-2.0 */

/*
 * json_plan.c
 *	  Conditions on expressions of a jsonb column, "doc ->> 'lang' = 'en'", "(doc -> 'size' ->> 'width')::int > 10", "doc #>> '{a,b}' IS NULL", as what an
 *	  index with a column of jsonb_ops takes in their place: "doc @^ test" (json_test.h). The condition stays a filter, which decides.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/pg_locale.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "am.h"
#include "am_distance.h"
#include "json_plan.h"
#include "json_test.h"

/* An expression that reads a value of a column. */
typedef struct Accessor
{
	List	   *keys;			/* Consts of text; NULL: an element of an array */
	bool		has_arrays;
	bool		is_text;		/* by "->>" or "#>>" */
} Accessor;

/* A test that is being made. */
typedef struct Test
{
	Accessor	accessor;
	const char *type;
	const char *operator;
	Node	   *texts;			/* arrays, or NULL */
	Node	   *numbers;
} Test;

/* ---- reading a value ---- */

static Const *
text_constant(const char *text)
{
	return makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, CStringGetTextDatum(text), false, false);
}

static const Const *
known_constant(const Node *node, Oid type)
{
	const Const *value = (const Const *) node;

	return IsA(node, Const) && value->consttype == type && !value->constisnull ? value : NULL;
}

static bool
add_key(Accessor *accessor, Datum key)
{
	accessor->keys = lappend(accessor->keys, makeConst(TEXTOID, -1, DEFAULT_COLLATION_OID, -1, key, false, false));
	return true;
}

/*
 * Keys of "#>", of which none may be read as the place in an array too.
 */
static bool
add_key_or_place(Accessor *accessor, Datum key)
{
	text	   *given = DatumGetTextPP(key);
	char		first = VARSIZE_ANY_EXHDR(given) > 0 ? VARDATA_ANY(given)[0] : 'a';

	if ((first >= '0' && first <= '9') || first == '+' || first == '-' || (unsigned char) first <= ' ' || ((unsigned char) first & 0x80) != 0)
		return false;
	return add_key(accessor, key);
}

static bool
add_keys(Accessor *accessor, const Node *node)
{
	const Const *path = known_constant(node, TEXTARRAYOID);
	Datum	   *keys;
	bool	   *nulls;
	int			count;

	if (path == NULL || ARR_NDIM(DatumGetArrayTypeP(path->constvalue)) > 1)
		return false;
	deconstruct_array(DatumGetArrayTypeP(path->constvalue), TEXTOID, -1, false, TYPALIGN_INT, &keys, &nulls, &count);
	for (int i = 0; i < count; i++)
		if (nulls[i] || !add_key_or_place(accessor, keys[i]))
			return false;
	return true;
}

static bool
add_subscripts(Accessor *accessor, const List *subscripts)
{
	ListCell   *cell;

	foreach(cell, subscripts)
	{
		const Const *key = known_constant(lfirst(cell), TEXTOID);

		if (key == NULL || !add_key_or_place(accessor, key->constvalue))
			return false;
	}
	return true;
}

/*
 * The steps of an expression of jsonb from the column on; false: it is none.
 */
static bool
match_steps(IndexOptInfo *index, int column, Node *node, Accessor *accessor)
{
	Oid			function = InvalidOid;
	List	   *arguments = NIL;
	const Const *key;

	if (match_index_to_operand(node, column, index))
		return true;
	if (IsA(node, SubscriptingRef))
	{
		const SubscriptingRef *reference = (const SubscriptingRef *) node;

		return reference->refcontainertype == JSONBOID && reference->refassgnexpr == NULL && reference->reflowerindexpr == NIL &&
			match_steps(index, column, (Node *) reference->refexpr, accessor) && add_subscripts(accessor, reference->refupperindexpr);
	}
	if (IsA(node, OpExpr))
	{
		function = get_opcode(((OpExpr *) node)->opno);
		arguments = ((OpExpr *) node)->args;
	}
	else if (IsA(node, FuncExpr))
	{
		function = ((FuncExpr *) node)->funcid;
		arguments = ((FuncExpr *) node)->args;
	}
	if (list_length(arguments) != 2)
		return false;
	switch (function)
	{
		case F_JSONB_OBJECT_FIELD:
		case F_JSONB_OBJECT_FIELD_TEXT:
			key = known_constant(lsecond(arguments), TEXTOID);
			return key != NULL && match_steps(index, column, linitial(arguments), accessor) && add_key(accessor, key->constvalue);
		case F_JSONB_ARRAY_ELEMENT:
		case F_JSONB_ARRAY_ELEMENT_TEXT:
			if (!match_steps(index, column, linitial(arguments), accessor))
				return false;
			accessor->keys = lappend(accessor->keys, makeNullConst(TEXTOID, -1, DEFAULT_COLLATION_OID));
			accessor->has_arrays = true;
			return true;
		case F_JSONB_EXTRACT_PATH:
		case F_JSONB_EXTRACT_PATH_TEXT:
			return match_steps(index, column, linitial(arguments), accessor) && add_keys(accessor, lsecond(arguments));
		default:
			return false;
	}
}

static bool
gives_text(const Node *node)
{
	Oid			function = IsA(node, OpExpr) ? get_opcode(((const OpExpr *) node)->opno) :
		IsA(node, FuncExpr) ? ((const FuncExpr *) node)->funcid : InvalidOid;

	return function == F_JSONB_OBJECT_FIELD_TEXT || function == F_JSONB_ARRAY_ELEMENT_TEXT || function == F_JSONB_EXTRACT_PATH_TEXT;
}

/*
 * Whether an expression reads a value at a path that has elements, and not the column itself.
 */
static bool
match_accessor(IndexOptInfo *index, int column, Node *node, Accessor *accessor)
{
	PigJsonPath path = {0};
	ListCell   *cell;

	*accessor = (Accessor) {.is_text = gives_text(node)};
	if (match_index_to_operand(node, column, index) || !match_steps(index, column, node, accessor))
		return false;
	foreach(cell, accessor->keys)
	{
		const Const *key = lfirst_node(Const, cell);

		if (!key->constisnull && !pig_json_path_add(&path, VARDATA_ANY(DatumGetTextPP(key->constvalue)),
													(int) VARSIZE_ANY_EXHDR(DatumGetTextPP(key->constvalue))))
			return false;
	}
	return true;
}

/* ---- casts ---- */

/* How much of a number a cast may change. */
typedef enum Precision
{
	PRECISE,
	PRECISE_AS_DOUBLE,
	PRECISE_AS_REAL
} Precision;

/*
 * An expression without the casts to other types of numbers around it.
 */
static Node *
without_number_casts(Node *node, Precision *precision)
{
	while (IsA(node, FuncExpr) && list_length(((FuncExpr *) node)->args) == 1)
	{
		switch (((FuncExpr *) node)->funcid)
		{
			case F_INT4_INT2:
			case F_INT8_INT2:
			case F_INT8_INT4:
			case F_NUMERIC_INT2:
			case F_NUMERIC_INT4:
			case F_NUMERIC_INT8:
				break;
			case F_FLOAT8_INT2:
			case F_FLOAT8_INT4:
			case F_FLOAT8_INT8:
			case F_FLOAT8_NUMERIC:
			case F_FLOAT8_FLOAT4:
				*precision = Max(*precision, PRECISE_AS_DOUBLE);
				break;
			default:
				return node;
		}
		node = linitial(((FuncExpr *) node)->args);
	}
	return node;
}

static const char *
type_of_text_cast(Oid type, Precision precision)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case NUMERICOID:
			break;
		case FLOAT8OID:
			precision = Max(precision, PRECISE_AS_DOUBLE);
			break;
		case FLOAT4OID:
			precision = PRECISE_AS_REAL;
			break;
		case BOOLOID:
			return PIG_TEST_BOOLEAN;
		default:
			return NULL;
	}
	return precision == PRECISE ? PIG_TEST_NUMBER : precision == PRECISE_AS_DOUBLE ? PIG_TEST_DOUBLE : PIG_TEST_REAL;
}

static const char *
type_of_json_cast(Oid function, Precision precision)
{
	switch (function)
	{
		case F_NUMERIC_JSONB:
			return precision == PRECISE ? PIG_TEST_JSON_NUMBER : PIG_TEST_JSON_DOUBLE;
		case F_INT2_JSONB:
		case F_INT4_JSONB:
		case F_INT8_JSONB:
			return precision == PRECISE ? PIG_TEST_JSON_INTEGER : PIG_TEST_JSON_DOUBLE;
		case F_FLOAT8_JSONB:
			return PIG_TEST_JSON_DOUBLE;
		case F_FLOAT4_JSONB:
			return PIG_TEST_JSON_REAL;
		case F_BOOL_JSONB:
			return PIG_TEST_JSON_BOOLEAN;
		default:
			return NULL;
	}
}

/*
 * A value, as text or jsonb is, or cast to a number or a boolean.
 */
static bool
match_value(IndexOptInfo *index, int column, Node *node, Precision precision, Test *test)
{
	node = without_number_casts(node, &precision);
	if (IsA(node, CoerceViaIO))
	{
		test->type = type_of_text_cast(((CoerceViaIO *) node)->resulttype, precision);
		node = (Node *) ((CoerceViaIO *) node)->arg;
		return test->type != NULL && match_accessor(index, column, node, &test->accessor) && test->accessor.is_text;
	}
	if (IsA(node, FuncExpr) && list_length(((FuncExpr *) node)->args) == 1)
	{
		test->type = type_of_json_cast(((FuncExpr *) node)->funcid, precision);
		node = linitial(((FuncExpr *) node)->args);
		return test->type != NULL && match_accessor(index, column, node, &test->accessor) && !test->accessor.is_text;
	}
	if (!match_accessor(index, column, node, &test->accessor))
		return false;
	test->type = test->accessor.is_text ? PIG_TEST_TEXT : PIG_TEST_JSON;
	return true;
}

/* ---- conditions ---- */

static Node *
array_of(Node *element, Oid type, Oid array_type)
{
	ArrayExpr  *array = makeNode(ArrayExpr);

	array->array_typeid = array_type;
	array->element_typeid = type;
	array->array_collid = type == TEXTOID ? DEFAULT_COLLATION_OID : InvalidOid;
	array->elements = list_make1(element);
	array->location = -1;
	return (Node *) array;
}

static Node *
cast_to(Oid function, Oid type, Node *node)
{
	return (Node *) makeFuncExpr(function, type, list_make1(node), InvalidOid, InvalidOid, COERCE_EXPLICIT_CAST);
}

/*
 * A number as numeric, exact but for what it loses as a double; NULL: it is none.
 */
static Node *
as_numeric(Node *node)
{
	node = copyObject(node);
	switch (exprType(node))
	{
		case INT2OID:
			return cast_to(F_NUMERIC_INT2, NUMERICOID, node);
		case INT4OID:
			return cast_to(F_NUMERIC_INT4, NUMERICOID, node);
		case INT8OID:
			return cast_to(F_NUMERIC_INT8, NUMERICOID, node);
		case FLOAT4OID:
			return cast_to(F_NUMERIC_FLOAT8, NUMERICOID, cast_to(F_FLOAT8_FLOAT4, FLOAT8OID, node));
		case FLOAT8OID:
			return cast_to(F_NUMERIC_FLOAT8, NUMERICOID, node);
		case NUMERICOID:
			return node;
		default:
			return NULL;
	}
}

static bool
is_float(Oid type)
{
	return type == FLOAT4OID || type == FLOAT8OID;
}

/*
 * Which comparison of B-trees an operator is, whose left side has this type.
 */
static int
number_strategy(Oid operator, Oid type)
{
	return get_op_opfamily_strategy(operator, lookup_type_cache(type, TYPECACHE_BTREE_OPFAMILY)->btree_opf);
}

static const char *
operator_of_strategy(int strategy)
{
	static const char *const operators[] = {"<", "<=", "=", ">=", ">"};

	return strategy >= BTLessStrategyNumber && strategy <= BTGreaterStrategyNumber ? operators[strategy - 1] : NULL;
}

static bool
is_number_type(const char *type)
{
	return strcmp(type, PIG_TEST_TEXT) != 0 && strcmp(type, PIG_TEST_JSON) != 0 && strcmp(type, PIG_TEST_BOOLEAN) != 0 &&
		strcmp(type, PIG_TEST_JSON_BOOLEAN) != 0;
}

static bool
compares_bytes(Oid collation)
{
	return !OidIsValid(collation) || get_collation_isdeterministic(collation);
}

/*
 * The value that is read, in a comparison by an operator with something that is known when a scan begins.
 */
static bool
match_operands(PlannerInfo *root, IndexOptInfo *index, int column, Oid operator, Oid collation, Node *left, Node *right, Test *test)
{
	Precision	precision = is_float(exprType(right)) ? PRECISE_AS_DOUBLE : PRECISE;
	Node	   *number;

	if (!is_pseudo_constant_for_index(root, right, index) || !match_value(index, column, left, precision, test))
		return false;
	if (strcmp(test->type, PIG_TEST_TEXT) == 0)
	{
		if (get_opcode(operator) != F_TEXTEQ || !compares_bytes(collation))
			return false;
		test->operator = "=";
		test->texts = array_of(copyObject(right), TEXTOID, TEXTARRAYOID);
		return true;
	}
	if (strcmp(test->type, PIG_TEST_JSON) == 0)
	{
		CoerceViaIO *text = makeNode(CoerceViaIO);

		if (get_opcode(operator) != F_JSONB_EQ)
			return false;
		text->arg = (Expr *) copyObject(right);
		text->resulttype = TEXTOID;
		text->resultcollid = DEFAULT_COLLATION_OID;
		text->coerceformat = COERCE_EXPLICIT_CAST;
		text->location = -1;
		test->operator = "=";
		test->texts = array_of((Node *) text, TEXTOID, TEXTARRAYOID);
		return true;
	}
	if (!is_number_type(test->type))
		return false;
	test->operator = operator_of_strategy(number_strategy(operator, exprType(left)));
	number = as_numeric(right);
	if (test->operator == NULL || number == NULL)
		return false;
	test->numbers = array_of(number, NUMERICOID, NUMERICARRAYOID);
	return true;
}

static bool
match_comparison(PlannerInfo *root, IndexOptInfo *index, int column, const OpExpr *clause, Test *test)
{
	Oid			commutator;

	if (list_length(clause->args) != 2)
		return false;
	if (match_operands(root, index, column, clause->opno, clause->inputcollid, linitial(clause->args), lsecond(clause->args), test))
		return true;
	commutator = get_commutator(clause->opno);
	return OidIsValid(commutator) &&
		match_operands(root, index, column, commutator, clause->inputcollid, lsecond(clause->args), linitial(clause->args), test);
}

/*
 * A constant array of numbers as one of numerics; NULL: it is none.
 */
static Node *
numeric_array(const Node *node)
{
	const Const *given = (const Const *) node;
	Oid			type;
	Oid			output;
	bool		is_varlena;
	int16		length;
	bool		by_value;
	char		align;
	Datum	   *elements;
	bool	   *nulls;
	int			count;
	int			first = 1;

	if (!IsA(node, Const) || given->constisnull)
		return NULL;
	type = get_element_type(given->consttype);
	if (type != INT2OID && type != INT4OID && type != INT8OID && type != NUMERICOID)
		return NULL;
	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array(DatumGetArrayTypeP(given->constvalue), type, length, by_value, align, &elements, &nulls, &count);
	getTypeOutputInfo(type, &output, &is_varlena);
	for (int i = 0; i < count; i++)
		if (!nulls[i])
			elements[i] = DirectFunctionCall3(numeric_in, CStringGetDatum(OidOutputFunctionCall(output, elements[i])),
											  ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1));
	return (Node *) makeConst(NUMERICARRAYOID, -1, InvalidOid, -1,
							  PointerGetDatum(construct_md_array(elements, nulls, 1, &count, &first, NUMERICOID, -1, false, TYPALIGN_INT)),
							  false, false);
}

/*
 * "= ANY (array)", which IN is.
 */
static bool
match_any(PlannerInfo *root, IndexOptInfo *index, int column, const ScalarArrayOpExpr *clause, Test *test)
{
	Node	   *left = linitial(clause->args);
	Node	   *right = lsecond(clause->args);

	if (!clause->useOr || !is_pseudo_constant_for_index(root, right, index) || !match_value(index, column, left, PRECISE, test))
		return false;
	test->operator = "=";
	if (strcmp(test->type, PIG_TEST_TEXT) == 0)
	{
		test->texts = copyObject(right);
		return get_opcode(clause->opno) == F_TEXTEQ && compares_bytes(clause->inputcollid);
	}
	if (!is_number_type(test->type) || number_strategy(clause->opno, exprType(left)) != BTEqualStrategyNumber)
		return false;
	test->numbers = numeric_array(right);
	return test->numbers != NULL;
}

/*
 * A value that is a boolean and a condition by itself.
 */
static bool
match_boolean(IndexOptInfo *index, int column, Node *node, bool value, Test *test)
{
	test->operator = value ? PIG_TEST_TRUE : PIG_TEST_FALSE;
	return match_value(index, column, node, PRECISE, test) && exprType(node) == BOOLOID;
}

static bool
match_null_test(IndexOptInfo *index, int column, const NullTest *clause, Test *test)
{
	bool		is_null = clause->nulltesttype == IS_NULL;

	if (clause->argisrow || !match_value(index, column, (Node *) clause->arg, PRECISE, test))
		return false;
	test->operator = is_null ? PIG_TEST_IS_NULL : PIG_TEST_IS_NOT_NULL;
	/* a value of a cast is none where its text is none; JSON's null, which some versions take for NULL, is for the filter */
	if (strcmp(test->type, PIG_TEST_JSON) != 0 && !test->accessor.is_text)
		return false;
	/* another element of the array may be there */
	return !is_null || !test->accessor.has_arrays;
}

static bool
match_test(PlannerInfo *root, IndexOptInfo *index, int column, Node *clause, Test *test)
{
	switch (nodeTag(clause))
	{
		case T_OpExpr:
			return match_comparison(root, index, column, (OpExpr *) clause, test);
		case T_ScalarArrayOpExpr:
			return match_any(root, index, column, (ScalarArrayOpExpr *) clause, test);
		case T_NullTest:
			return match_null_test(index, column, (NullTest *) clause, test);
		case T_BoolExpr:
			return ((BoolExpr *) clause)->boolop == NOT_EXPR && match_boolean(index, column, linitial(((BoolExpr *) clause)->args), false, test);
		case T_BooleanTest:
			if (((BooleanTest *) clause)->booltesttype != IS_TRUE && ((BooleanTest *) clause)->booltesttype != IS_FALSE)
				return false;
			return match_boolean(index, column, (Node *) ((BooleanTest *) clause)->arg, ((BooleanTest *) clause)->booltesttype == IS_TRUE, test);
		case T_CoerceViaIO:
		case T_FuncExpr:
			return match_boolean(index, column, clause, true, test);
		default:
			return false;
	}
}

/* ---- what the index gets ---- */

static Node *
array_of_keys(List *keys)
{
	ArrayExpr  *array = castNode(ArrayExpr, array_of(NULL, TEXTOID, TEXTARRAYOID));

	array->elements = keys;
	return (Node *) array;
}

/*
 * "column @^ ROW(path, type, operator, texts, numbers)", a constant where its values are.
 */
static RestrictInfo *
test_clause(PlannerInfo *root, const IndexOptInfo *index, int column, const Test *test)
{
	Oid			type = InvalidOid;
	Oid			operator = pig_family_operator(index, column, PIG_JSON_TEST, &type);
	RowExpr    *row = makeNode(RowExpr);
	OpExpr	   *clause;

	if (!OidIsValid(operator))
		return NULL;
	row->args = list_make5(array_of_keys(test->accessor.keys), text_constant(test->type), text_constant(test->operator),
						   test->texts != NULL ? test->texts : (Node *) makeNullConst(TEXTARRAYOID, -1, DEFAULT_COLLATION_OID),
						   test->numbers != NULL ? test->numbers : (Node *) makeNullConst(NUMERICARRAYOID, -1, InvalidOid));
	row->row_typeid = type;
	row->row_format = COERCE_EXPLICIT_CAST;
	row->colnames = list_make5(makeString(pstrdup("path")), makeString(pstrdup("type")), makeString(pstrdup("operator")),
							   makeString(pstrdup("texts")), makeString(pstrdup("numbers")));
	row->location = -1;
	clause = (OpExpr *) make_opclause(operator, BOOLOID, false, (Expr *) pig_column_operand(index, column),
									  (Expr *) eval_const_expressions(root, (Node *) row), InvalidOid, InvalidOid);
	set_opfuncid(clause);
	return make_simple_restrictinfo(root, (Expr *) clause);
}

static IndexClause *
json_clause(PlannerInfo *root, IndexOptInfo *index, int column, RestrictInfo *info)
{
	Test		test = {0};
	RestrictInfo *qual;
	IndexClause *clause;

	if (info->pseudoconstant || !restriction_is_securely_promotable(info, index->rel) ||
		!match_test(root, index, column, (Node *) info->clause, &test))
		return NULL;
	qual = test_clause(root, index, column, &test);
	if (qual == NULL)
		return NULL;
	clause = makeNode(IndexClause);
	clause->rinfo = info;
	clause->indexquals = list_make1(qual);
	clause->lossy = true;
	clause->indexcol = (AttrNumber) column;
	return clause;
}

List *
pig_json_clauses(PlannerInfo *root, IndexOptInfo *index)
{
	List	   *all = NIL;
	ListCell   *cell;

	for (int column = 0; column < index->nkeycolumns; column++)
	{
		if (!pig_column_of(index->opfamily[column], index->opcintype[column], index->indexcollations[column]).has_paths)
			continue;
		foreach(cell, index->rel->baserestrictinfo)
		{
			IndexClause *clause = json_clause(root, index, column, lfirst_node(RestrictInfo, cell));

			if (clause != NULL)
				all = lappend(all, clause);
		}
	}
	return all;
}

bool
pig_is_json_test(const IndexOptInfo *index, int column, const Node *clause)
{
	return IsA(clause, OpExpr) && index->opcintype[column] == JSONBOID &&
		get_op_opfamily_strategy(((const OpExpr *) clause)->opno, index->opfamily[column]) == PIG_JSON_TEST;
}

/*
 * As the server guesses of columns of which it knows nothing.
 */
Selectivity
pig_guess_json_test(const Node *clause)
{
	const Node *test = lsecond(((const OpExpr *) clause)->args);
	const Const *operator = IsA(test, RowExpr) ? known_constant(lthird(((const RowExpr *) test)->args), TEXTOID) : NULL;

	if (operator == NULL || strcmp(TextDatumGetCString(operator->constvalue), "=") == 0)
		return DEFAULT_EQ_SEL;
	return DEFAULT_INEQ_SEL;
}
