/* SPDX-License-Identifier: Apache-2.0 */

/* What the files of the shim share: the context of a call. */

#ifndef PIGMENT_GO_SHIM_CALL_H
#define PIGMENT_GO_SHIM_CALL_H

#include "shim.h"

pigment_call_options pgo_options_of(pgo_call call);

/* The embedding functions that run in this thread belong to the call `state` from now on; gives the state before. */
uintptr_t pgo_enter(uintptr_t state);

#endif /* PIGMENT_GO_SHIM_CALL_H */
