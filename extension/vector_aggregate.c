/* SPDX-License-Identifier: Apache-2.0 */

/*
 * vector_aggregate.c
 *	  avg and sum of `vector` and `halfvec`.
 *
 * Both add up in double precision and round once, at the end. The state is a double precision[]: the number of vectors,
 * then the sum of each element; {0} before the first vector. Being a plain type it travels between parallel workers, and
 * between machines, by itself.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "compat.h"
#include "utils/array.h"

#include "halfvec.h"
#include "vector.h"
#include "vector_text.h"

#define STATE_VALUES(state) ((double *) ARR_DATA_PTR(state))

/*
 * The state as it came, after a check that it is one; anybody may call these functions with any array.
 */
static ArrayType *
checked_state(ArrayType *state, const char *function)
{
	if (ARR_NDIM(state) != 1 || ARR_DIMS(state)[0] < 1 || ARR_HASNULL(state) ||
		ARR_ELEMTYPE(state) != FLOAT8OID || ARR_DIMS(state)[0] > VECTOR_DIMENSION_MAX + 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("%s: not the state of a vector aggregate", function)));
	return state;
}

static inline int
state_dimension(const ArrayType *state)
{
	return ARR_DIMS(state)[0] - 1;
}

static ArrayType *
new_state(int dim)
{
	Size		bytes = ARR_OVERHEAD_NONULLS(1) + sizeof(double) * (dim + 1);
	ArrayType  *state = (ArrayType *) palloc0(bytes);

	SET_VARSIZE(state, bytes);
	state->ndim = 1;
	state->dataoffset = 0;
	state->elemtype = FLOAT8OID;
	ARR_DIMS(state)[0] = dim + 1;
	ARR_LBOUND(state)[0] = 1;
	return state;
}

/*
 * A state of `dim` elements to add to: the old one where it may be written, else a copy of it.
 */
static ArrayType *
writable_state(FunctionCallInfo fcinfo, ArrayType *state, int dim)
{
	ArrayType  *result;

	if (state_dimension(state) != 0 && state_dimension(state) != dim)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("different vector dimensions %d and %d", state_dimension(state), dim)));
	if (state_dimension(state) == dim && AggCheckCallContext(fcinfo, NULL))
		return state;
	result = new_state(dim);
	memcpy(STATE_VALUES(result), STATE_VALUES(state), sizeof(double) * (state_dimension(state) + 1));
	return result;
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_accum);
Datum
pigment_pg_vector_accum(PG_FUNCTION_ARGS)
{
	ArrayType  *state = checked_state(PG_GETARG_ARRAYTYPE_P(0), "vector_accum");
	Vector	   *vector = PG_GETARG_VECTOR(1);
	double	   *values;

	state = writable_state(fcinfo, state, vector->dim);
	values = STATE_VALUES(state);
	values[0] += 1;
	for (int i = 0; i < vector->dim; i++)
		values[i + 1] += vector->x[i];
	PG_FREE_IF_COPY(vector, 1);
	PG_RETURN_ARRAYTYPE_P(state);
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_accum);
Datum
pigment_pg_halfvec_accum(PG_FUNCTION_ARGS)
{
	ArrayType  *state = checked_state(PG_GETARG_ARRAYTYPE_P(0), "halfvec_accum");
	HalfVector *vector = PG_GETARG_HALFVEC(1);
	double	   *values;

	state = writable_state(fcinfo, state, vector->dim);
	values = STATE_VALUES(state);
	values[0] += 1;
	for (int i = 0; i < vector->dim; i++)
		values[i + 1] += half_to_float(vector->x[i]);
	PG_FREE_IF_COPY(vector, 1);
	PG_RETURN_ARRAYTYPE_P(state);
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_combine);
Datum
pigment_pg_vector_combine(PG_FUNCTION_ARGS)
{
	ArrayType  *left = checked_state(PG_GETARG_ARRAYTYPE_P(0), "vector_combine");
	ArrayType  *right = checked_state(PG_GETARG_ARRAYTYPE_P(1), "vector_combine");
	ArrayType  *state;

	if (state_dimension(right) == 0)
		PG_RETURN_ARRAYTYPE_P(left);
	state = writable_state(fcinfo, left, state_dimension(right));
	for (int i = 0; i <= state_dimension(right); i++)
		STATE_VALUES(state)[i] += STATE_VALUES(right)[i];
	PG_RETURN_ARRAYTYPE_P(state);
}

/* The sum of element `i` divided by `divisor`, or an error where that is no finite float. */
static float
element_of_state(ArrayType *state, double divisor, int i, const char *type)
{
	double		sum = STATE_VALUES(state)[i + 1];
	float		result = (float) (sum / divisor);

	if (!isinf(sum))
		pig_check_overflow(result, i);
	pig_check_finite(type, result, i);
	return result;
}

static Vector *
vector_of_state(ArrayType *state, double divisor)
{
	Vector	   *result = pig_vector_new(state_dimension(state));

	for (int i = 0; i < result->dim; i++)
		result->x[i] = element_of_state(state, divisor, i, "vector");
	return result;
}

static HalfVector *
halfvec_of_state(ArrayType *state, double divisor)
{
	HalfVector *result = pig_halfvec_new(state_dimension(state));

	for (int i = 0; i < result->dim; i++)
	{
		result->x[i] = half_of_float(element_of_state(state, divisor, i, "halfvec"));
		if (half_is_infinite(result->x[i]))
			pig_check_overflow(INFINITY, i);
	}
	return result;
}

/* No vector was seen: NULL, as of any aggregate. */
static inline bool
saw_nothing(const ArrayType *state)
{
	return state_dimension(state) == 0 || STATE_VALUES(state)[0] == 0;
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_avg);
Datum
pigment_pg_vector_avg(PG_FUNCTION_ARGS)
{
	ArrayType  *state = checked_state(PG_GETARG_ARRAYTYPE_P(0), "vector_avg");

	if (saw_nothing(state))
		PG_RETURN_NULL();
	PG_RETURN_VECTOR(vector_of_state(state, STATE_VALUES(state)[0]));
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_sum);
Datum
pigment_pg_vector_sum(PG_FUNCTION_ARGS)
{
	ArrayType  *state = checked_state(PG_GETARG_ARRAYTYPE_P(0), "vector_sum");

	if (saw_nothing(state))
		PG_RETURN_NULL();
	PG_RETURN_VECTOR(vector_of_state(state, 1));
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_avg);
Datum
pigment_pg_halfvec_avg(PG_FUNCTION_ARGS)
{
	ArrayType  *state = checked_state(PG_GETARG_ARRAYTYPE_P(0), "halfvec_avg");

	if (saw_nothing(state))
		PG_RETURN_NULL();
	PG_RETURN_HALFVEC(halfvec_of_state(state, STATE_VALUES(state)[0]));
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_sum);
Datum
pigment_pg_halfvec_sum(PG_FUNCTION_ARGS)
{
	ArrayType  *state = checked_state(PG_GETARG_ARRAYTYPE_P(0), "halfvec_sum");

	if (saw_nothing(state))
		PG_RETURN_NULL();
	PG_RETURN_HALFVEC(halfvec_of_state(state, 1));
}
