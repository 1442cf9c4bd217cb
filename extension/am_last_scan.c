/* SPDX-License-Identifier: Apache-2.0 */

/*
 * am_last_scan.c
 *	  pigment.last_scan(): what the last index scan of this session did.
 */
#include "postgres.h"

#include "compat.h"
#include "funcapi.h"
#include "utils/builtins.h"

#include "am.h"

const char *
pig_strategy_name(bool is_ordered, bool has_conditions)
{
	if (is_ordered)
		return has_conditions ? "filter, then order" : "order";
	return has_conditions ? "filter" : "all rows";
}

PG_FUNCTION_INFO_V1(pigment_pg_last_scan);
Datum
pigment_pg_last_scan(PG_FUNCTION_ARGS)
{
	const PigLastScan *scan = &pig_last_scan;
	TupleDesc	descriptor;
	Datum		values[14];
	bool		nulls[14] = {false};

	if (get_call_result_type(fcinfo, NULL, &descriptor) != TYPEFUNC_COMPOSITE || descriptor->natts != 14)
		elog(ERROR, "return type must be a row type");
	if (!OidIsValid(scan->index))
		PG_RETURN_NULL();
	values[0] = ObjectIdGetDatum(scan->index);
	values[1] = CStringGetTextDatum(pig_strategy_name(scan->ordered, scan->conditions > 0));
	values[2] = Int32GetDatum(scan->conditions);
	values[3] = Int64GetDatum((int64) (scan->counters.segment_rows + scan->counters.pending_rows));
	values[4] = Int64GetDatum((int64) scan->counters.rows_scored);
	values[5] = Int64GetDatum((int64) scan->rows_given);
	values[6] = Int32GetDatum(scan->segments);
	values[7] = Int64GetDatum((int64) scan->counters.pages_read);
	values[8] = Int64GetDatum((int64) scan->counters.passes);
	values[9] = BoolGetDatum(scan->recheck);
	values[10] = Int64GetDatum((int64) scan->counters.walks);
	values[11] = Int64GetDatum((int64) scan->counters.probes);
	values[12] = Int64GetDatum((int64) scan->counters.visits);
	values[13] = Int64GetDatum((int64) scan->counters.rows_late);
	PG_RETURN_DATUM(HeapTupleGetDatum(heap_form_tuple(BlessTupleDesc(descriptor), values, nulls)));
}
