/* SPDX-License-Identifier: Apache-2.0 */

/*
 * half.c
 *	  Many halves at once. A file of its own, because the build gives it the optimisation that makes vector code of its loop.
 */
#include "postgres.h"

#include "half.h"

void
half_to_floats(const half *from, float *to, int count)
{
	for (int i = 0; i < count; i++)
		to[i] = half_to_float(from[i]);
}
