/* SPDX-License-Identifier: Apache-2.0 */

/*
 * engine_error.c
 *	  Errors of the engine as errors of the server.
 */
#include "postgres.h"

#include "engine_error.h"

void
pig_raise(pigment_status status, pigment_error *error)
{
	const char *sqlstate;
	char	   *message;
	char	   *hint;
	int64		row;
	int			code;

	if (error == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_OUT_OF_MEMORY),
				 errmsg("out of memory")));

	/* Copied first: the engine's memory is freed before the jump. */
	sqlstate = pigment_status_sqlstate(status);
	code = sqlstate == NULL ? ERRCODE_INTERNAL_ERROR
		: MAKE_SQLSTATE(sqlstate[0], sqlstate[1], sqlstate[2], sqlstate[3], sqlstate[4]);
	if (pigment_error_detail(error) == PIGMENT_DETAIL_MEMORY)
		code = ERRCODE_OUT_OF_MEMORY;
	message = pstrdup(pigment_error_message(error));
	hint = pstrdup(pigment_error_hint(error));
	row = pigment_error_row(error);
	pigment_error_free(error);

	ereport(ERROR,
			(errcode(code),
			 errmsg_internal("%s", message),
			 row >= 0 ? errdetail("Row " INT64_FORMAT " of the batch.", row + 1) : 0,
			 hint[0] != '\0' ? errhint("%s", hint) : 0));
}
