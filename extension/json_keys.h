/* SPDX-License-Identifier: Apache-2.0 */

/*
 * json_keys.h
 *	  The elements that a jsonb column has in an index, and ranges of them that conditions ask for.
 *
 * Each scalar, object and array of a value is an element, and so is each number that a string looks like:
 *
 *	size	meaning
 *	1		number of keys on the way to it
 *	...		these keys, each with a zero behind it, which no text of jsonb has
 *	1		what it is, a PIG_JSON_*; PIG_JSON_IN_ARRAY besides where an array is on the way
 *	...		of a number the key of numeric (keys.h), of a string its bytes
 *
 * cut to PIG_KEY_BYTES_MAX bytes. Arrays leave no other trace: [1, [2]] has 1 and 2 at the path of nothing. What lies below more than PIG_JSON_KEYS_MAX
 * keys, or keys of more than PIG_JSON_PATH_BYTES_MAX bytes, has no elements, and no condition on such a path is for the index.
 */
#ifndef PIGMENT_JSON_KEYS_H
#define PIGMENT_JSON_KEYS_H

#include "lib/stringinfo.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"

#include "pigment/pigment_host.h"

#define PIG_JSON_KEYS_MAX 32
#define PIG_JSON_PATH_BYTES_MAX 128

/* What an element is. Everything but NULL is a value to "->>". */
enum
{
	PIG_JSON_NULL = 1,
	PIG_JSON_FALSE,
	PIG_JSON_TRUE,
	PIG_JSON_OBJECT,
	PIG_JSON_ARRAY,
	PIG_JSON_NUMBER,
	PIG_JSON_STRING,
	PIG_JSON_DECIMAL,			/* besides STRING: the number that it is in decimals */
	PIG_JSON_ODD,				/* besides STRING: it may be a number in some other way, of which nothing more is said */
	PIG_JSON_LAST = PIG_JSON_ODD
};
#define PIG_JSON_IN_ARRAY 0x20

typedef void (*PigElementVisitor) (void *arg, const char *bytes, int size);

/* Calls for each element of a value, also more than once. */
extern void pig_visit_json_elements(Jsonb *value, PigElementVisitor visit, void *arg);

/* A path of keys, and where it is looked for: in objects alone, through arrays, or both. */
typedef struct PigJsonPath
{
	char		keys[PIG_JSON_PATH_BYTES_MAX];
	int			size;
	int			count;
	bool		direct;
	bool		in_array;
} PigJsonPath;

/* False: it is too long, and stays as it was. */
extern bool pig_json_path_add(PigJsonPath *path, const char *key, int size);

/* Ranges of elements; a row is asked for that has one in any of them. */
typedef struct PigRanges
{
	pigment_host_bytes *keys;	/* in pairs, as PIGMENT_CONDITION_HAS_RANGE has them */
	int			count;
	int			capacity;
	int			rank;			/* the higher, the fewer rows are likely to be let through */
} PigRanges;

/* Ranks: whatever lies at a path; some of it; one value. */
enum
{
	PIG_RANK_PATH,
	PIG_RANK_RANGE,
	PIG_RANK_VALUE
};

extern PigRanges *pig_new_ranges(void);
/* Elements at the path that are of one of these sorts, from the first to the last. */
extern void pig_add_sorts(PigRanges *ranges, const PigJsonPath *path, int first, int last);
extern void pig_add_string(PigRanges *ranges, const PigJsonPath *path, const char *bytes, int size);
/* Strings whose first byte is one of these. */
extern void pig_add_strings_from(PigRanges *ranges, const PigJsonPath *path, int first, int last);
extern void pig_add_strings_with_prefix(PigRanges *ranges, const PigJsonPath *path, const char *bytes, int size);
/* Numbers of a sort between two, or (is_strict) these left out; NULL: there is no bound. */
extern void pig_add_numbers(PigRanges *ranges, const PigJsonPath *path, int sort, Numeric low, Numeric high, bool is_strict);
/* A scalar that is equal, by jsonb's rules; an object or an array stands for all of them. */
extern void pig_add_json_value(PigRanges *ranges, const PigJsonPath *path, const JsonbValue *value);
extern void pig_add_ranges(PigRanges *ranges, const PigRanges *more);
extern bool pig_in_ranges(const PigRanges *ranges, const char *bytes, int size);

/*
 * What a condition asks for: a list of PigRanges, of each of which a row has an element; NIL: nothing is known. A row for which the condition holds has
 * them, and others may.
 */
extern List *pig_ranges_of_contained(Jsonb *contained);
extern PigRanges *pig_ranges_of_top_key(const char *bytes, int size);
extern List *pig_ranges_of_jsonpath(Datum jsonpath, bool is_predicate);

#endif							/* PIGMENT_JSON_KEYS_H */
