-- SPDX-License-Identifier: Apache-2.0
--
-- Third part of the install script: access method pigment, its operator classes, and functions that look into an index.

CREATE FUNCTION pigment.handler(internal) RETURNS index_am_handler
	AS 'MODULE_PATHNAME', 'pigment_pg_handler' LANGUAGE C VOLATILE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pigment.handler(internal) IS 'pigment index access method handler';

CREATE ACCESS METHOD pigment TYPE INDEX HANDLER pigment.handler;
COMMENT ON ACCESS METHOD pigment IS 'nearest neighbours of a vector, in order of distance, among the rows that match conditions';

CREATE FUNCTION pigment.metric_l2() RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_metric_l2' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pigment.metric_l2() IS 'index support: Euclidean distance';
CREATE FUNCTION pigment.metric_cosine() RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_metric_cosine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pigment.metric_cosine() IS 'index support: cosine distance';
CREATE FUNCTION pigment.metric_ip() RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_metric_ip' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pigment.metric_ip() IS 'index support: negative inner product';
CREATE FUNCTION pigment.metric_l1() RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_metric_l1' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pigment.metric_l1() IS 'index support: taxicab distance';

CREATE OPERATOR CLASS vector_l2_ops DEFAULT FOR TYPE vector USING pigment AS
	OPERATOR 1 <-> (vector, vector) FOR ORDER BY float_ops,
	FUNCTION 1 pigment.metric_l2();
COMMENT ON OPERATOR CLASS vector_l2_ops USING pigment IS 'nearest by Euclidean distance, operator <->';
CREATE OPERATOR CLASS vector_cosine_ops FOR TYPE vector USING pigment AS
	OPERATOR 1 <=> (vector, vector) FOR ORDER BY float_ops,
	FUNCTION 1 pigment.metric_cosine();
COMMENT ON OPERATOR CLASS vector_cosine_ops USING pigment IS 'nearest by cosine distance, operator <=>';
CREATE OPERATOR CLASS vector_ip_ops FOR TYPE vector USING pigment AS
	OPERATOR 1 <#> (vector, vector) FOR ORDER BY float_ops,
	FUNCTION 1 pigment.metric_ip();
COMMENT ON OPERATOR CLASS vector_ip_ops USING pigment IS 'largest inner product, operator <#>';
CREATE OPERATOR CLASS vector_l1_ops FOR TYPE vector USING pigment AS
	OPERATOR 1 <+> (vector, vector) FOR ORDER BY float_ops,
	FUNCTION 1 pigment.metric_l1();
COMMENT ON OPERATOR CLASS vector_l1_ops USING pigment IS 'nearest by taxicab distance, operator <+>';

CREATE FUNCTION pigment.stats(
	index regclass,
	OUT metric text, OUT dimension integer, OUT segments integer, OUT segment_rows bigint, OUT deleted_rows bigint,
	OUT pending_rows bigint, OUT dead_pending_rows bigint, OUT pending_pages bigint, OUT pages bigint, OUT generation bigint,
	OUT retired_pages bigint, OUT free_pages bigint)
	AS 'MODULE_PATHNAME', 'pigment_pg_stats' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION pigment.stats(regclass) IS 'what an index of access method pigment holds; for its owner';

CREATE FUNCTION pigment.check(
	index regclass, heap boolean DEFAULT true,
	OUT pages bigint, OUT meta bigint, OUT segment bigint, OUT deletion bigint, OUT pending bigint, OUT overflow bigint,
	OUT leaked bigint, OUT live_rows bigint, OUT retired bigint, OUT free bigint)
	AS 'MODULE_PATHNAME', 'pigment_pg_check' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION pigment.check(regclass, boolean) IS
	'verifies each page of an index and, with heap, that it has the rows of its table and no others, counts pages by use; raises an error at the first fault; for its owner';

CREATE FUNCTION pigment.differences(index regclass, OUT tid tid, OUT column_name text, OUT problem text) RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'pigment_pg_differences' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION pigment.differences(regclass) IS
	'what pigment.check finds of rows, all of it: rows of the table that the index lacks (missing), has more than once (repeated) or with another value in a column (different), and what leads to no row (dangling); for its owner';
