-- The guards of CREATE EXTENSION, then the extension for the tests that follow.
\set SHOW_CONTEXT never
CREATE SCHEMA pigment;
CREATE EXTENSION pigment SCHEMA pigment;
CREATE EXTENSION pigment;
DROP SCHEMA pigment;
-- A type of that name, as of pgvector
CREATE TYPE vector AS (x real);
CREATE EXTENSION pigment;
CREATE DOMAIN halfvec AS text;
ALTER TYPE vector RENAME TO vector_;
CREATE EXTENSION pigment;
ALTER TYPE vector_ RENAME TO vector;
DROP DOMAIN halfvec;
CREATE SCHEMA vectors;
CREATE EXTENSION pigment SCHEMA vectors;
SELECT '[1,2]'::vectors.vector;
ALTER EXTENSION pigment SET SCHEMA public;
DROP EXTENSION pigment;
DROP TYPE vector;
DROP SCHEMA vectors;
SELECT count(*) FROM pg_namespace WHERE nspname = 'pigment';

CREATE EXTENSION pigment;
SELECT pigment.version() = extversion AS same FROM pg_extension WHERE extname = 'pigment';
SELECT extrelocatable FROM pg_extension WHERE extname = 'pigment';

-- Everything has a comment; types of arrays and rows, which 18 lists too, are not made by a command of their own.
SELECT pg_describe_object(classid, objid, 0)
FROM pg_depend d
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e'
	AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pigment')
	AND classid NOT IN ('pg_opfamily'::regclass)
	AND NOT (classid = 'pg_type'::regclass AND EXISTS (SELECT FROM pg_type t WHERE t.oid = objid AND (typtype = 'c' OR typcategory = 'A')))
	AND obj_description(objid, classid::regclass::name) IS NULL
ORDER BY 1;
-- Functions of the types are immutable, strict and safe in parallel, but for those of ranked texts, which an index counts.
SELECT p.oid::regprocedure
FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid AND d.classid = 'pg_proc'::regclass
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND p.prokind = 'f'
	AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pigment')
	AND pronamespace = 'public'::regnamespace
	AND NOT (provolatile = 'i' AND proisstrict AND proparallel = 's') AND proname !~ 'bm25'
ORDER BY 1;
-- Nobody is promised that an operator leaks nothing.
SELECT count(*) FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid AND d.classid = 'pg_proc'::regclass
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND proleakproof
	AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pigment');
-- Nothing was loaded before, and no function gives anybody an internal value.
SHOW shared_preload_libraries;
SELECT p.oid::regprocedure
FROM pg_depend d JOIN pg_proc p ON p.oid = d.objid AND d.classid = 'pg_proc'::regclass
WHERE refclassid = 'pg_extension'::regclass AND deptype = 'e' AND prorettype = 'internal'::regtype
	AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'pigment')
	AND NOT 'internal'::regtype = ANY (proargtypes);
