/* SPDX-License-Identifier: Apache-2.0 */

/*
 * keys.h
 *	  The columns of an index, and what its filter columns hold as keys: bytes that order as the values do.
 *
 * The engine compares keys and looks into none. Two values have one key only if their type's "=" calls them equal, but for keys that were cut
 * (pig_value_key() says so): then equal keys mean nothing, different ones still order as the values do.
 *
 *	type							key
 *	smallint, integer, bigint,		8 bytes, big endian, sign bit flipped; infinite times are the extremes that the server has for them
 *	date, timestamp(tz)
 *	real, double precision			8 bytes of the double, big endian; of a negative one all bits flipped, of another the sign bit; -0 is 0, NaN
 *									is above all
 *	numeric							see numeric_key()
 *	text, varchar					its bytes; and where the operator class is for searching in texts, grams of its folded form (text_fold.h)
 *	boolean							1 byte
 *	uuid							16 bytes
 *	array of one of these			a value without bytes, and each element that is not NULL as above
 *	jsonb							a value without bytes, and its scalars, objects and arrays as elements, each behind its path (json_keys.h); of a
 *									class without paths, as there was before: what GIN's jsonb_ops takes of it
 *	jsonb, metadata_ops				a value without bytes, and as elements what the engine makes of it (pigment_host_metadata_elements)
 *	text, text_bm25_ops				a value without bytes, and as elements its words (pigment_host_text_elements)
 *	sparsevec						a value without bytes, and as elements what is not zero (pigment_host_sparse_elements)
 */
#ifndef PIGMENT_KEYS_H
#define PIGMENT_KEYS_H

#include "access/skey.h"
#include "lib/stringinfo.h"
#include "utils/relcache.h"

#include "pigment/pigment_host.h"

/* Keys are cut to so many bytes; of texts with grams, which are longer and sought by these, to so many. */
#define PIG_KEY_BYTES_MAX 256
#define PIG_SEARCHED_KEY_BYTES_MAX 32

/*
 * Strategies of filter columns: of values those of B-trees, and of texts two more, with grams five; of arrays and jsonb those that GIN has for the same
 * operators. A column has grams if its family has the first of the last three.
 */
#define PIG_TEXT_LIKE 6
#define PIG_TEXT_STARTS_WITH 7
#define PIG_TEXT_ILIKE 8
#define PIG_TEXT_REGEX 9
#define PIG_TEXT_IREGEX 10
#define PIG_LIST_OVERLAPS 1
#define PIG_LIST_CONTAINS 2
#define PIG_LIST_CONTAINED 3
#define PIG_LIST_EQUAL 4
/* Of metadata: the one operator of a class that makes a jsonb column such a one. */
#define PIG_METADATA_WHERE 20
/* Of jsonb: what the planner asks by in the place of conditions on expressions. A column has paths if its family has one of jsonpath's. */
#define PIG_JSON_PATH_EXISTS 15
#define PIG_JSON_PATH_MATCHES 16
#define PIG_JSON_TEST 21

typedef enum PigColumnKind
{
	PIG_COLUMN_VECTOR,
	PIG_COLUMN_VALUE,
	PIG_COLUMN_LIST,
	PIG_COLUMN_JSON,
	PIG_COLUMN_METADATA,
	PIG_COLUMN_RANKED,			/* text, ranked by words */
	PIG_COLUMN_SPARSE			/* sparse vectors, ranked by distance */
} PigColumnKind;

typedef struct PigColumn
{
	PigColumnKind kind;
	Oid			type;			/* of the values, or of the elements, that pig_is_key_type() knows */
	bool		orders_by_bytes;	/* text: the collation orders as the bytes do */
	bool		has_grams;		/* text: what is found in it is known too */
	bool		has_paths;		/* jsonb: its elements have their places */
	int			key_bytes_max;
	pigment_text_analyzer *analyzer;	/* of PIG_COLUMN_RANKED, where the column of an index is described */
	int32		metric;			/* of PIG_COLUMN_SPARSE, likewise */
} PigColumn;

/* What an element of a vector is, by the column's type. */
typedef enum PigElement
{
	PIG_ELEMENT_FLOAT,
	PIG_ELEMENT_HALF,			/* of 16 bits */
	PIG_ELEMENT_BIT				/* 0 or 1 */
} PigElement;

/* Bits of one that an index takes. */
#define PIG_BITS_MAX 64000

typedef struct PigColumns
{
	int			count;
	int			vector;			/* which is the vector; -1: none */
	PigElement	element;		/* of the vector */
	bool		has_keys;		/* there are filter columns */
	PigColumn	columns[INDEX_MAX_KEYS];
} PigColumns;

/* Refuses an index that cannot be: two vectors, a type or a collation that has no keys. */
extern PigColumns pig_columns(Relation index);
/* A column of an operator class of such a family and type, without the type of an array's elements. */
extern PigColumn pig_column_of(Oid family, Oid class_type, Oid collation);
/* Whether rows may be ranked by the column, though it is not the vector. */
extern bool pig_ranks_by_elements(PigColumnKind kind);
/* Whether values of such a type, which may be of an operator's right side, have keys. */
extern bool pig_is_key_type(Oid type);

typedef struct PigVector
{
	uint32		dimension;		/* 0: there is none */
	const float *values;
} PigVector;

/* A value of the vector column, detoasted; what that takes is made in the current memory context. Refuses bits that an index does not take. */
extern PigVector pig_column_vector(const PigColumns *columns, Datum value);

/* Appends the key of a value for a column, of whose type or of one that compares with it the value is; true: it was cut. */
extern bool pig_value_key(const PigColumn *column, Oid type, Datum value, StringInfo out);

/* Keys of a row: by column, elements ascending and each once. */
typedef struct PigKeys
{
	pigment_host_key *keys;
	size_t		count;
} PigKeys;

/* Everything is made in the current memory context. */
extern PigKeys pig_row_keys(const PigColumns *columns, Datum *values, bool *isnull);
/* The form in which builders and pending entries take them. */
extern void *pig_encode_keys(const PigKeys *keys, size_t *size);

/* Rows within a distance of a vector, by the column's operator. */
typedef struct PigBound
{
	bool		is_bound;		/* there is one */
	PigVector	center;
	double		distance;		/* NaN: none is too far */
	bool		takes_nan;		/* rows whose distance is not a number, too */
} PigBound;

/* What an index scan looks for. */
typedef struct PigConditions
{
	pigment_host_condition *conditions;
	size_t		count;
	size_t		capacity;
	PigBound	bound;
	bool		is_lossy;		/* there is a condition that stays a filter above the scan, because it may let through more */
	bool		recheck;		/* more rows may come than there should be, the bound and what is lossy left aside */
	bool		nothing;		/* no row can match */
} PigConditions;

/* Made in the current memory context, which must outlive their use. */
extern PigConditions pig_conditions(Relation index, ScanKey keys, int count);
/* Has a search of this metric give what is in the bound, and perhaps some more. False: nothing is. */
extern bool pig_bound_search(const PigBound *bound, int32 metric, pigment_host_search_options *options);
extern bool pig_is_same_vector(const PigVector *a, const PigVector *b);
/*
 * Whether the index answers a condition by itself, so that it need not look at rows for which it does not hold; argument NULL: it is not known
 * yet.
 */
extern bool pig_column_answers(const PigColumn *column, int strategy, const Datum *argument);

#endif							/* PIGMENT_KEYS_H */
