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
