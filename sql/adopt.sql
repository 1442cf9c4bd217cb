-- SPDX-License-Identifier: Apache-2.0
--
-- Part of the install script: indexes of access method pigment over columns of pgvector's own types, and by its own operators.

CREATE FUNCTION pigment.adopt_pgvector(OUT operator_class text, OUT operator text)
RETURNS SETOF record
LANGUAGE plpgsql VOLATILE PARALLEL UNSAFE SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
	place name;
	release text;
	metric record;
BEGIN
	SELECT n.nspname, e.extversion INTO place, release
	FROM pg_extension e JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector';
	IF NOT FOUND THEN
		RAISE EXCEPTION 'extension "vector" is not installed in this database'
			USING ERRCODE = 'undefined_object', HINT = 'Pigment''s own type needs no adoption.';
	END IF;
	-- The taxicab operator came with 0.7.0.
	IF (string_to_array(release, '.')::integer[]) < ARRAY[0, 7] THEN
		RAISE EXCEPTION 'extension "vector" has version %, and at least 0.7.0 is needed', release
			USING ERRCODE = 'feature_not_supported', HINT = 'ALTER EXTENSION vector UPDATE;';
	END IF;
	FOR metric IN SELECT type, format('%I.%I', place, type) AS type_name, name, symbol, standard, elements
		FROM (VALUES ('vector', ''), ('halfvec', ', FUNCTION 2 (%1$s, %1$s) pigment.halves()'),
				('sparsevec', ', FUNCTION 4 (%1$s, %1$s) pigment.sparse()')) t (type, elements),
			(VALUES ('l2', '<->', 'DEFAULT'), ('cosine', '<=>', ''), ('ip', '<#>', ''), ('l1', '<+>', '')) m (name, symbol, standard)
		UNION ALL VALUES ('bit', 'pg_catalog."bit"', 'hamming', '<~>', '', ''), ('bit', 'pg_catalog."bit"', 'jaccard', '<%>', '', '')
	LOOP
		operator_class := format('%I.%I', place, metric.type || '_' || metric.name || '_ops');
		operator := format('%1$I.%2$s(%3$s,%3$s)', place, metric.symbol, metric.type_name);
		IF NOT EXISTS (SELECT FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod JOIN pg_namespace n ON n.oid = c.opcnamespace
				WHERE a.amname = 'pigment' AND n.nspname = place AND c.opcname = metric.type || '_' || metric.name || '_ops') THEN
			EXECUTE format('CREATE OPERATOR CLASS %3$s %4$s FOR TYPE %1$s USING pigment AS '
				'OPERATOR 1 %2$I.%5$s (%1$s, %1$s) FOR ORDER BY pg_catalog.float_ops, '
				'FUNCTION 1 (%1$s, %1$s) pigment.%6$I()' || metric.elements,
				metric.type_name, place, operator_class, metric.standard, metric.symbol, 'metric_' || metric.name);
			EXECUTE format('COMMENT ON OPERATOR CLASS %s USING pigment IS %L', operator_class,
				format(CASE metric.type WHEN 'bit' THEN 'index of access method pigment over bits, by pgvector''s operators'
					ELSE 'index of access method pigment over a column of pgvector''s type %s' END, metric.type));
		END IF;
		RETURN NEXT;
	END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION pigment.adopt_pgvector() FROM PUBLIC;
COMMENT ON FUNCTION pigment.adopt_pgvector() IS
	'makes the operator classes that index columns of pgvector''s types vector, halfvec and sparsevec, and bits by its operators, in its schema; for superusers, as operator classes are';
