-- SPDX-License-Identifier: Apache-2.0
--
-- Updates that leave the vector alone: their entries have its hash, for as long as they are pending, whatever becomes of the row that has it.

CREATE FUNCTION shared_vector(n bigint, dim int) RETURNS vector LANGUAGE sql IMMUTABLE AS
	'SELECT array_agg(hashint8(n * 100003 + i)::real / 2147483648)::vector FROM generate_series(1, dim) i';
-- By index and by sort the same rows, in the order of their distances; pending pages, and what the check has to say.
CREATE FUNCTION shared_state(relation text, query text, OUT rows text, OUT pending_pages bigint, OUT differences bigint) LANGUAGE plpgsql AS $$
DECLARE
	by_index text;
	by_sort text;
BEGIN
	query := format('SELECT count(*) || '' '' || bool_and(d >= before) || md5(string_agg(id || '' '' || n, '' '' ORDER BY d, id)) FROM '
		'(SELECT id, n, d, lag(d, 1, d) OVER () AS before FROM (SELECT id, n, v <-> %2$s AS d FROM %1$s WHERE n >= 0 ORDER BY v <-> %2$s) o) p', relation, query);
	SET LOCAL enable_seqscan = off;
	SET LOCAL enable_sort = off;
	SET LOCAL pigment.target_recall = 1;
	EXECUTE query INTO by_index;
	IF (pigment.last_scan()).strategy NOT LIKE '%order' THEN RAISE 'not by the index'; END IF;
	SET LOCAL enable_sort = on;
	SET LOCAL enable_seqscan = on;
	SET LOCAL enable_indexscan = off;
	EXECUTE query INTO by_sort;
	rows := CASE WHEN by_index = by_sort THEN split_part(by_index, ' ', 1) ELSE by_index || ' by sort ' || by_sort END;
	SELECT s.pending_pages INTO pending_pages FROM pigment.stats((relation || '_x')::regclass) s;
	SELECT count(*) INTO differences FROM pigment.differences((relation || '_x')::regclass);
END
$$;

-- A vector of 384 dimensions takes half a kilobyte in an entry, its hash 16 bytes.
CREATE TABLE shared (id int PRIMARY KEY, n int, v vector(384)) WITH (autovacuum_enabled = off);
INSERT INTO shared SELECT i, i, shared_vector(i, 384) FROM generate_series(1, 600) i;
CREATE INDEX shared_x ON shared USING pigment (v, n);
\set q '''shared_vector(7, 384)'''
SELECT * FROM shared_state('shared', :q);
UPDATE shared SET n = n + 1;
SELECT * FROM shared_state('shared', :q);
-- Of what was updated before, whose entry has a hash as well.
UPDATE shared SET n = n + 1 WHERE id <= 100;
SELECT * FROM shared_state('shared', :q);
-- Rolled back, and in subtransactions.
BEGIN;
UPDATE shared SET n = -n WHERE id % 2 = 0;
SAVEPOINT one;
UPDATE shared SET n = n + 1 WHERE id % 3 = 0;
ROLLBACK TO one;
ROLLBACK;
SELECT * FROM shared_state('shared', :q);
-- Another vector has to be written, and so have a new row's and one that is in no segment yet.
UPDATE shared SET v = shared_vector(id + 1000, 384) WHERE id <= 15;
INSERT INTO shared SELECT i, i, shared_vector(i, 384) FROM generate_series(601, 615) i;
SELECT * FROM shared_state('shared', :q);
UPDATE shared SET n = n + 1 WHERE id > 600;
SELECT * FROM shared_state('shared', :q);
-- VACUUM marks the rows deleted that have the vectors, and merges would drop them: entries get their own before.
VACUUM shared;
SELECT * FROM shared_state('shared', :q);
SELECT segments, segment_rows, deleted_rows FROM pigment.stats('shared_x');
UPDATE shared SET n = n + 1 WHERE id % 2 = 0;
SELECT * FROM shared_state('shared', :q);
DELETE FROM shared WHERE id % 4 = 0;
VACUUM (INDEX_CLEANUP on) shared;
SELECT * FROM shared_state('shared', :q);
SELECT pigment.merge('shared_x');
SELECT * FROM shared_state('shared', :q);
SELECT segments, segment_rows, deleted_rows, leaked FROM pigment.stats('shared_x'), pigment.check('shared_x', true);

-- Where the rows that have the vectors stay deleted in their segment, an update writes the vector anew; the next one has that.
CREATE TABLE shared_few (id int PRIMARY KEY, n int, v vector(384)) WITH (autovacuum_enabled = off);
INSERT INTO shared_few SELECT i, i, shared_vector(i, 384) FROM generate_series(1, 2000) i;
CREATE INDEX shared_few_x ON shared_few USING pigment (v, n);
UPDATE shared_few SET n = n + 1 WHERE id <= 30;
VACUUM (INDEX_CLEANUP on) shared_few;
SELECT segments, deleted_rows, pending_rows FROM pigment.stats('shared_few_x');
UPDATE shared_few SET n = n + 1 WHERE id <= 30;
SELECT * FROM shared_state('shared_few', :q);
SELECT pigment.merge('shared_few_x');
UPDATE shared_few SET n = n + 1 WHERE id <= 30;
SELECT * FROM shared_state('shared_few', :q);

-- Flushes by inserts; merges of theirs, and rows that come again and again.
SET pigment.pending_list_limit = '64kB';
DO $$ BEGIN
	FOR i IN 1 .. 6 LOOP UPDATE shared_few SET n = n + 1; END LOOP;
END $$;
RESET pigment.pending_list_limit;
SELECT rows, differences FROM shared_state('shared_few', :q);
VACUUM shared_few;
SELECT rows, differences FROM shared_state('shared_few', :q);

-- Other vectors: all bits of a number, halves, bits, rows without one, one for all rows, and one that 16 bits do not hold.
CREATE TABLE shared_full (id int PRIMARY KEY, n int, v vector(384)) WITH (autovacuum_enabled = off);
INSERT INTO shared_full SELECT i, i, shared_vector(i, 384) FROM generate_series(1, 300) i;
CREATE INDEX shared_full_x ON shared_full USING pigment (v, n) WITH (full_vectors = f32);
UPDATE shared_full SET n = n + 1;
SELECT * FROM shared_state('shared_full', :q);
SELECT pigment.merge('shared_full_x');
SELECT * FROM shared_state('shared_full', :q);

CREATE TABLE shared_half (id int PRIMARY KEY, n int, v halfvec(384)) WITH (autovacuum_enabled = off);
INSERT INTO shared_half SELECT i, i, CASE WHEN i % 10 > 0 THEN shared_vector(i, 384) END FROM generate_series(1, 300) i;
CREATE INDEX shared_half_x ON shared_half USING pigment (v, n);
UPDATE shared_half SET n = n + 1;
SELECT * FROM shared_state('shared_half', quote_literal(shared_vector(7, 384)::text) || '::halfvec(384)');
SELECT pigment.merge('shared_half_x');
SELECT * FROM shared_state('shared_half', quote_literal(shared_vector(7, 384)::text) || '::halfvec(384)');

CREATE TABLE shared_bit (id int PRIMARY KEY, n int, v bit(3072)) WITH (autovacuum_enabled = off);
INSERT INTO shared_bit SELECT i, i, repeat(('x' || md5(i::text))::bit(128)::text, 24)::bit(3072) FROM generate_series(1, 300) i;
CREATE INDEX shared_bit_x ON shared_bit USING pigment (v bit_hamming_ops, n);
UPDATE shared_bit SET n = n + 1;
SELECT pending_pages FROM pigment.stats('shared_bit_x');
SELECT count(*) FROM pigment.differences('shared_bit_x');
SET enable_seqscan = off;
SELECT id, n FROM shared_bit ORDER BY v <~> repeat(('x' || md5('7'))::bit(128)::text, 24)::bit(3072) LIMIT 1;
RESET enable_seqscan;

CREATE TABLE shared_same (id int PRIMARY KEY, n int, v vector(384)) WITH (autovacuum_enabled = off);
INSERT INTO shared_same SELECT i, i, shared_vector(i % 2, 384) FROM generate_series(1, 300) i;
INSERT INTO shared_same VALUES (301, 301, array_fill(1e6, ARRAY[384])::vector);
CREATE INDEX shared_same_x ON shared_same USING pigment (v, n);
DELETE FROM shared_same WHERE id <= 50;
VACUUM (INDEX_CLEANUP on) shared_same;
UPDATE shared_same SET n = n + 1;
SELECT * FROM shared_state('shared_same', :q);

-- An entry with more keys than a page holds has its vector.
CREATE TABLE shared_wide (id int PRIMARY KEY, n int, v vector(384), words text[]) WITH (autovacuum_enabled = off);
INSERT INTO shared_wide SELECT i, i, shared_vector(i, 384), (SELECT array_agg(md5((i * 1000 + w)::text)) FROM generate_series(1, 400) w) FROM generate_series(1, 20) i;
CREATE INDEX shared_wide_x ON shared_wide USING pigment (v, n, words);
UPDATE shared_wide SET n = n + 1;
SELECT rows, differences FROM shared_state('shared_wide', :q);

-- Tables that are not logged or of the session alone, and a new file.
CREATE UNLOGGED TABLE shared_unlogged (id int PRIMARY KEY, n int, v vector(384)) WITH (autovacuum_enabled = off);
CREATE INDEX shared_unlogged_x ON shared_unlogged USING pigment (v, n);
INSERT INTO shared_unlogged SELECT i, i, shared_vector(i, 384) FROM generate_series(1, 100) i;
SELECT pigment.merge('shared_unlogged_x');
UPDATE shared_unlogged SET n = n + 1;
SELECT * FROM shared_state('shared_unlogged', :q);
REINDEX INDEX shared_unlogged_x;
UPDATE shared_unlogged SET n = n + 1;
SELECT * FROM shared_state('shared_unlogged', :q);
TRUNCATE shared_unlogged;
INSERT INTO shared_unlogged SELECT i, i, shared_vector(i, 384) FROM generate_series(1, 30) i;
UPDATE shared_unlogged SET n = n + 1;
SELECT rows, differences FROM shared_state('shared_unlogged', :q);

DROP TABLE shared, shared_few, shared_full, shared_half, shared_bit, shared_same, shared_wide, shared_unlogged;
DROP FUNCTION shared_vector, shared_state;
