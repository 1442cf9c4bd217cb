/* SPDX-License-Identifier: Apache-2.0 */

/*
 * vector_io.c
 *	  Input and output of type `vector`: text "[1,2,3]", binary, type modifier.
 *
 * Nothing from outside is trusted: counts are checked before memory is taken for them, values before they are stored.
 */
#include "postgres.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "catalog/pg_type.h"
#include "common/shortest_dec.h"
#include "compat.h"
#include "lib/stringinfo.h"
#include "libpq/pqformat.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"
#include "utils/builtins.h"

#include "vector.h"

/* How much of a bad input an error message shows. */
#define SHOWN_BYTES 64

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
pig_check_element(float value, int index)
{
	if (isnan(value))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("NaN not allowed in vector"),
				 errdetail("Element %d is NaN.", index + 1)));
	if (isinf(value))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("infinite value not allowed in vector"),
				 errdetail("Element %d is %s.", index + 1, value > 0 ? "Infinity" : "-Infinity")));
}

void
pig_check_same_dimension(const Vector *a, const Vector *b)
{
	if (a->dim != b->dim)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("different vector dimensions %d and %d", a->dim, b->dim)));
}

/*
 * The beginning of a text for an error message.
 */
static const char *
shown(const char *text)
{
	size_t		length = strlen(text);

	if (length <= SHOWN_BYTES)
		return text;
	return psprintf("%.*s...", pg_mbcliplen(text, (int) Min(length, 1024), SHOWN_BYTES), text);
}

pg_noreturn static void
refuse_text(const char *input, const char *detail)
{
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
			 errmsg("invalid input syntax for type vector: \"%s\"", shown(input)),
			 errdetail_internal("%s", detail)));
	pg_unreachable();
}

/* As the scanner of SQL, whatever the locale. */
static inline bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\v' || c == '\f';
}

static char *
skip_space(char *at)
{
	while (is_space(*at))
		at++;
	return at;
}

/*
 * One element of a vector's text; moves *at behind it.
 */
static float
read_element(char **at, const char *input, int index)
{
	char	   *end;
	float		value;

	*at = skip_space(*at);
	if (**at == ',' || **at == ']' || **at == '\0')
		refuse_text(input, psprintf("Element %d is missing.", index + 1));
	errno = 0;
	value = strtof(*at, &end);
	if (end == *at)
		refuse_text(input, psprintf("Element %d is not a number.", index + 1));
	/* glibc reports subnormal results as a range error too: they are fine */
	if (errno == ERANGE && (isinf(value) || value == 0))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("\"%s\" is out of range for type vector",
						shown(pnstrdup(*at, Min(end - *at, 1024)))),
				 errdetail("It is element %d.", index + 1)));
	pig_check_element(value, index);
	*at = skip_space(end);
	return value;
}

PG_FUNCTION_INFO_V1(pigment_pg_vector_in);
Datum
pigment_pg_vector_in(PG_FUNCTION_ARGS)
{
	char	   *input = PG_GETARG_CSTRING(0);
	int32		typmod = PG_GETARG_INT32(2);
	char	   *at = skip_space(input);
	int64		dim = 1;
	int			count = 0;
	Vector	   *result;

	if (*at != '[')
		refuse_text(input, "Vector contents must start with \"[\".");
	at = skip_space(at + 1);
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
		refuse_text(input, *at == '\0' ? "Unexpected end of input." :
					psprintf("Expected \",\" or \"]\" after element %d.", count));
	at = skip_space(at + 1);
	if (*at != '\0')
		refuse_text(input, "Nothing may follow the closing bracket.");
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
	int			dim = pq_getmsgint(message, 2);
	int			unused = pq_getmsgint(message, 2);
	Vector	   *result;

	pig_check_dimension(dim);
	pig_check_typmod(typmod, dim);
	if (unused != 0)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("expected unused to be 0, not %d", unused)));
	if (message->len - message->cursor != dim * (int) sizeof(float))
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_BINARY_REPRESENTATION),
				 errmsg("vector of %d dimensions needs %d bytes after its header, not %d", dim,
						dim * (int) sizeof(float), message->len - message->cursor)));
	result = pig_vector_new(dim);
	for (int i = 0; i < dim; i++)
	{
		result->x[i] = pq_getmsgfloat4(message);
		pig_check_element(result->x[i], i);
	}
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
	int			count;
	int32	   *modifiers = ArrayGetIntegerTypmods(PG_GETARG_ARRAYTYPE_P(0), &count);

	if (count != 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("type vector takes one modifier, its number of dimensions, not %d", count)));
	if (modifiers[0] < 1)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dimensions for type vector must be at least 1, not %d", modifiers[0])));
	if (modifiers[0] > VECTOR_DIMENSION_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("dimensions for type vector cannot exceed %d, got %d", VECTOR_DIMENSION_MAX,
						modifiers[0])));
	PG_RETURN_INT32(modifiers[0]);
}
