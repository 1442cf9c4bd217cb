/* SPDX-License-Identifier: Apache-2.0 */

/*
 * module.c
 *	  What the server calls when it loads the module. Starts nothing: the postmaster may load it before it forks.
 */
#include "postgres.h"

#include "compat.h"
#include "fmgr.h"
#include "utils/builtins.h"
#include "utils/guc.h"

#include "am.h"
#include "collections.h"
#include "pigment/pigment.h"

PIGMENT_MODULE_MAGIC("0.2.0");

extern PGDLLEXPORT void _PG_init(void);

/* Of the C++ runtime. */
extern void *__cxa_get_globals(void);

void
_PG_init(void)
{
	/* what it needs for exceptions is allocated when it is first asked for, and where memory is out by then the process ends */
	(void) __cxa_get_globals();
	pig_register_options();
	pig_register_planner();
	pig_register_paths();
	pig_register_explain();
	pig_register_output();
	pig_register_limits();
	pig_register_session_defaults();
	pig_register_segment_cache();
	MarkGUCPrefixReserved("pigment");
}

PG_FUNCTION_INFO_V1(pigment_pg_version);
Datum
pigment_pg_version(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(pigment_version()));
}

PG_FUNCTION_INFO_V1(pigment_pg_build_info);
Datum
pigment_pg_build_info(PG_FUNCTION_ARGS)
{
	PG_RETURN_TEXT_P(cstring_to_text(pigment_build_info()));
}
