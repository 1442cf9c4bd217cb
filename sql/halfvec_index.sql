-- SPDX-License-Identifier: Apache-2.0
--
-- Part of the install script: operator classes of access method pigment for type halfvec, whose indexes keep vectors in 16 bits an element.

CREATE FUNCTION pigment.halves() RETURNS boolean
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE RETURN true;
COMMENT ON FUNCTION pigment.halves() IS 'index support: elements of 16 bits';

CREATE OPERATOR CLASS halfvec_l2_ops DEFAULT FOR TYPE halfvec USING pigment AS
	OPERATOR 1 <-> (halfvec, halfvec) FOR ORDER BY float_ops,
	FUNCTION 1 pigment.metric_l2(),
	FUNCTION 2 pigment.halves();
COMMENT ON OPERATOR CLASS halfvec_l2_ops USING pigment IS 'nearest by Euclidean distance, operator <->';
CREATE OPERATOR CLASS halfvec_cosine_ops FOR TYPE halfvec USING pigment AS
	OPERATOR 1 <=> (halfvec, halfvec) FOR ORDER BY float_ops,
	FUNCTION 1 pigment.metric_cosine(),
	FUNCTION 2 pigment.halves();
COMMENT ON OPERATOR CLASS halfvec_cosine_ops USING pigment IS 'nearest by cosine distance, operator <=>';
CREATE OPERATOR CLASS halfvec_ip_ops FOR TYPE halfvec USING pigment AS
	OPERATOR 1 <#> (halfvec, halfvec) FOR ORDER BY float_ops,
	FUNCTION 1 pigment.metric_ip(),
	FUNCTION 2 pigment.halves();
COMMENT ON OPERATOR CLASS halfvec_ip_ops USING pigment IS 'largest inner product, operator <#>';
CREATE OPERATOR CLASS halfvec_l1_ops FOR TYPE halfvec USING pigment AS
	OPERATOR 1 <+> (halfvec, halfvec) FOR ORDER BY float_ops,
	FUNCTION 1 pigment.metric_l1(),
	FUNCTION 2 pigment.halves();
COMMENT ON OPERATOR CLASS halfvec_l1_ops USING pigment IS 'nearest by taxicab distance, operator <+>';
