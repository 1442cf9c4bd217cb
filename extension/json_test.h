/* SPDX-License-Identifier: Apache-2.0 */

/*
 * json_test.h
 *	  Rows of type pigment.json_test, (path text[], type text, operator text, texts text[], numbers numeric[]): what the planner gives an index in the
 *	  place of a condition on an expression of a jsonb column.
 */
#ifndef PIGMENT_JSON_TEST_H
#define PIGMENT_JSON_TEST_H

#include "json_keys.h"

/* Types: what the value at the path is taken for. Those of "->" begin with "json"; the others are casts of "->>". */
#define PIG_TEST_TEXT "text"
#define PIG_TEST_NUMBER "number"
#define PIG_TEST_REAL "real"
#define PIG_TEST_DOUBLE "double"
#define PIG_TEST_BOOLEAN "boolean"
#define PIG_TEST_JSON "json"
#define PIG_TEST_JSON_NUMBER "json number"
#define PIG_TEST_JSON_INTEGER "json integer"	/* rounded */
#define PIG_TEST_JSON_REAL "json real"
#define PIG_TEST_JSON_DOUBLE "json double"
#define PIG_TEST_JSON_BOOLEAN "json boolean"

/* Operators besides < <= = >= >, of which "=" takes any number of values. */
#define PIG_TEST_TRUE "true"
#define PIG_TEST_FALSE "false"
#define PIG_TEST_IS_NULL "is null"
#define PIG_TEST_IS_NOT_NULL "is not null"

/* Elements that a row has for which the condition holds, or (*lacks) that it has none of; made in the current memory context. */
extern PigRanges *pig_ranges_of_test(Datum test, bool *lacks);

#endif							/* PIGMENT_JSON_TEST_H */
