/* SPDX-License-Identifier: Apache-2.0 */

/*
 * patterns.c
 *	  Texts that a match of LIKE, or of a regular expression, must have.
 *
 * Regular expressions are the server's AREs. They are read here by their syntax: a part whose texts are few is "exact" and grows with what follows,
 * and whatever else stands between such parts ends them. After Cox, "Regular Expression Matching with a Trigram Index" (2012). What is not
 * read, because it is rare (back references, options, characters by number) or because it is no regular expression, is known nothing of: all rows are
 * looked at by the server, which knows what it means or complains of it. Assertions match no character, so texts go on beyond them.
 */
#include "postgres.h"

#include "access/stratnum.h"
#include "compat.h"
#include "lib/stringinfo.h"
#include "mb/pg_wchar.h"
#include "utils/array.h"

#include "patterns.h"
#include "text_fold.h"

/* Of each text so many bytes are looked for. */
#define TEXT_BYTES_MAX 256
/* Texts of fewer bytes are in nearly every value. */
#define TEXT_BYTES_MIN 2
/* Longer expressions are not read, nor more groups in groups. */
#define REGEX_BYTES_MAX 4096
#define REGEX_DEPTH_MAX 50
/* The most that a bound may say; more is an error of the server. */
#define REGEX_REPEATS_MAX 255

/* ---- sets of texts ---- */

static pigment_host_bytes
make_text(const char *bytes, size_t size)
{
	pigment_host_bytes text = {.bytes = pnstrdup(bytes, size), .size = size};

	return text;
}

static bool
is_equal(const pigment_host_bytes *a, const pigment_host_bytes *b)
{
	return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

/*
 * False: there is no room for it.
 */
static bool
add_text(PigTexts *texts, pigment_host_bytes text)
{
	for (int i = 0; i < texts->count; i++)
		if (is_equal(&texts->texts[i], &text))
			return true;
	if (texts->count == PIG_TEXTS_MAX)
		return false;
	texts->texts[texts->count++] = text;
	return true;
}

static bool
unite(PigTexts *all, const PigTexts *more)
{
	for (int i = 0; i < more->count; i++)
		if (!add_text(all, more->texts[i]))
			return false;
	return true;
}

/*
 * Each text of `all` goes on with each of `next`. False: these would be too many, or too long.
 */
static bool
append_texts(PigTexts *all, const PigTexts *next)
{
	PigTexts	longer = {0};

	for (int i = 0; i < all->count; i++)
		for (int j = 0; j < next->count; j++)
		{
			pigment_host_bytes a = all->texts[i];
			pigment_host_bytes b = next->texts[j];
			pigment_host_bytes text = {.size = a.size + b.size};
			char	   *bytes;

			if (text.size > TEXT_BYTES_MAX)
				return false;
			text.bytes = bytes = palloc(text.size + 1);
			memcpy(bytes, a.bytes, a.size);
			memcpy(bytes + a.size, b.bytes, b.size);
			if (!add_text(&longer, text))
				return false;
		}
	*all = longer;
	return true;
}

static size_t
shortest(const PigTexts *texts)
{
	size_t		size = texts->texts[0].size;

	for (int i = 1; i < texts->count; i++)
		size = Min(size, texts->texts[i].size);
	return size;
}

static PigTexts
only_empty(void)
{
	PigTexts	texts = {.count = 1};

	texts.texts[0] = make_text("", 0);
	return texts;
}

/*
 * Adds a set to those of which one text each must be there, if that says anything.
 */
static List *
require(List *sets, const PigTexts *texts)
{
	PigTexts   *set;

	if (shortest(texts) < TEXT_BYTES_MIN)
		return sets;
	set = palloc(sizeof(PigTexts));
	*set = *texts;
	return lappend(sets, set);
}

/*
 * The one that is likely to be rarest; NULL: there is none.
 */
static const PigTexts *
best_set(const List *sets)
{
	const PigTexts *best = NULL;
	ListCell   *cell;

	foreach(cell, sets)
	{
		const PigTexts *set = lfirst(cell);

		if (best == NULL || shortest(set) > shortest(best))
			best = set;
	}
	return best;
}

/* ---- LIKE ---- */

/*
 * Texts between wildcards. With a backslash at the end it is the operator's to complain.
 */
static List *
read_like(const char *at, const char *end, bool ignores_case)
{
	List	   *sets = NIL;
	StringInfoData run;

	initStringInfo(&run);
	for (int bytes = 0; at <= end; at += bytes)
	{
		bool		is_wildcard = at == end || *at == '%' || *at == '_';

		bytes = 1;
		if (!is_wildcard && *at == '\\' && ++at == end)
			return NIL;
		if (!is_wildcard)
			bytes = pig_character_bytes(at, end);
		if (!is_wildcard && (!ignores_case || pig_folds_all_cases(at, end)))
		{
			pig_fold_text(at, (Size) bytes, &run);
			continue;
		}
		if (run.len >= TEXT_BYTES_MIN)
		{
			PigTexts	texts = {.count = 1};

			texts.texts[0] = make_text(run.data, (size_t) Min(run.len, TEXT_BYTES_MAX));
			sets = require(sets, &texts);
		}
		resetStringInfo(&run);
	}
	return sets;
}

/* ---- regular expressions ---- */

static bool
is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

/* Of ASCII. */
static bool
is_alphanumeric(char byte)
{
	return is_digit(byte) || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z');
}

typedef struct Parser
{
	const char *at;
	const char *end;
	bool		ignores_case;
	bool		failed;			/* nothing is known */
	int			depth;
} Parser;

/* What is known of a part. */
typedef struct Part
{
	bool		is_exact;		/* what it matches is one of these texts, folded */
	PigTexts	texts;
	List	   *sets;			/* otherwise: what it matches has one of each */
	bool		can_repeat;		/* a quantifier may follow */
	bool		is_group;
} Part;

static Part parse_alternatives(Parser *parser);

static bool
skip(Parser *parser, const char *token)
{
	size_t		size = strlen(token);

	if ((size_t) (parser->end - parser->at) < size || memcmp(parser->at, token, size) != 0)
		return false;
	parser->at += size;
	return true;
}

static Part
fail(Parser *parser)
{
	Part		part = {0};

	parser->failed = true;
	parser->at = parser->end;
	return part;
}

static Part
assertion(void)
{
	Part		part = {.is_exact = true, .texts = only_empty()};

	return part;
}

static Part
any_character(void)
{
	Part		part = {.can_repeat = true};

	return part;
}

/*
 * Appends the folded form of the character at parser->at, and goes on; false: it is not the same in all cases.
 */
static bool
read_character(Parser *parser, StringInfo folded)
{
	int			bytes = pig_character_bytes(parser->at, parser->end);
	bool		is_known = !parser->ignores_case || pig_folds_all_cases(parser->at, parser->end);

	pig_fold_text(parser->at, (Size) bytes, folded);
	parser->at += bytes;
	return is_known;
}

static Part
parse_character(Parser *parser)
{
	Part		part = {.is_exact = true, .texts.count = 1, .can_repeat = true};
	StringInfoData folded;

	initStringInfo(&folded);
	if (!read_character(parser, &folded))
		return any_character();
	part.texts.texts[0] = make_text(folded.data, (size_t) folded.len);
	return part;
}

static Part
parse_escape(Parser *parser)
{
	char		next;

	if (parser->at == parser->end)
		return fail(parser);
	next = *parser->at;
	if (next != '\0' && strchr("dswDSW", next) != NULL)
	{
		parser->at++;
		return any_character();
	}
	if (next != '\0' && strchr("AmMyYZ", next) != NULL)
	{
		parser->at++;
		return assertion();
	}
	if (IS_HIGHBIT_SET(next) || is_alphanumeric(next))
		return fail(parser);
	return parse_character(parser);
}

static bool
skip_class(Parser *parser)
{
	static const char *const names[] = {"alnum:]", "alpha:]", "ascii:]", "blank:]", "cntrl:]", "digit:]", "graph:]", "lower:]", "print:]", "punct:]",
	"space:]", "upper:]", "xdigit:]"};

	for (Size i = 0; i < lengthof(names); i++)
		if (skip(parser, names[i]))
			return true;
	return false;
}

/*
 * Behind the opening bracket. Of a few characters each is a text.
 */
static Part
parse_bracket(Parser *parser)
{
	Part		part = {.is_exact = true, .can_repeat = true};
	bool		is_known = !skip(parser, "^");

	for (bool is_first = true; is_first || parser->at == parser->end || *parser->at != ']'; is_first = false)
	{
		StringInfoData low;
		StringInfoData high;

		/* as the server reads them: names in brackets, and escapes, are for others than us */
		if (skip(parser, "[:"))
		{
			is_known = false;
			if (!skip_class(parser))
				return fail(parser);
			continue;
		}
		if (parser->at == parser->end || *parser->at == '\\' || *parser->at == '[' || (*parser->at == '-' && !is_first))
			return fail(parser);
		initStringInfo(&low);
		is_known &= read_character(parser, &low);
		is_known &= add_text(&part.texts, make_text(low.data, (size_t) low.len));
		/* a range, of which the server demands that it has an order: we look only at what is beyond doubt */
		if (parser->end - parser->at < 2 || parser->at[0] != '-' || parser->at[1] == ']')
			continue;
		parser->at++;
		is_known = false;
		if (!is_alphanumeric(parser->at[-2]) || !is_alphanumeric(*parser->at) || parser->at[-2] > *parser->at)
			return fail(parser);
		initStringInfo(&high);
		(void) read_character(parser, &high);
	}
	parser->at++;
	return is_known ? part : any_character();
}

/*
 * Behind the opening parenthesis.
 */
static Part
parse_group(Parser *parser)
{
	bool		is_assertion = false;
	Part		part;

	if (skip(parser, "?="))
		is_assertion = true;
	else if (skip(parser, "?!") || skip(parser, "?<=") || skip(parser, "?<!"))
		is_assertion = true;
	else if (!skip(parser, "?:") && parser->at < parser->end && *parser->at == '?')
		return fail(parser);
	if (++parser->depth > REGEX_DEPTH_MAX)
		return fail(parser);
	part = parse_alternatives(parser);
	parser->depth--;
	if (!skip(parser, ")"))
		return fail(parser);
	if (is_assertion)
		return assertion();
	part.can_repeat = part.is_group = true;
	return part;
}

static Part
parse_atom(Parser *parser)
{
	char		first = *parser->at;

	switch (first)
	{
		case '(':
			parser->at++;
			return parse_group(parser);
		case '[':
			parser->at++;
			return parse_bracket(parser);
		case '.':
			parser->at++;
			return any_character();
		case '^':
		case '$':
			parser->at++;
			return assertion();
		case '\\':
			parser->at++;
			return parse_escape(parser);
		case '*':
		case '+':
		case '?':
		case '{':
			return fail(parser);
		default:
			return parse_character(parser);
	}
}

static bool
read_number(Parser *parser, int *number)
{
	const char *begin = parser->at;

	*number = 0;
	while (parser->at < parser->end && is_digit(*parser->at) && *number <= REGEX_REPEATS_MAX)
		*number = *number * 10 + (*parser->at++ - '0');
	return parser->at > begin && *number <= REGEX_REPEATS_MAX;
}

/* How often an atom comes. */
typedef enum Quantity
{
	ONCE,
	ONCE_OR_NOT,
	ANY_NUMBER,
	ONCE_OR_MORE
} Quantity;

static Quantity
parse_quantifier(Parser *parser, const Part *atom)
{
	Quantity	quantity = ONCE;
	int			least = 0;
	int			most = 0;

	if (skip(parser, "*"))
		quantity = ANY_NUMBER;
	else if (skip(parser, "+"))
		quantity = ONCE_OR_MORE;
	else if (skip(parser, "?"))
		quantity = ONCE_OR_NOT;
	else if (skip(parser, "{"))
	{
		if (!read_number(parser, &least))
			(void) fail(parser);
		most = least;
		if (skip(parser, ",") && parser->at < parser->end && *parser->at == '}')
			most = REGEX_REPEATS_MAX;
		else if (parser->at < parser->end && *parser->at != '}' && !read_number(parser, &most))
			(void) fail(parser);
		/* of large parts many may be too large for the server */
		if (!skip(parser, "}") || least > most || (atom->is_group && !(atom->is_exact && atom->texts.count == 1)))
			(void) fail(parser);
		quantity = least == 0 ? ANY_NUMBER : most == 1 ? ONCE : ONCE_OR_MORE;
	}
	else
		return ONCE;
	(void) skip(parser, "?");
	if (!atom->can_repeat || (parser->at < parser->end && strchr("*+?{", *parser->at) != NULL))
		(void) fail(parser);
	return quantity;
}

/* A sequence as it is read. */
typedef struct Sequence
{
	PigTexts	texts;			/* what stands before the place, back to where texts are not known */
	List	   *sets;
	bool		is_exact;		/* texts go back to the begin */
} Sequence;

static void
cut(Sequence *sequence, const PigTexts *next)
{
	sequence->sets = require(sequence->sets, &sequence->texts);
	sequence->texts = *next;
	sequence->is_exact = false;
}

static void
append_part(Sequence *sequence, const PigTexts *texts)
{
	if (!append_texts(&sequence->texts, texts))
		cut(sequence, texts);
}

static void
add_atom(Sequence *sequence, const Part *atom, Quantity quantity)
{
	PigTexts	empty = only_empty();
	PigTexts	texts = atom->texts;

	if (!atom->is_exact || quantity == ANY_NUMBER)
	{
		cut(sequence, &empty);
		if (quantity == ONCE || quantity == ONCE_OR_MORE)
			sequence->sets = list_concat(sequence->sets, atom->sets);
		return;
	}
	if (quantity == ONCE_OR_NOT && !unite(&texts, &empty))
	{
		cut(sequence, &empty);
		return;
	}
	append_part(sequence, &texts);
	if (quantity == ONCE_OR_MORE)
		cut(sequence, &texts);
}

static Part
parse_sequence(Parser *parser)
{
	Sequence	sequence = {.texts = only_empty(), .is_exact = true};
	Part		part = {0};

	while (parser->at < parser->end && *parser->at != '|' && *parser->at != ')')
	{
		Part		atom = parse_atom(parser);
		Quantity	quantity = parse_quantifier(parser, &atom);

		if (parser->failed)
			return part;
		add_atom(&sequence, &atom, quantity);
	}
	part.is_exact = sequence.is_exact;
	part.texts = sequence.texts;
	if (!part.is_exact)
		part.sets = require(sequence.sets, &sequence.texts);
	return part;
}

static List *
sets_of(const Part *part)
{
	return part->is_exact ? require(NIL, &part->texts) : part->sets;
}

/*
 * What is known of either of two parts: one set of each together.
 */
static Part
either(const Part *a, const Part *b)
{
	Part		part = *a;
	const PigTexts *of_a;
	const PigTexts *of_b;
	PigTexts	set;

	if (a->is_exact && b->is_exact && unite(&part.texts, &b->texts))
		return part;
	part.is_exact = false;
	part.sets = NIL;
	of_a = best_set(sets_of(a));
	of_b = best_set(sets_of(b));
	if (of_a == NULL || of_b == NULL)
		return part;
	set = *of_a;
	if (unite(&set, of_b))
		part.sets = require(NIL, &set);
	return part;
}

static Part
parse_alternatives(Parser *parser)
{
	Part		all = parse_sequence(parser);

	while (!parser->failed && skip(parser, "|"))
	{
		Part		next = parse_sequence(parser);

		all = either(&all, &next);
	}
	return all;
}

static List *
read_regex(const char *at, const char *end, bool ignores_case)
{
	Parser		parser = {.at = at, .end = end, .ignores_case = ignores_case};
	Part		part;

	/* a director or an option, both of which may change what all the rest means */
	if (end - at > REGEX_BYTES_MAX || skip(&parser, "***"))
		return NIL;
	part = parse_alternatives(&parser);
	if (parser.failed || parser.at < parser.end)
		return NIL;
	return sets_of(&part);
}

/* ---- by strategy ---- */

static List *
read_text(const char *at, const char *end)
{
	PigTexts	texts = {.count = 1};
	StringInfoData folded;

	initStringInfo(&folded);
	pig_fold_text(at, (Size) pg_mbcliplen(at, (int) (end - at), TEXT_BYTES_MAX), &folded);
	texts.texts[0] = make_text(folded.data, (size_t) folded.len);
	return require(NIL, &texts);
}

List *
pig_texts_of_pattern(int strategy, Datum pattern)
{
	text	   *given = DatumGetTextPP(pattern);
	const char *begin = VARDATA_ANY(given);
	const char *end = begin + VARSIZE_ANY_EXHDR(given);
	List	   *sets = NIL;

	switch (strategy)
	{
		case BTEqualStrategyNumber:
		case PIG_TEXT_STARTS_WITH:
			sets = read_text(begin, end);
			break;
		case PIG_TEXT_LIKE:
		case PIG_TEXT_ILIKE:
			sets = read_like(begin, end, strategy == PIG_TEXT_ILIKE);
			break;
		case PIG_TEXT_REGEX:
		case PIG_TEXT_IREGEX:
			sets = read_regex(begin, end, strategy == PIG_TEXT_IREGEX);
			break;
	}
	return list_truncate(sets, PIG_PATTERN_SETS_MAX);
}

List *
pig_texts_of_patterns(int strategy, Datum patterns)
{
	ArrayType  *array = DatumGetArrayTypeP(patterns);
	ArrayIterator iterator = array_create_iterator(array, 0, NULL);
	Datum		element;
	bool		is_null;
	PigTexts	all = {0};
	bool		is_known = true;

	while (is_known && array_iterate(iterator, &element, &is_null))
	{
		const PigTexts *best = is_null ? NULL : best_set(pig_texts_of_pattern(strategy, element));

		/* NULL matches nothing */
		is_known = is_null || (best != NULL && unite(&all, best));
	}
	array_free_iterator(iterator);
	return is_known && all.count > 0 ? require(NIL, &all) : NIL;
}
