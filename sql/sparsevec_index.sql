-- SPDX-License-Identifier: Apache-2.0
--
-- Part of the install script: operator classes of access method pigment for type sparsevec, whose indexes have the rows of each place in lists.

CREATE FUNCTION pigment.sparse() RETURNS boolean
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN true;
COMMENT ON FUNCTION pigment.sparse() IS 'index support: sparse vectors';

CREATE OPERATOR CLASS sparsevec_l2_ops DEFAULT FOR TYPE sparsevec USING pigment AS
	OPERATOR 1 <-> (sparsevec, sparsevec) FOR ORDER BY float_ops,
	FUNCTION 1 pigment.metric_l2(),
	FUNCTION 4 pigment.sparse();
COMMENT ON OPERATOR CLASS sparsevec_l2_ops USING pigment IS 'nearest by Euclidean distance, operator <->';
CREATE OPERATOR CLASS sparsevec_cosine_ops FOR TYPE sparsevec USING pigment AS
	OPERATOR 1 <=> (sparsevec, sparsevec) FOR ORDER BY float_ops,
	FUNCTION 1 pigment.metric_cosine(),
	FUNCTION 4 pigment.sparse();
COMMENT ON OPERATOR CLASS sparsevec_cosine_ops USING pigment IS 'nearest by cosine distance, operator <=>';
CREATE OPERATOR CLASS sparsevec_ip_ops FOR TYPE sparsevec USING pigment AS
	OPERATOR 1 <#> (sparsevec, sparsevec) FOR ORDER BY float_ops,
	FUNCTION 1 pigment.metric_ip(),
	FUNCTION 4 pigment.sparse();
COMMENT ON OPERATOR CLASS sparsevec_ip_ops USING pigment IS 'largest inner product, operator <#>';
CREATE OPERATOR CLASS sparsevec_l1_ops FOR TYPE sparsevec USING pigment AS
	OPERATOR 1 <+> (sparsevec, sparsevec) FOR ORDER BY float_ops,
	FUNCTION 1 pigment.metric_l1(),
	FUNCTION 4 pigment.sparse();
COMMENT ON OPERATOR CLASS sparsevec_l1_ops USING pigment IS 'nearest by taxicab distance, operator <+>';

-- Orders that begin with what is no number, which the planner makes of descending ones. The server computes these distances, so they tell it so.
CREATE FUNCTION pigment._cosine_nan_first(sparsevec, sparsevec) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_cosine_nan_first' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION pigment._cosine_nan_first(sparsevec, sparsevec) IS 'implementation of <=>! operator';
CREATE FUNCTION pigment._ip_nan_first(sparsevec, sparsevec) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_ip_nan_first' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION pigment._ip_nan_first(sparsevec, sparsevec) IS 'implementation of <#>! operator';
CREATE OPERATOR pigment.<->! (LEFTARG = sparsevec, RIGHTARG = sparsevec, FUNCTION = l2_distance);
COMMENT ON OPERATOR pigment.<->! (sparsevec, sparsevec) IS 'order of an index scan: by Euclidean distance, which is always a number';
CREATE OPERATOR pigment.<=>! (LEFTARG = sparsevec, RIGHTARG = sparsevec, FUNCTION = pigment._cosine_nan_first);
COMMENT ON OPERATOR pigment.<=>! (sparsevec, sparsevec) IS 'order of an index scan: by cosine distance, what is not a number as -infinity';
CREATE OPERATOR pigment.<#>! (LEFTARG = sparsevec, RIGHTARG = sparsevec, FUNCTION = pigment._ip_nan_first);
COMMENT ON OPERATOR pigment.<#>! (sparsevec, sparsevec) IS 'order of an index scan: by negative inner product, what is not a number as -infinity';
CREATE OPERATOR pigment.<+>! (LEFTARG = sparsevec, RIGHTARG = sparsevec, FUNCTION = l1_distance);
COMMENT ON OPERATOR pigment.<+>! (sparsevec, sparsevec) IS 'order of an index scan: by taxicab distance, which is always a number';
ALTER OPERATOR FAMILY sparsevec_l2_ops USING pigment ADD
	OPERATOR 3 pigment.<->! (sparsevec, sparsevec) FOR ORDER BY float_ops;
ALTER OPERATOR FAMILY sparsevec_cosine_ops USING pigment ADD
	OPERATOR 3 pigment.<=>! (sparsevec, sparsevec) FOR ORDER BY float_ops;
ALTER OPERATOR FAMILY sparsevec_ip_ops USING pigment ADD
	OPERATOR 3 pigment.<#>! (sparsevec, sparsevec) FOR ORDER BY float_ops;
ALTER OPERATOR FAMILY sparsevec_l1_ops USING pigment ADD
	OPERATOR 3 pigment.<+>! (sparsevec, sparsevec) FOR ORDER BY float_ops;
