/* SPDX-License-Identifier: Apache-2.0 */

/*
 * sparsevec_cast.c
 *	  Casts between `sparsevec` and `vector`, `halfvec` and arrays of numbers, and to a number of dimensions.
 */
#include "postgres.h"

#include "compat.h"

#include "halfvec.h"
#include "sparsevec.h"
#include "vector.h"
#include "vector_text.h"

/*
 * sparsevec -> sparsevec(n): refuses another number of dimensions, changes nothing.
 */
PG_FUNCTION_INFO_V1(pigment_pg_sparsevec);
Datum
pigment_pg_sparsevec(PG_FUNCTION_ARGS)
{
	SparseVector *vector = PG_GETARG_SPARSEVEC(0);

	pig_check_typmod(PG_GETARG_INT32(1), vector->dim);
	PG_RETURN_SPARSEVEC(vector);
}

static SparseVector *
sparsevec_of_floats(const float *values, int dim, int32 typmod)
{
	SparseVector *result;
	int			count = 0;

	pig_check_sparsevec_dimension(dim);
	pig_check_typmod(typmod, dim);
	for (int i = 0; i < dim; i++)
	{
		pig_check_finite("sparsevec", values[i], i);
		count += values[i] != 0;
	}
	pig_check_sparsevec_count(count);
	result = pig_sparsevec_new(dim, count);
	for (int i = 0, to = 0; i < dim; i++)
	{
		if (values[i] == 0)
			continue;
		result->places[to] = i;
		SparseVectorValues(result)[to++] = values[i];
	}
	return result;
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_to_sparsevec);
Datum
pigment_pg_vector_to_sparsevec(PG_FUNCTION_ARGS)
{
	Vector	   *vector = PG_GETARG_VECTOR(0);

	PG_RETURN_SPARSEVEC(sparsevec_of_floats(vector->x, vector->dim, PG_GETARG_INT32(1)));
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_to_sparsevec);
Datum
pigment_pg_halfvec_to_sparsevec(PG_FUNCTION_ARGS)
{
	HalfVector *vector = PG_GETARG_HALFVEC(0);

	PG_RETURN_SPARSEVEC(sparsevec_of_floats(pig_halfvec_floats(vector), vector->dim, PG_GETARG_INT32(1)));
}

/*
 * integer[], real[], double precision[] or numeric[] -> sparsevec.
 */
PG_FUNCTION_INFO_V1(pigment_pg_array_to_sparsevec);
Datum
pigment_pg_array_to_sparsevec(PG_FUNCTION_ARGS)
{
	ArrayType  *array = PG_GETARG_ARRAYTYPE_P(0);
	int32		typmod = PG_GETARG_INT32(1);
	int			count = pig_count_array(array);

	pig_check_sparsevec_dimension(count);
	pig_check_typmod(typmod, count);
	PG_RETURN_SPARSEVEC(sparsevec_of_floats(pig_read_array(array), count, typmod));
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_to_vector);
Datum
pigment_pg_sparsevec_to_vector(PG_FUNCTION_ARGS)
{
	SparseVector *vector = PG_GETARG_SPARSEVEC(0);
	const float *values = SparseVectorValues(vector);
	Vector	   *result;

	pig_check_dimension(vector->dim);
	pig_check_typmod(PG_GETARG_INT32(1), vector->dim);
	result = pig_vector_new(vector->dim);
	for (int i = 0; i < vector->count; i++)
		result->x[vector->places[i]] = values[i];
	PG_RETURN_VECTOR(result);
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_to_halfvec);
Datum
pigment_pg_sparsevec_to_halfvec(PG_FUNCTION_ARGS)
{
	SparseVector *vector = PG_GETARG_SPARSEVEC(0);
	const float *values = SparseVectorValues(vector);
	HalfVector *result;

	pig_check_halfvec_dimension(vector->dim);
	pig_check_typmod(PG_GETARG_INT32(1), vector->dim);
	result = pig_halfvec_new(vector->dim);
	for (int i = 0; i < vector->count; i++)
		result->x[vector->places[i]] = pig_half_element(values[i], vector->places[i]);
	PG_RETURN_HALFVEC(result);
}
