-- SPDX-License-Identifier: Apache-2.0
--
-- The view of segments: what it shows, and to whom; and which ids a collection has.

CREATE TABLE segmented (id bigint PRIMARY KEY, v vector(2));
INSERT INTO segmented SELECT n, ARRAY[n, 1]::real[]::vector FROM generate_series(1, 200) n;
CREATE INDEX segmented_l2 ON segmented USING pigment (v);
SELECT segment IS NOT NULL AS numbered, kind, rows, live_rows, bytes > 0 AS has_bytes, bytes % 8192 AS odd
FROM pigment.segments WHERE index = 'segmented_l2'::regclass;

-- Rows that came since are pending; deleted ones stay in the segment until it is built anew.
INSERT INTO segmented SELECT n, ARRAY[n, 1]::real[]::vector FROM generate_series(201, 210) n;
DELETE FROM segmented WHERE id <= 50;
VACUUM segmented;
SELECT segment IS NOT NULL AS numbered, kind, rows, live_rows FROM pigment.segments
WHERE index = 'segmented_l2'::regclass ORDER BY kind;
SELECT sum(live_rows) AS live, (SELECT count(*) FROM segmented) AS stored FROM pigment.segments
WHERE index = 'segmented_l2'::regclass;

-- Other access methods, and a table without an index, are not there.
SELECT count(*) FROM pigment.segments WHERE index IN ('segmented_pkey'::regclass);

-- Each role sees the indexes that it owns, without an error for the others.
CREATE ROLE segment_owner;
CREATE ROLE segment_guest;
GRANT SELECT ON segmented TO segment_guest;
ALTER TABLE segmented OWNER TO segment_owner;
SET ROLE segment_guest;
SELECT count(*) FROM pigment.segments;
SELECT count(*) FROM pigment._segments('segmented_l2'::regclass);
SET ROLE segment_owner;
SELECT count(*) FROM pigment.segments;
RESET ROLE;
SELECT count(*) FROM pigment._segments(0);
SELECT count(*) FROM pigment._segments('segmented'::regclass);

-- Which ids are there.
SELECT (pigment.create_collection('held')).name AS created;
SELECT * FROM pigment.add('held', ARRAY['a', 'b', 'c'], ARRAY['[1,2]', '[3,4]', '[5,6]']::vector[]);
SELECT pigment.contains('held', ARRAY['a', 'x', 'c', 'a', NULL, '']);
SELECT pigment.contains('held', '{}'), pigment.contains('held', NULL) IS NULL AS nothing_asked;
SELECT pigment.delete('held', ARRAY['a']) IS NOT NULL AS deleted;
SELECT pigment.contains('held', ARRAY['a', 'b']);
SELECT pigment.contains('missing', ARRAY['a']);
SET ROLE segment_guest;
SELECT pigment.contains('held', ARRAY['a']);
RESET ROLE;

SELECT pigment.delete_collection('held') IS NOT NULL AS dropped;
DROP TABLE segmented;
DROP ROLE segment_owner;
DROP ROLE segment_guest;
