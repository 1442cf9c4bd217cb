/* SPDX-License-Identifier: Apache-2.0 */

/*
 * vector_cast.c
 *	  Casts between `vector` and arrays of numbers, and to a number of dimensions.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "compat.h"
#include "utils/array.h"

#include "vector.h"
#include "vector_text.h"

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
 * integer[], real[], double precision[] or numeric[] -> vector.
 */
PG_FUNCTION_INFO_V1(pigment_pg_array_to_vector);
Datum
pigment_pg_array_to_vector(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	int			count = pig_count_array(array);
	float	   *elements;
	Vector	   *result;

	pig_check_dimension(count);
	pig_check_typmod(PG_GETARG_INT32(1), count);
	elements = pig_read_array(array);
	for (int i = 0; i < count; i++)
		pig_check_finite("vector", elements[i], i);
	result = pig_vector_new(count);
	memcpy(result->x, elements, sizeof(float) * (size_t) count);
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
