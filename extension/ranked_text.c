/* SPDX-License-Identifier: Apache-2.0 */

/*
 * ranked_text.c
 *	  Type bm25query, the operator text <@> bm25query, and the options of text_bm25_ops.
 *
 * A score needs to know how many texts there are, how long they are and how many have each word. The index counts that, over its segments and its
 * pending rows: whatever snapshot asks, because a count of the rows that it sees would have to read the table. It is counted once for a statement
 * and snapshot, so an index scan and the operator in the select list give one number.
 */
#include "postgres.h"

#include "access/genam.h"
#include "access/reloptions.h"
#include "access/xact.h"
#include "catalog/index.h"
#include "catalog/pg_class.h"
#include "catalog/pg_inherits.h"
#include "compat.h"
#include "fmgr.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "miscadmin.h"
#include "utils/acl.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/json.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/regproc.h"
#include "utils/snapmgr.h"

#include "am.h"
#include "engine_error.h"
#include "ranked_text.h"

/* ---- analyzers ---- */

/* What a column was indexed with. */
typedef struct RankedOptions
{
	int32		vl_len_;
	int			language;		/* offsets of texts; 0: the default */
	int			stop_words;
} RankedOptions;

typedef struct KnownAnalyzer
{
	char	   *settings;
	pigment_text_analyzer *analyzer;
	struct KnownAnalyzer *next;
} KnownAnalyzer;

static KnownAnalyzer *known_analyzers;

static const char *
option_text(const RankedOptions *options, int offset)
{
	return options != NULL && offset != 0 ? (const char *) options + offset : NULL;
}

/*
 * Words between blanks and commas, as an array of JSON.
 */
static void
append_words(StringInfo json, const char *words)
{
	const char *between = ", \t\n\r";
	bool		is_first = true;

	appendStringInfoChar(json, '[');
	for (words += strspn(words, between); *words != '\0'; words += strspn(words, between))
	{
		size_t		size = strcspn(words, between);
		char	   *word = pnstrdup(words, size);

		if (!is_first)
			appendStringInfoString(json, ", ");
		escape_json(json, word);
		pfree(word);
		is_first = false;
		words += size;
	}
	appendStringInfoChar(json, ']');
}

/*
 * As a collection's configuration has them (docs/text-search.md).
 */
static char *
settings_json(const RankedOptions *options)
{
	const char *language = option_text(options, options != NULL ? options->language : 0);
	const char *stop_words = option_text(options, options != NULL ? options->stop_words : 0);
	StringInfoData json;
	bool		all;

	initStringInfo(&json);
	appendStringInfoString(&json, "{\"language\": ");
	escape_json(&json, language != NULL ? language : "none");
	appendStringInfoString(&json, ", \"stop_words\": ");
	if (stop_words == NULL)
		appendStringInfoString(&json, "false");
	else if (parse_bool(stop_words, &all))
		appendStringInfoString(&json, all ? "true" : "false");
	else if (*stop_words == '[')	/* they are an array of JSON already; no word begins so */
		appendStringInfoString(&json, stop_words);
	else
		append_words(&json, stop_words);
	appendStringInfoChar(&json, '}');
	return json.data;
}

static pigment_text_analyzer *
find_analyzer(const char *settings)
{
	KnownAnalyzer *known;
	pigment_text_analyzer *analyzer = NULL;
	pigment_error *error = NULL;
	size_t		size;
	const char *text = pig_engine_text(settings, (int) strlen(settings), &size);

	for (known = known_analyzers; known != NULL; known = known->next)
		if (strcmp(known->settings, settings) == 0)
			return known->analyzer;
	known = MemoryContextAlloc(TopMemoryContext, sizeof(KnownAnalyzer));
	known->settings = MemoryContextStrdup(TopMemoryContext, settings);
	pig_check(pigment_text_analyzer_new(text, size, &analyzer, &error), &error);
	known->analyzer = analyzer;
	known->next = known_analyzers;
	known_analyzers = known;
	return analyzer;
}

pigment_text_analyzer *
pig_column_analyzer(Relation index, int column)
{
	bytea	  **options = RelationGetIndexAttOptions(index, true);

	return find_analyzer(settings_json(options != NULL ? (const RankedOptions *) options[column] : NULL));
}

const char *
pig_engine_text(const char *bytes, int length, size_t *size)
{
	char	   *text;

	*size = (size_t) length;
	/* the engine takes what is no UTF-8 for what is between words */
	if (GetDatabaseEncoding() == PG_SQL_ASCII)
		return bytes;
	text = pg_server_to_any(bytes, length, PG_UTF8);
	*size = text == bytes ? (size_t) length : strlen(text);
	return text;
}

PG_FUNCTION_INFO_V1(pigment_pg_bm25_options);
Datum
pigment_pg_bm25_options(PG_FUNCTION_ARGS)
{
	local_relopts *options = (local_relopts *) PG_GETARG_POINTER(0);

	init_local_reloptions(options, sizeof(RankedOptions));
	add_local_string_reloption(options, "language", "Language that words are brought to their stems in", NULL, NULL, NULL,
							   offsetof(RankedOptions, language));
	add_local_string_reloption(options, "stop_words", "Whether words of the language's list are left out, or which words are", NULL, NULL, NULL,
							   offsetof(RankedOptions, stop_words));
	PG_RETURN_VOID();
}

/* ---- type bm25query ---- */

Bm25Query *
pig_new_bm25query(Oid index, int32 grammar, const char *words, int size)
{
	Size		bytes = offsetof(Bm25Query, words) + (Size) size;
	Bm25Query  *query = palloc0(bytes);

	SET_VARSIZE(query, bytes);
	query->index = index;
	query->grammar = grammar;
	memcpy(query->words, words, (Size) size);
	return query;
}

int
pig_ranked_column(Relation index)
{
	PigColumns	columns;

	if (index->rd_indam == NULL || index->rd_indam->ambuild != pig_build)
		return -1;
	columns = pig_columns(index);
	for (int i = 0; i < columns.count; i++)
		if (columns.columns[i].kind == PIG_COLUMN_RANKED)
			return i;
	return -1;
}

/*
 * An index that ranks texts, locked and open.
 */
static Relation
open_ranking(Oid oid)
{
	char		kind = get_rel_relkind(oid);
	Relation	index;

	if (kind != RELKIND_INDEX && kind != RELKIND_PARTITIONED_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("relation %s is no index", get_rel_name(oid) != NULL ? quote_identifier(get_rel_name(oid)) : psprintf("%u", oid))));
	index = index_open(oid, AccessShareLock);
	pig_check_usable(index);
	if (pig_ranked_column(index) < 0)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("index \"%s\" ranks no texts", RelationGetRelationName(index)),
				 errhint("One that does is made by CREATE INDEX ... USING pigment (column text_bm25_ops).")));
	return index;
}

/*
 * What an index counts tells of its table's rows.
 */
static void
check_may_read(Oid oid)
{
	Relation	index = open_ranking(oid);
	Oid			table = index->rd_index->indrelid;
	AttrNumber	column = index->rd_index->indkey.values[pig_ranked_column(index)];

	index_close(index, NoLock);
	if (pg_class_aclcheck(table, GetUserId(), ACL_SELECT) != ACLCHECK_OK &&
		(column == 0 || pg_attribute_aclcheck(table, column, GetUserId(), ACL_SELECT) != ACLCHECK_OK))
		aclcheck_error(ACLCHECK_NO_PRIV, OBJECT_TABLE, get_rel_name(table));
}

PG_FUNCTION_INFO_V1(pigment_pg_to_bm25query);
Datum
pigment_pg_to_bm25query(PG_FUNCTION_ARGS)
{
	Oid			index = PG_GETARG_OID(0);
	text	   *words = PG_GETARG_TEXT_PP(1);

	check_may_read(index);
	PG_RETURN_POINTER(pig_new_bm25query(index, PIGMENT_QUERY_WORDS, VARDATA_ANY(words), VARSIZE_ANY_EXHDR(words)));
}

/*
 * Whether all clauses are required.
 */
static int32
grammar_of_operator(const text *name)
{
	const char *bytes = VARDATA_ANY(name);
	int			size = VARSIZE_ANY_EXHDR(name);

	if (size == 3 && memcmp(bytes, "any", 3) == 0)
		return PIGMENT_QUERY_CLAUSES;
	if (size == 3 && memcmp(bytes, "all", 3) == 0)
		return PIGMENT_QUERY_CLAUSES_ALL;
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("operator takes any or all, got \"%s\"", text_to_cstring(name))));
}

PG_FUNCTION_INFO_V1(pigment_pg_to_bm25query_of_clauses);
Datum
pigment_pg_to_bm25query_of_clauses(PG_FUNCTION_ARGS)
{
	Oid			index = PG_GETARG_OID(0);
	text	   *query = PG_GETARG_TEXT_PP(1);
	int32		grammar = grammar_of_operator(PG_GETARG_TEXT_PP(2));

	check_may_read(index);
	PG_RETURN_POINTER(pig_new_bm25query(index, grammar, VARDATA_ANY(query), VARSIZE_ANY_EXHDR(query)));
}

PG_FUNCTION_INFO_V1(pigment_pg_with_words);
Datum
pigment_pg_with_words(PG_FUNCTION_ARGS)
{
	const Bm25Query *query = DatumGetBm25Query(PG_GETARG_DATUM(0));
	text	   *words = PG_GETARG_TEXT_PP(1);

	PG_RETURN_POINTER(pig_new_bm25query(query->index, query->grammar, VARDATA_ANY(words), VARSIZE_ANY_EXHDR(words)));
}

/*
 * What stands behind the index's name.
 */
static const char *
grammar_text(int32 grammar)
{
	return grammar == PIGMENT_QUERY_CLAUSES ? "(any)" : grammar == PIGMENT_QUERY_CLAUSES_ALL ? "(all)" : "";
}

static int32
take_grammar(const char *name, int *size)
{
	for (int32 grammar = PIGMENT_QUERY_CLAUSES; grammar <= PIGMENT_QUERY_CLAUSES_ALL; grammar++)
	{
		int			length = (int) strlen(grammar_text(grammar));

		if (*size > length && memcmp(name + *size - length, grammar_text(grammar), (Size) length) == 0)
		{
			*size -= length;
			return grammar;
		}
	}
	return PIGMENT_QUERY_WORDS;
}

/*
 * "index:words", of clauses "index(any):query" or "index(all):query"; a colon in the index's name stands between double quotes.
 */
PG_FUNCTION_INFO_V1(pigment_pg_bm25query_in);
Datum
pigment_pg_bm25query_in(PG_FUNCTION_ARGS)
{
	const char *input = PG_GETARG_CSTRING(0);
	const char *end = input;
	bool		is_quoted = false;
	int			size;
	int32		grammar;
	Oid			index;

	for (; *end != '\0' && (is_quoted || *end != ':'); end++)
		is_quoted ^= *end == '"';
	if (*end != ':')
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_TEXT_REPRESENTATION),
				 errmsg("invalid input syntax for type %s: \"%s\"", "bm25query", input),
				 errdetail("Expected the name of an index, a colon and words.")));
	size = (int) (end - input);
	grammar = take_grammar(input, &size);
	index = DatumGetObjectId(DirectFunctionCall1(regclassin, CStringGetDatum(pnstrdup(input, (Size) size))));
	check_may_read(index);
	PG_RETURN_POINTER(pig_new_bm25query(index, grammar, end + 1, (int) strlen(end + 1)));
}

PG_FUNCTION_INFO_V1(pigment_pg_bm25query_out);
Datum
pigment_pg_bm25query_out(PG_FUNCTION_ARGS)
{
	const Bm25Query *query = DatumGetBm25Query(PG_GETARG_DATUM(0));
	const char *index = DatumGetCString(DirectFunctionCall1(regclassout, ObjectIdGetDatum(query->index)));

	PG_RETURN_CSTRING(psprintf("%s%s:%s", index, grammar_text(query->grammar), pnstrdup(query->words, (Size) pig_words_size(query))));
}

/* ---- what is counted ---- */

/*
 * Of one statement and snapshot. What another session inserts meanwhile is not counted for one part of a statement and left out for another.
 */
typedef struct CountedFor
{
	TimestampTz statement;
	TransactionId xmin;
	TransactionId xmax;
	uint32		running;
	CommandId	command;
} CountedFor;

typedef struct CountedQuery
{
	Bm25Query  *asked;
	bool		is_shared;
	CountedFor	counted_for;
	pigment_text_query *query;
	int			holders;
} CountedQuery;

typedef struct Holder
{
	MemoryContextCallback release;
	CountedQuery *counted;
} Holder;

static CountedQuery *last_counted;	/* held once for being the last */

/*
 * Frees memory and nothing else.
 */
static void
let_go(CountedQuery *counted)
{
	if (--counted->holders > 0)
		return;
	pigment_text_query_free(counted->query);
	pfree(counted->asked);
	pfree(counted);
}

static void
release_holder(void *arg)
{
	let_go(((Holder *) arg)->counted);
}

static CountedFor
asked_now(Snapshot snapshot)
{
	CountedFor	now = {0};

	now.statement = GetCurrentStatementStartTimestamp();
	now.xmin = snapshot->xmin;
	now.xmax = snapshot->xmax;
	now.running = snapshot->xcnt;
	now.command = snapshot->curcid;
	return now;
}

static bool
is_same_query(const Bm25Query *a, const Bm25Query *b)
{
	return VARSIZE(a) == VARSIZE(b) && memcmp(a, b, VARSIZE(a)) == 0;
}

/* A count of one index. */
typedef struct Counting
{
	MemoryContextCallback release;
	PigSource	segment_pages;
	PigSource	pending_pages;
	PigMeta		meta;
	pigment_host_search *search;
} Counting;

static void
release_counting(void *arg)
{
	pigment_host_search_free(((Counting *) arg)->search);
}

static void
count_in(Relation index, int column, pigment_text_query *query)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "pigment count", ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	Counting   *counting = palloc0(sizeof(Counting));
	pigment_host_search_options options = {.struct_size = sizeof(options)};
	pigment_pending_cache *pending;
	PigSegments *segments;
	pigment_status status;
	pigment_error *error;
	ErrorData **kept;

	pig_read_meta(index, &counting->meta);
	pig_source_init(&counting->segment_pages, index, NULL, false, context);
	pig_source_init(&counting->pending_pages, index, NULL, true, context);
	segments = pig_hold_segments(&counting->segment_pages, &counting->meta, context);
	counting->release.func = release_counting;
	counting->release.arg = counting;
	MemoryContextRegisterResetCallback(context, &counting->release);
	options.text = query;
	options.text_column = (uint32_t) column;
	PIG_CALL(NULL, pigment_host_search_new(&options, &counting->search, &error));
	pig_source_use(&counting->segment_pages);
	for (int i = 0; i < segments->count; i++)
		PIG_CALL(&counting->segment_pages.error,
				 pigment_host_search_add_segment(counting->search, segments->segments[i], segments->deleted[i], segments->deleted_bytes[i],
												 &error));
	pending = pig_hold_pending(segments, &counting->meta);
	if (pending != NULL)
		PIG_CALL(NULL, pigment_host_search_add_pending_cache(counting->search, &counting->pending_pages.callbacks, pending, &error));
	else
		PIG_CALL(NULL, pigment_host_search_add_pending(counting->search, &counting->pending_pages.callbacks, counting->meta.pending_stamp,
													   counting->meta.pending_head, &error));
	do
	{
		error = NULL;
		kept = &counting->segment_pages.error;
		pig_source_use(&counting->segment_pages);
		status = pigment_text_query_count(query, counting->search, &error);
		if (counting->pending_pages.error != NULL)
			kept = &counting->pending_pages.error;
	} while (pig_retry(status, error, kept));
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}

/*
 * The query without what is counted.
 */
static pigment_text_query *
read_query(Relation index, const Bm25Query *asked)
{
	PigOptions	parameters = pig_options(index);
	pigment_text_query_options options = {.struct_size = sizeof(options)};
	pigment_text_query *query = NULL;
	pigment_error *error = NULL;

	options.words = pig_engine_text(asked->words, pig_words_size(asked), &options.words_size);
	options.k1 = parameters.k1;
	options.b = parameters.b;
	options.grammar = asked->grammar;
	pig_check(pigment_text_query_new(pig_columns(index).columns[pig_ranked_column(index)].analyzer, &options, &query, &error), &error);
	return query;
}

/* check_bm25query(query): an error where it cannot be asked */
PG_FUNCTION_INFO_V1(pigment_pg_check_bm25query);
Datum
pigment_pg_check_bm25query(PG_FUNCTION_ARGS)
{
	const Bm25Query *asked = DatumGetBm25Query(PG_GETARG_DATUM(0));
	Relation	index = open_ranking(asked->index);

	pigment_text_query_free(read_query(index, asked));
	index_close(index, NoLock);
	PG_RETURN_VOID();
}

static void
count_all(const Bm25Query *asked, CountedQuery *counted)
{
	Relation	index = open_ranking(asked->index);
	int			column = pig_ranked_column(index);
	List	   *parts = NIL;
	ListCell   *cell;

	counted->query = read_query(index, asked);
	if (index->rd_rel->relkind == RELKIND_INDEX)
		count_in(index, column, counted->query);
	else
		parts = find_all_inheritors(asked->index, AccessShareLock, NULL);
	foreach(cell, parts)
	{
		Relation	part;

		if (get_rel_relkind(lfirst_oid(cell)) != RELKIND_INDEX)
			continue;
		part = index_open(lfirst_oid(cell), NoLock);
		count_in(part, pig_ranked_column(part), counted->query);
		index_close(part, NoLock);
	}
	index_close(index, NoLock);
}

pigment_text_query *
pig_hold_text_query(const Bm25Query *query, Snapshot snapshot, MemoryContext context)
{
	Holder	   *holder = MemoryContextAllocZero(context, sizeof(Holder));
	CountedFor	now = {0};
	CountedQuery *counted = last_counted;

	if (snapshot != NULL)
		now = asked_now(snapshot);
	if (counted == NULL || snapshot == NULL || memcmp(&counted->counted_for, &now, sizeof(now)) != 0 ||
		!is_same_query(counted->asked, query))
	{
		counted = MemoryContextAllocZero(TopMemoryContext, sizeof(CountedQuery));
		counted->asked = MemoryContextAlloc(TopMemoryContext, VARSIZE(query));
		memcpy(counted->asked, query, VARSIZE(query));
		counted->counted_for = now;
		/* from here on it goes with the caller's context, also after an error */
	}
	counted->holders++;
	holder->counted = counted;
	holder->release.func = release_holder;
	holder->release.arg = holder;
	MemoryContextRegisterResetCallback(context, &holder->release);
	if (counted->query == NULL)
	{
		count_all(query, counted);
		if (snapshot != NULL)
		{
			if (last_counted != NULL)
				let_go(last_counted);
			last_counted = counted;
			counted->holders++;
		}
	}
	return counted->query;
}

bool
pig_ranks_alike(Relation index, Oid other)
{
	Relation	named;
	bool		is_alike;

	if (RelationGetRelid(index) == other)
		return true;
	named = open_ranking(other);
	is_alike = pig_columns(named).columns[pig_ranked_column(named)].analyzer ==
		pig_columns(index).columns[pig_ranked_column(index)].analyzer;
	index_close(named, NoLock);
	return is_alike;
}

/* ---- the operator ---- */

/* Of one place in a plan. */
typedef struct Scoring
{
	MemoryContext context;		/* of what follows; a child of the function's */
	Bm25Query  *asked;
	pigment_text_query *query;
} Scoring;

static Scoring *
start_scoring(FmgrInfo *function, const Bm25Query *query)
{
	Scoring    *scoring = function->fn_extra;
	MemoryContext context;

	if (scoring != NULL && is_same_query(scoring->asked, query))
		return scoring;
	function->fn_extra = NULL;
	if (scoring != NULL)
		MemoryContextDelete(scoring->context);
	context = AllocSetContextCreate(function->fn_mcxt, "pigment score", ALLOCSET_SMALL_SIZES);
	scoring = MemoryContextAllocZero(context, sizeof(Scoring));
	scoring->context = context;
	scoring->asked = MemoryContextAlloc(context, VARSIZE(query));
	memcpy(scoring->asked, query, VARSIZE(query));
	scoring->query = pig_hold_text_query(query, ActiveSnapshotSet() ? GetActiveSnapshot() : NULL, context);
	function->fn_extra = scoring;
	return scoring;
}

PG_FUNCTION_INFO_V1(pigment_pg_bm25_score);
Datum
pigment_pg_bm25_score(PG_FUNCTION_ARGS)
{
	text	   *given = PG_GETARG_TEXT_PP(0);
	Bm25Query  *query = DatumGetBm25Query(PG_GETARG_DATUM(1));
	const Scoring *scoring = start_scoring(fcinfo->flinfo, query);
	pigment_error *error = NULL;
	size_t		size;
	const char *bytes = pig_engine_text(VARDATA_ANY(given), VARSIZE_ANY_EXHDR(given), &size);
	double		score;

	pig_check(pigment_text_query_score(scoring->query, bytes, size, &score, &error), &error);
	PG_FREE_IF_COPY(given, 0);
	PG_FREE_IF_COPY(query, 1);
	PG_RETURN_FLOAT8(score);
}

PG_FUNCTION_INFO_V1(pigment_pg_bm25_score_of_column);
Datum
pigment_pg_bm25_score_of_column(PG_FUNCTION_ARGS)
{
	ereport(ERROR,
			(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
			 errmsg("operator <@> found no index, or more than one, by which to rank a text"),
			 errdetail("A text alone has no score: what a word is worth is counted in the texts of an index."),
			 errhint("Rank a column that has one index USING pigment (column text_bm25_ops), or name the index: "
					 "text <@> to_bm25query('index', 'words').")));
	PG_RETURN_NULL();
}
