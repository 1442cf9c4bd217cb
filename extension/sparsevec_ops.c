/* SPDX-License-Identifier: Apache-2.0 */

/*
 * sparsevec_ops.c
 *	  Distances, norm and comparison of type `sparsevec`.
 *
 * Sums are of floats, in the order of the places, so that the answers are those of pgvector, also where they overflow.
 */
#include "postgres.h"

#include <math.h>

#include "compat.h"
#include "utils/float.h"

#include "sparsevec.h"
#include "vector_text.h"

/* Two vectors, walked together: each place that either has, with both values. */
typedef struct Walk
{
	const SparseVector *a;
	const SparseVector *b;
	const float *a_values;
	const float *b_values;
	int			a_at;
	int			b_at;
	int32		place;
	float		left;
	float		right;
} Walk;

static Walk
begin_walk(const SparseVector *a, const SparseVector *b)
{
	return (Walk) {.a = a, .b = b, .a_values = SparseVectorValues(a), .b_values = SparseVectorValues(b)};
}

static inline bool
next_place(Walk *walk)
{
	int32		in_a = walk->a_at < walk->a->count ? walk->a->places[walk->a_at] : PG_INT32_MAX;
	int32		in_b = walk->b_at < walk->b->count ? walk->b->places[walk->b_at] : PG_INT32_MAX;

	walk->place = Min(in_a, in_b);
	if (walk->place == PG_INT32_MAX)
		return false;
	walk->left = in_a == walk->place ? walk->a_values[walk->a_at++] : 0;
	walk->right = in_b == walk->place ? walk->b_values[walk->b_at++] : 0;
	return true;
}

/* ---- distances ----------------------------------------------------------------------------------- */

static float
inner_product(const SparseVector *a, const SparseVector *b)
{
	const float *a_values = SparseVectorValues(a);
	const float *b_values = SparseVectorValues(b);
	float		sum = 0;

	for (int i = 0, j = 0; i < a->count && j < b->count;)
	{
		if (a->places[i] < b->places[j])
			i++;
		else if (a->places[i] > b->places[j])
			j++;
		else
			sum += a_values[i++] * b_values[j++];
	}
	return sum;
}

static float
squared_norm(const SparseVector *vector)
{
	const float *values = SparseVectorValues(vector);
	float		sum = 0;

	for (int i = 0; i < vector->count; i++)
		sum += values[i] * values[i];
	return sum;
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_l2_distance);
Datum
pigment_pg_sparsevec_l2_distance(PG_FUNCTION_ARGS)
{
	SparseVector *a = PG_GETARG_SPARSEVEC(0);
	SparseVector *b = PG_GETARG_SPARSEVEC(1);
	Walk		walk = begin_walk(a, b);
	float		sum = 0;

	pig_check_same_sparsevec_dimension(a, b);
	while (next_place(&walk))
	{
		float		difference = walk.left - walk.right;

		sum += difference * difference;
	}
	PG_RETURN_FLOAT8(sqrt((double) sum));
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_l1_distance);
Datum
pigment_pg_sparsevec_l1_distance(PG_FUNCTION_ARGS)
{
	SparseVector *a = PG_GETARG_SPARSEVEC(0);
	SparseVector *b = PG_GETARG_SPARSEVEC(1);
	Walk		walk = begin_walk(a, b);
	float		sum = 0;

	pig_check_same_sparsevec_dimension(a, b);
	while (next_place(&walk))
		sum += fabsf(walk.left - walk.right);
	PG_RETURN_FLOAT8((double) sum);
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_inner_product);
Datum
pigment_pg_sparsevec_inner_product(PG_FUNCTION_ARGS)
{
	SparseVector *a = PG_GETARG_SPARSEVEC(0);
	SparseVector *b = PG_GETARG_SPARSEVEC(1);

	pig_check_same_sparsevec_dimension(a, b);
	PG_RETURN_FLOAT8((double) inner_product(a, b));
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_negative_inner_product);
Datum
pigment_pg_sparsevec_negative_inner_product(PG_FUNCTION_ARGS)
{
	SparseVector *a = PG_GETARG_SPARSEVEC(0);
	SparseVector *b = PG_GETARG_SPARSEVEC(1);

	pig_check_same_sparsevec_dimension(a, b);
	PG_RETURN_FLOAT8((double) -inner_product(a, b));
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_cosine_distance);
Datum
pigment_pg_sparsevec_cosine_distance(PG_FUNCTION_ARGS)
{
	SparseVector *a = PG_GETARG_SPARSEVEC(0);
	SparseVector *b = PG_GETARG_SPARSEVEC(1);
	double		similarity;

	pig_check_same_sparsevec_dimension(a, b);
	similarity = (double) inner_product(a, b) / sqrt((double) squared_norm(a) * (double) squared_norm(b));
	/* NaN, of a zero vector, passes through both */
	if (similarity > 1)
		similarity = 1;
	else if (similarity < -1)
		similarity = -1;
	PG_RETURN_FLOAT8(1 - similarity);
}

/* ---- orders of index scans ----------------------------------------------------------------------- */

/*
 * A distance for an order that begins with what is no number.
 */
static float8
nan_as_least(Datum distance)
{
	float8		number = DatumGetFloat8(distance);

	return isnan(number) ? -get_float8_infinity() : number;
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_cosine_nan_first);
Datum
pigment_pg_sparsevec_cosine_nan_first(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(nan_as_least(pigment_pg_sparsevec_cosine_distance(fcinfo)));
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_ip_nan_first);
Datum
pigment_pg_sparsevec_ip_nan_first(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(nan_as_least(pigment_pg_sparsevec_negative_inner_product(fcinfo)));
}

/* ---- norm ---------------------------------------------------------------------------------------- */

static double
norm_of(const SparseVector *vector)
{
	const float *values = SparseVectorValues(vector);
	double		sum = 0;

	for (int i = 0; i < vector->count; i++)
		sum += (double) values[i] * (double) values[i];
	return sqrt(sum);
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_norm);
Datum
pigment_pg_sparsevec_norm(PG_FUNCTION_ARGS)
{
	PG_RETURN_FLOAT8(norm_of(PG_GETARG_SPARSEVEC(0)));
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_l2_normalize);
Datum
pigment_pg_sparsevec_l2_normalize(PG_FUNCTION_ARGS)
{
	SparseVector *vector = PG_GETARG_SPARSEVEC(0);
	const float *values = SparseVectorValues(vector);
	double		norm = norm_of(vector);
	float	   *scaled = palloc(sizeof(float) * (size_t) Max(vector->count, 1));
	int			count = 0;
	SparseVector *result;

	for (int i = 0; i < vector->count; i++)
	{
		/* a zero vector has no elements, so nothing is divided by zero */
		scaled[i] = (float) (values[i] / norm);
		pig_check_overflow(scaled[i], i);
		count += scaled[i] != 0;
	}
	/* what has become too small is left out, as no element is zero */
	result = pig_sparsevec_new(vector->dim, count);
	for (int i = 0, to = 0; i < vector->count; i++)
	{
		if (scaled[i] == 0)
			continue;
		result->places[to] = vector->places[i];
		SparseVectorValues(result)[to++] = scaled[i];
	}
	PG_RETURN_SPARSEVEC(result);
}

/* ---- comparison ---------------------------------------------------------------------------------- */

/*
 * As the vectors with all their zeros: element by element up to the end of the shorter, then the shorter first.
 */
static int
compare(FunctionCallInfo fcinfo)
{
	SparseVector *a = PG_GETARG_SPARSEVEC(0);
	SparseVector *b = PG_GETARG_SPARSEVEC(1);
	Walk		walk = begin_walk(a, b);
	int			result = (a->dim > b->dim) - (a->dim < b->dim);

	while (next_place(&walk) && walk.place < Min(a->dim, b->dim))
	{
		if (walk.left != walk.right)
		{
			result = walk.left < walk.right ? -1 : 1;
			break;
		}
	}
	PG_FREE_IF_COPY(a, 0);
	PG_FREE_IF_COPY(b, 1);
	return result;
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_lt);
Datum
pigment_pg_sparsevec_lt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) < 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_le);
Datum
pigment_pg_sparsevec_le(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) <= 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_eq);
Datum
pigment_pg_sparsevec_eq(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) == 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_ne);
Datum
pigment_pg_sparsevec_ne(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) != 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_ge);
Datum
pigment_pg_sparsevec_ge(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) >= 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_gt);
Datum
pigment_pg_sparsevec_gt(PG_FUNCTION_ARGS)
{
	PG_RETURN_BOOL(compare(fcinfo) > 0);
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_cmp);
Datum
pigment_pg_sparsevec_cmp(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(compare(fcinfo));
}
