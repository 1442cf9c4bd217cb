/* SPDX-License-Identifier: Apache-2.0 */

/*
 * halfvec_ops.c
 *	  Distances, arithmetic and comparison of type `halfvec`.
 *
 * Distances are those of the same numbers as `vector`, from the same function of the engine. Arithmetic is done in float
 * and rounded once, which gives what halves of unlimited precision in between would give.
 */
#include "postgres.h"

#include <math.h>

#include "compat.h"
#include "pigment/pigment_host.h"
#include "utils/varbit.h"

#include "halfvec.h"
#include "vector_text.h"

/* ---- distances ---------------------------------------------------------------------------------- */

static double
distance(FunctionCallInfo fcinfo, int32_t metric)
{
	HalfVector *a = PG_GETARG_HALFVEC(0);
	HalfVector *b = PG_GETARG_HALFVEC(1);
	float	   *left;
	float	   *right;
	double		result;

	pig_check_same_halfvec_dimension(a, b);
	left = pig_halfvec_floats(a);
	right = pig_halfvec_floats(b);
	result = (double) pigment_host_distance(metric, left, right, (size_t) a->dim);
	pfree(left);
	pfree(right);
	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return result;
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_l2_distance);
Datum
pigment_pg_halfvec_l2_distance(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(sqrt(distance(fcinfo, PIGMENT_METRIC_L2)));
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_cosine_distance);
Datum
pigment_pg_halfvec_cosine_distance(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(distance(fcinfo, PIGMENT_METRIC_COSINE_NAN));
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_negative_inner_product);
Datum
pigment_pg_halfvec_negative_inner_product(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(distance(fcinfo, PIGMENT_METRIC_NEGATIVE_IP));
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_inner_product);
Datum
pigment_pg_halfvec_inner_product(PG_FUNCTION_ARGS)
{
	double		negative = distance(fcinfo, PIGMENT_METRIC_NEGATIVE_IP);

	/* 0 and not -0 */
	PG_RETURN_FLOAT8(negative == 0 ? 0 : -negative);
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_l1_distance);
Datum
pigment_pg_halfvec_l1_distance(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(distance(fcinfo, PIGMENT_METRIC_L1));
}

/* ---- one vector ---------------------------------------------------------------------------------- */

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_dims);
Datum
pigment_pg_halfvec_dims(PG_FUNCTION_ARGS)
{
	/* the header is enough: nothing more is read of a long vector */
	HalfVector *vector =
		(HalfVector *) PG_DETOAST_DATUM_SLICE(PG_GETARG_DATUM(0), 0, offsetof(HalfVector, x) - VARHDRSZ);

	PG_RETURN_INT32(vector->dim);
}

static double
norm_of(const HalfVector *vector)
{
	float	   *values = pig_halfvec_floats(vector);
	double		result = pigment_host_norm(values, (size_t) vector->dim);

	pfree(values);
	return result;
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_norm);
Datum
pigment_pg_halfvec_norm(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(norm_of(PG_GETARG_HALFVEC(0)));
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_l2_normalize);
Datum
pigment_pg_halfvec_l2_normalize(PG_FUNCTION_ARGS)
{
	HalfVector *vector = PG_GETARG_HALFVEC(0);
	HalfVector *result = pig_halfvec_new(vector->dim);
	double		norm = norm_of(vector);

	/* a zero vector stays one */
	if (norm > 0)
		for (int i = 0; i < vector->dim; i++)
			result->x[i] = half_of_float((float) (half_to_float(vector->x[i]) / norm));
	PG_RETURN_HALFVEC(result);
}

/*
 * subvector(halfvec, start, count): as substring() of a text, start counts from 1 and what lies outside is cut off.
 */
PG_FUNCTION_INFO_V1(pigment_pg_halfvec_subvector);
Datum
pigment_pg_halfvec_subvector(PG_FUNCTION_ARGS)
{
	HalfVector *vector = PG_GETARG_HALFVEC(0);
	int64		start = PG_GETARG_INT32(1);
	int64		count = PG_GETARG_INT32(2);
	int64		end;
	HalfVector *result;

	pig_check_halfvec_dimension(Min(count, 1));
	end = Min(start + count, (int64) vector->dim + 1);
	start = Max(start, 1);
	pig_check_halfvec_dimension(Max(end - start, 0));
	result = pig_halfvec_new((int) (end - start));
	memcpy(result->x, vector->x + (start - 1), sizeof(half) * (size_t) (end - start));
	PG_RETURN_HALFVEC(result);
}

/*
 * One bit per element: whether it is above zero.
 */
PG_FUNCTION_INFO_V1(pigment_pg_halfvec_binary_quantize);
Datum
pigment_pg_halfvec_binary_quantize(PG_FUNCTION_ARGS)
{
	HalfVector *vector = PG_GETARG_HALFVEC(0);
	size_t		bytes = VARBITTOTALLEN(vector->dim);
	VarBit	   *result = (VarBit *) palloc0(bytes);
	bits8	   *bits = VARBITS(result);

	SET_VARSIZE(result, bytes);
	VARBITLEN(result) = vector->dim;
	for (int i = 0; i < vector->dim; i++)
		if (half_to_float(vector->x[i]) > 0)
			bits[i / 8] |= (bits8) (0x80 >> (i % 8));
	PG_RETURN_VARBIT_P(result);
}

/* ---- arithmetic ---------------------------------------------------------------------------------- */

/* The result of arithmetic on halves, which are finite, as a half. */
static half
rounded(float value, int index)
{
	half		result = half_of_float(value);

	if (half_is_infinite(result))
		pig_check_overflow(INFINITY, index);
	return result;
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_add);
Datum
pigment_pg_halfvec_add(PG_FUNCTION_ARGS)
{
	HalfVector *a = PG_GETARG_HALFVEC(0);
	HalfVector *b = PG_GETARG_HALFVEC(1);
	HalfVector *result;

	pig_check_same_halfvec_dimension(a, b);
	result = pig_halfvec_new(a->dim);
	for (int i = 0; i < a->dim; i++)
		result->x[i] = rounded(half_to_float(a->x[i]) + half_to_float(b->x[i]), i);
	PG_RETURN_HALFVEC(result);
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_sub);
Datum
pigment_pg_halfvec_sub(PG_FUNCTION_ARGS)
{
	HalfVector *a = PG_GETARG_HALFVEC(0);
	HalfVector *b = PG_GETARG_HALFVEC(1);
	HalfVector *result;

	pig_check_same_halfvec_dimension(a, b);
	result = pig_halfvec_new(a->dim);
	for (int i = 0; i < a->dim; i++)
		result->x[i] = rounded(half_to_float(a->x[i]) - half_to_float(b->x[i]), i);
	PG_RETURN_HALFVEC(result);
}

/*
 * Element by element, as pgvector's `*`.
 */
PG_FUNCTION_INFO_V1(pigment_pg_halfvec_mul);
Datum
pigment_pg_halfvec_mul(PG_FUNCTION_ARGS)
{
	HalfVector *a = PG_GETARG_HALFVEC(0);
	HalfVector *b = PG_GETARG_HALFVEC(1);
	HalfVector *result;

	pig_check_same_halfvec_dimension(a, b);
	result = pig_halfvec_new(a->dim);
	for (int i = 0; i < a->dim; i++)
	{
		result->x[i] = rounded(half_to_float(a->x[i]) * half_to_float(b->x[i]), i);
		if (half_is_zero(result->x[i]) && !half_is_zero(a->x[i]) && !half_is_zero(b->x[i]))
			pig_refuse_underflow(i);
	}
	PG_RETURN_HALFVEC(result);
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_concat);
Datum
pigment_pg_halfvec_concat(PG_FUNCTION_ARGS)
{
	HalfVector *a = PG_GETARG_HALFVEC(0);
	HalfVector *b = PG_GETARG_HALFVEC(1);
	HalfVector *result;

	pig_check_halfvec_dimension((int64) a->dim + b->dim);
	result = pig_halfvec_new(a->dim + b->dim);
	memcpy(result->x, a->x, sizeof(half) * (size_t) a->dim);
	memcpy(result->x + a->dim, b->x, sizeof(half) * (size_t) b->dim);
	PG_RETURN_HALFVEC(result);
}

/* ---- comparison ---------------------------------------------------------------------------------- */

/*
 * Element by element, then the shorter first; 0 equals -0.
 */
static int
compare(FunctionCallInfo fcinfo)
{
	HalfVector *a = PG_GETARG_HALFVEC(0);
	HalfVector *b = PG_GETARG_HALFVEC(1);
	int			result = (a->dim > b->dim) - (a->dim < b->dim);

	for (int i = 0; i < Min(a->dim, b->dim); i++)
	{
		float		left = half_to_float(a->x[i]);
		float		right = half_to_float(b->x[i]);

		if (left != right)
		{
			result = left < right ? -1 : 1;
			break;
		}
	}
	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return result;
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_lt);
Datum
pigment_pg_halfvec_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) < 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_le);
Datum
pigment_pg_halfvec_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) <= 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_eq);
Datum
pigment_pg_halfvec_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) == 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_ne);
Datum
pigment_pg_halfvec_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) != 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_ge);
Datum
pigment_pg_halfvec_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) >= 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_gt);
Datum
pigment_pg_halfvec_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) > 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_cmp);
Datum
pigment_pg_halfvec_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare(fcinfo));
}
