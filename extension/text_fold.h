/* SPDX-License-Identifier: Apache-2.0 */

/*
 * text_fold.h
 *	  Texts as their grams are taken: what the server may hold to be the same letter in another case is made one.
 *
 * Grams lie in indexes, so this never changes with a version of a library: a table of our own in place of the locale's, which is coarser than any.
 * Each character is replaced by itself, so the folded form of a text holds that of every piece of it.
 */
#ifndef PIGMENT_TEXT_FOLD_H
#define PIGMENT_TEXT_FOLD_H

#include "lib/stringinfo.h"

/* Appends the folded form of a text in the encoding of the database. */
extern void pig_fold_text(const char *text, Size size, StringInfo out);
/*
 * Whether the character that begins at `at` is folded to the same as all that any locale takes for it, whatever their case.
 */
extern bool pig_folds_all_cases(const char *at, const char *end);
/* Bytes of the character that begins at `at`, at least one, at most what there is. */
extern int	pig_character_bytes(const char *at, const char *end);

#endif							/* PIGMENT_TEXT_FOLD_H */
