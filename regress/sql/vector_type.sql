-- Type vector: text and binary form, type modifier, casts.
SELECT '[1,2,3]'::vector;
SELECT ' [ -1.5 ,	2e3, 1e-3 ] '::vector;
SELECT '[0.1,16777217,-0,3.4028235e38,1e-45]'::vector;
SELECT '[1e-46]'::vector;
SELECT '[1e39]'::vector;
SELECT '[1,-4e38]'::vector;
SELECT '[1,NaN]'::vector;
SELECT '[Infinity]'::vector;
SELECT '[1,-inf]'::vector;
SELECT ''::vector;
SELECT '['::vector;
SELECT '[]'::vector;
SELECT '[ ]'::vector;
SELECT '[,]'::vector;
SELECT '[1,]'::vector;
SELECT '[,1]'::vector;
SELECT '[1,,2]'::vector;
SELECT '[1 2,3]'::vector;
SELECT '[1a]'::vector;
SELECT '[a]'::vector;
SELECT '1,2'::vector;
SELECT '{1,2}'::vector;
SELECT '[1,2'::vector;
SELECT '[1,2]3'::vector;
SELECT '[1,2],3]'::vector;
SELECT '[[1],2]'::vector;
SELECT repeat('ä', 200)::vector;
SELECT ('[' || repeat('x', 200) || ']')::vector;
SELECT vector_dims(('[' || repeat('1,', 15999) || '1]')::vector);
SELECT vector_dims(('[' || repeat('1,', 16000) || '1]')::vector);

-- Type modifier
SELECT '[1,2,3]'::vector(3);
SELECT '[1,2,3]'::vector(2);
SELECT '[1,2,3]'::vector::vector(4);
SELECT '[1]'::vector(0);
SELECT '[1]'::vector(16001);
SELECT '[1]'::vector(1,2);
SELECT '[1]'::vector('x');
CREATE TABLE typed (v vector(3));
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'typed'::regclass AND attname = 'v';
INSERT INTO typed VALUES ('[1,2,3]'), (NULL);
INSERT INTO typed VALUES ('[1,2]');
INSERT INTO typed VALUES (ARRAY[1,2,3]), (ARRAY[1.5,2,3]), (ARRAY[1,2,3]::real[]), (ARRAY[1,2,3]::double precision[]);
INSERT INTO typed VALUES (ARRAY[1,2]);
SELECT * FROM typed;

-- Binary
SELECT vector_send('[1,-2]'::vector);
\set SHOW_CONTEXT never
CREATE FUNCTION from_binary(hex text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	file text := current_setting('data_directory') || '/vector.copy';
	content oid;
	result text;
BEGIN
	-- one row, one field, through COPY BINARY, which calls vector_recv
	content := lo_from_bytea(0, '\x5047434f50590aff0d0a00'::bytea || '\x0000000000000000'::bytea || '\x0001'::bytea
		|| int4send(length(decode(hex, 'hex'))) || decode(hex, 'hex') || '\xffff'::bytea);
	PERFORM lo_export(content, file);
	CREATE TEMP TABLE received (v vector) ON COMMIT DROP;
	EXECUTE format('COPY received FROM %L (FORMAT binary)', file);
	SELECT v::text INTO result FROM received;
	RETURN result;
END $$;
SELECT from_binary('000200003f800000c0000000');
SELECT from_binary('000000003f800000');
SELECT from_binary('ffff00003f800000');
SELECT from_binary('3e8100003f800000');
SELECT from_binary('00010000');
SELECT from_binary('000200003f800000');
SELECT from_binary('000100003f8000003f800000');
SELECT from_binary('000100013f800000');
SELECT from_binary('000100007fc00000');
SELECT from_binary('000100007f800000');
SELECT from_binary('00');
DROP FUNCTION from_binary;

-- Casts
SELECT ARRAY[1,2,3]::vector, ARRAY[1.5,2]::vector, ARRAY[1.5,2]::real[]::vector, ARRAY[1.5,2]::double precision[]::vector;
SELECT '{1,2}'::integer[]::vector(3);
SELECT '{}'::real[]::vector;
SELECT '{{1},{2}}'::real[]::vector;
SELECT '{1,NULL}'::real[]::vector;
SELECT '{NaN}'::real[]::vector;
SELECT '{1,Infinity}'::double precision[]::vector;
SELECT '{-Infinity}'::numeric[]::vector;
SELECT '{1e39}'::double precision[]::vector;
SELECT '{1,1e-60}'::double precision[]::vector;
SELECT '{1e300}'::numeric[]::vector;
SELECT '[0:1]={1,2}'::real[]::vector;
SELECT '[1,2.5]'::vector::real[];
SELECT (array_agg(n))::vector FROM generate_series(1, 4) n;
SELECT vector_dims(array_fill(1, ARRAY[16001])::vector);

-- Out of line storage gives the same back.
CREATE TABLE wide (id int, v vector);
INSERT INTO wide SELECT n, array_fill(n + 0.5, ARRAY[5000])::vector FROM generate_series(1, 3) n;
SELECT id, vector_dims(v), v = array_fill(id + 0.5, ARRAY[5000])::vector AS same FROM wide ORDER BY id;
DROP TABLE typed, wide;
