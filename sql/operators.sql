-- SPDX-License-Identifier: Apache-2.0
--
-- Second part of the install script: functions, operators, comparison and aggregates of type vector. Names and meanings are those
-- that users of pgvector know.

-- ---- functions --------------------------------------------------------------------------------

-- A distance of some hundred dimensions takes as long as ten operators on numbers, which is what the planner weighs an index against.
CREATE FUNCTION l2_distance(vector, vector) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_l2_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION l2_distance(vector, vector) IS 'Euclidean distance';
CREATE FUNCTION cosine_distance(vector, vector) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_cosine_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION cosine_distance(vector, vector) IS '1 - cosine of the angle; NaN where a zero vector takes part';
CREATE FUNCTION inner_product(vector, vector) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_inner_product' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION inner_product(vector, vector) IS 'inner product';
CREATE FUNCTION vector_negative_inner_product(vector, vector) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_negative_inner_product' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION vector_negative_inner_product(vector, vector) IS 'inner product with its sign changed, so that near comes first';
CREATE FUNCTION l1_distance(vector, vector) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_l1_distance' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE COST 10;
COMMENT ON FUNCTION l1_distance(vector, vector) IS 'taxicab distance';
CREATE FUNCTION vector_dims(vector) RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_dims' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_dims(vector) IS 'number of dimensions';
CREATE FUNCTION vector_norm(vector) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_norm' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_norm(vector) IS 'Euclidean norm';
CREATE FUNCTION l2_norm(vector) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_norm' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION l2_norm(vector) IS 'Euclidean norm';
CREATE FUNCTION l2_normalize(vector) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_l2_normalize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION l2_normalize(vector) IS 'vector of the same direction and norm 1; a zero vector stays one';
CREATE FUNCTION subvector(vector, integer, integer) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_subvector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION subvector(vector, integer, integer) IS 'part of a vector: from the given element, so many elements';
CREATE FUNCTION binary_quantize(vector) RETURNS bit
	AS 'MODULE_PATHNAME', 'pigment_pg_binary_quantize' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION binary_quantize(vector) IS 'one bit per element: is it above zero';
CREATE FUNCTION vector_add(vector, vector) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_add' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_add(vector, vector) IS 'implementation of + operator';
CREATE FUNCTION vector_sub(vector, vector) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_sub' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_sub(vector, vector) IS 'implementation of - operator';
CREATE FUNCTION vector_mul(vector, vector) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_mul' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_mul(vector, vector) IS 'implementation of * operator';
CREATE FUNCTION vector_concat(vector, vector) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_concat' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_concat(vector, vector) IS 'implementation of || operator';
CREATE FUNCTION vector_lt(vector, vector) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_lt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_lt(vector, vector) IS 'implementation of < operator';
CREATE FUNCTION vector_le(vector, vector) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_le' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_le(vector, vector) IS 'implementation of <= operator';
CREATE FUNCTION vector_eq(vector, vector) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_eq' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_eq(vector, vector) IS 'implementation of = operator';
CREATE FUNCTION vector_ne(vector, vector) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_ne' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_ne(vector, vector) IS 'implementation of <> operator';
CREATE FUNCTION vector_ge(vector, vector) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_ge' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_ge(vector, vector) IS 'implementation of >= operator';
CREATE FUNCTION vector_gt(vector, vector) RETURNS boolean
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_gt' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_gt(vector, vector) IS 'implementation of > operator';
CREATE FUNCTION vector_cmp(vector, vector) RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_cmp' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_cmp(vector, vector) IS 'less-equal-greater';

-- ---- operators --------------------------------------------------------------------------------

CREATE OPERATOR <-> (LEFTARG = vector, RIGHTARG = vector, FUNCTION = l2_distance, COMMUTATOR = '<->');
COMMENT ON OPERATOR <-> (vector, vector) IS 'Euclidean distance';
CREATE OPERATOR <=> (LEFTARG = vector, RIGHTARG = vector, FUNCTION = cosine_distance, COMMUTATOR = '<=>');
COMMENT ON OPERATOR <=> (vector, vector) IS 'cosine distance';
CREATE OPERATOR <#> (LEFTARG = vector, RIGHTARG = vector, FUNCTION = vector_negative_inner_product, COMMUTATOR = '<#>');
COMMENT ON OPERATOR <#> (vector, vector) IS 'negative inner product';
CREATE OPERATOR <+> (LEFTARG = vector, RIGHTARG = vector, FUNCTION = l1_distance, COMMUTATOR = '<+>');
COMMENT ON OPERATOR <+> (vector, vector) IS 'taxicab distance';
CREATE OPERATOR + (LEFTARG = vector, RIGHTARG = vector, FUNCTION = vector_add, COMMUTATOR = '+');
COMMENT ON OPERATOR + (vector, vector) IS 'sum, element by element';
CREATE OPERATOR - (LEFTARG = vector, RIGHTARG = vector, FUNCTION = vector_sub);
COMMENT ON OPERATOR - (vector, vector) IS 'difference, element by element';
CREATE OPERATOR * (LEFTARG = vector, RIGHTARG = vector, FUNCTION = vector_mul, COMMUTATOR = '*');
COMMENT ON OPERATOR * (vector, vector) IS 'product, element by element';
CREATE OPERATOR || (LEFTARG = vector, RIGHTARG = vector, FUNCTION = vector_concat);
COMMENT ON OPERATOR || (vector, vector) IS 'concatenation';
CREATE OPERATOR < (
	LEFTARG = vector, RIGHTARG = vector, FUNCTION = vector_lt,
	COMMUTATOR = '>', NEGATOR = '>=', RESTRICT = scalarltsel, JOIN = scalarltjoinsel
);
COMMENT ON OPERATOR < (vector, vector) IS 'less than, element by element';
CREATE OPERATOR <= (
	LEFTARG = vector, RIGHTARG = vector, FUNCTION = vector_le,
	COMMUTATOR = '>=', NEGATOR = '>', RESTRICT = scalarlesel, JOIN = scalarlejoinsel
);
COMMENT ON OPERATOR <= (vector, vector) IS 'less than or equal, element by element';
CREATE OPERATOR = (
	LEFTARG = vector, RIGHTARG = vector, FUNCTION = vector_eq,
	COMMUTATOR = '=', NEGATOR = '<>', RESTRICT = eqsel, JOIN = eqjoinsel
);
COMMENT ON OPERATOR = (vector, vector) IS 'equal, element by element';
CREATE OPERATOR <> (
	LEFTARG = vector, RIGHTARG = vector, FUNCTION = vector_ne,
	COMMUTATOR = '<>', NEGATOR = '=', RESTRICT = neqsel, JOIN = neqjoinsel
);
COMMENT ON OPERATOR <> (vector, vector) IS 'not equal, element by element';
CREATE OPERATOR >= (
	LEFTARG = vector, RIGHTARG = vector, FUNCTION = vector_ge,
	COMMUTATOR = '<=', NEGATOR = '<', RESTRICT = scalargesel, JOIN = scalargejoinsel
);
COMMENT ON OPERATOR >= (vector, vector) IS 'greater than or equal, element by element';
CREATE OPERATOR > (
	LEFTARG = vector, RIGHTARG = vector, FUNCTION = vector_gt,
	COMMUTATOR = '<', NEGATOR = '<=', RESTRICT = scalargtsel, JOIN = scalargtjoinsel
);
COMMENT ON OPERATOR > (vector, vector) IS 'greater than, element by element';

CREATE OPERATOR FAMILY vector_ops USING btree;
COMMENT ON OPERATOR FAMILY vector_ops USING btree IS 'comparison of vectors';
CREATE OPERATOR CLASS vector_ops DEFAULT FOR TYPE vector USING btree FAMILY vector_ops AS
	OPERATOR 1 <,
	OPERATOR 2 <=,
	OPERATOR 3 =,
	OPERATOR 4 >=,
	OPERATOR 5 >,
	FUNCTION 1 vector_cmp(vector, vector);
COMMENT ON OPERATOR CLASS vector_ops USING btree IS 'comparison of vectors, element by element, for sorting and grouping';

-- ---- aggregates -------------------------------------------------------------------------------

CREATE FUNCTION vector_accum(double precision[], vector) RETURNS double precision[]
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_accum' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_accum(double precision[], vector) IS 'aggregate transition function';
CREATE FUNCTION vector_combine(double precision[], double precision[]) RETURNS double precision[]
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_combine' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_combine(double precision[], double precision[]) IS 'aggregate combine function';
CREATE FUNCTION vector_avg(double precision[]) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_avg' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_avg(double precision[]) IS 'aggregate final function';
CREATE FUNCTION vector_sum(double precision[]) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_sum' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_sum(double precision[]) IS 'aggregate final function';
CREATE AGGREGATE avg(vector) (
	SFUNC = vector_accum, STYPE = double precision[], FINALFUNC = vector_avg, COMBINEFUNC = vector_combine,
	INITCOND = '{0}', PARALLEL = SAFE
);
COMMENT ON AGGREGATE avg(vector) IS 'average of vectors, element by element';
CREATE AGGREGATE sum(vector) (
	SFUNC = vector_accum, STYPE = double precision[], FINALFUNC = vector_sum, COMBINEFUNC = vector_combine,
	INITCOND = '{0}', PARALLEL = SAFE
);
COMMENT ON AGGREGATE sum(vector) IS 'sum of vectors, element by element';
