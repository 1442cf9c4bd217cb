-- Type halfvec: text and binary form, type modifier, casts, distances, functions, arithmetic, comparison, aggregates.
\set SHOW_CONTEXT never
SELECT '[1,2,3]'::halfvec;
SELECT ' [ -1.5 ,	2e3, 1e-3 ] '::halfvec;
SELECT '[0.1,2049,2051,-0,65504,6e-8,1e-9,-1e-9]'::halfvec;
SELECT '[65519.99]'::halfvec;
SELECT '[65520]'::halfvec;
SELECT '[1, -65520 ]'::halfvec;
SELECT '[1e39]'::halfvec;
SELECT '[1,NaN]'::halfvec;
SELECT '[Infinity]'::halfvec;
SELECT ''::halfvec;
SELECT '['::halfvec;
SELECT '[]'::halfvec;
SELECT '[1,]'::halfvec;
SELECT '[1 2,3]'::halfvec;
SELECT '[1a]'::halfvec;
SELECT '{1,2}'::halfvec;
SELECT '[1,2'::halfvec;
SELECT '[1,2]3'::halfvec;
SELECT vector_dims(('[' || repeat('1,', 15999) || '1]')::halfvec);
SELECT vector_dims(('[' || repeat('1,', 16000) || '1]')::halfvec);

-- Every finite half, from its value and back; a value between two neighbours goes to the nearer, the middle to the even one.
CREATE TEMP TABLE halves AS
	SELECT bits, CASE WHEN bits < 1024 THEN bits * 2 ^ -24 ELSE (1024 + bits % 1024) * 2 ^ (bits / 1024 - 25) END AS value
	FROM generate_series(0, 31743) bits;
CREATE TEMP VIEW neighbours AS
	SELECT l.bits, l.value AS low, h.value AS high, (l.value + h.value) / 2 AS middle, CASE WHEN l.bits % 2 = 0 THEN l.value ELSE h.value END AS even
	FROM halves l JOIN halves h ON h.bits = l.bits + 1;
SELECT count(*), max(value) FROM halves;
SELECT count(*) FROM halves
WHERE (ARRAY[value, -value]::halfvec::real[])[1]::float8 <> value OR (ARRAY[value, -value]::halfvec::real[])[2]::float8 <> -value
	OR right(halfvec_send(ARRAY[value]::halfvec)::text, 4) <> lpad(to_hex(bits), 4, '0')
	OR right(halfvec_send(ARRAY[-value]::halfvec)::text, 4) <> to_hex(bits + 32768) AND bits > 0;
SELECT count(*) FROM neighbours
WHERE ARRAY[middle]::halfvec <> ARRAY[even]::halfvec OR ARRAY[-middle]::halfvec <> ARRAY[-even]::halfvec
	OR ARRAY[middle * (1 - 2 ^ -23)]::halfvec <> ARRAY[low]::halfvec OR ARRAY[middle * (1 + 2 ^ -23)]::halfvec <> ARRAY[high]::halfvec;
SELECT count(*) FROM halves WHERE ('[' || value || ']')::halfvec <> ARRAY[value]::halfvec;

-- Type modifier
SELECT '[1,2,3]'::halfvec(3);
SELECT '[1,2,3]'::halfvec(2);
SELECT '[1,2,3]'::halfvec::halfvec(4);
SELECT '[1]'::halfvec(0);
SELECT '[1]'::halfvec(16001);
SELECT '[1]'::halfvec(1,2);
CREATE TABLE typed_half (v halfvec(3));
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'typed_half'::regclass AND attname = 'v';
INSERT INTO typed_half VALUES ('[1,2,3]'), (NULL);
INSERT INTO typed_half VALUES ('[1,2]');
INSERT INTO typed_half VALUES (ARRAY[1,2,3]), (ARRAY[1.5,2,3]), (ARRAY[1,2,3]::real[]), (ARRAY[1,2,3]::double precision[]), ('[4,5,6]'::vector);
INSERT INTO typed_half VALUES (ARRAY[1,2]);
SELECT * FROM typed_half;
DROP TABLE typed_half;

-- Binary
SELECT halfvec_send('[1,-2]'::halfvec);
CREATE FUNCTION from_binary(type regtype, hex text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	file text := current_setting('data_directory') || '/received.copy';
	content oid;
	result text;
BEGIN
	-- one row, one field, through COPY BINARY, which calls the type's receive function
	content := lo_from_bytea(0, '\x5047434f50590aff0d0a00'::bytea || '\x0000000000000000'::bytea || '\x0001'::bytea
		|| int4send(length(decode(hex, 'hex'))) || decode(hex, 'hex') || '\xffff'::bytea);
	PERFORM lo_export(content, file);
	EXECUTE format('CREATE TEMP TABLE received (v %s) ON COMMIT DROP', type);
	EXECUTE format('COPY received FROM %L (FORMAT binary)', file);
	SELECT v::text INTO result FROM received;
	DROP TABLE received;
	RETURN result;
END $$;
SELECT from_binary('halfvec', '000200003c00c000');
SELECT from_binary('halfvec', '000000003c00');
SELECT from_binary('halfvec', 'ffff00003c00');
SELECT from_binary('halfvec', '3e8100003c00');
SELECT from_binary('halfvec', '00010000');
SELECT from_binary('halfvec', '000200003c00');
SELECT from_binary('halfvec', '000100003c003c00');
SELECT from_binary('halfvec', '000100013c00');
SELECT from_binary('halfvec', '000100007e00');
SELECT from_binary('halfvec', '000100007c00');
SELECT from_binary('halfvec', '00010000fc00');
SELECT from_binary('halfvec', '00');

-- Casts
SELECT '[0.1,2]'::halfvec::vector, '[0.1,2]'::halfvec::real[], '[0.1,2]'::vector::halfvec, '[0.1,0]'::halfvec::sparsevec, '{2:0.1}/3'::sparsevec::halfvec;
SELECT '[65520]'::vector::halfvec;
SELECT '{3:-70000}/3'::sparsevec::halfvec;
SELECT '[1,2]'::vector::halfvec(3);
SELECT '[1,2]'::halfvec::vector(3);
SELECT '{1,NULL}'::real[]::halfvec;
SELECT '{}'::real[]::halfvec;
SELECT '{{1},{2}}'::integer[]::halfvec;
SELECT '{70000}'::integer[]::halfvec;
SELECT '{1e300}'::double precision[]::halfvec;
SELECT '{NaN}'::numeric[]::halfvec;
SELECT '{1e-300}'::double precision[]::halfvec;

-- Distances and functions
SET extra_float_digits = 0;
SELECT '[0,0]'::halfvec <-> '[3,4]', '[1,2]'::halfvec <=> '[2,4]', '[1,2]'::halfvec <#> '[3,4]', '[1,2]'::halfvec <+> '[-3,4]', '[0]'::halfvec <=> '[1]';
SELECT '[1,2]'::halfvec <-> '[1]';
SELECT l2_distance('[65504]'::halfvec, '[-65504]'), inner_product('[65504]'::halfvec, '[65504]'), l1_distance('[65504]'::halfvec, '[-65504]'), cosine_distance('[65504,1]'::halfvec, '[65504,1]');
SELECT vector_dims('[1,2,3]'::halfvec), l2_norm('[3,4]'::halfvec), l2_normalize('[3,4]'::halfvec), l2_normalize('[0,0]'::halfvec), l2_normalize('[6e-8]'::halfvec);
SELECT subvector('[1,2,3,4]'::halfvec, 2, 2), subvector('[1,2,3,4]'::halfvec, -1, 4), binary_quantize('[1,-1,0,0.5,2,-3,0,1,9]'::halfvec);
SELECT subvector('[1,2,3,4]'::halfvec, 5, 1);
SELECT '[1,2]'::halfvec + '[3,4]', '[1,2]'::halfvec - '[3,4]', '[1,2]'::halfvec * '[3,4]', '[1]'::halfvec || '[2,3]';
SELECT '[65504]'::halfvec + '[16]';
SELECT '[-65504]'::halfvec - '[16]';
SELECT '[65504]'::halfvec + '[15]';
SELECT '[300]'::halfvec * '[300]';
SELECT '[1e-4]'::halfvec * '[1e-4]';
SELECT '[1,2]'::halfvec + '[1]';
SELECT vector_dims(array_fill(1, ARRAY[16000])::halfvec || '[1]');

-- Comparison, sorting, grouping, a btree index
SELECT '[1,2]'::halfvec < '[1,3]', '[1,2]'::halfvec <= '[1,2]', '[1,2]'::halfvec = '[1,2]', '[1,2]'::halfvec <> '[1,2]', '[1,2]'::halfvec >= '[1,2,0]', '[2]'::halfvec > '[1,9]', '[0]'::halfvec = '[-0]';
CREATE TABLE sorted_half (v halfvec);
INSERT INTO sorted_half VALUES ('[2]'), ('[1,2]'), ('[1]'), ('[-1,5]'), ('[1,2]'), (NULL);
SELECT v, count(*) FROM sorted_half GROUP BY v ORDER BY v;
CREATE INDEX ON sorted_half (v);
SET enable_seqscan = off;
SELECT * FROM sorted_half WHERE v = '[1,2]';
SELECT * FROM sorted_half ORDER BY v;
RESET enable_seqscan;

-- Aggregates
SELECT avg(v), sum(v) FROM unnest(ARRAY['[1,2]', '[3,5]', NULL]::halfvec[]) v;
SELECT avg(v), sum(v) FROM unnest(ARRAY[]::halfvec[]) v;
SELECT avg(v), sum(v) FROM sorted_half;
SELECT avg(v) FROM unnest(ARRAY['[65504]', '[65504]']::halfvec[]) v;
SELECT sum(v) FROM unnest(ARRAY['[65504]', '[65504]']::halfvec[]) v;
-- sums are of doubles: halves alone would stay at 2048
SELECT sum(v), avg(v) FROM (SELECT '[1]'::halfvec AS v FROM generate_series(1, 4096)) s;
SELECT halfvec_avg('{0}'), halfvec_sum('{0}'), halfvec_avg('{2,4}');
SELECT halfvec_avg('{1,NaN}');
SELECT halfvec_sum('{1,1e6}');
SELECT halfvec_accum('{1,2}', '[1,2]');
DROP TABLE sorted_half;

-- The same with workers: the table is large enough, and everything costs nothing.
CREATE TABLE many_half AS SELECT ARRAY[i % 7, i % 3, 1]::halfvec AS v FROM generate_series(1, 3000) i;
ANALYZE many_half;
SET parallel_setup_cost = 0; SET parallel_tuple_cost = 0; SET min_parallel_table_scan_size = 0; SET max_parallel_workers_per_gather = 2;
EXPLAIN (COSTS OFF) SELECT avg(v), sum(v) FROM many_half;
SELECT avg(v), sum(v) FROM many_half;
RESET parallel_setup_cost; RESET parallel_tuple_cost; RESET min_parallel_table_scan_size; RESET max_parallel_workers_per_gather;
SELECT avg(v), sum(v) FROM many_half;
DROP TABLE many_half;
