-- SPDX-License-Identifier: Apache-2.0
--
-- First part of the install script: what must hold before anything is made, the schema for functions of the engine, and type
-- vector. The build joins the parts in the order of PIGMENT_SQL_PARTS in cmake/extension.cmake.

\echo Use "CREATE EXTENSION pigment" to load this file. \quit

-- Every name below is made by CREATE, never by OR REPLACE or IF NOT EXISTS: an object that somebody else put here is refused, not adopted.
DO $$
DECLARE
	target pg_catalog.name := pg_catalog.current_schema();
	taken text;
	owner text;
BEGIN
	IF target OPERATOR(pg_catalog.=) 'pigment' THEN
		RAISE EXCEPTION 'extension "pigment" cannot be created in schema "pigment", which it makes for its own functions'
			USING ERRCODE = 'invalid_schema_name',
				  HINT = 'Types and operators go to another schema: CREATE SCHEMA vectors; CREATE EXTENSION pigment SCHEMA vectors;';
	END IF;
	IF EXISTS (SELECT FROM pg_catalog.pg_namespace WHERE nspname OPERATOR(pg_catalog.=) 'pigment') THEN
		RAISE EXCEPTION 'schema "pigment" already exists'
			USING ERRCODE = 'duplicate_schema',
				  DETAIL = 'The extension makes this schema for its own functions.',
				  HINT = 'Rename or drop the schema, then repeat CREATE EXTENSION pigment.';
	END IF;
	SELECT t.typname, CASE WHEN e.extname IS NULL THEN 'It belongs to no extension.'
		ELSE pg_catalog.format('It belongs to extension "%s".', e.extname) END INTO taken, owner
	FROM pg_catalog.pg_type t
	JOIN pg_catalog.pg_namespace n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
	LEFT JOIN pg_catalog.pg_depend d ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_type'::pg_catalog.regclass
		AND d.objid OPERATOR(pg_catalog.=) t.oid AND d.deptype OPERATOR(pg_catalog.=) 'e'
	LEFT JOIN pg_catalog.pg_extension e ON e.oid OPERATOR(pg_catalog.=) d.refobjid
	WHERE n.nspname OPERATOR(pg_catalog.=) target AND t.typname OPERATOR(pg_catalog.=) ANY (ARRAY['vector', 'halfvec', 'sparsevec'])
	ORDER BY t.typname DESC LIMIT 1;
	IF FOUND THEN
		RAISE EXCEPTION 'type "%" already exists in schema "%"', taken, target
			USING ERRCODE = 'duplicate_object',
				  DETAIL = owner,
				  HINT = 'Give Pigment''s types a schema of their own: CREATE SCHEMA vectors; CREATE EXTENSION pigment SCHEMA vectors;';
	END IF;
END
$$;

CREATE SCHEMA pigment;
COMMENT ON SCHEMA pigment IS 'Pigment: collections and maintenance';
GRANT USAGE ON SCHEMA pigment TO PUBLIC;

CREATE FUNCTION pigment.version() RETURNS text
	AS 'MODULE_PATHNAME', 'pigment_pg_version' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pigment.version() IS 'version of the engine in the loaded module';

CREATE FUNCTION pigment.build_info() RETURNS text
	AS 'MODULE_PATHNAME', 'pigment_pg_build_info' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pigment.build_info() IS 'compiler, source revision and SIMD path of the loaded module';

-- ---- type vector ------------------------------------------------------------------------------

CREATE TYPE vector;

CREATE FUNCTION vector_in(cstring, oid, integer) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION vector_out(vector) RETURNS cstring
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_out' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION vector_recv(internal, oid, integer) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_recv' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION vector_send(vector) RETURNS bytea
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_send' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
CREATE FUNCTION vector_typmod_in(cstring[]) RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_typmod_in' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;

CREATE TYPE vector (
	INPUT = vector_in,
	OUTPUT = vector_out,
	RECEIVE = vector_recv,
	SEND = vector_send,
	TYPMOD_IN = vector_typmod_in,
	STORAGE = external
);
COMMENT ON TYPE vector IS 'vector of 1 to 16,000 single-precision numbers, ''[1,2,3]''';
COMMENT ON FUNCTION vector_in(cstring, oid, integer) IS 'I/O';
COMMENT ON FUNCTION vector_out(vector) IS 'I/O';
COMMENT ON FUNCTION vector_recv(internal, oid, integer) IS 'I/O';
COMMENT ON FUNCTION vector_send(vector) IS 'I/O';
COMMENT ON FUNCTION vector_typmod_in(cstring[]) IS 'I/O typmod';

-- ---- casts ------------------------------------------------------------------------------------

CREATE FUNCTION vector(vector, integer, boolean) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_vector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector(vector, integer, boolean) IS 'checks the number of dimensions';
CREATE FUNCTION array_to_vector(integer[], integer, boolean) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_array_to_vector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION array_to_vector(integer[], integer, boolean) IS 'convert integer[] to vector';
CREATE FUNCTION array_to_vector(real[], integer, boolean) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_array_to_vector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION array_to_vector(real[], integer, boolean) IS 'convert real[] to vector';
CREATE FUNCTION array_to_vector(double precision[], integer, boolean) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_array_to_vector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION array_to_vector(double precision[], integer, boolean) IS 'convert double precision[] to vector';
CREATE FUNCTION array_to_vector(numeric[], integer, boolean) RETURNS vector
	AS 'MODULE_PATHNAME', 'pigment_pg_array_to_vector' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION array_to_vector(numeric[], integer, boolean) IS 'convert numeric[] to vector';
CREATE FUNCTION vector_to_float4(vector, integer, boolean) RETURNS real[]
	AS 'MODULE_PATHNAME', 'pigment_pg_vector_to_float4' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION vector_to_float4(vector, integer, boolean) IS 'convert vector to real[]';

CREATE CAST (vector AS vector) WITH FUNCTION vector(vector, integer, boolean) AS IMPLICIT;
CREATE CAST (vector AS real[]) WITH FUNCTION vector_to_float4(vector, integer, boolean) AS IMPLICIT;
CREATE CAST (integer[] AS vector) WITH FUNCTION array_to_vector(integer[], integer, boolean) AS ASSIGNMENT;
CREATE CAST (real[] AS vector) WITH FUNCTION array_to_vector(real[], integer, boolean) AS ASSIGNMENT;
CREATE CAST (double precision[] AS vector)
	WITH FUNCTION array_to_vector(double precision[], integer, boolean) AS ASSIGNMENT;
CREATE CAST (numeric[] AS vector) WITH FUNCTION array_to_vector(numeric[], integer, boolean) AS ASSIGNMENT;
COMMENT ON CAST (vector AS vector) IS 'checks the number of dimensions';
COMMENT ON CAST (vector AS real[]) IS 'elements of a vector';
COMMENT ON CAST (integer[] AS vector) IS 'vector of the elements';
COMMENT ON CAST (real[] AS vector) IS 'vector of the elements';
COMMENT ON CAST (double precision[] AS vector) IS 'vector of the elements, rounded to real';
COMMENT ON CAST (numeric[] AS vector) IS 'vector of the elements, rounded to real';
