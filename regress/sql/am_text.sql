-- Access method pigment: what is found anywhere in a text, by the grams of columns of text_trgm_ops.
\set SHOW_CONTEXT never
CREATE TABLE notes (id int PRIMARY KEY, body text COLLATE "C", v vector(2));
INSERT INTO notes SELECT n, CASE n % 50 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN 'a' WHEN 3 THEN 'ab'
	ELSE 'Note ' || n || ' on ' || (ARRAY['vacuum', 'Snapshots', 'Größe', '日本語の文', 'locks'])[1 + n % 5] || ': ' || md5(n::text) END,
	ARRAY[n % 100, n % 7]::vector FROM generate_series(1, 5000) n;
CREATE INDEX notes_x ON notes USING pigment (body text_trgm_ops, v);
INSERT INTO notes SELECT n, 'Late note ' || n || ' on Vacuum ' || md5(n::text), ARRAY[n % 100, n % 7]::vector FROM generate_series(5001, 5200) n;
ANALYZE notes;

-- Plans.
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body LIKE '%uum: 12%';
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body ILIKE '%SNAPSHOTS: 12%';
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body ~ 'locks: (12|34)[0-9]?a';
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body ~* '^LATE.*77';
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body SIMILAR TO '%(uum: 77|ots: 78)%';
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body LIKE ANY ('{%uum: 77%,%ots: 78%}');
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body LIKE '%vacuum%' ORDER BY v <-> '[50,3]' LIMIT 3;
-- What tells nothing is no use of the index: short texts, wildcards alone, no texts at all, negations.
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body LIKE '%a%';
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body LIKE '%_b_%';
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body ~ '[0-9]+.*[a-z]';
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body ~ '(?i)vacuum: 12';
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body ILIKE ANY ('{%uum: 77%,%}');
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body NOT LIKE '%vacuum: 12%';
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body !~ 'vacuum: 12';
-- The ordinary class finds beginnings alone.
CREATE INDEX notes_plain ON notes USING pigment (body);
BEGIN;
DROP INDEX notes_x;
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body LIKE '%vacuum: 12%';
EXPLAIN (COSTS OFF) SELECT id FROM notes WHERE body LIKE 'Note 12%';
ROLLBACK;
DROP INDEX notes_plain;
-- Values that are known when the query runs.
SET plan_cache_mode = force_generic_plan;
PREPARE found(text) AS SELECT count(*) FROM notes WHERE body ILIKE $1;
EXPLAIN (COSTS OFF) EXECUTE found('%vacuum: 12%');
EXECUTE found('%VACUUM: 12%');
EXECUTE found('%_%');
EXECUTE found(NULL);
RESET plan_cache_mode;
SELECT p, (SELECT count(*) FROM notes WHERE body ~ p) FROM unnest(ARRAY['uum: 7', '^Late', '\d{3}a', '']) p ORDER BY 1;

-- The same rows as without the index.
CREATE FUNCTION same(condition text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
	rows text[][];
	ids text;
BEGIN
	FOR i IN 1 .. 2 LOOP
		EXECUTE format('SET LOCAL enable_seqscan = %s; SET LOCAL enable_indexscan = %s; SET LOCAL enable_bitmapscan = %2$s',
			CASE i WHEN 1 THEN 'on' ELSE 'off' END, CASE i WHEN 1 THEN 'off' ELSE 'on' END);
		EXECUTE format('SELECT count(*) || '' '' || coalesce(md5(string_agg(id::text, '','' ORDER BY id)), '''') FROM notes WHERE %s', condition) INTO ids;
		rows := rows || ARRAY[ids];
	END LOOP;
	RETURN CASE WHEN rows[1] = rows[2] THEN 'ok ' || split_part(rows[1], ' ', 1) ELSE 'differ: ' || rows::text END;
END $$;
SELECT c, same(c) FROM unnest(ARRAY[$q$body LIKE '%vacuum%'$q$, $q$body LIKE '%Vacuum%'$q$, $q$body ILIKE '%vAcUuM%'$q$, $q$body LIKE '%ab%'$q$, $q$body LIKE 'ab'$q$,
	$q$body = 'ab'$q$, $q$body = ''$q$, $q$body LIKE ''$q$, $q$body LIKE '%'$q$, $q$body LIKE 'Note 12%'$q$, $q$body LIKE 'Note 12%5b%'$q$, $q$body ^@ 'Late'$q$,
	$q$body LIKE '%öße%'$q$, $q$body ILIKE '%ÖSSE%'$q$, $q$body LIKE '%日本%'$q$, $q$body ILIKE '%語の%文%'$q$, $q$body LIKE '%日%12'$q$, $q$body LIKE '%n\% %'$q$, $q$body LIKE '%\o\n V%'$q$,
	$q$body ~ 'vacuum|locks'$q$, $q$body ~ '(vac|vaca)uum: a'$q$, $q$body ~ 'Snaps?hots?: [ab]'$q$, $q$body ~ 'l(o)cks'$q$, $q$body ~ 'Gr(ö|oe)(ß|ss)e: 0'$q$, $q$body ~* 'NOTE 1(0{2}|1+) '$q$,
	$q$body ~ '\mon\M V'$q$, $q$body ~ 'on (?=V)Vacuum'$q$, $q$body ~ 'on (?!v|S|G|日|l)'$q$, $q$body ~ '([0-9a-f])\1\1\1'$q$, $q$body ~ '***=on V'$q$, $q$body ~ '***:(?x) on \s V'$q$, $q$body ~ 'on\u0020V'$q$,
	$q$body ~ '^a?b?$'$q$, $q$body ~ 'va[c]uum: [^0-8]'$q$, $q$body ~ 'on[[:space:]]Vac'$q$, $q$body ~ 'not{1}e 5'$q$, $q$body ~ 'on V{0}acuum'$q$, $q$body ~ 'vac(u*)um'$q$, $q$body ~ 'Late (note|)'$q$,
	$q$body LIKE ANY ('{%uum: 77%,%ots: 78%,NULL}')$q$, $q$body ILIKE ANY ('{%uum: 77%,%}')$q$, $q$body ~ ANY ('{ots: 7,^Late n}')$q$, $q$body IS NULL$q$, $q$body IS NOT NULL$q$]) c;
SELECT count(*) FROM notes WHERE body ~ 'n[ ]Vacuum [0-4]' AND body ILIKE '%late%';
SELECT strategy, conditions, rows_given, recheck FROM pigment.last_scan();
SELECT leaked, live_rows FROM pigment.check('notes_x');

-- Changes, long texts, maintenance.
UPDATE notes SET body = replace(body, 'Vacuum', 'Freeze') WHERE id > 5100;
INSERT INTO notes VALUES (9001, (SELECT string_agg(md5(n::text), ' needle ') FROM generate_series(1, 20000) n), '[1,1]'), (9002, repeat('x', 100000) || 'needles', '[1,1]');
DELETE FROM notes WHERE id % 10 = 4;
SELECT same($$body LIKE '%Freeze%'$$), same($$body LIKE '%Vacuum%'$$), same($$body LIKE '%needle%'$$), same($$body LIKE '%xneedles'$$), same($$body = repeat('x', 100000) || 'needles'$$);
VACUUM notes;
SELECT same($$body LIKE '%Freeze%'$$), same($$body LIKE '%Vacuum%'$$), same($$body LIKE '%needle%'$$), same($$body LIKE '%xneedles'$$), same($$body = repeat('x', 100000) || 'needles'$$);
SELECT pigment.merge('notes_x');
SELECT same($$body LIKE '%Freeze%'$$), same($$body LIKE '%Vacuum%'$$), same($$body LIKE '%needle%'$$), same($$body LIKE '%xneedles'$$), same($$body = repeat('x', 100000) || 'needles'$$);
SELECT leaked, live_rows, segment > 0 AS has_segments FROM pigment.check('notes_x');
SET maintenance_work_mem = '1MB';
REINDEX INDEX notes_x;
RESET maintenance_work_mem;
SELECT leaked, live_rows FROM pigment.check('notes_x');
SELECT same($$body LIKE '%Freeze%'$$), same($$body ~* 'snapshots: .*77'$$), same($$body LIKE '%needle%'$$);

-- Complaints are the server's, and come where it looks at a row.
SET enable_seqscan = off;
SELECT count(*) FROM notes WHERE body LIKE 'Note%\';
SELECT count(*) FROM notes WHERE body ~ 'vacuum(';
PREPARE matching(text) AS SELECT count(*) FROM notes WHERE body ~ $1;
SET plan_cache_mode = force_generic_plan;
EXECUTE matching('vacuum[z-a]');
EXECUTE matching('vacuum**');
EXECUTE matching('vacuum{2,1}');
EXECUTE matching('zzzzzz\');
EXECUTE matching('zzzzzz(?<q>)');
EXECUTE matching('zzzzzz[[:nothing:]]');
EXECUTE matching('zzzzzz)');
RESET plan_cache_mode;
RESET enable_seqscan;

-- For texts alone; a column may be in both classes.
CREATE INDEX ON notes USING pigment (id text_trgm_ops);
CREATE INDEX ON notes USING pigment ((v::text) text_trgm_ops, body, body text_trgm_ops);
SELECT same($$v::text LIKE '%3,4%' AND body > 'Note 4' AND body LIKE '%locks%'$$);
DROP TABLE notes;
DROP FUNCTION same;
