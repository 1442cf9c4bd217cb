/* SPDX-License-Identifier: Apache-2.0 */

/*
 * conditions.c
 *	  Scan keys as conditions of the engine.
 *
 * A condition lets through every row for which its scan key holds. Where it may let through more (a key that was cut, an order that is not that of
 * the bytes, an operator that keys cannot tell) the scan says recheck, and the executor looks at the row.
 */
#include "postgres.h"

#include <float.h>
#include <math.h>

#include "access/gin.h"
#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "executor/executor.h"
#include "lib/stringinfo.h"
#include "utils/array.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"

#include "am.h"
#include "json_keys.h"
#include "json_test.h"
#include "keys.h"
#include "patterns.h"

/*
 * Room for one more, which is the caller's to fill.
 */
static pigment_host_condition *
next_condition(PigConditions *all)
{
	if (all->count == all->capacity)
	{
		all->capacity *= 2;
		all->conditions = repalloc(all->conditions, sizeof(pigment_host_condition) * all->capacity);
	}
	memset(&all->conditions[all->count], 0, sizeof(pigment_host_condition));
	return &all->conditions[all->count];
}

/* The keys that a scan key's argument gives: one, or those of an array's elements. */
typedef struct Argument
{
	pigment_host_bytes *keys;
	size_t		count;
	bool		has_null;		/* among the elements */
	bool		is_cut;			/* one of them */
} Argument;

static void
add_key(Argument *argument, const PigColumn *column, Oid type, Datum value)
{
	StringInfoData key;

	initStringInfo(&key);
	argument->is_cut |= pig_value_key(column, type, value, &key);
	argument->keys[argument->count].bytes = key.data;
	argument->keys[argument->count++].size = (size_t) key.len;
}

static Argument
read_value(const PigColumn *column, Oid type, Datum value)
{
	Argument	argument = {.keys = palloc(sizeof(pigment_host_bytes))};

	add_key(&argument, column, type, value);
	return argument;
}

static Argument
read_elements(const PigColumn *column, Oid type, Datum value)
{
	Argument	argument = {0};
	ArrayType  *array = DatumGetArrayTypeP(value);
	int16		length;
	bool		by_value;
	char		align;
	Datum	   *elements;
	bool	   *nulls;
	int			count;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), length, by_value, align, &elements, &nulls, &count);
	argument.keys = palloc(sizeof(pigment_host_bytes) * (Size) Max(count, 1));
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			argument.has_null = true;
		else
			add_key(&argument, column, type, elements[i]);
	}
	return argument;
}

static bool
is_less(const pigment_host_bytes *a, const pigment_host_bytes *b)
{
	int			order = memcmp(a->bytes, b->bytes, Min(a->size, b->size));

	return order < 0 || (order == 0 && a->size < b->size);
}

/*
 * A range that holds what is below (or above) any of the argument's keys: the widest of theirs.
 */
static void
set_range(pigment_host_condition *condition, const Argument *argument, int strategy)
{
	bool		is_below = strategy == BTLessStrategyNumber || strategy == BTLessEqualStrategyNumber;
	bool		takes_bound = strategy == BTLessEqualStrategyNumber || strategy == BTGreaterEqualStrategyNumber || argument->is_cut;
	pigment_host_bytes *bounds = palloc0(sizeof(pigment_host_bytes) * 2);
	const pigment_host_bytes *widest = &argument->keys[0];

	for (size_t i = 1; i < argument->count; i++)
		if (is_below ? is_less(widest, &argument->keys[i]) : is_less(&argument->keys[i], widest))
			widest = &argument->keys[i];
	bounds[is_below ? 1 : 0] = *widest;
	condition->kind = PIGMENT_CONDITION_RANGE;
	condition->keys = bounds;
	condition->key_count = 2;
	condition->takes_low = condition->takes_high = takes_bound;
}

/*
 * The texts that a pattern of LIKE, or of ^@, lets through.
 */
typedef struct Pattern
{
	StringInfoData prefix;		/* they begin with it */
	bool		is_whole;		/* and do not go on */
	bool		is_exact;		/* all such texts are let through */
} Pattern;

static Pattern
read_pattern(Datum argument, int strategy)
{
	text	   *given = DatumGetTextPP(argument);
	const char *bytes = VARDATA_ANY(given);
	int			size = VARSIZE_ANY_EXHDR(given);
	int			i = 0;
	Pattern		pattern = {.is_exact = true};

	initStringInfo(&pattern.prefix);
	if (strategy == PIG_TEXT_STARTS_WITH)
	{
		appendBinaryStringInfo(&pattern.prefix, bytes, size);
		return pattern;
	}
	for (; i < size && bytes[i] != '%' && bytes[i] != '_'; i++)
	{
		/* one that ends the pattern is the operator's to complain of */
		if (bytes[i] == '\\' && ++i == size)
		{
			pattern.is_exact = false;
			return pattern;
		}
		appendStringInfoCharMacro(&pattern.prefix, bytes[i]);
	}
	pattern.is_whole = i == size;
	while (i < size && bytes[i] == '%')
		i++;
	pattern.is_exact = i == size;
	return pattern;
}

/*
 * What is above all bytes that begin with these, and no more; NULL bytes: nothing is.
 */
static pigment_host_bytes
bytes_behind(const StringInfo prefix)
{
	pigment_host_bytes behind = {0};
	int			size = prefix->len;
	char	   *bytes;

	while (size > 0 && (unsigned char) prefix->data[size - 1] == 0xFF)
		size--;
	if (size == 0)
		return behind;
	bytes = palloc((Size) size);
	memcpy(bytes, prefix->data, (Size) size);
	bytes[size - 1] = (char) ((unsigned char) bytes[size - 1] + 1);
	behind.bytes = bytes;
	behind.size = (size_t) size;
	return behind;
}

/*
 * By the bytes, whatever the collation: with a deterministic one both operators compare bytes.
 */
static void
pattern_condition(PigConditions *all, pigment_host_condition *condition, const PigColumn *column, ScanKey key)
{
	Pattern		pattern;
	pigment_host_bytes *bounds;

	if ((key->sk_flags & SK_SEARCHARRAY) != 0 || key->sk_strategy > PIG_TEXT_STARTS_WITH)
	{
		all->recheck = true;
		return;
	}
	pattern = read_pattern(key->sk_argument, key->sk_strategy);
	/* keys of so many bytes may have been cut */
	all->recheck |= !pattern.is_exact || pattern.prefix.len > column->key_bytes_max - (pattern.is_whole ? 1 : 0);
	pattern.prefix.len = Min(pattern.prefix.len, column->key_bytes_max);
	if (pattern.prefix.len == 0 && !pattern.is_whole)
		return;
	bounds = palloc0(sizeof(pigment_host_bytes) * 2);
	bounds[0].bytes = pattern.prefix.data;
	bounds[0].size = (size_t) pattern.prefix.len;
	condition->keys = bounds;
	if (pattern.is_whole)
	{
		condition->kind = PIGMENT_CONDITION_ANY_OF;
		condition->key_count = 1;
		return;
	}
	bounds[1] = bytes_behind(&pattern.prefix);
	condition->kind = PIGMENT_CONDITION_RANGE;
	condition->key_count = 2;
	condition->takes_low = true;
}

static void
value_condition(PigConditions *all, pigment_host_condition *condition, const PigColumn *column, ScanKey key)
{
	Oid			type = pig_is_key_type(key->sk_subtype) ? key->sk_subtype : column->type;
	Argument	argument = (key->sk_flags & SK_SEARCHARRAY) != 0 ? read_elements(column, type, key->sk_argument) :
		read_value(column, type, key->sk_argument);

	if (argument.count == 0)
	{
		all->nothing = true;
		return;
	}
	all->recheck |= argument.is_cut;
	if (key->sk_strategy == BTEqualStrategyNumber)
	{
		condition->kind = PIGMENT_CONDITION_ANY_OF;
		condition->keys = argument.keys;
		condition->key_count = argument.count;
	}
	else if (pig_column_answers(column, key->sk_strategy, NULL))
		set_range(condition, &argument, key->sk_strategy);
	else
		all->recheck = true;	/* the column is not NULL: no more is known */
}

static void
list_condition(PigConditions *all, pigment_host_condition *condition, const PigColumn *column, ScanKey key)
{
	Argument	argument;

	if ((key->sk_flags & SK_SEARCHARRAY) != 0 || key->sk_strategy == PIG_LIST_CONTAINED)
	{
		all->recheck = true;
		return;
	}
	argument = read_elements(column, column->type, key->sk_argument);
	all->recheck |= argument.is_cut || key->sk_strategy == PIG_LIST_EQUAL;
	if (key->sk_strategy == PIG_LIST_OVERLAPS)
	{
		/* NULL equals nothing, nor does an element of no list */
		all->nothing |= argument.count == 0;
		condition->kind = PIGMENT_CONDITION_HAS_ANY;
	}
	else
	{
		all->nothing |= argument.has_null && key->sk_strategy == PIG_LIST_CONTAINS;
		condition->kind = PIGMENT_CONDITION_HAS_ALL;
	}
	condition->keys = argument.keys;
	condition->key_count = argument.count;
}

static void
add_ranges(PigConditions *all, uint32 column, const PigRanges *ranges, bool lacks)
{
	pigment_host_condition *condition = next_condition(all);

	condition->column = column;
	condition->kind = lacks ? PIGMENT_CONDITION_LACKS_RANGE : PIGMENT_CONDITION_HAS_RANGE;
	condition->keys = ranges->keys;
	condition->key_count = (size_t) ranges->count;
	all->count++;
}

/*
 * The keys that an operator asks for at the top: one of them, or all.
 */
static void
top_key_conditions(PigConditions *all, uint32 column, Datum keys, bool is_any)
{
	PigRanges  *any = pig_new_ranges();
	Datum	   *elements;
	bool	   *nulls;
	int			count;

	deconstruct_array(DatumGetArrayTypeP(keys), TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		text	   *key = nulls[i] ? NULL : DatumGetTextPP(elements[i]);
		PigRanges  *ranges = nulls[i] ? NULL : pig_ranges_of_top_key(VARDATA_ANY(key), (int) VARSIZE_ANY_EXHDR(key));

		if (nulls[i])
			continue;
		if (!is_any && ranges != NULL)
			add_ranges(all, column, ranges, false);
		else if (is_any && ranges == NULL)
			return;
		else if (is_any)
			pig_add_ranges(any, ranges);
	}
	if (is_any)
		add_ranges(all, column, any, false);
}

/*
 * Of a column with paths; each row is looked at.
 */
static void
path_conditions(PigConditions *all, const PigColumn *column, ScanKey key)
{
	uint32		number = (uint32) key->sk_attno - 1;
	List	   *found = NIL;
	PigRanges  *ranges;
	ListCell   *cell;
	text	   *name;
	bool		lacks;

	if ((key->sk_flags & SK_SEARCHARRAY) != 0)
		return;
	switch (key->sk_strategy)
	{
		case JsonbContainsStrategyNumber:
			found = pig_ranges_of_contained(DatumGetJsonbP(key->sk_argument));
			break;
		case JsonbExistsStrategyNumber:
			name = DatumGetTextPP(key->sk_argument);
			ranges = pig_ranges_of_top_key(VARDATA_ANY(name), (int) VARSIZE_ANY_EXHDR(name));
			if (ranges != NULL)
				found = list_make1(ranges);
			break;
		case JsonbExistsAnyStrategyNumber:
		case JsonbExistsAllStrategyNumber:
			top_key_conditions(all, number, key->sk_argument, key->sk_strategy == JsonbExistsAnyStrategyNumber);
			break;
		case PIG_JSON_PATH_EXISTS:
		case PIG_JSON_PATH_MATCHES:
			found = pig_ranges_of_jsonpath(key->sk_argument, key->sk_strategy == PIG_JSON_PATH_MATCHES);
			break;
		case PIG_JSON_TEST:
			ranges = pig_ranges_of_test(key->sk_argument, &lacks);
			add_ranges(all, number, ranges, lacks);
			break;
		default:
			break;
	}
	foreach(cell, found)
		add_ranges(all, number, lfirst(cell), false);
}

/*
 * As GIN does: entries have lost their places, so each row is looked at.
 */
static void
json_condition(PigConditions *all, pigment_host_condition *condition, const PigColumn *column, ScanKey key)
{
	bool	   *partial = NULL;
	Pointer    *extra = NULL;
	bool	   *nulls = NULL;
	int32		count = 0;
	int32		mode = GIN_SEARCH_MODE_DEFAULT;
	Datum	   *entries;
	Argument	argument = {0};

	all->recheck = true;
	if ((key->sk_flags & SK_SEARCHARRAY) != 0)
		return;
	entries = (Datum *) DatumGetPointer(DirectFunctionCall7(gin_extract_jsonb_query, key->sk_argument, PointerGetDatum(&count),
															UInt16GetDatum(key->sk_strategy), PointerGetDatum(&partial),
															PointerGetDatum(&extra), PointerGetDatum(&nulls), PointerGetDatum(&mode)));
	if (mode == GIN_SEARCH_MODE_ALL)
		return;
	argument.keys = palloc(sizeof(pigment_host_bytes) * (Size) Max(count, 1));
	for (int32 i = 0; i < count; i++)
		add_key(&argument, column, TEXTOID, entries[i]);
	all->nothing |= count == 0;
	condition->kind = key->sk_strategy == JsonbContainsStrategyNumber || key->sk_strategy == JsonbExistsAllStrategyNumber ?
		PIGMENT_CONDITION_HAS_ALL : PIGMENT_CONDITION_HAS_ANY;
	condition->keys = argument.keys;
	condition->key_count = argument.count;
}

/* ---- distances ---- */

bool
pig_is_same_vector(const PigVector *a, const PigVector *b)
{
	return a->dimension == b->dimension && memcmp(a->values, b->values, sizeof(float) * (Size) a->dimension) == 0;
}

/*
 * The distance up to which "minuend - distance >= radius" may hold. The difference has been rounded, which takes some of the last bits of the larger of
 * the two; so has ours.
 */
static double
farthest_of(double minuend, double radius)
{
	return minuend - radius + (fabs(minuend) + fabs(radius)) * 4 * DBL_EPSILON;
}

/*
 * Several bounds on the distances from one vector are one. Of those on other distances too the executor knows.
 */
static void
ball_condition(PigConditions *all, const PigColumns *columns, ScanKey key)
{
	HeapTupleHeader ball;
	bool		nulls[3];
	Datum		values[3];
	PigBound	bound = {.is_bound = true};

	if ((key->sk_flags & SK_ISNULL) != 0)
	{
		all->nothing = true;
		return;
	}
	ball = DatumGetHeapTupleHeader(key->sk_argument);
	for (int i = 0; i < 3; i++)
		values[i] = GetAttributeByNum(ball, (AttrNumber) (i + 1), &nulls[i]);
	if (nulls[0] || nulls[1])
	{
		all->nothing = true;
		return;
	}
	bound.center = pig_column_vector(columns, values[0]);
	bound.distance = DatumGetFloat8(values[1]);
	if (!nulls[2])
		bound.distance = farthest_of(DatumGetFloat8(values[2]), bound.distance);
	/* NaN is above all numbers: it is no less than what is none */
	bound.takes_nan = !nulls[2] || isnan(bound.distance);
	if (!all->bound.is_bound)
		all->bound = bound;
	else if (pig_is_same_vector(&all->bound.center, &bound.center))
	{
		if (isnan(all->bound.distance) || bound.distance < all->bound.distance)
			all->bound.distance = bound.distance;
		all->bound.takes_nan &= bound.takes_nan;
	}
}

/*
 * A distance as the engine has it. The nearest float is not below any that the operator's result of is not above the distance: conversion keeps
 * order, and so do root and square.
 */
static float
engine_distance(int32 metric, double distance)
{
	double		converted = metric == PIGMENT_METRIC_L2 ? distance * distance : distance;

	if (converted > FLT_MAX)
		return get_float4_infinity();
	return converted < -FLT_MAX ? -get_float4_infinity() : (float) converted;
}

bool
pig_bound_search(const PigBound *bound, int32 metric, pigment_host_search_options *options)
{
	bool		is_never_negative = metric == PIGMENT_METRIC_L2 || metric == PIGMENT_METRIC_L1 || metric == PIGMENT_METRIC_HAMMING ||
		metric == PIGMENT_METRIC_JACCARD;

	if (is_never_negative && bound->distance < 0)
		return false;
	if (!bound->takes_nan)
		options->nan = PIGMENT_NAN_LEFT_OUT;
	options->has_max_distance = !isnan(bound->distance);
	if (options->has_max_distance)
		options->max_distance = engine_distance(metric, bound->distance);
	return true;
}

/* ---- metadata ---- */

/*
 * Of metadata: what the engine makes of a filter. It holds exactly where the operator does.
 */
static void
where_condition(PigConditions *all, pigment_host_condition *condition, ScanKey key)
{
	Jsonb	   *where;
	StringInfoData json;
	pigment_host_bytes *keys;

	if ((key->sk_flags & SK_SEARCHARRAY) != 0)
	{
		all->recheck = true;
		return;
	}
	where = DatumGetJsonbP(key->sk_argument);
	initStringInfo(&json);
	JsonbToCString(&json, &where->root, VARSIZE(where));
	keys = palloc(sizeof(pigment_host_bytes));
	keys->bytes = json.data;
	keys->size = (size_t) json.len;
	condition->kind = PIGMENT_CONDITION_WHERE;
	condition->keys = keys;
	condition->key_count = 1;
}

bool
pig_column_answers(const PigColumn *column, int strategy, const Datum *argument)
{
	Pattern		pattern;

	switch (column->kind)
	{
		case PIG_COLUMN_VECTOR:
			return strategy == PIG_WITHIN_STRATEGY;
		case PIG_COLUMN_VALUE:
			if (strategy > BTMaxStrategyNumber)
			{
				if (column->has_grams && (argument == NULL || pig_texts_of_pattern(strategy, *argument) != NIL))
					return true;
				if (strategy > PIG_TEXT_STARTS_WITH)
					return false;
				if (argument == NULL)
					return strategy == PIG_TEXT_STARTS_WITH;
				pattern = read_pattern(*argument, strategy);
				return pattern.prefix.len > 0 || pattern.is_whole;
			}
			return strategy == InvalidStrategy || strategy == BTEqualStrategyNumber ||
				(column->type != TEXTOID && column->type != VARCHAROID) || column->orders_by_bytes;
		case PIG_COLUMN_LIST:
			return strategy != PIG_LIST_CONTAINED;
		case PIG_COLUMN_JSON:
			return argument == NULL || (strategy != PIG_JSON_PATH_EXISTS && strategy != PIG_JSON_PATH_MATCHES) ||
				pig_ranges_of_jsonpath(*argument, strategy == PIG_JSON_PATH_MATCHES) != NIL;
		case PIG_COLUMN_METADATA:
		case PIG_COLUMN_RANKED:
		case PIG_COLUMN_SPARSE:
			return true;
	}
	return false;
}

/*
 * By the grams of a column: each set of texts is a condition of its own.
 */
static void
add_text_conditions(PigConditions *all, uint32 column, ScanKey key)
{
	List	   *sets = (key->sk_flags & SK_SEARCHARRAY) != 0 ? pig_texts_of_patterns(key->sk_strategy, key->sk_argument) :
		pig_texts_of_pattern(key->sk_strategy, key->sk_argument);
	ListCell   *cell;

	foreach(cell, sets)
	{
		const PigTexts *set = lfirst(cell);
		pigment_host_condition *condition = next_condition(all);

		all->count++;
		condition->column = column;
		condition->kind = PIGMENT_CONDITION_HAS_TEXT;
		condition->keys = set->texts;
		condition->key_count = (size_t) set->count;
	}
}

static void
add_condition(PigConditions *all, const PigColumns *columns, ScanKey key)
{
	int			i = key->sk_attno - 1;
	const PigColumn *column = &columns->columns[i];
	pigment_host_condition *condition = next_condition(all);
	bool		rechecks = all->recheck;

	if ((key->sk_flags & (SK_ROW_HEADER | SK_ROW_MEMBER)) != 0 || i < 0 || i >= columns->count)
		elog(ERROR, "access method pigment got a scan key that it does not know");
	condition->column = (uint32) i;
	condition->kind = PIGMENT_CONDITION_PRESENT;
	all->recheck = false;
	if (column->kind == PIG_COLUMN_VECTOR)
	{
		if ((key->sk_flags & (SK_SEARCHNULL | SK_SEARCHNOTNULL)) == 0)
			ball_condition(all, columns, key);
		else
			all->recheck = true;	/* whether it is there: no key tells, the row does */
		all->recheck |= rechecks;
		return;
	}
	if (column->has_paths && (key->sk_flags & (SK_SEARCHNULL | SK_SEARCHNOTNULL | SK_ISNULL)) == 0)
	{
		/* a filter looks at each row anyway, by which the test came */
		if (key->sk_strategy == PIG_JSON_TEST)
			all->is_lossy = true;
		else
			all->recheck = true;
		path_conditions(all, column, key);
		all->recheck |= rechecks;
		return;
	}
	if ((key->sk_flags & SK_SEARCHNULL) != 0)
		condition->kind = PIGMENT_CONDITION_ABSENT;
	else if ((key->sk_flags & SK_SEARCHNOTNULL) == 0)
	{
		/* all operators are strict */
		if ((key->sk_flags & SK_ISNULL) != 0)
			all->nothing = true;
		else if (column->kind == PIG_COLUMN_VALUE && key->sk_strategy > BTMaxStrategyNumber)
			pattern_condition(all, condition, column, key);
		else if (column->kind == PIG_COLUMN_VALUE)
			value_condition(all, condition, column, key);
		else if (column->kind == PIG_COLUMN_JSON)
			json_condition(all, condition, column, key);
		else if (column->kind == PIG_COLUMN_METADATA)
			where_condition(all, condition, key);
		else
			list_condition(all, condition, column, key);
	}
	all->count++;
	/* where the key of the value does not tell */
	if (column->has_grams && all->recheck && (key->sk_flags & (SK_SEARCHNULL | SK_SEARCHNOTNULL | SK_ISNULL)) == 0)
		add_text_conditions(all, (uint32) i, key);
	all->recheck |= rechecks;
}

PigConditions
pig_conditions(Relation index, ScanKey keys, int count)
{
	PigColumns	columns = pig_columns(index);
	PigConditions all = {.capacity = (size_t) Max(count, 1)};

	all.conditions = palloc(sizeof(pigment_host_condition) * all.capacity);
	for (int i = 0; i < count && !all.nothing; i++)
		add_condition(&all, &columns, &keys[i]);
	return all;
}
