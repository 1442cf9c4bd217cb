-- SPDX-License-Identifier: Apache-2.0
--
-- Part of the install script: type sparsevec. Names and meanings are those that users of pgvector know.

-- ---- type sparsevec --------------------------------------------------------------------------------

CREATE TYPE sparsevec;

CREATE FUNCTION sparsevec_in(cstring, oid, integer) RETURNS sparsevec
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sparsevec_out(sparsevec) RETURNS cstring
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sparsevec_recv(internal, oid, integer) RETURNS sparsevec
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sparsevec_send(sparsevec) RETURNS bytea
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION sparsevec_typmod_in(cstring[]) RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_typmod_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE sparsevec (
	INPUT = sparsevec_in,
	OUTPUT = sparsevec_out,
	RECEIVE = sparsevec_recv,
	SEND = sparsevec_send,
	TYPMOD_IN = sparsevec_typmod_in,
	STORAGE = external
);
COMMENT ON TYPE sparsevec IS 'vector of up to 1,000,000,000 dimensions of which at most 16,000 are not zero, ''{1:0.5,3:2}/5''';
COMMENT ON FUNCTION sparsevec_in(cstring, oid, integer) IS 'I/O';
COMMENT ON FUNCTION sparsevec_out(sparsevec) IS 'I/O';
COMMENT ON FUNCTION sparsevec_recv(internal, oid, integer) IS 'I/O';
COMMENT ON FUNCTION sparsevec_send(sparsevec) IS 'I/O';
COMMENT ON FUNCTION sparsevec_typmod_in(cstring[]) IS 'I/O typmod';

-- ---- functions -------------------------------------------------------------------------------------

CREATE FUNCTION l2_distance(sparsevec, sparsevec) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_l2_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION l2_distance(sparsevec, sparsevec) IS 'Euclidean distance';
CREATE FUNCTION cosine_distance(sparsevec, sparsevec) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_cosine_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cosine_distance(sparsevec, sparsevec) IS '1 - cosine of the angle; NaN where a zero vector takes part';
CREATE FUNCTION inner_product(sparsevec, sparsevec) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_inner_product' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION inner_product(sparsevec, sparsevec) IS 'inner product';
CREATE FUNCTION sparsevec_negative_inner_product(sparsevec, sparsevec) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_negative_inner_product' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION sparsevec_negative_inner_product(sparsevec, sparsevec) IS 'inner product with its sign changed, so that near comes first';
CREATE FUNCTION l1_distance(sparsevec, sparsevec) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_l1_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION l1_distance(sparsevec, sparsevec) IS 'taxicab distance';
CREATE FUNCTION l2_norm(sparsevec) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_norm' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION l2_norm(sparsevec) IS 'Euclidean norm';
CREATE FUNCTION l2_normalize(sparsevec) RETURNS sparsevec
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_l2_normalize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION l2_normalize(sparsevec) IS 'vector of the same direction and norm 1; a zero vector stays one';
CREATE FUNCTION sparsevec_lt(sparsevec, sparsevec) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sparsevec_lt(sparsevec, sparsevec) IS 'implementation of < operator';
CREATE FUNCTION sparsevec_le(sparsevec, sparsevec) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sparsevec_le(sparsevec, sparsevec) IS 'implementation of <= operator';
CREATE FUNCTION sparsevec_eq(sparsevec, sparsevec) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sparsevec_eq(sparsevec, sparsevec) IS 'implementation of = operator';
CREATE FUNCTION sparsevec_ne(sparsevec, sparsevec) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sparsevec_ne(sparsevec, sparsevec) IS 'implementation of <> operator';
CREATE FUNCTION sparsevec_ge(sparsevec, sparsevec) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sparsevec_ge(sparsevec, sparsevec) IS 'implementation of >= operator';
CREATE FUNCTION sparsevec_gt(sparsevec, sparsevec) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sparsevec_gt(sparsevec, sparsevec) IS 'implementation of > operator';
CREATE FUNCTION sparsevec_cmp(sparsevec, sparsevec) RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sparsevec_cmp(sparsevec, sparsevec) IS 'less-equal-greater';

-- ---- casts -----------------------------------------------------------------------------------------

CREATE FUNCTION sparsevec(sparsevec, integer, boolean) RETURNS sparsevec
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sparsevec(sparsevec, integer, boolean) IS 'checks the number of dimensions';
CREATE FUNCTION array_to_sparsevec(integer[], integer, boolean) RETURNS sparsevec
	AS 'MODULE_PATHNAME', 'pigment_pg_array_to_sparsevec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION array_to_sparsevec(integer[], integer, boolean) IS 'convert integer[] to sparsevec';
CREATE FUNCTION array_to_sparsevec(real[], integer, boolean) RETURNS sparsevec
	AS 'MODULE_PATHNAME', 'pigment_pg_array_to_sparsevec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION array_to_sparsevec(real[], integer, boolean) IS 'convert real[] to sparsevec';
CREATE FUNCTION array_to_sparsevec(double precision[], integer, boolean) RETURNS sparsevec
	AS 'MODULE_PATHNAME', 'pigment_pg_array_to_sparsevec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION array_to_sparsevec(double precision[], integer, boolean) IS 'convert double precision[] to sparsevec';
CREATE FUNCTION array_to_sparsevec(numeric[], integer, boolean) RETURNS sparsevec
	AS 'MODULE_PATHNAME', 'pigment_pg_array_to_sparsevec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION array_to_sparsevec(numeric[], integer, boolean) IS 'convert numeric[] to sparsevec';
CREATE FUNCTION vector_to_sparsevec(vector, integer, boolean) RETURNS sparsevec
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_to_sparsevec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_to_sparsevec(vector, integer, boolean) IS 'convert vector to sparsevec';
CREATE FUNCTION sparsevec_to_vector(sparsevec, integer, boolean) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_to_vector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sparsevec_to_vector(sparsevec, integer, boolean) IS 'convert sparsevec to vector';
CREATE FUNCTION halfvec_to_sparsevec(halfvec, integer, boolean) RETURNS sparsevec
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_to_sparsevec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_to_sparsevec(halfvec, integer, boolean) IS 'convert halfvec to sparsevec';
CREATE FUNCTION sparsevec_to_halfvec(sparsevec, integer, boolean) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_sparsevec_to_halfvec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION sparsevec_to_halfvec(sparsevec, integer, boolean) IS 'convert sparsevec to halfvec';

CREATE CAST (sparsevec AS sparsevec) WITH FUNCTION sparsevec(sparsevec, integer, boolean) AS IMPLICIT;
CREATE CAST (sparsevec AS vector) WITH FUNCTION sparsevec_to_vector(sparsevec, integer, boolean) AS ASSIGNMENT;
CREATE CAST (vector AS sparsevec) WITH FUNCTION vector_to_sparsevec(vector, integer, boolean) AS IMPLICIT;
CREATE CAST (sparsevec AS halfvec) WITH FUNCTION sparsevec_to_halfvec(sparsevec, integer, boolean) AS ASSIGNMENT;
CREATE CAST (halfvec AS sparsevec) WITH FUNCTION halfvec_to_sparsevec(halfvec, integer, boolean) AS IMPLICIT;
CREATE CAST (integer[] AS sparsevec) WITH FUNCTION array_to_sparsevec(integer[], integer, boolean) AS ASSIGNMENT;
CREATE CAST (real[] AS sparsevec) WITH FUNCTION array_to_sparsevec(real[], integer, boolean) AS ASSIGNMENT;
CREATE CAST (double precision[] AS sparsevec)
	WITH FUNCTION array_to_sparsevec(double precision[], integer, boolean) AS ASSIGNMENT;
CREATE CAST (numeric[] AS sparsevec) WITH FUNCTION array_to_sparsevec(numeric[], integer, boolean) AS ASSIGNMENT;
COMMENT ON CAST (sparsevec AS sparsevec) IS 'checks the number of dimensions';
COMMENT ON CAST (sparsevec AS vector) IS 'vector of the elements and zeros';
COMMENT ON CAST (vector AS sparsevec) IS 'elements that are not zero';
COMMENT ON CAST (sparsevec AS halfvec) IS 'halfvec of the elements, rounded, and zeros';
COMMENT ON CAST (halfvec AS sparsevec) IS 'elements that are not zero';
COMMENT ON CAST (integer[] AS sparsevec) IS 'elements that are not zero';
COMMENT ON CAST (real[] AS sparsevec) IS 'elements that are not zero';
COMMENT ON CAST (double precision[] AS sparsevec) IS 'elements that are not zero';
COMMENT ON CAST (numeric[] AS sparsevec) IS 'elements that are not zero';

-- ---- operators -------------------------------------------------------------------------------------

CREATE OPERATOR <-> (LEFTARG = sparsevec, RIGHTARG = sparsevec, FUNCTION = l2_distance, COMMUTATOR = '<->');
COMMENT ON OPERATOR <-> (sparsevec, sparsevec) IS 'Euclidean distance';
CREATE OPERATOR <=> (LEFTARG = sparsevec, RIGHTARG = sparsevec, FUNCTION = cosine_distance, COMMUTATOR = '<=>');
COMMENT ON OPERATOR <=> (sparsevec, sparsevec) IS 'cosine distance';
CREATE OPERATOR <#> (LEFTARG = sparsevec, RIGHTARG = sparsevec, FUNCTION = sparsevec_negative_inner_product, COMMUTATOR = '<#>');
COMMENT ON OPERATOR <#> (sparsevec, sparsevec) IS 'negative inner product';
CREATE OPERATOR <+> (LEFTARG = sparsevec, RIGHTARG = sparsevec, FUNCTION = l1_distance, COMMUTATOR = '<+>');
COMMENT ON OPERATOR <+> (sparsevec, sparsevec) IS 'taxicab distance';
CREATE OPERATOR < (
	LEFTARG = sparsevec, RIGHTARG = sparsevec, FUNCTION = sparsevec_lt,
	COMMUTATOR = '>', NEGATOR = '>=', RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (sparsevec, sparsevec) IS 'less than, element by element';
CREATE OPERATOR <= (
	LEFTARG = sparsevec, RIGHTARG = sparsevec, FUNCTION = sparsevec_le,
	COMMUTATOR = '>=', NEGATOR = '>', RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (sparsevec, sparsevec) IS 'less than or equal, element by element';
CREATE OPERATOR = (
	LEFTARG = sparsevec, RIGHTARG = sparsevec, FUNCTION = sparsevec_eq,
	COMMUTATOR = '=', NEGATOR = '<>', RESTRICT = eqsel, JOIN = eqjoinsel
);
COMMENT ON OPERATOR = (sparsevec, sparsevec) IS 'equal, element by element';
CREATE OPERATOR <> (
	LEFTARG = sparsevec, RIGHTARG = sparsevec, FUNCTION = sparsevec_ne,
	COMMUTATOR = '<>', NEGATOR = '=', RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (sparsevec, sparsevec) IS 'not equal, element by element';
CREATE OPERATOR >= (
	LEFTARG = sparsevec, RIGHTARG = sparsevec, FUNCTION = sparsevec_ge,
	COMMUTATOR = '<=', NEGATOR = '<', RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (sparsevec, sparsevec) IS 'greater than or equal, element by element';
CREATE OPERATOR > (
	LEFTARG = sparsevec, RIGHTARG = sparsevec, FUNCTION = sparsevec_gt,
	COMMUTATOR = '<', NEGATOR = '<=', RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (sparsevec, sparsevec) IS 'greater than, element by element';

CREATE OPERATOR FAMILY sparsevec_ops USING btree;
COMMENT ON OPERATOR FAMILY sparsevec_ops USING btree IS 'comparison of sparsevecs';
CREATE OPERATOR CLASS sparsevec_ops DEFAULT FOR TYPE sparsevec USING btree FAMILY sparsevec_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 sparsevec_cmp(sparsevec, sparsevec);
COMMENT ON OPERATOR CLASS sparsevec_ops USING btree IS 'comparison of sparsevecs, element by element, for sorting and grouping';
