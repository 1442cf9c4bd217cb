-- SPDX-License-Identifier: Apache-2.0
--
-- Part of the install script: what the planner gives to an index in place of a condition on a distance, or of an order that follows from one
-- (extension/am_paths.c). Nobody writes these: an index scan that has one shows it in its plan.

CREATE TYPE pigment.vector_ball AS (center vector, radius double precision, minuend double precision);
COMMENT ON TYPE pigment.vector_ball IS
	'what is within a distance of a vector; with a minuend, that of which the minuend less the distance is at least the radius';
CREATE TYPE pigment.halfvec_ball AS (center halfvec, radius double precision, minuend double precision);
COMMENT ON TYPE pigment.halfvec_ball IS
	'what is within a distance of a halfvec; with a minuend, that of which the minuend less the distance is at least the radius';
CREATE TYPE pigment.bit_ball AS (center pg_catalog."bit", radius double precision, minuend double precision); -- bit alone is of one
COMMENT ON TYPE pigment.bit_ball IS
	'what is within a distance of bits; with a minuend, that of which the minuend less the distance is at least the radius';

CREATE FUNCTION pigment._in_ball(distance double precision, radius double precision, minuend double precision) RETURNS boolean
	LANGUAGE sql IMMUTABLE PARALLEL SAFE
	RETURN CASE WHEN minuend IS NULL THEN distance <= radius ELSE minuend - distance >= radius END;
COMMENT ON FUNCTION pigment._in_ball(double precision, double precision, double precision) IS 'whether what is so far is in a ball';

CREATE FUNCTION pigment._within_l2(vector, pigment.vector_ball) RETURNS boolean
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN pigment._in_ball($1 <-> ($2).center, ($2).radius, ($2).minuend);
COMMENT ON FUNCTION pigment._within_l2(vector, pigment.vector_ball) IS 'implementation of <->@ operator';
CREATE OPERATOR pigment.<->@ (LEFTARG = vector, RIGHTARG = pigment.vector_ball, FUNCTION = pigment._within_l2);
COMMENT ON OPERATOR pigment.<->@ (vector, pigment.vector_ball) IS 'condition of an index scan: within a distance, by Euclidean distance';
ALTER OPERATOR FAMILY vector_l2_ops USING pigment ADD
	OPERATOR 2 pigment.<->@ (vector, pigment.vector_ball);

CREATE FUNCTION pigment._within_cosine(vector, pigment.vector_ball) RETURNS boolean
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN pigment._in_ball($1 <=> ($2).center, ($2).radius, ($2).minuend);
COMMENT ON FUNCTION pigment._within_cosine(vector, pigment.vector_ball) IS 'implementation of <=>@ operator';
CREATE OPERATOR pigment.<=>@ (LEFTARG = vector, RIGHTARG = pigment.vector_ball, FUNCTION = pigment._within_cosine);
COMMENT ON OPERATOR pigment.<=>@ (vector, pigment.vector_ball) IS 'condition of an index scan: within a distance, by cosine distance';
ALTER OPERATOR FAMILY vector_cosine_ops USING pigment ADD
	OPERATOR 2 pigment.<=>@ (vector, pigment.vector_ball);

CREATE FUNCTION pigment._within_ip(vector, pigment.vector_ball) RETURNS boolean
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN pigment._in_ball($1 <#> ($2).center, ($2).radius, ($2).minuend);
COMMENT ON FUNCTION pigment._within_ip(vector, pigment.vector_ball) IS 'implementation of <#>@ operator';
CREATE OPERATOR pigment.<#>@ (LEFTARG = vector, RIGHTARG = pigment.vector_ball, FUNCTION = pigment._within_ip);
COMMENT ON OPERATOR pigment.<#>@ (vector, pigment.vector_ball) IS 'condition of an index scan: within a distance, by negative inner product';
ALTER OPERATOR FAMILY vector_ip_ops USING pigment ADD
	OPERATOR 2 pigment.<#>@ (vector, pigment.vector_ball);

CREATE FUNCTION pigment._within_l1(vector, pigment.vector_ball) RETURNS boolean
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN pigment._in_ball($1 <+> ($2).center, ($2).radius, ($2).minuend);
COMMENT ON FUNCTION pigment._within_l1(vector, pigment.vector_ball) IS 'implementation of <+>@ operator';
CREATE OPERATOR pigment.<+>@ (LEFTARG = vector, RIGHTARG = pigment.vector_ball, FUNCTION = pigment._within_l1);
COMMENT ON OPERATOR pigment.<+>@ (vector, pigment.vector_ball) IS 'condition of an index scan: within a distance, by taxicab distance';
ALTER OPERATOR FAMILY vector_l1_ops USING pigment ADD
	OPERATOR 2 pigment.<+>@ (vector, pigment.vector_ball);

CREATE FUNCTION pigment._within_l2(halfvec, pigment.halfvec_ball) RETURNS boolean
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN pigment._in_ball($1 <-> ($2).center, ($2).radius, ($2).minuend);
COMMENT ON FUNCTION pigment._within_l2(halfvec, pigment.halfvec_ball) IS 'implementation of <->@ operator';
CREATE OPERATOR pigment.<->@ (LEFTARG = halfvec, RIGHTARG = pigment.halfvec_ball, FUNCTION = pigment._within_l2);
COMMENT ON OPERATOR pigment.<->@ (halfvec, pigment.halfvec_ball) IS 'condition of an index scan: within a distance, by Euclidean distance';
ALTER OPERATOR FAMILY halfvec_l2_ops USING pigment ADD
	OPERATOR 2 pigment.<->@ (halfvec, pigment.halfvec_ball);

CREATE FUNCTION pigment._within_cosine(halfvec, pigment.halfvec_ball) RETURNS boolean
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN pigment._in_ball($1 <=> ($2).center, ($2).radius, ($2).minuend);
COMMENT ON FUNCTION pigment._within_cosine(halfvec, pigment.halfvec_ball) IS 'implementation of <=>@ operator';
CREATE OPERATOR pigment.<=>@ (LEFTARG = halfvec, RIGHTARG = pigment.halfvec_ball, FUNCTION = pigment._within_cosine);
COMMENT ON OPERATOR pigment.<=>@ (halfvec, pigment.halfvec_ball) IS 'condition of an index scan: within a distance, by cosine distance';
ALTER OPERATOR FAMILY halfvec_cosine_ops USING pigment ADD
	OPERATOR 2 pigment.<=>@ (halfvec, pigment.halfvec_ball);

CREATE FUNCTION pigment._within_ip(halfvec, pigment.halfvec_ball) RETURNS boolean
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN pigment._in_ball($1 <#> ($2).center, ($2).radius, ($2).minuend);
COMMENT ON FUNCTION pigment._within_ip(halfvec, pigment.halfvec_ball) IS 'implementation of <#>@ operator';
CREATE OPERATOR pigment.<#>@ (LEFTARG = halfvec, RIGHTARG = pigment.halfvec_ball, FUNCTION = pigment._within_ip);
COMMENT ON OPERATOR pigment.<#>@ (halfvec, pigment.halfvec_ball) IS 'condition of an index scan: within a distance, by negative inner product';
ALTER OPERATOR FAMILY halfvec_ip_ops USING pigment ADD
	OPERATOR 2 pigment.<#>@ (halfvec, pigment.halfvec_ball);

CREATE FUNCTION pigment._within_l1(halfvec, pigment.halfvec_ball) RETURNS boolean
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN pigment._in_ball($1 <+> ($2).center, ($2).radius, ($2).minuend);
COMMENT ON FUNCTION pigment._within_l1(halfvec, pigment.halfvec_ball) IS 'implementation of <+>@ operator';
CREATE OPERATOR pigment.<+>@ (LEFTARG = halfvec, RIGHTARG = pigment.halfvec_ball, FUNCTION = pigment._within_l1);
COMMENT ON OPERATOR pigment.<+>@ (halfvec, pigment.halfvec_ball) IS 'condition of an index scan: within a distance, by taxicab distance';
ALTER OPERATOR FAMILY halfvec_l1_ops USING pigment ADD
	OPERATOR 2 pigment.<+>@ (halfvec, pigment.halfvec_ball);

CREATE FUNCTION pigment._within_hamming(bit, pigment.bit_ball) RETURNS boolean
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN pigment._in_ball($1 <~> ($2).center, ($2).radius, ($2).minuend);
COMMENT ON FUNCTION pigment._within_hamming(bit, pigment.bit_ball) IS 'implementation of <~>@ operator';
CREATE OPERATOR pigment.<~>@ (LEFTARG = bit, RIGHTARG = pigment.bit_ball, FUNCTION = pigment._within_hamming);
COMMENT ON OPERATOR pigment.<~>@ (bit, pigment.bit_ball) IS 'condition of an index scan: within a distance, by Hamming distance';
ALTER OPERATOR FAMILY bit_hamming_ops USING pigment ADD
	OPERATOR 2 pigment.<~>@ (bit, pigment.bit_ball);

CREATE FUNCTION pigment._within_jaccard(bit, pigment.bit_ball) RETURNS boolean
	LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
	RETURN pigment._in_ball($1 <%> ($2).center, ($2).radius, ($2).minuend);
COMMENT ON FUNCTION pigment._within_jaccard(bit, pigment.bit_ball) IS 'implementation of <%>@ operator';
CREATE OPERATOR pigment.<%>@ (LEFTARG = bit, RIGHTARG = pigment.bit_ball, FUNCTION = pigment._within_jaccard);
COMMENT ON OPERATOR pigment.<%>@ (bit, pigment.bit_ball) IS 'condition of an index scan: within a distance, by Jaccard distance';
ALTER OPERATOR FAMILY bit_jaccard_ops USING pigment ADD
	OPERATOR 2 pigment.<%>@ (bit, pigment.bit_ball);

-- Only a cosine distance may be no number: of zero vectors.
CREATE OPERATOR pigment.<=>! (LEFTARG = vector, RIGHTARG = vector, FUNCTION = cosine_distance);
COMMENT ON OPERATOR pigment.<=>! (vector, vector) IS 'order of an index scan: by cosine distance, what is not a number before all numbers';
ALTER OPERATOR FAMILY vector_cosine_ops USING pigment ADD
	OPERATOR 3 pigment.<=>! (vector, vector) FOR ORDER BY float_ops;
CREATE OPERATOR pigment.<=>! (LEFTARG = halfvec, RIGHTARG = halfvec, FUNCTION = cosine_distance);
COMMENT ON OPERATOR pigment.<=>! (halfvec, halfvec) IS 'order of an index scan: by cosine distance, what is not a number before all numbers';
ALTER OPERATOR FAMILY halfvec_cosine_ops USING pigment ADD
	OPERATOR 3 pigment.<=>! (halfvec, halfvec) FOR ORDER BY float_ops;
