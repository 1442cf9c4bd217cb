/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_distance.c
 *	  Expressions of a query that are a distance from the vector column of an index, or follow from one.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "compat.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "am_distance.h"

/*
 * The operator family by which distances are compared and sorted.
 */
Oid
pig_float_family(void)
{
	return lookup_type_cache(FLOAT8OID, TYPECACHE_BTREE_OPFAMILY)->btree_opf;
}

static bool
match_operator(PlannerInfo *root, IndexOptInfo *index, int column, const OpExpr *expr, PigDistance *found)
{
	Oid			operator = expr->opno;
	Node	   *vector = linitial(expr->args);
	Node	   *center = lsecond(expr->args);

	if (!match_index_to_operand(vector, column, index))
	{
		operator = get_commutator(operator);
		center = vector;
		vector = lsecond(expr->args);
		if (!OidIsValid(operator) || !match_index_to_operand(vector, column, index))
			return false;
	}
	if (get_op_opfamily_sortfamily(operator, index->opfamily[column]) != pig_float_family() ||
		!is_pseudo_constant_for_index(root, center, index))
		return false;
	*found = (PigDistance) {.center = center, .is_plain = true};
	return true;
}

/*
 * A constant that takes part in sums and products without making anything of infinity but itself.
 */
bool
pig_finite_constant(const Node *node, double *value)
{
	if (!IsA(node, Const) || ((const Const *) node)->constisnull || ((const Const *) node)->consttype != FLOAT8OID)
		return false;
	*value = DatumGetFloat8(((const Const *) node)->constvalue);
	return isfinite(*value);
}

static Const *
float_constant(double value)
{
	return makeConst(FLOAT8OID, -1, InvalidOid, sizeof(float8), Float8GetDatum(value), false, FLOAT8PASSBYVAL);
}

/*
 * -x, c - x, x * c, c * x, x / c, x + c, c + x, x - c. Rounding keeps order: of two values none changes places with the other.
 */
static bool
match_function(PlannerInfo *root, IndexOptInfo *index, int column, const OpExpr *expr, PigDistance *found)
{
	Oid			function = get_opcode(expr->opno);
	Node	   *left = linitial(expr->args);
	Node	   *right = list_length(expr->args) > 1 ? lsecond(expr->args) : NULL;
	double		constant;
	bool		is_right;
	Const	   *minuend = NULL;
	bool		flips = false;

	if (function == F_FLOAT8UM)
	{
		if (!pig_match_distance(root, index, column, left, found))
			return false;
		minuend = float_constant(0);
		flips = true;
	}
	else
	{
		if (right == NULL || (function != F_FLOAT8MI && function != F_FLOAT8PL && function != F_FLOAT8MUL && function != F_FLOAT8DIV))
			return false;
		is_right = pig_finite_constant(right, &constant);
		if ((!is_right && !pig_finite_constant(left, &constant)) || !pig_match_distance(root, index, column, is_right ? left : right, found))
			return false;
		if (function == F_FLOAT8MUL || function == F_FLOAT8DIV)
		{
			/* what is divided by a distance has no order around zero */
			if (constant == 0 || (function == F_FLOAT8DIV && !is_right))
				return false;
			flips = constant < 0;
			if (constant == -1 && function == F_FLOAT8MUL)
				minuend = float_constant(0);
		}
		else if (function == F_FLOAT8MI && !is_right)
		{
			minuend = (Const *) left;
			flips = true;
		}
	}
	found->minuend = found->is_plain ? minuend : NULL;
	found->is_plain = false;
	found->descends ^= flips;
	return true;
}

bool
pig_match_distance(PlannerInfo *root, IndexOptInfo *index, int column, Node *node, PigDistance *found)
{
	const OpExpr *expr = (const OpExpr *) node;

	if (!IsA(node, OpExpr) || expr->opresulttype != FLOAT8OID)
		return false;
	if (list_length(expr->args) == 2 && match_operator(root, index, column, expr, found))
		return true;
	return match_function(root, index, column, expr, found);
}
