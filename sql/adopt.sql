-- SPDX-License-Identifier: Apache-2.0
--
-- Part of the install script: indexes of access method pigment over columns of pgvector's own types.

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
	FOR metric IN SELECT * FROM
			(VALUES ('vector', ''), ('halfvec', ', FUNCTION 2 (%1$I.%2$I, %1$I.%2$I) pigment.halves()')) t (type, elements),
			(VALUES ('l2', '<->', 'DEFAULT'), ('cosine', '<=>', ''), ('ip', '<#>', ''), ('l1', '<+>', '')) m (name, symbol, standard)
	LOOP
		operator_class := format('%I.%I', place, metric.type || '_' || metric.name || '_ops');
		operator := format('%1$I.%2$s(%1$I.%3$I,%1$I.%3$I)', place, metric.symbol, metric.type);
		IF NOT EXISTS (SELECT FROM pg_opclass c JOIN pg_am a ON a.oid = c.opcmethod JOIN pg_namespace n ON n.oid = c.opcnamespace
				WHERE a.amname = 'pigment' AND n.nspname = place AND c.opcname = metric.type || '_' || metric.name || '_ops') THEN
			EXECUTE format('CREATE OPERATOR CLASS %3$s %4$s FOR TYPE %1$I.%2$I USING pigment AS '
				'OPERATOR 1 %1$I.%5$s (%1$I.%2$I, %1$I.%2$I) FOR ORDER BY pg_catalog.float_ops, '
				'FUNCTION 1 (%1$I.%2$I, %1$I.%2$I) pigment.%6$I()' || metric.elements,
				place, metric.type, operator_class, metric.standard, metric.symbol, 'metric_' || metric.name);
			EXECUTE format('COMMENT ON OPERATOR CLASS %s USING pigment IS %L', operator_class,
				format('index of access method pigment over a column of pgvector''s type %s', metric.type));
		END IF;
		RETURN NEXT;
	END LOOP;
END
$$;
REVOKE EXECUTE ON FUNCTION pigment.adopt_pgvector() FROM PUBLIC;
COMMENT ON FUNCTION pigment.adopt_pgvector() IS
	'makes the operator classes that index columns of pgvector''s types vector and halfvec, in its schema; for superusers, as operator classes are';
