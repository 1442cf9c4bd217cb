-- Distances, functions, arithmetic, comparison and aggregates of type vector.
SET extra_float_digits = 0;
SELECT '[0,0]'::vector <-> '[3,4]', l2_distance('[0,0]'::vector, '[3,4]');
SELECT '[1,2]'::vector <=> '[2,4]', '[1,1]'::vector <=> '[-1,-1]', cosine_distance('[1,0]'::vector, '[0,1]');
SELECT '[0,0]'::vector <=> '[1,1]', '[0,0]'::vector <=> '[0,0]';
SELECT '[1,2]'::vector <#> '[3,4]', inner_product('[1,2]'::vector, '[3,4]'), vector_negative_inner_product('[1,2]', '[3,4]');
SELECT inner_product('[0]'::vector, '[1]')::text;
SELECT '[1,2]'::vector <+> '[-3,4]', l1_distance('[1,2]'::vector, '[-3,4]');
SELECT '[1,2]'::vector <-> '[1,2,3]';
SELECT '[1,2]'::vector <=> '[3]';
SELECT '[1,2]'::vector <#> '[3]';
SELECT '[1,2]'::vector <+> '[3]';
SELECT NULL::vector <-> '[1]', '[1]'::vector <=> NULL;

SELECT vector_dims('[1,2,3]'::vector), vector_norm('[3,4]'), l2_norm('[3,4]'::vector), l2_norm('[0]'::vector);
SELECT l2_norm('[3e38,3e38]'::vector) BETWEEN 4.2426e38 AND 4.2427e38 AS no_overflow;
SELECT l2_normalize('[3,4]'::vector), l2_normalize('[0,0]'::vector), l2_normalize('[3e38,0]'::vector);
SELECT subvector('[1,2,3,4]'::vector, 2, 2), subvector('[1,2,3,4]'::vector, -1, 4), subvector('[1,2,3,4]'::vector, 3, 2147483647);
SELECT subvector('[1,2,3,4]'::vector, 1, 0);
SELECT subvector('[1,2,3,4]'::vector, 5, 1);
SELECT subvector('[1,2,3,4]'::vector, -2147483648, 2);
SELECT subvector('[1,2,3,4]'::vector, 2147483647, 2147483647);
SELECT subvector('[1,2,3,4]'::vector, 1, -2147483648);
SELECT binary_quantize('[1,-1,0,0.5,2,-3,0,1,9]'::vector), binary_quantize('[-1]'::vector);

SELECT '[1,2]'::vector + '[3,4]', '[1,2]'::vector - '[3,4]', '[1,2]'::vector * '[3,4]', '[1]'::vector || '[2,3]';
SELECT '[1,2]'::vector + '[1]';
SELECT '[1,2]'::vector - '[1]';
SELECT '[1,2]'::vector * '[1]';
SELECT '[1,3e38]'::vector + '[1,3e38]';
SELECT '[-3e38]'::vector - '[3e38]';
SELECT '[1e20]'::vector * '[1e20]';
SELECT '[1,1e-30]'::vector * '[1,1e-30]';
SELECT array_fill(1, ARRAY[16000])::vector || '[1]';

SELECT '[1,2]'::vector < '[1,3]', '[1,2]'::vector <= '[1,2]', '[1,2]'::vector = '[1,2]', '[1,2]'::vector <> '[1,2]',
	'[1,2]'::vector >= '[1,3]', '[1,2]'::vector > '[1]';
SELECT '[0]'::vector = '[-0]' AS zeros, '[1]'::vector = '[1,0]' AS shorter, vector_cmp('[2]', '[1,5]'), vector_cmp('[1]', '[1,5]');
SELECT v FROM (VALUES ('[2]'::vector), ('[1,2]'), (NULL), ('[1]'), ('[1,1]')) t(v) ORDER BY v;
SELECT DISTINCT v FROM (VALUES ('[2]'::vector), ('[1,2]'), ('[2]')) t(v) ORDER BY v DESC;
CREATE TABLE compared (v vector);
INSERT INTO compared SELECT ARRAY[n % 7, n] FROM generate_series(1, 100) n;
CREATE INDEX ON compared (v);
VACUUM ANALYZE compared;
SET enable_seqscan = off;
EXPLAIN (COSTS OFF) SELECT count(*) FROM compared WHERE v < '[3]';
SELECT count(*) FROM compared WHERE v < '[3]';
SELECT count(*) FROM compared a JOIN compared b USING (v);
RESET enable_seqscan;
DROP TABLE compared;

SELECT avg(v), sum(v), count(v) FROM (VALUES ('[1,2]'::vector), (NULL), ('[3,5]')) t(v);
SELECT avg(v), sum(v) FROM (VALUES (NULL::vector)) t(v);
SELECT avg(v), sum(v) FROM (VALUES ('[1]'::vector)) t(v) WHERE false;
SELECT avg(v) FROM (VALUES ('[3e38]'::vector), ('[3e38]')) t(v);
SELECT sum(v) FROM (VALUES ('[3e38]'::vector), ('[3e38]')) t(v);
SELECT avg(v) FROM (VALUES ('[1]'::vector), ('[1,2]')) t(v);
SELECT n % 3 AS g, avg(ARRAY[n, -n]::vector), sum(ARRAY[n, -n]::vector) FROM generate_series(1, 9) n GROUP BY 1 ORDER BY 1;
SELECT n, sum(ARRAY[n]::vector) OVER (ORDER BY n), avg(ARRAY[n]::vector) OVER (ORDER BY n ROWS 1 PRECEDING) FROM generate_series(1, 4) n;
-- Hostile states
SELECT vector_accum('{}', '[1]');
SELECT vector_accum('{NULL}', '[1]');
SELECT vector_accum('{{1,2}}', '[1]');
SELECT vector_accum('{1,2,3}', '[1]');
SELECT vector_accum('{1,2}', '[1]');
SELECT vector_combine('{1,2}', '{1,2,3}');
SELECT vector_combine('{0}', '{1,2,3}'), vector_combine('{1,2,3}', '{0}'), vector_combine('{1,2}', '{1,5}');
SELECT vector_avg('{0,1}'), vector_avg('{0}'), vector_avg('{2,4}');
SELECT vector_avg('{1,NaN}');
SELECT vector_sum('{1,Infinity}');
SELECT vector_avg(array_fill(0::double precision, ARRAY[16002]));
-- In parallel, the same
CREATE TABLE many (v vector(3));
INSERT INTO many SELECT ARRAY[n, n * 2, 1] FROM generate_series(1, 20000) n;
SELECT avg(v), sum(v) FROM many;
SET parallel_setup_cost = 0;
SET parallel_tuple_cost = 0;
SET min_parallel_table_scan_size = 0;
EXPLAIN (COSTS OFF) SELECT avg(v), sum(v) FROM many;
SELECT avg(v), sum(v) FROM many;
DROP TABLE many;
