/* SPDX-License-Identifier: Apache-2.0 */

/*
 * engine_error.h
 *	  Errors of the engine as errors of the server, with the SQLSTATE of the engine's status table.
 */
#ifndef PIGMENT_ENGINE_ERROR_H
#define PIGMENT_ENGINE_ERROR_H

#include "compat.h"
#include "pigment/pigment.h"

/* Frees `error` and raises it; NULL stands for a failure that there was no memory to describe. */
pg_noreturn extern void pig_raise(pigment_status status, pigment_error *error);

/* Raises *error unless `status` is PIGMENT_OK. By its address, because the call that gives `status` sets it. */
static inline void
pig_check(pigment_status status, pigment_error **error)
{
	if (status != PIGMENT_OK)
		pig_raise(status, *error);
}

#endif							/* PIGMENT_ENGINE_ERROR_H */
