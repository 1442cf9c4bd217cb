/* SPDX-License-Identifier: Apache-2.0 */

/*
 * vector_cast.c
 *	  Casts between `vector` and arrays of numbers, and to a number of dimensions.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "compat.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "vector.h"

/*
 * vector -> vector(n): refuses another number of dimensions, changes nothing.
 */
PG_FUNCTION_INFO_V1(pigment_pg_vector);
Datum
pigment_pg_vector(PG_FUNCTION_ARGS)
{
	Vector	   *vector = PG_GETARG_VECTOR(0);

	pig_check_typmod(PG_GETARG_INT32(1), vector->dim);
	PG_RETURN_VECTOR(vector);
}

/*
 * A double as an element: refused where float4 has no place for it, as the server's own cast does.
 */
static float
element_of_double(double value, int index)
{
	float		element = (float) value;

	if (!isnan(value) && !isinf(value) && (isinf(element) || (element == 0 && value != 0)))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("%g is out of range for type vector", value),
				 errdetail("It is element %d.", index + 1)));
	pig_check_element(element, index);
	return element;
}

static float
element_of_datum(Datum datum, Oid type, int index)
{
	switch (type)
	{
		case INT4OID:
			return (float) DatumGetInt32(datum);
		case FLOAT4OID:
			pig_check_element(DatumGetFloat4(datum), index);
			return DatumGetFloat4(datum);
		case FLOAT8OID:
			return element_of_double(DatumGetFloat8(datum), index);
		case NUMERICOID:
			return element_of_double(DatumGetFloat8(DirectFunctionCall1(numeric_float8, datum)), index);
		default:
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("an array of type %u cannot become a vector", type)));
	}
	pg_unreachable();
}

/*
 * integer[], real[], double precision[] or numeric[] -> vector.
 */
PG_FUNCTION_INFO_V1(pigment_pg_array_to_vector);
Datum
pigment_pg_array_to_vector(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	int32		typmod = PG_GETARG_INT32(1);
	Oid			type = ARR_ELEMTYPE(array);
	int16		length;
	bool		by_value;
	char		alignment;
	Datum	   *elements;
	int			count;
	Vector	   *result;

	if (ARR_NDIM(array) > 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("array must be 1-D, not %d-D", ARR_NDIM(array))));
	if (ARR_HASNULL(array) && array_contains_nulls(array))
		ereport(ERROR,
				(errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED),
				 errmsg("array must not contain nulls")));
	count = ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array));
	pig_check_dimension(count);
	pig_check_typmod(typmod, count);

	get_typlenbyvalalign(type, &length, &by_value, &alignment);
	deconstruct_array(array, type, length, by_value, alignment, &elements, NULL, &count);
	result = pig_vector_new(count);
	for (int i = 0; i < count; i++)
		result->x[i] = element_of_datum(elements[i], type, i);
	pfree(elements);
	PG_RETURN_VECTOR(result);
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_to_float4);
Datum
pigment_pg_vector_to_float4(PG_FUNCTION_ARGS)
{
	Vector	   *vector = PG_GETARG_VECTOR(0);
	Datum	   *elements = palloc(sizeof(Datum) * vector->dim);

	for (int i = 0; i < vector->dim; i++)
		elements[i] = Float4GetDatum(vector->x[i]);
	PG_RETURN_ARRAYTYPE_P(construct_array(elements, vector->dim, FLOAT4OID, sizeof(float4), true, TYPALIGN_INT));
}
