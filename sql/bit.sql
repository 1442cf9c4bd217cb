-- SPDX-License-Identifier: Apache-2.0
--
-- Part of the install script: distances of the server's type bit, as of binary_quantize().

CREATE FUNCTION hamming_distance(bit, bit) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_hamming_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION hamming_distance(bit, bit) IS 'number of bits that differ';
CREATE FUNCTION jaccard_distance(bit, bit) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_jaccard_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION jaccard_distance(bit, bit) IS '1 - bits that both have by bits that any has';

CREATE OPERATOR <~> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = hamming_distance, COMMUTATOR = '<~>');
COMMENT ON OPERATOR <~> (bit, bit) IS 'Hamming distance';
CREATE OPERATOR <%> (LEFTARG = bit, RIGHTARG = bit, FUNCTION = jaccard_distance, COMMUTATOR = '<%>');
COMMENT ON OPERATOR <%> (bit, bit) IS 'Jaccard distance';
