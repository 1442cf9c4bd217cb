-- Type sparsevec: text and binary form, type modifier, casts, distances, comparison. from_binary() is of test halfvec.
\set SHOW_CONTEXT never
SELECT '{1:0.5,3:2}/5'::sparsevec;
SELECT ' { 3 : 2 , 1:0.5 , 2:0 } / 5 '::sparsevec;
SELECT '{}/3'::sparsevec, '{1:0,2:-0,3:1e-45}/3'::sparsevec;
SELECT '{3:1e-50}/3'::sparsevec;
SELECT '{1:1,1000000000:-1e38}/1000000000'::sparsevec;
SELECT '{1:1}/1000000001'::sparsevec;
SELECT '{1:1}/0'::sparsevec;
SELECT '{}/-1'::sparsevec;
SELECT '{1:1}/99999999999999999999'::sparsevec;
SELECT '{0:1}/3'::sparsevec;
SELECT '{-1:1}/3'::sparsevec;
SELECT '{4:1}/3'::sparsevec;
SELECT '{99999999999999999999:1}/3'::sparsevec;
SELECT '{1:1,1:2}/3'::sparsevec;
SELECT '{1:NaN}/3'::sparsevec;
SELECT '{1:-Infinity}/3'::sparsevec;
SELECT '{1:1e39}/3'::sparsevec;
SELECT ''::sparsevec;
SELECT '{'::sparsevec;
SELECT '{}'::sparsevec;
SELECT '{}/'::sparsevec;
SELECT '{}/1x'::sparsevec;
SELECT '{1:1'::sparsevec;
SELECT '{1:1,}/2'::sparsevec;
SELECT '{,1:1}/2'::sparsevec;
SELECT '{1}/2'::sparsevec;
SELECT '{1:}/2'::sparsevec;
SELECT '{:1}/2'::sparsevec;
SELECT '{1:1a}/2'::sparsevec;
SELECT '[1,2]'::sparsevec;
SELECT '{1:1 2:2}/2'::sparsevec;
SELECT length(('{' || (SELECT string_agg(i || ':1', ',') FROM generate_series(1, 16000) i) || '}/20000')::sparsevec::text);
SELECT ('{' || (SELECT string_agg(i || ':1', ',') FROM generate_series(1, 16001) i) || '}/20000')::sparsevec;

-- Type modifier
SELECT '{1:1}/3'::sparsevec(3);
SELECT '{1:1}/3'::sparsevec(4);
SELECT '{1:1}/3'::sparsevec::sparsevec(2);
SELECT '{}/1'::sparsevec(0);
SELECT '{}/1'::sparsevec(1000000001);
CREATE TABLE typed_sparse (v sparsevec(3));
SELECT format_type(atttypid, atttypmod) FROM pg_attribute WHERE attrelid = 'typed_sparse'::regclass AND attname = 'v';
INSERT INTO typed_sparse VALUES ('{1:1}/3'), (NULL), (ARRAY[1,0,3]), (ARRAY[0,1.5,0]), ('[1,0,0]'::vector), ('[0,0,1]'::halfvec);
INSERT INTO typed_sparse VALUES (ARRAY[1,2]);
SELECT * FROM typed_sparse;
DROP TABLE typed_sparse;

-- Binary: dimension, elements, zero; places from 0; values
SELECT sparsevec_send('{1:1,3:-2}/5'::sparsevec);
SELECT from_binary('sparsevec', '0000000500000002000000000000000000000002' || '3f800000c0000000');
SELECT from_binary('sparsevec', '000000050000000000000000');
SELECT from_binary('sparsevec', '000000000000000000000000');
SELECT from_binary('sparsevec', '3b9aca010000000000000000');
SELECT from_binary('sparsevec', '00000005ffffffff00000000');
SELECT from_binary('sparsevec', '000000057fffffff00000000');
SELECT from_binary('sparsevec', '000000010000000200000000' || '0000000000000001' || '3f8000003f800000');
SELECT from_binary('sparsevec', '000000050000000100000001' || '00000000' || '3f800000');
SELECT from_binary('sparsevec', '000000050000000100000000' || '00000005' || '3f800000');
SELECT from_binary('sparsevec', '000000050000000100000000' || 'ffffffff' || '3f800000');
SELECT from_binary('sparsevec', '000000050000000200000000' || '0000000100000001' || '3f8000003f800000');
SELECT from_binary('sparsevec', '000000050000000200000000' || '0000000200000001' || '3f8000003f800000');
SELECT from_binary('sparsevec', '000000050000000100000000' || '00000000' || '00000000');
SELECT from_binary('sparsevec', '000000050000000100000000' || '00000000' || '80000000');
SELECT from_binary('sparsevec', '000000050000000100000000' || '00000000' || '7fc00000');
SELECT from_binary('sparsevec', '000000050000000100000000' || '00000000' || 'ff800000');
SELECT from_binary('sparsevec', '000000050000000100000000' || '00000000');
SELECT from_binary('sparsevec', '000000050000000000000000' || '00000000');
SELECT from_binary('sparsevec', '0000000500000001');
DROP FUNCTION from_binary;

-- Casts
SELECT '[0,1.5,0]'::vector::sparsevec, '{2:1.5}/3'::sparsevec::vector, '{2:1.5}/3'::sparsevec::vector(3), '{}/2'::sparsevec::vector;
SELECT '{1:1}/16001'::sparsevec::vector;
SELECT '{1:1}/16001'::sparsevec::halfvec;
SELECT '{2:1.5}/3'::sparsevec::vector(2);
SELECT '[0,1]'::vector::sparsevec(3);
SELECT '{0,0}'::integer[]::sparsevec, '{0,1e-50}'::double precision[]::sparsevec, '{0,-0.5}'::numeric[]::sparsevec;
SELECT '{}'::real[]::sparsevec;
SELECT '{1,NULL}'::real[]::sparsevec;
SELECT '{1,Infinity}'::real[]::sparsevec;
SELECT left(array_fill(0, ARRAY[16001])::sparsevec::text, 20);
SELECT array_fill(1, ARRAY[16001])::sparsevec;

-- Distances and functions
SET extra_float_digits = 0;
SELECT '{}/2'::sparsevec <-> '{1:3,2:4}/2', '{1:1}/3'::sparsevec <=> '{1:2}/3', '{1:1,3:2}/3'::sparsevec <#> '{2:9,3:4}/3', '{1:1,2:2}/3'::sparsevec <+> '{2:-3,3:4}/3', '{}/1'::sparsevec <=> '{1:1}/1';
SELECT l2_distance('{1:3e38}/1'::sparsevec, '{1:-3e38}/1'), inner_product('{1:3e38}/1'::sparsevec, '{1:3e38}/1'), l1_distance('{1:3e38}/1'::sparsevec, '{1:-3e38}/1'), cosine_distance('{1:1}/2'::sparsevec, '{2:1}/2');
SELECT '{1:1}/3'::sparsevec <-> '{1:1}/4';
SELECT '{1:1}/3'::sparsevec <=> '{1:1}/4';
SELECT '{1:1}/3'::sparsevec <#> '{1:1}/4';
SELECT '{1:1}/3'::sparsevec <+> '{1:1}/4';
SELECT l2_norm('{1:3,7:4}/9'::sparsevec), l2_norm('{}/9'::sparsevec), l2_normalize('{1:3,7:4}/9'::sparsevec), l2_normalize('{}/2'::sparsevec), l2_normalize('{1:3e38,2:1e-45}/2'::sparsevec);

-- Comparison is that of the vectors with their zeros
CREATE TABLE pairs AS SELECT a, b FROM unnest(ARRAY['[0]', '[1]', '[-1]', '[0,0]', '[0,1]', '[0,-1]', '[1,0]', '[-1,0]', '[1,1]', '[0,0,1]', '[0,0,-1]', '[1,0,0]']::vector[]) a, unnest(ARRAY['[0]', '[1]', '[-1]', '[0,0]', '[0,1]', '[0,-1]', '[1,0]', '[-1,0]', '[1,1]', '[0,0,1]', '[0,0,-1]', '[1,0,0]']::vector[]) b;
SELECT count(*), count(*) FILTER (WHERE vector_cmp(a, b) <> sparsevec_cmp(a, b)), count(*) FILTER (WHERE (a < b) <> (a::sparsevec < b::sparsevec) OR (a <= b) <> (a::sparsevec <= b::sparsevec)
	OR (a = b) <> (a::sparsevec = b::sparsevec) OR (a <> b) <> (a::sparsevec <> b::sparsevec) OR (a >= b) <> (a::sparsevec >= b::sparsevec) OR (a > b) <> (a::sparsevec > b::sparsevec)) FROM pairs;
SELECT count(*) FROM (SELECT row_number() OVER (ORDER BY a) AS dense, row_number() OVER (ORDER BY a::sparsevec) AS sparse FROM (SELECT DISTINCT a FROM pairs) d) o WHERE dense <> sparse;
SELECT a::sparsevec, count(*) FROM pairs GROUP BY 1 ORDER BY 1;
DROP TABLE pairs;

-- Distances of type bit
SELECT B'1010' <~> B'0110', B'1010' <%> B'0110', B'000' <%> B'000', B'' <~> B'', B'111' <%> B'111';
SELECT hamming_distance(repeat('01', 500)::bit(1000), repeat('1', 1000)::bit(1000)), jaccard_distance(repeat('01', 500)::bit(1000), repeat('1', 1000)::bit(1000));
SELECT B'1' <~> B'10';
SELECT B'1' <%> B'10';
SELECT binary_quantize('[1,-1,1]'::vector) <~> binary_quantize('[1,1,1]'::halfvec);
SELECT count(*), count(*) FILTER (WHERE hamming_distance(ones, zeros) <> n OR hamming_distance(ones, ones) <> 0 OR jaccard_distance(ones, zeros) <> 1 OR jaccard_distance(ones, ones) <> (n = 0)::int) AS wrong
FROM generate_series(0, 200) n, LATERAL (SELECT repeat('1', n)::varbit AS ones, repeat('0', n)::varbit AS zeros) b;
