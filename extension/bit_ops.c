/* SPDX-License-Identifier: Apache-2.0 */

/*
 * bit_ops.c
 *	  Distances of the server's type `bit`: Hamming and Jaccard. The bits behind the last one of a value are zero.
 */
#include "postgres.h"

#include "compat.h"
#include "port/pg_bitutils.h"
#include "utils/varbit.h"

static void
check_same_length(VarBit *a, VarBit *b)
{
	if (VARBITLEN(a) != VARBITLEN(b))
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("different bit lengths %u and %u", VARBITLEN(a), VARBITLEN(b))));
}

/* Eight bytes of a value, or what is left of it with zeros behind. */
static inline uint64
word_at(VarBit *value, size_t offset)
{
	uint64		word = 0;

	memcpy(&word, VARBITS(value) + offset, Min(sizeof(word), VARBITBYTES(value) - offset));
	return word;
}

PG_FUNCTION_INFO_V1(pigment_pg_hamming_distance);
Datum
pigment_pg_hamming_distance(PG_FUNCTION_ARGS)
{
	VarBit	   *a = PG_GETARG_VARBIT_P(0);
	VarBit	   *b = PG_GETARG_VARBIT_P(1);
	uint64		different = 0;

	check_same_length(a, b);
	for (size_t i = 0; i < VARBITBYTES(a); i += sizeof(uint64))
		different += (uint64) pg_popcount64(word_at(a, i) ^ word_at(b, i));
	PG_RETURN_FLOAT8((double) different);
}

/*
 * 1 - bits that both have by bits that any has; 1 where they share none, also where both are zero.
 */
PG_FUNCTION_INFO_V1(pigment_pg_jaccard_distance);
Datum
pigment_pg_jaccard_distance(PG_FUNCTION_ARGS)
{
	VarBit	   *a = PG_GETARG_VARBIT_P(0);
	VarBit	   *b = PG_GETARG_VARBIT_P(1);
	uint64		both = 0;
	uint64		any = 0;

	check_same_length(a, b);
	for (size_t i = 0; i < VARBITBYTES(a); i += sizeof(uint64))
	{
		both += (uint64) pg_popcount64(word_at(a, i) & word_at(b, i));
		any += (uint64) pg_popcount64(word_at(a, i) | word_at(b, i));
	}
	PG_RETURN_FLOAT8(both == 0 ? 1 : 1 - (double) both / (double) any);
}
