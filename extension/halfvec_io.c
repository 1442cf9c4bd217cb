/* SPDX-License-Identifier: Apache-2.0 */

/*
 * halfvec_io.c
 *	  Input and output of type `halfvec`: text "[1,2,3]", binary, type modifier.
 *
 * Nothing from outside is trusted: counts are checked before memory is taken for them, values before they are stored.
 */
#include "postgres.h"

#include <math.h>

#include "common/shortest_dec.h"
#include "compat.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"

#include "halfvec.h"
#include "vector.h"
#include "vector_text.h"

HalfVector *
pig_halfvec_new(int dim)
{
	HalfVector *result = (HalfVector *) palloc0(HALFVEC_BYTES(dim));

	SET_VARSIZE(result, HALFVEC_BYTES(dim));
	result->dim = (int16) dim;
	return result;
}

float *
pig_halfvec_floats(const HalfVector *vector)
{
	float	   *result = palloc(sizeof(float) * (size_t) Max(vector->dim, 1));

	half_to_floats(vector->x, result, vector->dim);
	return result;
}

void
pig_check_halfvec_dimension(int64 dim)
{
	if (dim < 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("halfvec must have at least 1 dimension")));
	if (dim > HALFVEC_DIMENSION_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("halfvec cannot have more than %d dimensions", HALFVEC_DIMENSION_MAX),
				 errdetail("It would have " INT64_FORMAT ".", dim)));
}

void
pig_check_same_halfvec_dimension(const HalfVector *a, const HalfVector *b)
{
	if (a->dim != b->dim)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("different halfvec dimensions %d and %d", a->dim, b->dim)));
}

half
pig_half_element(float value, int index)
{
	half		result = half_of_float(value);

	if (half_is_infinite(result) && !isinf(value))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("\"%g\" is out of range for type halfvec", value),
				 errdetail("It is element %d.", index + 1)));
	return result;
}

/* One element of a halfvec's text; moves *at behind it. */
static half
read_element(char **at, const char *input, int index)
{
	char	   *begin = pig_skip_space(*at);
	half		result;

	*at = begin;
	if (*begin == ',' || *begin == ']' || *begin == '\0')
		pig_refuse_text("halfvec", input, psprintf("Element %d is missing.", index + 1));
	/* rounded twice, to float and then to half, as pgvector does */
	result = half_of_float(pig_read_number(at, "halfvec", input, index));
	if (half_is_infinite(result))
	{
		char	   *end = *at;

		while (end > begin && pig_skip_space(end - 1) >= *at)
			end--;
		pig_refuse_number("halfvec", begin, end, index);
	}
	return result;
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_in);
Datum
pigment_pg_halfvec_in(PG_FUNCTION_ARGS)
{
	char	   *input = PG_GETARG_CSTRING(0);
	char	   *at = pig_skip_space(input);
	int64		dim = 1;
	int			count = 0;
	HalfVector *result;

	if (*at != '[')
		pig_refuse_text("halfvec", input, "Vector contents must start with \"[\".");
	at = pig_skip_space(at + 1);
	if (*at == ']')
		pig_check_halfvec_dimension(0);

	/* the commas tell the dimension, so that no number from outside sizes anything */
	for (const char *c = at; *c != '\0' && *c != ']'; c++)
		dim += *c == ',';
	pig_check_halfvec_dimension(dim);
	result = pig_halfvec_new((int) dim);
	for (;;)
	{
		CHECK_FOR_INTERRUPTS();
		result->x[count] = read_element(&at, input, count);
		count++;
		if (*at != ',' || count == dim)
			break;
		at++;
	}
	if (*at != ']')
		pig_refuse_text("halfvec", input, *at == '\0' ? "Unexpected end of input." :
						psprintf("Expected \",\" or \"]\" after element %d.", count));
	at = pig_skip_space(at + 1);
	if (*at != '\0')
		pig_refuse_text("halfvec", input, "Nothing may follow the closing bracket.");
	pig_check_typmod(PG_GETARG_INT32(2), count);
	PG_RETURN_HALFVEC(result);
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_out);
Datum
pigment_pg_halfvec_out(PG_FUNCTION_ARGS)
{
	HalfVector *vector = PG_GETARG_HALFVEC(0);
	char	   *out = palloc((size_t) vector->dim * FLOAT_SHORTEST_DECIMAL_LEN + 3);
	char	   *at = out;

	*at++ = '[';
	for (int i = 0; i < vector->dim; i++)
	{
		if (i > 0)
			*at++ = ',';
		at += float_to_shortest_decimal_bufn(half_to_float(vector->x[i]), at);
	}
	*at++ = ']';
	*at = '\0';
	PG_RETURN_CSTRING(out);
}

/*
 * Binary: dimension and zero as 16 bits each, then the elements as 16 bits each, all in network order.
 */
PG_FUNCTION_INFO_V1(pigment_pg_halfvec_recv);
Datum
pigment_pg_halfvec_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int			dim = (int16) pq_getmsgint(message, sizeof(int16));
	int			unused = (int16) pq_getmsgint(message, sizeof(int16));
	HalfVector *result;

	pig_check_halfvec_dimension(dim);
	pig_check_typmod(PG_GETARG_INT32(2), dim);
	if (unused != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("expected unused to be 0, not %d", unused)));
	/* the message's end is checked at each number, and the caller refuses what is left over */
	result = pig_halfvec_new(dim);
	for (int i = 0; i < dim; i++)
	{
		result->x[i] = (half) pq_getmsgint(message, sizeof(half));
		pig_check_finite("halfvec", half_to_float(result->x[i]), i);
	}
	PG_RETURN_HALFVEC(result);
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_send);
Datum
pigment_pg_halfvec_send(PG_FUNCTION_ARGS)
{
	HalfVector *vector = PG_GETARG_HALFVEC(0);
	StringInfoData message;

	pq_begintypsend(&message);
	enlargeStringInfo(&message, 4 + vector->dim * (int) sizeof(half));
	pq_sendint16(&message, (uint16) vector->dim);
	pq_sendint16(&message, 0);
	for (int i = 0; i < vector->dim; i++)
		pq_sendint16(&message, vector->x[i]);
	PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

PG_FUNCTION_INFO_V1(pigment_pg_halfvec_typmod_in);
Datum
pigment_pg_halfvec_typmod_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(pig_read_typmod("halfvec", PG_GETARG_ARRAYTYPE_P(0), HALFVEC_DIMENSION_MAX));
}
