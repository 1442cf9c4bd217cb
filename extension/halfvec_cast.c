/* SPDX-License-Identifier: Apache-2.0 */

/*
 * halfvec_cast.c
 *	  Casts between `halfvec`, `vector` and arrays of numbers, and to a number of dimensions.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "compat.h"
#include "utils/array.h"

#include "halfvec.h"
#include "vector.h"
#include "vector_text.h"

/*
 * halfvec -> halfvec(n): refuses another number of dimensions, changes nothing.
 */
PG_FUNCTION_INFO_V1(pigment_pg_halfvec);
Datum
pigment_pg_halfvec(PG_FUNCTION_ARGS)
{
	HalfVector *vector = PG_GETARG_HALFVEC(0);

	pig_check_typmod(PG_GETARG_INT32(1), vector->dim);
	PG_RETURN_HALFVEC(vector);
}

static HalfVector *
halfvec_of_floats(const float *values, int count, int32 typmod)
{
	HalfVector *result;

	pig_check_halfvec_dimension(count);
	pig_check_typmod(typmod, count);
	result = pig_halfvec_new(count);
	for (int i = 0; i < count; i++)
		result->x[i] = pig_half_element(values[i], i);
	for (int i = 0; i < count; i++)
		pig_check_finite("halfvec", values[i], i);
	return result;
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_to_halfvec);
Datum
pigment_pg_vector_to_halfvec(PG_FUNCTION_ARGS)
{
	Vector	   *vector = PG_GETARG_VECTOR(0);

	PG_RETURN_HALFVEC(halfvec_of_floats(vector->x, vector->dim, PG_GETARG_INT32(1)));
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_to_vector);
Datum
pigment_pg_halfvec_to_vector(PG_FUNCTION_ARGS)
{
	HalfVector *vector = PG_GETARG_HALFVEC(0);
	Vector	   *result;

	pig_check_dimension(vector->dim);
	pig_check_typmod(PG_GETARG_INT32(1), vector->dim);
	result = pig_vector_new(vector->dim);
	half_to_floats(vector->x, result->x, vector->dim);
	PG_RETURN_VECTOR(result);
}

/*
 * integer[], real[], double precision[] or numeric[] -> halfvec.
 */
PG_FUNCTION_INFO_V1(pigment_pg_array_to_halfvec);
Datum
pigment_pg_array_to_halfvec(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	int32		typmod = PG_GETARG_INT32(1);
	int			count = pig_count_array(array);

	pig_check_halfvec_dimension(count);
	pig_check_typmod(typmod, count);
	PG_RETURN_HALFVEC(halfvec_of_floats(pig_read_array(array), count, typmod));
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_to_float4);
Datum
pigment_pg_halfvec_to_float4(PG_FUNCTION_ARGS)
{
	HalfVector *vector = PG_GETARG_HALFVEC(0);
	Datum	   *elements = palloc(sizeof(Datum) * (size_t) Max(vector->dim, 1));

	for (int i = 0; i < vector->dim; i++)
		elements[i] = Float4GetDatum(half_to_float(vector->x[i]));
	PG_RETURN_ARRAYTYPE_P(construct_array(elements, vector->dim, FLOAT4OID, sizeof(float4), true, TYPALIGN_INT));
}
