/* SPDX-License-Identifier: Apache-2.0 */

/*
 * patterns.h
 *	  What texts have in which a pattern is found, as far as the pattern tells: for columns with grams (keys.h).
 */
#ifndef PIGMENT_PATTERNS_H
#define PIGMENT_PATTERNS_H

#include "nodes/pg_list.h"

#include "keys.h"

/* Texts, folded (text_fold.h). */
#define PIG_TEXTS_MAX 16
typedef struct PigTexts
{
	int			count;
	pigment_host_bytes texts[PIG_TEXTS_MAX];
} PigTexts;

/* Sets of texts that are looked for at most. */
#define PIG_PATTERN_SETS_MAX 8

/*
 * PigTexts, at most PIG_PATTERN_SETS_MAX: whatever the operator of such a strategy (BTEqualStrategyNumber, PIG_TEXT_*) finds equal or matching has one
 * text of each. NIL: nothing is known, as of patterns that the operator refuses. Made in the current memory context; raises no error.
 */
extern List *pig_texts_of_pattern(int strategy, Datum pattern);
/* The same for any of the elements of an array. */
extern List *pig_texts_of_patterns(int strategy, Datum patterns);

#endif							/* PIGMENT_PATTERNS_H */
