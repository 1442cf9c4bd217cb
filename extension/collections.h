/* SPDX-License-Identifier: Apache-2.0 */

/*
 * collections.h
 *	  What the files about SQL collections share with the module's start.
 */
#ifndef PIGMENT_COLLECTIONS_H
#define PIGMENT_COLLECTIONS_H

/* Defines the settings pigment.tenant and pigment.database. */
extern void pig_register_session_defaults(void);

#endif							/* PIGMENT_COLLECTIONS_H */
