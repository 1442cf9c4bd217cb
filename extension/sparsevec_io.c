/* SPDX-License-Identifier: Apache-2.0 */

/*
 * sparsevec_io.c
 *	  Input and output of type `sparsevec`: text "{1:0.5,3:2}/5", places counted from 1; binary; type modifier.
 *
 * Nothing from outside is trusted: counts are checked before memory is taken for them, values before they are stored.
 */
#include "postgres.h"

#include <errno.h>
#include <stdlib.h>

#include "common/int.h"
#include "common/shortest_dec.h"
#include "compat.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "utils/builtins.h"

#include "sparsevec.h"
#include "vector.h"
#include "vector_text.h"

SparseVector *
pig_sparsevec_new(int dim, int count)
{
	SparseVector *result = (SparseVector *) palloc0(SPARSEVEC_BYTES(count));

	SET_VARSIZE(result, SPARSEVEC_BYTES(count));
	result->dim = dim;
	result->count = count;
	return result;
}

void
pig_check_sparsevec_dimension(int64 dim)
{
	if (dim < 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("sparsevec must have at least 1 dimension")));
	if (dim > SPARSEVEC_DIMENSION_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("sparsevec cannot have more than %d dimensions", SPARSEVEC_DIMENSION_MAX),
				 errdetail("It would have " INT64_FORMAT ".", dim)));
}

void
pig_check_sparsevec_count(int64 count)
{
	if (count > SPARSEVEC_ELEMENTS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("sparsevec cannot have more than %d non-zero elements", SPARSEVEC_ELEMENTS_MAX),
				 errdetail("It would have " INT64_FORMAT ".", count)));
}

void
pig_check_same_sparsevec_dimension(const SparseVector *a, const SparseVector *b)
{
	if (a->dim != b->dim)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("different sparsevec dimensions %d and %d", a->dim, b->dim)));
}

/* ---- text ---------------------------------------------------------------------------------------- */

typedef struct Element
{
	int32		place;
	float		value;
} Element;

static int
compare_places(const void *a, const void *b)
{
	int32		left = ((const Element *) a)->place;
	int32		right = ((const Element *) b)->place;

	return (left > right) - (left < right);
}

/*
 * An integer; what is beyond int32 stays outside of every limit. Moves *at behind it and the space that follows.
 */
static int64
read_integer(char **at, const char *input, const char *what)
{
	char	   *begin = pig_skip_space(*at);
	char	   *end;
	int64		value;

	errno = 0;
	value = strtoll(begin, &end, 10);
	if (end == begin)
		pig_refuse_text("sparsevec", input, psprintf("Expected %s.", what));
	*at = pig_skip_space(end);
	return value;
}

/* Places are kept as they are until the dimension behind them is known; zeros are left out. */
static int
read_elements(char **at, const char *input, Element *elements, int limit)
{
	int			count = 0;

	for (int index = 0; index < limit; index++)
	{
		int64		place;
		float		value;

		CHECK_FOR_INTERRUPTS();
		place = read_integer(at, input, psprintf("the index of element %d", index + 1));
		if (**at != ':')
			pig_refuse_text("sparsevec", input, psprintf("Expected \":\" behind the index of element %d.", index + 1));
		(*at)++;
		value = pig_read_number_not_too_small(at, "sparsevec", input, index);
		if (value != 0)
		{
			/* what is outside of int32 stays outside of every dimension */
			elements[count].place = (int32) Max(Min(place, PG_INT32_MAX), PG_INT32_MIN);
			elements[count].value = value;
			count++;
		}
		if (**at != ',')
			break;
		(*at)++;
	}
	return count;
}

/* How many elements the text can have, by its commas. */
static int64
count_elements(const char *at)
{
	int64		count = 1;

	for (; *at != '\0' && *at != '}'; at++)
		count += *at == ',';
	return count;
}

static SparseVector *
vector_of_elements(Element *elements, int count, int64 dim)
{
	SparseVector *result;
	float	   *values;

	pig_check_sparsevec_dimension(dim);
	qsort(elements, count, sizeof(Element), compare_places);
	result = pig_sparsevec_new((int) dim, count);
	values = SparseVectorValues(result);
	for (int i = 0; i < count; i++)
	{
		if (elements[i].place < 1 || elements[i].place > dim)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("sparsevec index out of bounds"),
					 errdetail("Index %d is not between 1 and " INT64_FORMAT ".", elements[i].place, dim)));
		if (i > 0 && elements[i].place == elements[i - 1].place)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("sparsevec indices must not contain duplicates"),
					 errdetail("Index %d is given twice.", elements[i].place)));
		result->places[i] = elements[i].place - 1;
		values[i] = elements[i].value;
	}
	return result;
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_in);
Datum
pigment_pg_sparsevec_in(PG_FUNCTION_ARGS)
{
	char	   *input = PG_GETARG_CSTRING(0);
	char	   *at = pig_skip_space(input);
	Element    *elements = NULL;
	int			count = 0;
	int64		dim;
	SparseVector *result;

	if (*at != '{')
		pig_refuse_text("sparsevec", input, "Vector contents must start with \"{\".");
	at = pig_skip_space(at + 1);
	if (*at != '}')
	{
		int64		limit = count_elements(at);

		pig_check_sparsevec_count(limit);
		elements = palloc(sizeof(Element) * (size_t) limit);
		count = read_elements(&at, input, elements, (int) limit);
		if (*at != '}')
			pig_refuse_text("sparsevec", input, *at == '\0' ? "Unexpected end of input." :
							"Expected \",\" or \"}\" behind an element.");
	}
	at = pig_skip_space(at + 1);
	if (*at != '/')
		pig_refuse_text("sparsevec", input, "Expected \"/\" and the number of dimensions behind the elements.");
	at++;
	dim = read_integer(&at, input, "the number of dimensions");
	if (*at != '\0')
		pig_refuse_text("sparsevec", input, "Nothing may follow the number of dimensions.");
	result = vector_of_elements(elements, count, dim);
	pig_check_typmod(PG_GETARG_INT32(2), result->dim);
	PG_RETURN_SPARSEVEC(result);
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_out);
Datum
pigment_pg_sparsevec_out(PG_FUNCTION_ARGS)
{
	SparseVector *vector = PG_GETARG_SPARSEVEC(0);
	const float *values = SparseVectorValues(vector);
	/* "place:value," of at most 10 digits, "{}/" and the dimension */
	char	   *out = palloc((size_t) vector->count * (10 + 1 + FLOAT_SHORTEST_DECIMAL_LEN + 1) + 3 + 10 + 1);
	char	   *at = out;

	*at++ = '{';
	for (int i = 0; i < vector->count; i++)
	{
		if (i > 0)
			*at++ = ',';
		at += pg_ultoa_n((uint32) vector->places[i] + 1, at);
		*at++ = ':';
		at += float_to_shortest_decimal_bufn(values[i], at);
	}
	*at++ = '}';
	*at++ = '/';
	at += pg_ultoa_n((uint32) vector->dim, at);
	*at = '\0';
	PG_RETURN_CSTRING(out);
}

/* ---- binary -------------------------------------------------------------------------------------- */

static void
receive_places(StringInfo message, SparseVector *vector)
{
	for (int i = 0; i < vector->count; i++)
	{
		int32		place = (int32) pq_getmsgint(message, sizeof(int32));

		if (place < 0 || place >= vector->dim)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("sparsevec index out of bounds"),
					 errdetail("Index %d is not between 0 and %d.", place, vector->dim - 1)));
		if (i > 0 && place <= vector->places[i - 1])
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 place == vector->places[i - 1] ? errmsg("sparsevec indices must not contain duplicates")
					 : errmsg("sparsevec indices must be in ascending order")));
		vector->places[i] = place;
	}
}

/*
 * Binary: dimension, number of elements and zero as 32 bits each, then the places from 0, then the values as float4.
 */
PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_recv);
Datum
pigment_pg_sparsevec_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int32		dim = (int32) pq_getmsgint(message, sizeof(int32));
	int32		count = (int32) pq_getmsgint(message, sizeof(int32));
	int32		unused = (int32) pq_getmsgint(message, sizeof(int32));
	SparseVector *result;
	float	   *values;

	pig_check_sparsevec_dimension(dim);
	if (count < 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("sparsevec cannot have negative number of elements"),
				 errdetail("It would have %d.", count)));
	pig_check_sparsevec_count(count);
	if (count > dim)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("sparsevec cannot have more elements than dimensions"),
				 errdetail("It would have %d of %d.", count, dim)));
	pig_check_typmod(PG_GETARG_INT32(2), dim);
	if (unused != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("expected unused to be 0, not %d", unused)));
	/* the message's end is checked at each number, and the caller refuses what is left over */
	result = pig_sparsevec_new(dim, count);
	receive_places(message, result);
	values = SparseVectorValues(result);
	for (int i = 0; i < count; i++)
	{
		values[i] = pq_getmsgfloat4(message);
		pig_check_finite("sparsevec", values[i], i);
		if (values[i] == 0)
			ereport(ERROR,
					(errcode(ERRCODE_DATA_EXCEPTION),
					 errmsg("binary representation of sparsevec cannot contain zero values"),
					 errdetail("Element %d is zero.", i + 1)));
	}
	PG_RETURN_SPARSEVEC(result);
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_send);
Datum
pigment_pg_sparsevec_send(PG_FUNCTION_ARGS)
{
	SparseVector *vector = PG_GETARG_SPARSEVEC(0);
	const float *values = SparseVectorValues(vector);
	StringInfoData message;

	pq_begintypsend(&message);
	enlargeStringInfo(&message, 12 + vector->count * (int) (sizeof(int32) + sizeof(float)));
	pq_sendint32(&message, (uint32) vector->dim);
	pq_sendint32(&message, (uint32) vector->count);
	pq_sendint32(&message, 0);
	for (int i = 0; i < vector->count; i++)
		pq_sendint32(&message, (uint32) vector->places[i]);
	for (int i = 0; i < vector->count; i++)
		pq_sendfloat4(&message, values[i]);
	PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

PG_FUNCTION_INFO_V1(pigment_pg_sparsevec_typmod_in);
Datum
pigment_pg_sparsevec_typmod_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(pig_read_typmod("sparsevec", PG_GETARG_ARRAYTYPE_P(0), SPARSEVEC_DIMENSION_MAX));
}
