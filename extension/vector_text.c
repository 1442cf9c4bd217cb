/* SPDX-License-Identifier: Apache-2.0 */

/*
 * vector_text.c
 *	  What the vector types share where values come in; see vector_text.h.
 */
#include "postgres.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "catalog/pg_type.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "vector_text.h"

/* How much of a bad input an error message shows. */
#define SHOWN_BYTES 64

/* The beginning of a text for an error message. */
static const char *
shown(const char *text)
{
	size_t		length = strlen(text);

	if (length <= SHOWN_BYTES)
		return text;
	return psprintf("%.*s...", pg_mbcliplen(text, (int) Min(length, 1024), SHOWN_BYTES), text);
}

char *
pig_skip_space(char *at)
{
	while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r' || *at == '\v' || *at == '\f')
		at++;
	return at;
}

void
pig_refuse_text(const char *type, const char *input, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type %s: \"%s\"", type, shown(input)),
			 errdetail_internal("%s", detail)));
	pg_unreachable();
}

void
pig_refuse_number(const char *type, const char *text, const char *end, int index)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("\"%s\" is out of range for type %s", shown(pnstrdup(text, Min(end - text, 1024))), type),
			 errdetail("It is element %d.", index + 1)));
	pg_unreachable();
}

/* `lost` is set where the number is not zero and the result is. */
static float
read_number(char **at, const char *type, const char *input, int index, bool *lost)
{
	char	   *begin = pig_skip_space(*at);
	char	   *end;
	float		value;

	errno = 0;
	value = strtof(begin, &end);
	if (end == begin)
		pig_refuse_text(type, input, psprintf("Element %d is not a number.", index + 1));
	*lost = errno == ERANGE && value == 0;
	if (errno == ERANGE && isinf(value))
		pig_refuse_number(type, begin, end, index);
	pig_check_finite(type, value, index);
	*at = end;
	return value;
}

float
pig_read_number(char **at, const char *type, const char *input, int index)
{
	bool		lost;
	float		value = read_number(at, type, input, index, &lost);

	*at = pig_skip_space(*at);
	return value;
}

float
pig_read_number_not_too_small(char **at, const char *type, const char *input, int index)
{
	char	   *begin = pig_skip_space(*at);
	bool		lost;
	float		value = read_number(at, type, input, index, &lost);

	if (lost)
		pig_refuse_number(type, begin, *at, index);
	*at = pig_skip_space(*at);
	return value;
}

void
pig_refuse_infinite(const char *type, float value, int index)
{
	if (isnan(value))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("NaN not allowed in %s", type),
				 errdetail("Element %d is NaN.", index + 1)));
	ereport(ERROR,
			(errcode(ERRCODE_DATA_EXCEPTION),
			 errmsg("infinite value not allowed in %s", type),
			 errdetail("Element %d is %s.", index + 1, value > 0 ? "Infinity" : "-Infinity")));
	pg_unreachable();
}

void
pig_check_overflow(float value, int index)
{
	if (isinf(value))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("value out of range: overflow"),
				 errdetail("Element %d of the vector does not fit.", index + 1)));
}

void
pig_refuse_underflow(int index)
{
	ereport(ERROR,
			(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
			 errmsg("value out of range: underflow"),
			 errdetail("Element %d of the vector is too small.", index + 1)));
	pg_unreachable();
}

int32
pig_read_typmod(const char *type, ArrayType *modifiers, int32 limit)
{
	int			count;
	int32	   *values = ArrayGetIntegerTypmods(modifiers, &count);

	if (count != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("type %s takes one modifier, its number of dimensions, not %d", type, count)));
	if (values[0] < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dimensions for type %s must be at least 1, not %d", type, values[0])));
	if (values[0] > limit)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dimensions for type %s cannot exceed %d, got %d", type, limit, values[0])));
	return values[0];
}

static float
number_of_datum(Datum datum, Oid type)
{
	switch (type)
	{
		case INT4OID:
			return (float) DatumGetInt32(datum);
		case FLOAT4OID:
			return DatumGetFloat4(datum);
		case FLOAT8OID:
			return (float) DatumGetFloat8(datum);
		case NUMERICOID:
			/* refuses what a float has no place for */
			return DatumGetFloat4(DirectFunctionCall1(numeric_float4, datum));
		default:
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("an array of %s cannot become a vector", format_type_be(type))));
	}
	pg_unreachable();
}

int
pig_count_array(ArrayType *array)
{
	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("array must be 1-D, not %d-D", ARR_NDIM(array))));
	if (ARR_HASNULL(array) && array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array must not contain nulls")));
	return ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
}

float *
pig_read_array(ArrayType *array)
{
	Oid			element_type = ARR_ELEMTYPE(array);
	int16		length;
	bool		by_value;
	char		alignment;
	Datum	   *elements;
	int			count;
	float	   *result;

	get_typlenbyvalalign(element_type, &length, &by_value, &alignment);
	deconstruct_array(array, element_type, length, by_value, alignment, &elements, NULL, &count);
	result = palloc(sizeof(float) * (size_t) Max(count, 1));
	for (int i = 0; i < count; i++)
		result[i] = number_of_datum(elements[i], element_type);
	pfree(elements);
	return result;
}
