-- SPDX-License-Identifier: Apache-2.0
--
-- What an administrator looks at: segments of indexes; and which ids are there. Since version 0.2.

CREATE FUNCTION pigment._segments(
	index oid,
	OUT segment bigint, OUT kind text, OUT rows bigint, OUT live_rows bigint, OUT bytes bigint)
	RETURNS SETOF record
	AS 'MODULE_PATHNAME', 'pigment_pg_segments' LANGUAGE C VOLATILE STRICT PARALLEL RESTRICTED;
COMMENT ON FUNCTION pigment._segments(oid) IS
	'segments and pending rows of an index of access method pigment; nothing for anybody but its owner';

CREATE VIEW pigment.segments AS
	SELECT c.oid::pg_catalog.regclass AS index, s.segment, s.kind, s.rows, s.live_rows, s.bytes
	FROM pg_catalog.pg_class c
		JOIN pg_catalog.pg_am a ON a.oid OPERATOR(pg_catalog.=) c.relam
		CROSS JOIN LATERAL pigment._segments(c.oid) s
	WHERE c.relkind OPERATOR(pg_catalog.=) 'i' AND a.amname OPERATOR(pg_catalog.=) 'pigment';
COMMENT ON VIEW pigment.segments IS
	'segments of the indexes that the current role owns; rows that are in none yet have kind pending and no number';
GRANT SELECT ON pigment.segments TO PUBLIC;

CREATE FUNCTION pigment.merge(index regclass) RETURNS integer
	AS 'MODULE_PATHNAME', 'pigment_pg_merge' LANGUAGE C VOLATILE STRICT PARALLEL UNSAFE;
COMMENT ON FUNCTION pigment.merge(regclass) IS
	'makes one segment of all rows of an index, or as few as maintenance_work_mem allows; returns how many there are; for its owner';

CREATE FUNCTION pigment.contains(collection text, ids text[], tenant text DEFAULT NULL, database text DEFAULT NULL)
RETURNS boolean[]
LANGUAGE plpgsql STABLE PARALLEL RESTRICTED SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	entry pigment.collections := pigment.get_collection(collection, tenant, database);
	found boolean[];
BEGIN
	IF ids IS NULL THEN
		RETURN NULL;
	END IF;
	EXECUTE format('SELECT array_agg(EXISTS (SELECT FROM %s t WHERE t.id = given.id) ORDER BY given.place) '
		'FROM unnest($1) WITH ORDINALITY given (id, place)', entry.relation) INTO found USING ids;
	RETURN coalesce(found, '{}');
END
$$;
COMMENT ON FUNCTION pigment.contains IS 'which of some ids a collection has, one answer for each; reads no document';
