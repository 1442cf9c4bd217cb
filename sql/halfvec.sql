-- SPDX-License-Identifier: Apache-2.0
--
-- Part of the install script: type halfvec. Names and meanings are those that users of pgvector know.

-- ---- type halfvec ----------------------------------------------------------------------------------

CREATE TYPE halfvec;

CREATE FUNCTION halfvec_in(cstring, oid, integer) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION halfvec_out(halfvec) RETURNS cstring
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION halfvec_recv(internal, oid, integer) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION halfvec_send(halfvec) RETURNS bytea
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION halfvec_typmod_in(cstring[]) RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_typmod_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE halfvec (
	INPUT = halfvec_in,
	OUTPUT = halfvec_out,
	RECEIVE = halfvec_recv,
	SEND = halfvec_send,
	TYPMOD_IN = halfvec_typmod_in,
	STORAGE = external
);
COMMENT ON TYPE halfvec IS 'vector of 1 to 16,000 half-precision numbers, ''[1,2,3]''';
COMMENT ON FUNCTION halfvec_in(cstring, oid, integer) IS 'I/O';
COMMENT ON FUNCTION halfvec_out(halfvec) IS 'I/O';
COMMENT ON FUNCTION halfvec_recv(internal, oid, integer) IS 'I/O';
COMMENT ON FUNCTION halfvec_send(halfvec) IS 'I/O';
COMMENT ON FUNCTION halfvec_typmod_in(cstring[]) IS 'I/O typmod';

-- ---- functions -------------------------------------------------------------------------------------

CREATE FUNCTION l2_distance(halfvec, halfvec) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_l2_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION l2_distance(halfvec, halfvec) IS 'Euclidean distance';
CREATE FUNCTION cosine_distance(halfvec, halfvec) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_cosine_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cosine_distance(halfvec, halfvec) IS '1 - cosine of the angle; NaN where a zero vector takes part';
CREATE FUNCTION inner_product(halfvec, halfvec) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_inner_product' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION inner_product(halfvec, halfvec) IS 'inner product';
CREATE FUNCTION halfvec_negative_inner_product(halfvec, halfvec) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_negative_inner_product' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION halfvec_negative_inner_product(halfvec, halfvec) IS 'inner product with its sign changed, so that near comes first';
CREATE FUNCTION l1_distance(halfvec, halfvec) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_l1_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION l1_distance(halfvec, halfvec) IS 'taxicab distance';
CREATE FUNCTION vector_dims(halfvec) RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_dims' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_dims(halfvec) IS 'number of dimensions';
CREATE FUNCTION l2_norm(halfvec) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_norm' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION l2_norm(halfvec) IS 'Euclidean norm';
CREATE FUNCTION l2_normalize(halfvec) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_l2_normalize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION l2_normalize(halfvec) IS 'vector of the same direction and norm 1; a zero vector stays one';
CREATE FUNCTION subvector(halfvec, integer, integer) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_subvector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION subvector(halfvec, integer, integer) IS 'part of a vector: from the given element, so many elements';
CREATE FUNCTION binary_quantize(halfvec) RETURNS bit
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_binary_quantize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION binary_quantize(halfvec) IS 'one bit per element: is it above zero';
CREATE FUNCTION halfvec_add(halfvec, halfvec) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_add(halfvec, halfvec) IS 'implementation of + operator';
CREATE FUNCTION halfvec_sub(halfvec, halfvec) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_sub' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_sub(halfvec, halfvec) IS 'implementation of - operator';
CREATE FUNCTION halfvec_mul(halfvec, halfvec) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_mul' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_mul(halfvec, halfvec) IS 'implementation of * operator';
CREATE FUNCTION halfvec_concat(halfvec, halfvec) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_concat' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_concat(halfvec, halfvec) IS 'implementation of || operator';
CREATE FUNCTION halfvec_lt(halfvec, halfvec) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_lt(halfvec, halfvec) IS 'implementation of < operator';
CREATE FUNCTION halfvec_le(halfvec, halfvec) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_le(halfvec, halfvec) IS 'implementation of <= operator';
CREATE FUNCTION halfvec_eq(halfvec, halfvec) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_eq(halfvec, halfvec) IS 'implementation of = operator';
CREATE FUNCTION halfvec_ne(halfvec, halfvec) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_ne(halfvec, halfvec) IS 'implementation of <> operator';
CREATE FUNCTION halfvec_ge(halfvec, halfvec) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_ge(halfvec, halfvec) IS 'implementation of >= operator';
CREATE FUNCTION halfvec_gt(halfvec, halfvec) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_gt(halfvec, halfvec) IS 'implementation of > operator';
CREATE FUNCTION halfvec_cmp(halfvec, halfvec) RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_cmp(halfvec, halfvec) IS 'less-equal-greater';

-- ---- casts -----------------------------------------------------------------------------------------

CREATE FUNCTION halfvec(halfvec, integer, boolean) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec(halfvec, integer, boolean) IS 'checks the number of dimensions';
CREATE FUNCTION array_to_halfvec(integer[], integer, boolean) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_array_to_halfvec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION array_to_halfvec(integer[], integer, boolean) IS 'convert integer[] to halfvec';
CREATE FUNCTION array_to_halfvec(real[], integer, boolean) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_array_to_halfvec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION array_to_halfvec(real[], integer, boolean) IS 'convert real[] to halfvec';
CREATE FUNCTION array_to_halfvec(double precision[], integer, boolean) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_array_to_halfvec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION array_to_halfvec(double precision[], integer, boolean) IS 'convert double precision[] to halfvec';
CREATE FUNCTION array_to_halfvec(numeric[], integer, boolean) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_array_to_halfvec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION array_to_halfvec(numeric[], integer, boolean) IS 'convert numeric[] to halfvec';
CREATE FUNCTION halfvec_to_vector(halfvec, integer, boolean) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_to_vector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_to_vector(halfvec, integer, boolean) IS 'convert halfvec to vector';
CREATE FUNCTION vector_to_halfvec(vector, integer, boolean) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_to_halfvec' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_to_halfvec(vector, integer, boolean) IS 'convert vector to halfvec';
CREATE FUNCTION halfvec_to_float4(halfvec, integer, boolean) RETURNS real[]
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_to_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_to_float4(halfvec, integer, boolean) IS 'convert halfvec to real[]';

CREATE CAST (halfvec AS halfvec) WITH FUNCTION halfvec(halfvec, integer, boolean) AS IMPLICIT;
CREATE CAST (halfvec AS vector) WITH FUNCTION halfvec_to_vector(halfvec, integer, boolean) AS ASSIGNMENT;
CREATE CAST (vector AS halfvec) WITH FUNCTION vector_to_halfvec(vector, integer, boolean) AS IMPLICIT;
CREATE CAST (halfvec AS real[]) WITH FUNCTION halfvec_to_float4(halfvec, integer, boolean) AS ASSIGNMENT;
CREATE CAST (integer[] AS halfvec) WITH FUNCTION array_to_halfvec(integer[], integer, boolean) AS ASSIGNMENT;
CREATE CAST (real[] AS halfvec) WITH FUNCTION array_to_halfvec(real[], integer, boolean) AS ASSIGNMENT;
CREATE CAST (double precision[] AS halfvec) WITH FUNCTION array_to_halfvec(double precision[], integer, boolean) AS ASSIGNMENT;
CREATE CAST (numeric[] AS halfvec) WITH FUNCTION array_to_halfvec(numeric[], integer, boolean) AS ASSIGNMENT;
COMMENT ON CAST (halfvec AS halfvec) IS 'checks the number of dimensions';
COMMENT ON CAST (halfvec AS vector) IS 'vector of the same numbers';
COMMENT ON CAST (vector AS halfvec) IS 'halfvec of the elements, rounded';
COMMENT ON CAST (halfvec AS real[]) IS 'elements of a halfvec';
COMMENT ON CAST (integer[] AS halfvec) IS 'halfvec of the elements, rounded';
COMMENT ON CAST (real[] AS halfvec) IS 'halfvec of the elements, rounded';
COMMENT ON CAST (double precision[] AS halfvec) IS 'halfvec of the elements, rounded';
COMMENT ON CAST (numeric[] AS halfvec) IS 'halfvec of the elements, rounded';

-- ---- operators -------------------------------------------------------------------------------------

CREATE OPERATOR <-> (LEFTARG = halfvec, RIGHTARG = halfvec, FUNCTION = l2_distance, COMMUTATOR = '<->');
COMMENT ON OPERATOR <-> (halfvec, halfvec) IS 'Euclidean distance';
CREATE OPERATOR <=> (LEFTARG = halfvec, RIGHTARG = halfvec, FUNCTION = cosine_distance, COMMUTATOR = '<=>');
COMMENT ON OPERATOR <=> (halfvec, halfvec) IS 'cosine distance';
CREATE OPERATOR <#> (LEFTARG = halfvec, RIGHTARG = halfvec, FUNCTION = halfvec_negative_inner_product, COMMUTATOR = '<#>');
COMMENT ON OPERATOR <#> (halfvec, halfvec) IS 'negative inner product';
CREATE OPERATOR <+> (LEFTARG = halfvec, RIGHTARG = halfvec, FUNCTION = l1_distance, COMMUTATOR = '<+>');
COMMENT ON OPERATOR <+> (halfvec, halfvec) IS 'taxicab distance';
CREATE OPERATOR + (LEFTARG = halfvec, RIGHTARG = halfvec, FUNCTION = halfvec_add, COMMUTATOR = '+');
COMMENT ON OPERATOR + (halfvec, halfvec) IS 'sum, element by element';
CREATE OPERATOR - (LEFTARG = halfvec, RIGHTARG = halfvec, FUNCTION = halfvec_sub);
COMMENT ON OPERATOR - (halfvec, halfvec) IS 'difference, element by element';
CREATE OPERATOR * (LEFTARG = halfvec, RIGHTARG = halfvec, FUNCTION = halfvec_mul, COMMUTATOR = '*');
COMMENT ON OPERATOR * (halfvec, halfvec) IS 'product, element by element';
CREATE OPERATOR || (LEFTARG = halfvec, RIGHTARG = halfvec, FUNCTION = halfvec_concat);
COMMENT ON OPERATOR || (halfvec, halfvec) IS 'concatenation';
CREATE OPERATOR < (
	LEFTARG = halfvec, RIGHTARG = halfvec, FUNCTION = halfvec_lt,
	COMMUTATOR = '>', NEGATOR = '>=', RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (halfvec, halfvec) IS 'less than, element by element';
CREATE OPERATOR <= (
	LEFTARG = halfvec, RIGHTARG = halfvec, FUNCTION = halfvec_le,
	COMMUTATOR = '>=', NEGATOR = '>', RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (halfvec, halfvec) IS 'less than or equal, element by element';
CREATE OPERATOR = (
	LEFTARG = halfvec, RIGHTARG = halfvec, FUNCTION = halfvec_eq,
	COMMUTATOR = '=', NEGATOR = '<>', RESTRICT = eqsel, JOIN = eqjoinsel
);
COMMENT ON OPERATOR = (halfvec, halfvec) IS 'equal, element by element';
CREATE OPERATOR <> (
	LEFTARG = halfvec, RIGHTARG = halfvec, FUNCTION = halfvec_ne,
	COMMUTATOR = '<>', NEGATOR = '=', RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (halfvec, halfvec) IS 'not equal, element by element';
CREATE OPERATOR >= (
	LEFTARG = halfvec, RIGHTARG = halfvec, FUNCTION = halfvec_ge,
	COMMUTATOR = '<=', NEGATOR = '<', RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (halfvec, halfvec) IS 'greater than or equal, element by element';
CREATE OPERATOR > (
	LEFTARG = halfvec, RIGHTARG = halfvec, FUNCTION = halfvec_gt,
	COMMUTATOR = '<', NEGATOR = '<=', RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (halfvec, halfvec) IS 'greater than, element by element';

CREATE OPERATOR FAMILY halfvec_ops USING btree;
COMMENT ON OPERATOR FAMILY halfvec_ops USING btree IS 'comparison of halfvecs';
CREATE OPERATOR CLASS halfvec_ops DEFAULT FOR TYPE halfvec USING btree FAMILY halfvec_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 halfvec_cmp(halfvec, halfvec);
COMMENT ON OPERATOR CLASS halfvec_ops USING btree IS 'comparison of halfvecs, element by element, for sorting and grouping';

-- ---- aggregates ------------------------------------------------------------------------------------

CREATE FUNCTION halfvec_accum(double precision[], halfvec) RETURNS double precision[]
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_accum' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_accum(double precision[], halfvec) IS 'aggregate transition function';
CREATE FUNCTION halfvec_combine(double precision[], double precision[]) RETURNS double precision[]
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_combine(double precision[], double precision[]) IS 'aggregate combine function';
CREATE FUNCTION halfvec_avg(double precision[]) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_avg' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_avg(double precision[]) IS 'aggregate final function';
CREATE FUNCTION halfvec_sum(double precision[]) RETURNS halfvec
	AS 'MODULE_PATHNAME', 'pigment_pg_halfvec_sum' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION halfvec_sum(double precision[]) IS 'aggregate final function';
CREATE AGGREGATE avg(halfvec) (
	SFUNC = halfvec_accum, STYPE = double precision[], FINALFUNC = halfvec_avg, COMBINEFUNC = halfvec_combine,
	INITCOND = '{0}', PARALLEL = SAFE
);
COMMENT ON AGGREGATE avg(halfvec) IS 'average of halfvecs, element by element';
CREATE AGGREGATE sum(halfvec) (
	SFUNC = halfvec_accum, STYPE = double precision[], FINALFUNC = halfvec_sum, COMBINEFUNC = halfvec_combine,
	INITCOND = '{0}', PARALLEL = SAFE
);
COMMENT ON AGGREGATE sum(halfvec) IS 'sum of halfvecs, element by element';
