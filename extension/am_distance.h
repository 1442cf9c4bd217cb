/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_distance.h
 *	  Expressions of a query that are a distance from the vector column of an index, or follow from one.
 */
#ifndef PIGMENT_AM_DISTANCE_H
#define PIGMENT_AM_DISTANCE_H

#include "nodes/pathnodes.h"

/* What a function of a distance takes to the same order, or to the opposite one. */
typedef struct PigDistance
{
	Node	   *center;			/* what the column is compared with */
	bool		descends;
	/* of a value that is minuend - distance; NULL: it is the distance, or none that conditions are solved for */
	Const	   *minuend;
	bool		is_plain;		/* it is the distance itself */
} PigDistance;

/* Whether the expression's order among rows is that of their distances, or the opposite. */
extern bool pig_match_distance(PlannerInfo *root, IndexOptInfo *index, int column, Node *node, PigDistance *found);
/* Whether it is a constant that takes part in sums and products without making anything of infinity but itself. */
extern bool pig_finite_constant(const Node *node, double *value);
/* The operator family by which distances are compared and sorted. */
extern Oid	pig_float_family(void);

#endif							/* PIGMENT_AM_DISTANCE_H */
