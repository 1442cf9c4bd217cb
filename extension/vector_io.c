/* SPDX-License-Identifier: Apache-2.0 */

/*
 * vector_io.c
 *	  Input and output of type `vector`: text "[1,2,3]", binary, type modifier.
 *
 * Nothing from outside is trusted: counts are checked before memory is taken for them, values before they are stored.
 */
#include "postgres.h"

#include "common/shortest_dec.h"
#include "compat.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"

#include "vector.h"
#include "vector_text.h"

Vector *
pig_vector_new(int dim)
{
	Vector	   *result = (Vector *) palloc0(VECTOR_BYTES(dim));

	SET_VARSIZE(result, VECTOR_BYTES(dim));
	result->dim = (int16) dim;
	return result;
}

void
pig_check_dimension(int64 dim)
{
	if (dim < 1)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("vector must have at least 1 dimension")));
	if (dim > VECTOR_DIMENSION_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("vector cannot have more than %d dimensions", VECTOR_DIMENSION_MAX),
				 errdetail("It would have " INT64_FORMAT ".", dim)));
}

void
pig_check_typmod(int32 typmod, int dim)
{
	if (typmod != -1 && typmod != dim)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("expected %d dimensions, not %d", typmod, dim)));
}

void
pig_check_same_dimension(const Vector *a, const Vector *b)
{
	if (a->dim != b->dim)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("different vector dimensions %d and %d", a->dim, b->dim)));
}

/* One element of a vector's text; moves *at behind it. */
static float
read_element(char **at, const char *input, int index)
{
	*at = pig_skip_space(*at);
	if (**at == ',' || **at == ']' || **at == '\0')
		pig_refuse_text("vector", input, psprintf("Element %d is missing.", index + 1));
	return pig_read_number(at, "vector", input, index);
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_in);
Datum
pigment_pg_vector_in(PG_FUNCTION_ARGS)
{
	char	   *input = PG_GETARG_CSTRING(0);
	int32		typmod = PG_GETARG_INT32(2);
	char	   *at = pig_skip_space(input);
	int64		dim = 1;
	int			count = 0;
	Vector	   *result;

	if (*at != '[')
		pig_refuse_text("vector", input, "Vector contents must start with \"[\".");
	at = pig_skip_space(at + 1);
	if (*at == ']')
		pig_check_dimension(0);

	/* the commas tell the dimension, so that no number from outside sizes anything */
	for (const char *c = at; *c != '\0' && *c != ']'; c++)
		dim += *c == ',';
	pig_check_dimension(dim);
	result = pig_vector_new((int) dim);
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
		pig_refuse_text("vector", input, *at == '\0' ? "Unexpected end of input." :
					psprintf("Expected \",\" or \"]\" after element %d.", count));
	at = pig_skip_space(at + 1);
	if (*at != '\0')
		pig_refuse_text("vector", input, "Nothing may follow the closing bracket.");
	pig_check_typmod(typmod, count);
	PG_RETURN_VECTOR(result);
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_out);
Datum
pigment_pg_vector_out(PG_FUNCTION_ARGS)
{
	Vector	   *vector = PG_GETARG_VECTOR(0);
	char	   *out = palloc((size_t) vector->dim * FLOAT_SHORTEST_DECIMAL_LEN + 3);
	char	   *at = out;

	*at++ = '[';
	for (int i = 0; i < vector->dim; i++)
	{
		if (i > 0)
			*at++ = ',';
		at += float_to_shortest_decimal_bufn(vector->x[i], at);
	}
	*at++ = ']';
	*at = '\0';
	PG_RETURN_CSTRING(out);
}

/*
 * Binary: dimension and zero as 16 bits each, then the elements as float4, all in network order.
 */
PG_FUNCTION_INFO_V1(pigment_pg_vector_recv);
Datum
pigment_pg_vector_recv(PG_FUNCTION_ARGS)
{
	StringInfo	message = (StringInfo) PG_GETARG_POINTER(0);
	int32		typmod = PG_GETARG_INT32(2);
	int			dim = (int16) pq_getmsgint(message, sizeof(int16));
	int			unused = (int16) pq_getmsgint(message, sizeof(int16));
	int			here;
	const char *numbers;
	Vector	   *result;

	pig_check_dimension(dim);
	pig_check_typmod(typmod, dim);
	if (unused != 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("expected unused to be 0, not %d", unused)));
	/* as number by number: one that is refused comes before those that are missing, and the caller refuses what is left over */
	here = Min(dim, (message->len - message->cursor) / (int) sizeof(float));
	numbers = pq_getmsgbytes(message, here * (int) sizeof(float));
	result = pig_vector_new(dim);
	for (int i = 0; i < here; i++)
	{
		uint32		bits;

		memcpy(&bits, numbers + i * (int) sizeof(bits), sizeof(bits));
		bits = pg_ntoh32(bits);
		memcpy(&result->x[i], &bits, sizeof(bits));
		pig_check_finite("vector", result->x[i], i);
	}
	if (here < dim)
		(void) pq_getmsgfloat4(message);	/* raises */
	PG_RETURN_VECTOR(result);
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_send);
Datum
pigment_pg_vector_send(PG_FUNCTION_ARGS)
{
	Vector	   *vector = PG_GETARG_VECTOR(0);
	StringInfoData message;

	pq_begintypsend(&message);
	enlargeStringInfo(&message, 4 + vector->dim * (int) sizeof(float));
	pq_sendint16(&message, (uint16) vector->dim);
	pq_sendint16(&message, 0);
	for (int i = 0; i < vector->dim; i++)
		pq_sendfloat4(&message, vector->x[i]);
	PG_RETURN_BYTEA_P(pq_endtypsend(&message));
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_typmod_in);
Datum
pigment_pg_vector_typmod_in(PG_FUNCTION_ARGS)
{
	PG_RETURN_INT32(pig_read_typmod("vector", PG_GETARG_ARRAYTYPE_P(0), VECTOR_DIMENSION_MAX));
}
