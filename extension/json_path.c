/* SPDX-License-Identifier: Apache-2.0 */

/*
 * json_path.c
 *	  What a jsonpath says of the elements of a value that it finds something in.
 *
 * In lax mode arrays open by themselves and scalars count as arrays of one; so each path is looked for in objects and through arrays, and no step of
 * arrays says anything. Where a path goes on by what no key tells (.*, .**, methods), there is something at its beginning. What is not read (negation,
 * IS UNKNOWN, arithmetic, variables) says nothing.
 */
#include "postgres.h"

#include "compat.h"
#include "miscadmin.h"
#include "utils/jsonpath.h"

#include "json_keys.h"

/* A path as far as it is known: from the root, and whether it ends there. */
typedef struct KnownPath
{
	PigJsonPath path;
	bool		is_whole;
} KnownPath;

/* What a value at the end of a path is compared with; operator jpiExists: it is there, jpiBool: it is true. */
typedef struct Comparison
{
	JsonPathItemType operator;
	JsonPathItem *literal;
} Comparison;

static List *ranges_of_path(JsonPathItem *item, const KnownPath *current, const Comparison *end, bool *is_path);
static List *ranges_of_predicate(JsonPathItem *item, const KnownPath *current);

/*
 * The one that is likely to let through the fewest rows; NULL: there is none.
 */
static PigRanges *
best_of(const List *all)
{
	PigRanges  *best = NULL;
	ListCell   *cell;

	foreach(cell, all)
	{
		PigRanges  *ranges = lfirst(cell);

		if (best == NULL || ranges->rank > best->rank)
			best = ranges;
	}
	return best;
}

/*
 * One of two conditions holds.
 */
static List *
either(const List *left, const List *right)
{
	const PigRanges *of_left = best_of(left);
	const PigRanges *of_right = best_of(right);
	PigRanges  *both;

	if (of_left == NULL || of_right == NULL)
		return NIL;
	both = pig_new_ranges();
	pig_add_ranges(both, of_left);
	pig_add_ranges(both, of_right);
	return list_make1(both);
}

static JsonPathItemType
turned_round(JsonPathItemType operator)
{
	switch (operator)
	{
		case jpiLess:
			return jpiGreater;
		case jpiLessOrEqual:
			return jpiGreaterOrEqual;
		case jpiGreater:
			return jpiLess;
		case jpiGreaterOrEqual:
			return jpiLessOrEqual;
		default:
			return operator;
	}
}

static void
add_number_comparison(PigRanges *ranges, const PigJsonPath *path, JsonPathItemType operator, Numeric number)
{
	bool		is_above = operator == jpiGreater || operator == jpiGreaterOrEqual;
	bool		is_below = operator == jpiLess || operator == jpiLessOrEqual;

	pig_add_numbers(ranges, path, PIG_JSON_NUMBER, is_below ? NULL : number, is_above ? NULL : number,
					operator == jpiLess || operator == jpiGreater);
}

/*
 * A value at a path for which a comparison holds.
 */
static void
add_comparison(PigRanges *ranges, const PigJsonPath *path, const Comparison *comparison)
{
	JsonPathItem *literal = comparison->literal;
	char	   *text;
	int32		size;

	if (comparison->operator == jpiBool)
		pig_add_sorts(ranges, path, PIG_JSON_TRUE, PIG_JSON_TRUE);
	else if (comparison->operator == jpiStartsWith && literal->type == jpiString)
	{
		text = jspGetString(literal, &size);
		pig_add_strings_with_prefix(ranges, path, text, size);
	}
	else if (comparison->operator == jpiStartsWith || comparison->operator == jpiLikeRegex)
		pig_add_sorts(ranges, path, PIG_JSON_STRING, PIG_JSON_STRING);
	else if (comparison->operator == jpiExists || comparison->operator == jpiNotEqual)
		pig_add_sorts(ranges, path, PIG_JSON_NULL, PIG_JSON_LAST);
	else if (literal->type == jpiNumeric)
		add_number_comparison(ranges, path, comparison->operator, jspGetNumeric(literal));
	else if (literal->type == jpiString && comparison->operator == jpiEqual)
	{
		text = jspGetString(literal, &size);
		pig_add_string(ranges, path, text, size);
	}
	else if (literal->type == jpiString)
		pig_add_sorts(ranges, path, PIG_JSON_STRING, PIG_JSON_STRING);
	else if (literal->type == jpiBool)
		pig_add_sorts(ranges, path, PIG_JSON_FALSE, PIG_JSON_TRUE);
	else
		pig_add_sorts(ranges, path, PIG_JSON_NULL, PIG_JSON_NULL);
}

/*
 * What is there where a path ends so.
 */
static List *
ranges_at(const KnownPath *at, const Comparison *end)
{
	PigRanges  *ranges = pig_new_ranges();

	if (at->is_whole && (end->operator != jpiExists || at->path.count > 0))
		add_comparison(ranges, &at->path, end);
	else if (at->path.count > 0)
		pig_add_sorts(ranges, &at->path, PIG_JSON_NULL, PIG_JSON_LAST);
	return ranges->count > 0 ? list_make1(ranges) : NIL;
}

/*
 * A path from the root or from what a filter looks at, with the filters on its way; *is_path false: it is something else.
 */
static List *
ranges_of_path(JsonPathItem *item, const KnownPath *current, const Comparison *end, bool *is_path)
{
	KnownPath	at = {.path = {.direct = true, .in_array = true}, .is_whole = true};
	List	   *all = NIL;
	JsonPathItem next;
	JsonPathItem step;
	JsonPathItem argument;

	check_stack_depth();
	*is_path = item->type == jpiRoot || item->type == jpiCurrent;
	if (!*is_path)
		return NIL;
	if (item->type == jpiCurrent)
		at = *current;
	step = *item;
	while (jspGetNext(&step, &next))
	{
		step = next;
		if (step.type == jpiFilter)
		{
			jspGetArg(&step, &argument);
			all = list_concat(all, ranges_of_predicate(&argument, &at));
		}
		else if (step.type == jpiKey && at.is_whole)
		{
			int32		size;
			char	   *key = jspGetString(&step, &size);

			at.is_whole = pig_json_path_add(&at.path, key, size);
		}
		else if (step.type != jpiAnyArray && step.type != jpiIndexArray)
			at.is_whole = false;
	}
	return list_concat(all, ranges_at(&at, end));
}

static bool
is_literal(const JsonPathItem *item)
{
	return jspIsScalar(item->type) && !jspHasNext(item);
}

static List *
ranges_of_comparison(JsonPathItem *item, const KnownPath *current)
{
	JsonPathItem left;
	JsonPathItem right;
	Comparison	exists = {jpiExists, NULL};
	Comparison	end = {item->type, NULL};
	bool		is_path;
	List	   *all;

	jspGetLeftArg(item, &left);
	jspGetRightArg(item, &right);
	if (is_literal(&right))
	{
		end.literal = &right;
		return ranges_of_path(&left, current, &end, &is_path);
	}
	if (is_literal(&left) && item->type != jpiStartsWith)
	{
		end.operator = turned_round(item->type);
		end.literal = &left;
		return ranges_of_path(&right, current, &end, &is_path);
	}
	if (item->type == jpiStartsWith)
		return ranges_of_path(&left, current, &exists, &is_path);
	all = ranges_of_path(&left, current, &exists, &is_path);
	return list_concat(all, ranges_of_path(&right, current, &exists, &is_path));
}

/*
 * Of a predicate that is true.
 */
static List *
ranges_of_predicate(JsonPathItem *item, const KnownPath *current)
{
	JsonPathItem left;
	JsonPathItem right;
	Comparison	exists = {jpiExists, NULL};
	Comparison	matches = {jpiLikeRegex, NULL};
	bool		is_path;
	List	   *all;

	check_stack_depth();
	switch (item->type)
	{
		case jpiAnd:
			jspGetLeftArg(item, &left);
			jspGetRightArg(item, &right);
			all = ranges_of_predicate(&left, current);
			return list_concat(all, ranges_of_predicate(&right, current));
		case jpiOr:
			jspGetLeftArg(item, &left);
			jspGetRightArg(item, &right);
			all = ranges_of_predicate(&left, current);
			return either(all, ranges_of_predicate(&right, current));
		case jpiEqual:
		case jpiNotEqual:
		case jpiLess:
		case jpiGreater:
		case jpiLessOrEqual:
		case jpiGreaterOrEqual:
		case jpiStartsWith:
			return ranges_of_comparison(item, current);
		case jpiLikeRegex:
			jspInitByBuffer(&left, item->base, item->content.like_regex.expr);
			return ranges_of_path(&left, current, &matches, &is_path);
		case jpiExists:
			jspGetArg(item, &left);
			return ranges_of_path(&left, current, &exists, &is_path);
		default:
			return NIL;
	}
}

/*
 * By "@@" a predicate is true, or a path leads to true; by "@?" a path leads somewhere, and a predicate always does.
 */
List *
pig_ranges_of_jsonpath(Datum jsonpath, bool is_predicate)
{
	JsonPath   *given = DatumGetJsonPathP(jsonpath);
	KnownPath	root = {.path = {.direct = true, .in_array = true}, .is_whole = true};
	Comparison	end = {is_predicate ? jpiBool : jpiExists, NULL};
	JsonPathItem item;
	bool		is_path;
	List	   *all;

	jspInit(&item, given);
	all = ranges_of_path(&item, &root, &end, &is_path);
	if (is_path || !is_predicate || jspHasNext(&item))
		return all;
	return ranges_of_predicate(&item, &root);
}
