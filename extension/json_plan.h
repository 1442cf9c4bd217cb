/* SPDX-License-Identifier: Apache-2.0 */

/*
 * json_plan.h
 *	  Conditions on expressions of a jsonb column as conditions of an index.
 */
#ifndef PIGMENT_JSON_PLAN_H
#define PIGMENT_JSON_PLAN_H

#include "nodes/pathnodes.h"

/* IndexClauses, lossy ones, for the restrictions of the index's table that are such conditions. */
extern List *pig_json_clauses(PlannerInfo *root, IndexOptInfo *index);
/* Whether it is what an index is given in the place of one. */
extern bool pig_is_json_test(const IndexOptInfo *index, int column, const Node *clause);
/* For which part of the rows it holds, where its values are not known. */
extern Selectivity pig_guess_json_test(const Node *clause);

#endif							/* PIGMENT_JSON_PLAN_H */
