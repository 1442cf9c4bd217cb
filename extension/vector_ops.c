/* SPDX-License-Identifier: Apache-2.0 */

/*
 * vector_ops.c
 *	  Distances, arithmetic and comparison of type `vector`.
 *
 * Distances come from the engine, so that an operator and an index scan give the same bits.
 */
#include "postgres.h"

#include <math.h>

#include "compat.h"
#include "utils/float.h"
#include "utils/varbit.h"

#include "vector.h"
#include "vector_text.h"

static double
distance(FunctionCallInfo fcinfo, int32_t metric)
{
	Vector	   *a = PG_GETARG_VECTOR(0);
	Vector	   *b = PG_GETARG_VECTOR(1);
	double		result;

	pig_check_same_dimension(a, b);
	result = (double) pigment_host_distance(metric, a->x, b->x, (size_t) a->dim);
	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return result;
}

PG_FUNCTION_INFO_V1(pigment_pg_l2_distance);
Datum
pigment_pg_l2_distance(PG_FUNCTION_ARGS)
{
	/* the root of a double keeps apart what two floats keep apart, so the order is the index's */
	PG_RETURN_FLOAT8(sqrt(distance(fcinfo, PIGMENT_METRIC_L2)));
}

PG_FUNCTION_INFO_V1(pigment_pg_cosine_distance);
Datum
pigment_pg_cosine_distance(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(distance(fcinfo, PIGMENT_METRIC_COSINE_NAN));
}

PG_FUNCTION_INFO_V1(pigment_pg_negative_inner_product);
Datum
pigment_pg_negative_inner_product(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(distance(fcinfo, PIGMENT_METRIC_NEGATIVE_IP));
}

PG_FUNCTION_INFO_V1(pigment_pg_inner_product);
Datum
pigment_pg_inner_product(PG_FUNCTION_ARGS)
{
	double		negative = distance(fcinfo, PIGMENT_METRIC_NEGATIVE_IP);

	/* 0 and not -0 */
	PG_RETURN_FLOAT8(negative == 0 ? 0 : -negative);
}

PG_FUNCTION_INFO_V1(pigment_pg_l1_distance);
Datum
pigment_pg_l1_distance(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(distance(fcinfo, PIGMENT_METRIC_L1));
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_dims);
Datum
pigment_pg_vector_dims(PG_FUNCTION_ARGS)
{
	/* the header is enough: nothing more is read of a long vector */
	Vector	   *vector = (Vector *) PG_DETOAST_DATUM_SLICE(PG_GETARG_DATUM(0), 0, offsetof(Vector, x) - VARHDRSZ);

	PG_RETURN_INT32(vector->dim);
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_norm);
Datum
pigment_pg_vector_norm(PG_FUNCTION_ARGS)
{
	Vector	   *vector = PG_GETARG_VECTOR(0);

	PG_RETURN_FLOAT8(pigment_host_norm(vector->x, (size_t) vector->dim));
}

PG_FUNCTION_INFO_V1(pigment_pg_l2_normalize);
Datum
pigment_pg_l2_normalize(PG_FUNCTION_ARGS)
{
	Vector	   *vector = PG_GETARG_VECTOR(0);
	Vector	   *result = pig_vector_new(vector->dim);
	double		norm = pigment_host_norm(vector->x, (size_t) vector->dim);

	/* a zero vector stays one */
	if (norm > 0)
	{
		for (int i = 0; i < vector->dim; i++)
		{
			result->x[i] = (float) (vector->x[i] / norm);
			pig_check_overflow(result->x[i], i);
		}
	}
	PG_RETURN_VECTOR(result);
}

/*
 * subvector(vector, start, count): as substring() of a text, start counts from 1 and what lies outside is cut off.
 */
PG_FUNCTION_INFO_V1(pigment_pg_subvector);
Datum
pigment_pg_subvector(PG_FUNCTION_ARGS)
{
	Vector	   *vector = PG_GETARG_VECTOR(0);
	int64		start = PG_GETARG_INT32(1);
	int64		count = PG_GETARG_INT32(2);
	int64		end;
	Vector	   *result;

	pig_check_dimension(Min(count, 1));
	end = Min(start + count, (int64) vector->dim + 1);
	start = Max(start, 1);
	pig_check_dimension(Max(end - start, 0));
	result = pig_vector_new((int) (end - start));
	memcpy(result->x, vector->x + (start - 1), sizeof(float) * (size_t) (end - start));
	PG_RETURN_VECTOR(result);
}

/*
 * One bit per element: whether it is above zero.
 */
PG_FUNCTION_INFO_V1(pigment_pg_binary_quantize);
Datum
pigment_pg_binary_quantize(PG_FUNCTION_ARGS)
{
	Vector	   *vector = PG_GETARG_VECTOR(0);
	size_t		bytes = VARBITTOTALLEN(vector->dim);
	VarBit	   *result = (VarBit *) palloc0(bytes);
	bits8	   *bits = VARBITS(result);

	SET_VARSIZE(result, bytes);
	VARBITLEN(result) = vector->dim;
	for (int i = 0; i < vector->dim; i++)
		if (vector->x[i] > 0)
			bits[i / 8] |= (bits8) (0x80 >> (i % 8));
	PG_RETURN_VARBIT_P(result);
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_add);
Datum
pigment_pg_vector_add(PG_FUNCTION_ARGS)
{
	Vector	   *a = PG_GETARG_VECTOR(0);
	Vector	   *b = PG_GETARG_VECTOR(1);
	Vector	   *result;

	pig_check_same_dimension(a, b);
	result = pig_vector_new(a->dim);
	for (int i = 0; i < a->dim; i++)
	{
		result->x[i] = a->x[i] + b->x[i];
		pig_check_overflow(result->x[i], i);
	}
	PG_RETURN_VECTOR(result);
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_sub);
Datum
pigment_pg_vector_sub(PG_FUNCTION_ARGS)
{
	Vector	   *a = PG_GETARG_VECTOR(0);
	Vector	   *b = PG_GETARG_VECTOR(1);
	Vector	   *result;

	pig_check_same_dimension(a, b);
	result = pig_vector_new(a->dim);
	for (int i = 0; i < a->dim; i++)
	{
		result->x[i] = a->x[i] - b->x[i];
		pig_check_overflow(result->x[i], i);
	}
	PG_RETURN_VECTOR(result);
}

/*
 * Element by element, as pgvector's `*`.
 */
PG_FUNCTION_INFO_V1(pigment_pg_vector_mul);
Datum
pigment_pg_vector_mul(PG_FUNCTION_ARGS)
{
	Vector	   *a = PG_GETARG_VECTOR(0);
	Vector	   *b = PG_GETARG_VECTOR(1);
	Vector	   *result;

	pig_check_same_dimension(a, b);
	result = pig_vector_new(a->dim);
	for (int i = 0; i < a->dim; i++)
	{
		result->x[i] = a->x[i] * b->x[i];
		pig_check_overflow(result->x[i], i);
		if (result->x[i] == 0 && a->x[i] != 0 && b->x[i] != 0)
			pig_refuse_underflow(i);
	}
	PG_RETURN_VECTOR(result);
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_concat);
Datum
pigment_pg_vector_concat(PG_FUNCTION_ARGS)
{
	Vector	   *a = PG_GETARG_VECTOR(0);
	Vector	   *b = PG_GETARG_VECTOR(1);
	Vector	   *result;

	pig_check_dimension((int64) a->dim + b->dim);
	result = pig_vector_new(a->dim + b->dim);
	memcpy(result->x, a->x, sizeof(float) * (size_t) a->dim);
	memcpy(result->x + a->dim, b->x, sizeof(float) * (size_t) b->dim);
	PG_RETURN_VECTOR(result);
}

/*
 * Element by element, then the shorter first; 0 equals -0.
 */
static int
compare(FunctionCallInfo fcinfo)
{
	Vector	   *a = PG_GETARG_VECTOR(0);
	Vector	   *b = PG_GETARG_VECTOR(1);
	int			result = (a->dim > b->dim) - (a->dim < b->dim);

	for (int i = 0; i < Min(a->dim, b->dim); i++)
	{
		if (a->x[i] != b->x[i])
		{
			result = a->x[i] < b->x[i] ? -1 : 1;
			break;
		}
	}
	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return result;
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_lt);
Datum
pigment_pg_vector_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) < 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_le);
Datum
pigment_pg_vector_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) <= 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_eq);
Datum
pigment_pg_vector_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) == 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_ne);
Datum
pigment_pg_vector_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) != 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_ge);
Datum
pigment_pg_vector_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) >= 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_gt);
Datum
pigment_pg_vector_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) > 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_cmp);
Datum
pigment_pg_vector_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare(fcinfo));
}
