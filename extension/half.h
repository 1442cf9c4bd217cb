/* SPDX-License-Identifier: Apache-2.0 */

/*
 * half.h
 *	  IEEE 754 binary16, the elements of type `halfvec`: one sign bit, five of exponent (bias 15), ten of fraction.
 *
 * Conversion to float is exact. Conversion from float rounds to nearest, ties to even; from 65,520 on it gives infinity.
 * Both are the same on every machine: no instruction of a processor is asked.
 */
#ifndef PIGMENT_HALF_H
#define PIGMENT_HALF_H

#include "postgres.h"

typedef uint16 half;

#define HALF_INFINITY 0x7c00
#define HALF_SIGN 0x8000

static inline float
half_float_of_bits(uint32 bits)
{
	float		value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static inline uint32
half_bits_of_float(float value)
{
	uint32		bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/*
 * The fraction and exponent, moved to their places in a float, are the value divided by 2^112, also where it is
 * subnormal. No branch, so that a compiler makes vector code of a loop.
 */
static inline float
half_to_float(half value)
{
	uint32		magnitude = value & (HALF_SIGN - 1);
	uint32		bits = half_bits_of_float(half_float_of_bits(magnitude << 13) * 0x1p112f);

	bits |= magnitude >= HALF_INFINITY ? 0x7f800000 : 0;
	return half_float_of_bits(bits | (uint32) (value & HALF_SIGN) << 16);
}

static inline half
half_of_float(float value)
{
	uint32		bits = half_bits_of_float(value);
	uint32		sign = bits >> 16 & HALF_SIGN;
	uint32		magnitude = bits & 0x7fffffff;

	if (magnitude >= 0x47800000)	/* 65,536 and more, infinity, NaN */
		return (half) (sign | (magnitude > 0x7f800000 ? 0x7e00 : HALF_INFINITY));
	if (magnitude < 0x38800000)		/* below 2^-14: a multiple of 2^-24, which is the step of floats at 0.5 */
		return (half) (sign | (half_bits_of_float(half_float_of_bits(magnitude) + 0.5f) - 0x3f000000));
	magnitude += 0xfff + (magnitude >> 13 & 1);
	return (half) (sign | (magnitude - 0x38000000) >> 13);
}

static inline bool
half_is_infinite(half value)
{
	return (value & (HALF_SIGN - 1)) == HALF_INFINITY;
}

static inline bool
half_is_zero(half value)
{
	return (value & (HALF_SIGN - 1)) == 0;
}

/* Many at once. */
extern void half_to_floats(const half *from, float *to, int count);

#endif							/* PIGMENT_HALF_H */
