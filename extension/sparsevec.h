/* SPDX-License-Identifier: Apache-2.0 */

/*
 * sparsevec.h
 *	  The type `sparsevec`: its bytes, and what the files about it share.
 *
 * The layout and the binary format are those that client libraries of pgvector know.
 *
 *	offset		size		meaning
 *	0			4			length word of a varlena
 *	4			4			dimension, 1 to 1,000,000,000
 *	8			4			number of elements that are not zero, at most 16,000: n
 *	12			4			zero
 *	16			4 each		their places, from 0, ascending
 *	16 + 4 n	4 each		their values, finite and not zero
 */
#ifndef PIGMENT_SPARSEVEC_H
#define PIGMENT_SPARSEVEC_H

#include "fmgr.h"

#include "pigment/pigment_host.h"

#define SPARSEVEC_DIMENSION_MAX 1000000000
#define SPARSEVEC_ELEMENTS_MAX 16000

typedef struct SparseVector
{
	int32		vl_len_;
	int32		dim;
	int32		count;
	int32		unused;
	int32		places[FLEXIBLE_ARRAY_MEMBER];
} SparseVector;

StaticAssertDecl(offsetof(SparseVector, places) == 16, "layout of sparsevec");

#define SPARSEVEC_BYTES(count) (offsetof(SparseVector, places) + (sizeof(int32) + sizeof(float)) * (size_t) (count))

static inline float *
SparseVectorValues(const SparseVector *vector)
{
	return (float *) (vector->places + vector->count);
}

/* Detoasted; a copy only where the stored form was compressed, out of line or unaligned. */
#define DatumGetSparseVector(datum) ((SparseVector *) PG_DETOAST_DATUM(datum))
#define PG_GETARG_SPARSEVEC(n) DatumGetSparseVector(PG_GETARG_DATUM(n))
#define PG_RETURN_SPARSEVEC(vector) PG_RETURN_POINTER(vector)

/* As the engine takes it; borrows. */
static inline pigment_sparse_vector
pig_engine_sparsevec(const SparseVector *vector)
{
	return (pigment_sparse_vector) {(uint32) vector->dim, (uint32) vector->count, vector->places, SparseVectorValues(vector)};
}

/* A zeroed vector; both numbers were checked. */
extern SparseVector *pig_sparsevec_new(int dim, int count);

/* Each raises an error unless its condition holds. */
extern void pig_check_sparsevec_dimension(int64 dim);
extern void pig_check_sparsevec_count(int64 count);
extern void pig_check_same_sparsevec_dimension(const SparseVector *a, const SparseVector *b);

#endif							/* PIGMENT_SPARSEVEC_H */
