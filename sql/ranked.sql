-- SPDX-License-Identifier: Apache-2.0
--
-- Part of the install script: texts ranked by the words of a query (BM25), type bm25query, operator <@>, and the operator class of an index for it.

CREATE TYPE bm25query;
CREATE FUNCTION pigment._bm25query_in(cstring) RETURNS bm25query
	AS 'MODULE_PATHNAME', 'pigment_pg_bm25query_in' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pigment._bm25query_in(cstring) IS 'I/O';
CREATE FUNCTION pigment._bm25query_out(bm25query) RETURNS cstring
	AS 'MODULE_PATHNAME', 'pigment_pg_bm25query_out' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pigment._bm25query_out(bm25query) IS 'I/O';
CREATE TYPE bm25query (INPUT = pigment._bm25query_in, OUTPUT = pigment._bm25query_out, STORAGE = extended);
COMMENT ON TYPE bm25query IS 'words, and the index whose texts tell how much each is worth';

CREATE FUNCTION to_bm25query(index regclass, words text) RETURNS bm25query
	AS 'MODULE_PATHNAME', 'pigment_pg_to_bm25query' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION to_bm25query(regclass, text) IS 'a query of the texts of an index, for operator <@>';
CREATE FUNCTION to_bm25query(index regclass, query text, operator text) RETURNS bm25query
	AS 'MODULE_PATHNAME', 'pigment_pg_to_bm25query_of_clauses' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION to_bm25query(regclass, text, text) IS
	'a query of clauses as pigment.search_text takes them, for operator <@>; operator: any, or all where each is required';
CREATE FUNCTION pigment._check_bm25query(bm25query) RETURNS void
	AS 'MODULE_PATHNAME', 'pigment_pg_check_bm25query' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pigment._check_bm25query(bm25query) IS 'an error where the query cannot be asked';
CREATE FUNCTION pigment._with_words(bm25query, words text) RETURNS bm25query
	AS 'MODULE_PATHNAME', 'pigment_pg_with_words' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pigment._with_words(bm25query, text) IS 'a query of the same index with other words; what the planner makes of text <@> text';

-- restricted, so that all rows of a statement are ranked by one count
CREATE FUNCTION bm25_score(text, bm25query) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_bm25_score' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 500;
COMMENT ON FUNCTION bm25_score(text, bm25query) IS 'BM25 score of a text with its sign changed; 0: it has none of the words';
CREATE OPERATOR <@> (LEFTARG = text, RIGHTARG = bm25query, FUNCTION = bm25_score);
COMMENT ON OPERATOR <@> (text, bm25query) IS 'BM25 score of a text with its sign changed, so that the best comes first';

CREATE FUNCTION pigment._score_support(request internal) RETURNS internal
	AS 'MODULE_PATHNAME', 'pigment_pg_score_support' LANGUAGE C STABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pigment._score_support(internal) IS 'planner support of bm25_score(text, text): finds the index of a column';
CREATE FUNCTION bm25_score(text, text) RETURNS double precision
	AS 'MODULE_PATHNAME', 'pigment_pg_bm25_score_of_column' LANGUAGE C STABLE STRICT PARALLEL RESTRICTED COST 500
	SUPPORT pigment._score_support;
COMMENT ON FUNCTION bm25_score(text, text) IS 'the same for a column with one index that ranks it';
CREATE OPERATOR <@> (LEFTARG = text, RIGHTARG = text, FUNCTION = bm25_score);
COMMENT ON OPERATOR <@> (text, text) IS 'BM25 score, with its sign changed, of a column with one index that ranks it';

CREATE FUNCTION pigment._bm25_options(internal) RETURNS void
	AS 'MODULE_PATHNAME', 'pigment_pg_bm25_options' LANGUAGE C IMMUTABLE STRICT PARALLEL SAFE;
COMMENT ON FUNCTION pigment._bm25_options(internal) IS 'index support: options of text_bm25_ops';
CREATE OPERATOR CLASS text_bm25_ops FOR TYPE text USING pigment AS
	OPERATOR 1 <@> (text, bm25query) FOR ORDER BY float_ops,
	FUNCTION 3 (text) pigment._bm25_options(internal);
COMMENT ON OPERATOR CLASS text_bm25_ops USING pigment IS 'texts ranked by the words of a query, operator <@>';
