-- SPDX-License-Identifier: Apache-2.0
--
-- Part of the install script: operator classes of filter columns, for indexes of access method pigment. What they compare, and how, is
-- PostgreSQL's own: the operators are those of its types.

CREATE OPERATOR FAMILY integer_ops USING pigment;
COMMENT ON OPERATOR FAMILY integer_ops USING pigment IS 'conditions on columns of integers';
CREATE OPERATOR CLASS int2_ops DEFAULT FOR TYPE int2 USING pigment FAMILY integer_ops AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
COMMENT ON OPERATOR CLASS int2_ops USING pigment IS 'conditions on columns of smallint';
CREATE OPERATOR CLASS int4_ops DEFAULT FOR TYPE int4 USING pigment FAMILY integer_ops AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
COMMENT ON OPERATOR CLASS int4_ops USING pigment IS 'conditions on columns of integer';
CREATE OPERATOR CLASS int8_ops DEFAULT FOR TYPE int8 USING pigment FAMILY integer_ops AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
COMMENT ON OPERATOR CLASS int8_ops USING pigment IS 'conditions on columns of bigint';
ALTER OPERATOR FAMILY integer_ops USING pigment ADD
	OPERATOR 1 < (int2, int4), OPERATOR 2 <= (int2, int4), OPERATOR 3 = (int2, int4), OPERATOR 4 >= (int2, int4), OPERATOR 5 > (int2, int4),
	OPERATOR 1 < (int2, int8), OPERATOR 2 <= (int2, int8), OPERATOR 3 = (int2, int8), OPERATOR 4 >= (int2, int8), OPERATOR 5 > (int2, int8),
	OPERATOR 1 < (int4, int2), OPERATOR 2 <= (int4, int2), OPERATOR 3 = (int4, int2), OPERATOR 4 >= (int4, int2), OPERATOR 5 > (int4, int2),
	OPERATOR 1 < (int4, int8), OPERATOR 2 <= (int4, int8), OPERATOR 3 = (int4, int8), OPERATOR 4 >= (int4, int8), OPERATOR 5 > (int4, int8),
	OPERATOR 1 < (int8, int2), OPERATOR 2 <= (int8, int2), OPERATOR 3 = (int8, int2), OPERATOR 4 >= (int8, int2), OPERATOR 5 > (int8, int2),
	OPERATOR 1 < (int8, int4), OPERATOR 2 <= (int8, int4), OPERATOR 3 = (int8, int4), OPERATOR 4 >= (int8, int4), OPERATOR 5 > (int8, int4);

CREATE OPERATOR FAMILY float_ops USING pigment;
COMMENT ON OPERATOR FAMILY float_ops USING pigment IS 'conditions on columns of floating-point numbers';
CREATE OPERATOR CLASS float4_ops DEFAULT FOR TYPE float4 USING pigment FAMILY float_ops AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
COMMENT ON OPERATOR CLASS float4_ops USING pigment IS 'conditions on columns of real';
CREATE OPERATOR CLASS float8_ops DEFAULT FOR TYPE float8 USING pigment FAMILY float_ops AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
COMMENT ON OPERATOR CLASS float8_ops USING pigment IS 'conditions on columns of double precision';
ALTER OPERATOR FAMILY float_ops USING pigment ADD
	OPERATOR 1 < (float4, float8), OPERATOR 2 <= (float4, float8), OPERATOR 3 = (float4, float8), OPERATOR 4 >= (float4, float8), OPERATOR 5 > (float4, float8),
	OPERATOR 1 < (float8, float4), OPERATOR 2 <= (float8, float4), OPERATOR 3 = (float8, float4), OPERATOR 4 >= (float8, float4), OPERATOR 5 > (float8, float4);

CREATE OPERATOR CLASS numeric_ops DEFAULT FOR TYPE numeric USING pigment AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
COMMENT ON OPERATOR CLASS numeric_ops USING pigment IS 'conditions on columns of numeric';

CREATE OPERATOR CLASS text_ops DEFAULT FOR TYPE text USING pigment AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, OPERATOR 6 ~~, OPERATOR 7 ^@;
COMMENT ON OPERATOR CLASS text_ops USING pigment IS 'conditions on columns of text and varchar';

CREATE OPERATOR CLASS text_trgm_ops FOR TYPE text USING pigment AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >, OPERATOR 6 ~~, OPERATOR 7 ^@, OPERATOR 8 ~~*, OPERATOR 9 ~, OPERATOR 10 ~*;
COMMENT ON OPERATOR CLASS text_trgm_ops USING pigment IS 'conditions on columns of text and varchar, and what is found anywhere in them: LIKE, ILIKE, regular expressions';

CREATE OPERATOR CLASS bool_ops DEFAULT FOR TYPE bool USING pigment AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
COMMENT ON OPERATOR CLASS bool_ops USING pigment IS 'conditions on columns of boolean';

CREATE OPERATOR CLASS uuid_ops DEFAULT FOR TYPE uuid USING pigment AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
COMMENT ON OPERATOR CLASS uuid_ops USING pigment IS 'conditions on columns of uuid';

CREATE OPERATOR CLASS date_ops DEFAULT FOR TYPE date USING pigment AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
COMMENT ON OPERATOR CLASS date_ops USING pigment IS 'conditions on columns of date';

CREATE OPERATOR CLASS timestamp_ops DEFAULT FOR TYPE timestamp USING pigment AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
COMMENT ON OPERATOR CLASS timestamp_ops USING pigment IS 'conditions on columns of timestamp';

CREATE OPERATOR CLASS timestamptz_ops DEFAULT FOR TYPE timestamptz USING pigment AS
	OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >;
COMMENT ON OPERATOR CLASS timestamptz_ops USING pigment IS 'conditions on columns of timestamp with time zone';

-- numbered as GIN numbers them
CREATE OPERATOR CLASS array_ops DEFAULT FOR TYPE anyarray USING pigment AS
	OPERATOR 1 && (anyarray, anyarray), OPERATOR 2 @> (anyarray, anyarray), OPERATOR 3 <@ (anyarray, anyarray),
	OPERATOR 4 = (anyarray, anyarray);
COMMENT ON OPERATOR CLASS array_ops USING pigment IS 'conditions on columns of arrays of any type that has an operator class for filters';

-- What the planner gives to an index in place of a condition on an expression of jsonb (extension/json_plan.c). Nobody writes these: an index scan
-- that has one shows it in its plan.
CREATE TYPE pigment.json_test AS (path text[], type text, operator text, texts text[], numbers numeric[]);
COMMENT ON TYPE pigment.json_test IS
	'what is asked of the value at a path of jsonb: taken for what, which operator, and the texts or numbers of which one is on its other side';
CREATE FUNCTION pigment._json_may_pass(value jsonb, test pigment.json_test) RETURNS boolean
	LANGUAGE c IMMUTABLE PARALLEL SAFE COST 100 AS 'MODULE_PATHNAME', 'pigment_pg_json_may_pass';
COMMENT ON FUNCTION pigment._json_may_pass(jsonb, pigment.json_test) IS 'implementation of @^ operator';
CREATE OPERATOR pigment.@^ (LEFTARG = jsonb, RIGHTARG = pigment.json_test, FUNCTION = pigment._json_may_pass, RESTRICT = contsel);
COMMENT ON OPERATOR pigment.@^ (jsonb, pigment.json_test) IS 'condition of an index scan: false only where a test of jsonb does not hold';

-- numbered as GIN numbers them
CREATE OPERATOR CLASS jsonb_ops DEFAULT FOR TYPE jsonb USING pigment AS
	OPERATOR 7 @> (jsonb, jsonb), OPERATOR 9 ? (jsonb, text), OPERATOR 10 ?| (jsonb, text[]), OPERATOR 11 ?& (jsonb, text[]),
	OPERATOR 15 @? (jsonb, jsonpath), OPERATOR 16 @@ (jsonb, jsonpath), OPERATOR 21 pigment.@^ (jsonb, pigment.json_test);
COMMENT ON OPERATOR CLASS jsonb_ops USING pigment IS 'conditions on columns of jsonb: what they contain, which keys they have, what lies at their paths';

-- Filters of collections. pigment.matches() says what it asks of metadata by this operator where an index has a column of this class, and looks at
-- the rows that come.
CREATE FUNCTION pigment._metadata_may_match(metadata jsonb, where_metadata jsonb) RETURNS boolean
LANGUAGE c IMMUTABLE PARALLEL SAFE COST 100 AS 'MODULE_PATHNAME', 'pigment_pg_metadata_may_match';
COMMENT ON FUNCTION pigment._metadata_may_match(jsonb, jsonb) IS
	'false only where a record with this metadata cannot match the filter, whatever its id, uri and document are';
CREATE FUNCTION pigment._metadata_selectivity(internal, oid, internal, integer) RETURNS double precision
LANGUAGE c STABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_metadata_selectivity';
COMMENT ON FUNCTION pigment._metadata_selectivity(internal, oid, internal, integer) IS 'for the planner: for which part of a table a filter may hold';
CREATE OPERATOR pigment.@~ (LEFTARG = jsonb, RIGHTARG = jsonb, FUNCTION = pigment._metadata_may_match, RESTRICT = pigment._metadata_selectivity);
COMMENT ON OPERATOR pigment.@~ (jsonb, jsonb) IS 'may a record with this metadata match a filter of collections';
CREATE OPERATOR CLASS pigment.metadata_ops FOR TYPE jsonb USING pigment AS OPERATOR 20 pigment.@~ (jsonb, jsonb);
COMMENT ON OPERATOR CLASS pigment.metadata_ops USING pigment IS 'conditions on the metadata of collections: their filters';

CREATE FUNCTION pigment._matches_support(request internal) RETURNS internal
LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'pigment_pg_matches_support';
COMMENT ON FUNCTION pigment._matches_support(internal) IS 'planner support of pigment.matches: conditions for an index';

CREATE FUNCTION pigment.last_scan(
	OUT index regclass, OUT strategy text, OUT conditions integer, OUT filter_rows bigint, OUT rows_scored bigint, OUT rows_given bigint,
	OUT segments integer, OUT pages_read bigint, OUT passes bigint, OUT recheck boolean,
	OUT walks bigint, OUT probes bigint, OUT visits bigint, OUT rows_late bigint)
	AS 'MODULE_PATHNAME', 'pigment_pg_last_scan' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION pigment.last_scan() IS 'what the last scan of an index of access method pigment did in this session; NULL: there was none';
