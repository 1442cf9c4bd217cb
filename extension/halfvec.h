/* SPDX-License-Identifier: Apache-2.0 */

/*
 * halfvec.h
 *	  The type `halfvec`: its bytes, and what the files about it share.
 *
 * The layout and the binary format are those that client libraries of pgvector know.
 *
 *	offset	size	meaning
 *	0		4		length word of a varlena
 *	4		2		dimension, 1 to 16,000
 *	6		2		zero
 *	8		2 each	elements, finite, IEEE binary16
 */
#ifndef PIGMENT_HALFVEC_H
#define PIGMENT_HALFVEC_H

#include "fmgr.h"

#include "half.h"

#define HALFVEC_DIMENSION_MAX 16000

typedef struct HalfVector
{
	int32		vl_len_;
	int16		dim;
	int16		unused;
	half		x[FLEXIBLE_ARRAY_MEMBER];
} HalfVector;

StaticAssertDecl(offsetof(HalfVector, x) == 8, "layout of halfvec");

#define HALFVEC_BYTES(dim) (offsetof(HalfVector, x) + sizeof(half) * (size_t) (dim))

/* Detoasted; a copy only where the stored form was compressed, out of line or unaligned. */
#define DatumGetHalfVector(datum) ((HalfVector *) PG_DETOAST_DATUM(datum))
#define PG_GETARG_HALFVEC(n) DatumGetHalfVector(PG_GETARG_DATUM(n))
#define PG_RETURN_HALFVEC(vector) PG_RETURN_POINTER(vector)

/* A zeroed vector; the dimension was checked. */
extern HalfVector *pig_halfvec_new(int dim);

/* The elements as floats, in new memory. */
extern float *pig_halfvec_floats(const HalfVector *vector);

/* Each raises an error unless its condition holds. */
extern void pig_check_halfvec_dimension(int64 dim);
extern void pig_check_same_halfvec_dimension(const HalfVector *a, const HalfVector *b);

/* A float as an element, or an error where it is finite and too large. */
extern half pig_half_element(float value, int index);

#endif							/* PIGMENT_HALFVEC_H */
