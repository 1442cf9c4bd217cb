-- SPDX-License-Identifier: Apache-2.0
--
-- Part of the install script: operator classes of access method pigment for the server's type bit, whose indexes keep a bit of each.

CREATE FUNCTION pigment.metric_hamming() RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_metric_hamming' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pigment.metric_hamming() IS 'index support: Hamming distance';
CREATE FUNCTION pigment.metric_jaccard() RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_metric_jaccard' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pigment.metric_jaccard() IS 'index support: Jaccard distance';

CREATE OPERATOR CLASS bit_hamming_ops DEFAULT FOR TYPE bit USING pigment AS
	OPERATOR 1 <~> (bit, bit) FOR ORDER BY float_ops,
	FUNCTION 1 pigment.metric_hamming();
COMMENT ON OPERATOR CLASS bit_hamming_ops USING pigment IS 'nearest by Hamming distance, operator <~>';
CREATE OPERATOR CLASS bit_jaccard_ops FOR TYPE bit USING pigment AS
	OPERATOR 1 <%> (bit, bit) FOR ORDER BY float_ops,
	FUNCTION 1 pigment.metric_jaccard();
COMMENT ON OPERATOR CLASS bit_jaccard_ops USING pigment IS 'nearest by Jaccard distance, operator <%>';
