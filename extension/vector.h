/* SPDX-License-Identifier: Apache-2.0 */

/*
 * vector.h
 *	  The type `vector`: its bytes, and what the files about it share.
 *
 * The layout and the binary format are those that client libraries of pgvector know.
 *
 *	offset	size	meaning
 *	0		4		length word of a varlena
 *	4		2		dimension, 1 to 16,000
 *	6		2		zero
 *	8		4 each	elements, finite
 */
#ifndef PIGMENT_VECTOR_H
#define PIGMENT_VECTOR_H

#include "fmgr.h"
#include "pigment/pigment.h"
#include "pigment/pigment_host.h"

#define VECTOR_DIMENSION_MAX 16000

typedef struct Vector
{
	int32		vl_len_;
	int16		dim;
	int16		unused;
	float		x[FLEXIBLE_ARRAY_MEMBER];
} Vector;

StaticAssertDecl(offsetof(Vector, x) == 8, "layout of vector");

#define VECTOR_BYTES(dim) (offsetof(Vector, x) + sizeof(float) * (size_t) (dim))

/* Detoasted; a copy only where the stored form was compressed, out of line or unaligned. */
#define DatumGetVector(datum) ((Vector *) PG_DETOAST_DATUM(datum))
#define PG_GETARG_VECTOR(n) DatumGetVector(PG_GETARG_DATUM(n))
#define PG_RETURN_VECTOR(vector) PG_RETURN_POINTER(vector)

/* A zeroed vector; the dimension was checked. */
extern Vector *pig_vector_new(int dim);

/* Each raises an error unless its condition holds. */
extern void pig_check_dimension(int64 dim);
extern void pig_check_typmod(int32 typmod, int dim);
extern void pig_check_same_dimension(const Vector *a, const Vector *b);

#endif							/* PIGMENT_VECTOR_H */
