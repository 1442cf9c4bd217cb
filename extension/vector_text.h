/* SPDX-License-Identifier: Apache-2.0 */

/*
 * vector_text.h
 *	  What the vector types share where values come in: the reader of their texts, the checks of elements and modifiers.
 *
 * `type` is the type's name, for messages.
 */
#ifndef PIGMENT_VECTOR_TEXT_H
#define PIGMENT_VECTOR_TEXT_H

#include <math.h>

#include "compat.h"
#include "utils/array.h"

/* Behind white space, which is that of the scanner of SQL, whatever the locale. */
extern char *pig_skip_space(char *at);

/* `input` is shown shortened; `detail` says what is wrong with it. */
pg_noreturn extern void pig_refuse_text(const char *type, const char *input, const char *detail);

/*
 * The number that begins at *at, rounded to float4, or an error; moves *at behind it and the space that follows. What is
 * too small becomes zero, or is an error.
 */
extern float pig_read_number(char **at, const char *type, const char *input, int index);
extern float pig_read_number_not_too_small(char **at, const char *type, const char *input, int index);

/* An error where `text`, which ends at `end`, is a number too large for the type. */
pg_noreturn extern void pig_refuse_number(const char *type, const char *text, const char *end, int index);

/* An error where the value is not finite. */
pg_noreturn extern void pig_refuse_infinite(const char *type, float value, int index);

static inline void
pig_check_finite(const char *type, float value, int index)
{
	if (unlikely(!isfinite(value)))
		pig_refuse_infinite(type, value, index);
}

/* An error where arithmetic has left the range of the type. */
extern void pig_check_overflow(float value, int index);
pg_noreturn extern void pig_refuse_underflow(int index);

/* The one modifier of a type, its number of dimensions, 1 to `limit`. */
extern int32 pig_read_typmod(const char *type, ArrayType *modifiers, int32 limit);

/*
 * An array of integers, floats or numerics: how many elements it has, or an error where it has more than one dimension or
 * a NULL; and then, when the caller has accepted that many, the elements as float4, which may be infinite or NaN.
 */
extern int	pig_count_array(ArrayType *array);
extern float *pig_read_array(ArrayType *array);

#endif							/* PIGMENT_VECTOR_TEXT_H */
