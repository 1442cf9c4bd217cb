/* SPDX-License-Identifier: Apache-2.0 */

/*
 * json_keys.c
 *	  The elements that a jsonb column has in an index, and ranges of them that conditions ask for.
 */
#include "postgres.h"

#include "catalog/pg_type.h"
#include "compat.h"
#include "utils/fmgrprotos.h"

#include "json_keys.h"
#include "keys.h"

/* Longer strings are no number that anybody compares with; their exponents have no more digits. */
#define DECIMAL_BYTES_MAX 200
#define EXPONENT_DIGITS_MAX 3

/* ---- paths ---- */

bool
pig_json_path_add(PigJsonPath *path, const char *key, int size)
{
	if (path->count == PIG_JSON_KEYS_MAX || size >= PIG_JSON_PATH_BYTES_MAX - path->size)
		return false;
	memcpy(path->keys + path->size, key, (Size) size);
	path->size += size;
	path->keys[path->size++] = '\0';
	path->count++;
	return true;
}

static void
begin_element(StringInfo out, const PigJsonPath *path, int sort)
{
	appendStringInfoChar(out, (char) path->count);
	appendBinaryStringInfo(out, path->keys, path->size);
	appendStringInfoChar(out, (char) sort);
}

static StringInfoData
new_element(const PigJsonPath *path, int sort)
{
	StringInfoData element;

	initStringInfo(&element);
	begin_element(&element, path, sort);
	return element;
}

static void
cut_element(StringInfo out)
{
	out->len = Min(out->len, PIG_KEY_BYTES_MAX);
}

static void
append_number(StringInfo out, Numeric value)
{
	static const PigColumn numbers = {.kind = PIG_COLUMN_VALUE, .type = NUMERICOID, .key_bytes_max = PIG_KEY_BYTES_MAX};

	(void) pig_value_key(&numbers, NUMERICOID, NumericGetDatum(value), out);
}

/* ---- strings that are numbers ---- */

static bool
is_space(char byte)
{
	return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static bool
is_digit(char byte)
{
	return byte >= '0' && byte <= '9';
}

static const char *
skip_digits(const char *at, const char *end)
{
	while (at < end && is_digit(*at))
		at++;
	return at;
}

/*
 * Where digits with or without a point and an exponent end; NULL: there are none.
 */
static const char *
skip_decimal(const char *at, const char *end)
{
	const char *begin = at;
	const char *exponent;
	int			points = 0;

	at = skip_digits(at, end);
	if (at < end && *at == '.')
	{
		points = 1;
		at = skip_digits(at + 1, end);
	}
	if (at - begin == points)
		return NULL;
	if (at < end && (*at == 'e' || *at == 'E'))
	{
		exponent = at + 1;
		if (exponent < end && (*exponent == '+' || *exponent == '-'))
			exponent++;
		at = skip_digits(exponent, end);
		if (at == exponent || at - exponent > EXPONENT_DIGITS_MAX)
			return NULL;
	}
	return at;
}

/*
 * Whether a word of three letters, small or capital ones, is what comes next.
 */
static bool
is_word(const char *at, const char *end, const char *word)
{
	return end - at >= 3 && pg_strncasecmp(at, word, 3) == 0;
}

/*
 * What a string is to casts of numbers: DECIMAL, with its number without spaces in *number; ODD, where one may take it in this version of the server or
 * in another (NaN, infinity, 0x1F, 1_000); 0: none does.
 */
static int
number_in_string(const char *at, int size, char **number)
{
	const char *end = at + size;
	const char *first;
	const char *rest;

	while (at < end && is_space(*at))
		at++;
	first = at;
	if (at < end && (*at == '+' || *at == '-'))
		at++;
	if (at == end)
		return 0;
	/* a byte that is not ASCII may be a space in some locale */
	if (!is_digit(*at) && strchr(".+-", *at) == NULL && !is_space(*at) && ((unsigned char) *at & 0x80) == 0 && !is_word(at, end, "nan") &&
		!is_word(at, end, "inf"))
		return 0;
	rest = skip_decimal(at, end);
	if (rest == NULL || rest - first > DECIMAL_BYTES_MAX)
		return PIG_JSON_ODD;
	*number = pnstrdup(first, (Size) (rest - first));
	while (rest < end && is_space(*rest))
		rest++;
	if (rest == end)
		return PIG_JSON_DECIMAL;
	pfree(*number);
	return PIG_JSON_ODD;
}

static Numeric
read_numeric(char *text)
{
	return DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

/* ---- elements of a value ---- */

typedef struct Walk
{
	PigElementVisitor visit;
	void	   *arg;
	StringInfoData element;
} Walk;

static void
give_element(Walk *walk)
{
	cut_element(&walk->element);
	walk->visit(walk->arg, walk->element.data, walk->element.len);
	resetStringInfo(&walk->element);
}

static void
visit_scalar(Walk *walk, const PigJsonPath *path, int in_array, const JsonbValue *value)
{
	char	   *number = NULL;
	int			sort;

	switch (value->type)
	{
		case jbvNull:
			begin_element(&walk->element, path, PIG_JSON_NULL | in_array);
			break;
		case jbvBool:
			begin_element(&walk->element, path, (value->val.boolean ? PIG_JSON_TRUE : PIG_JSON_FALSE) | in_array);
			break;
		case jbvNumeric:
			begin_element(&walk->element, path, PIG_JSON_NUMBER | in_array);
			append_number(&walk->element, value->val.numeric);
			break;
		case jbvString:
			sort = number_in_string(value->val.string.val, value->val.string.len, &number);
			if (sort != 0)
			{
				begin_element(&walk->element, path, sort | in_array);
				if (number != NULL && sort == PIG_JSON_DECIMAL)
				{
					append_number(&walk->element, read_numeric(number));
					pfree(number);
				}
				give_element(walk);
			}
			begin_element(&walk->element, path, PIG_JSON_STRING | in_array);
			appendBinaryStringInfo(&walk->element, value->val.string.val, Min(value->val.string.len, PIG_KEY_BYTES_MAX));
			break;
		default:
			elog(ERROR, "unexpected jsonb value type %d", value->type);
	}
	give_element(walk);
}

/*
 * What is open around a value: the path to it, which may be too long for anything in it.
 */
typedef struct Level
{
	struct Level *outer;
	int			size;			/* of the path to the object or array itself */
	int			count;
	int			in_array;		/* of what is in it */
	bool		is_deep;
} Level;

void
pig_visit_json_elements(Jsonb *json, PigElementVisitor visit, void *arg)
{
	Walk		walk = {.visit = visit, .arg = arg};
	JsonbIterator *iterator = JsonbIteratorInit(&json->root);
	JsonbIteratorToken token;
	JsonbValue	value;
	PigJsonPath path = {.direct = true};
	Level	   *level = NULL;
	bool		is_deep = false;	/* the value that comes lies too deep */

	initStringInfo(&walk.element);
	while ((token = JsonbIteratorNext(&iterator, &value, false)) != WJB_DONE)
	{
		int			in_array = level != NULL ? level->in_array : 0;

		switch (token)
		{
			case WJB_BEGIN_OBJECT:
			case WJB_BEGIN_ARRAY:
				{
					bool		is_scalar = token == WJB_BEGIN_ARRAY && value.val.array.rawScalar;
					Level	   *inner = palloc(sizeof(Level));

					if (!is_deep && !is_scalar)
					{
						begin_element(&walk.element, &path, (token == WJB_BEGIN_OBJECT ? PIG_JSON_OBJECT : PIG_JSON_ARRAY) | in_array);
						give_element(&walk);
					}
					*inner = (Level) {level, path.size, path.count, in_array, is_deep};
					if (token == WJB_BEGIN_ARRAY && !is_scalar)
						inner->in_array = PIG_JSON_IN_ARRAY;
					level = inner;
				}
				break;
			case WJB_KEY:
				path.size = level->size;
				path.count = level->count;
				is_deep = level->is_deep || !pig_json_path_add(&path, value.val.string.val, value.val.string.len);
				break;
			case WJB_VALUE:
			case WJB_ELEM:
				if (!is_deep)
					visit_scalar(&walk, &path, in_array, &value);
				break;
			case WJB_END_OBJECT:
			case WJB_END_ARRAY:
				{
					Level	   *ended = level;

					path.size = ended->size;
					path.count = ended->count;
					is_deep = ended->is_deep;
					level = ended->outer;
					pfree(ended);
				}
				break;
			default:
				elog(ERROR, "unexpected jsonb token %d", token);
		}
	}
	pfree(walk.element.data);
}

/* ---- ranges ---- */

PigRanges *
pig_new_ranges(void)
{
	PigRanges  *ranges = palloc0(sizeof(PigRanges));

	ranges->rank = PIG_RANK_VALUE;
	return ranges;
}

/*
 * high NULL: the first alone. Takes both over.
 */
static void
add_pair(PigRanges *ranges, const StringInfoData *low, const StringInfoData *high)
{
	if (ranges->count + 2 > ranges->capacity)
	{
		ranges->capacity = Max(ranges->capacity * 2, 8);
		ranges->keys = ranges->keys == NULL ? palloc(sizeof(pigment_host_bytes) * (Size) ranges->capacity) :
			repalloc(ranges->keys, sizeof(pigment_host_bytes) * (Size) ranges->capacity);
	}
	ranges->keys[ranges->count].bytes = low->data;
	ranges->keys[ranges->count++].size = (size_t) low->len;
	ranges->keys[ranges->count].bytes = high != NULL ? high->data : NULL;
	ranges->keys[ranges->count++].size = high != NULL ? (size_t) high->len : 0;
}

void
pig_add_ranges(PigRanges *ranges, const PigRanges *more)
{
	for (int i = 0; i < more->count; i += 2)
	{
		StringInfoData low = {.data = unconstify(char *, (const char *) more->keys[i].bytes), .len = (int) more->keys[i].size};
		StringInfoData high = {.data = unconstify(char *, (const char *) more->keys[i + 1].bytes), .len = (int) more->keys[i + 1].size};

		add_pair(ranges, &low, high.data != NULL ? &high : NULL);
	}
	ranges->rank = Min(ranges->rank, more->rank);
}

/*
 * Calls for both places where a path is looked for, with what the sort has besides.
 */
#define FOR_EACH_PLACE(path, place) \
	for (int place = (path)->direct ? 0 : PIG_JSON_IN_ARRAY; place <= ((path)->in_array ? PIG_JSON_IN_ARRAY : 0); place += PIG_JSON_IN_ARRAY)

void
pig_add_sorts(PigRanges *ranges, const PigJsonPath *path, int first, int last)
{
	FOR_EACH_PLACE(path, place)
	{
		StringInfoData low = new_element(path, first | place);
		StringInfoData high = new_element(path, (last | place) + 1);

		/* the last sort that is one is followed by none */
		add_pair(ranges, &low, &high);
	}
	ranges->rank = Min(ranges->rank, first == PIG_JSON_NULL && last == PIG_JSON_LAST ? PIG_RANK_PATH : PIG_RANK_RANGE);
}

void
pig_add_string(PigRanges *ranges, const PigJsonPath *path, const char *bytes, int size)
{
	FOR_EACH_PLACE(path, place)
	{
		StringInfoData key = new_element(path, PIG_JSON_STRING | place);

		appendBinaryStringInfo(&key, bytes, Min(size, PIG_KEY_BYTES_MAX));
		cut_element(&key);
		add_pair(ranges, &key, NULL);
	}
}

void
pig_add_strings_from(PigRanges *ranges, const PigJsonPath *path, int first, int last)
{
	FOR_EACH_PLACE(path, place)
	{
		StringInfoData low = new_element(path, PIG_JSON_STRING | place);
		StringInfoData high = new_element(path, (PIG_JSON_STRING | place) + (last == 0xFF ? 1 : 0));

		appendStringInfoChar(&low, (char) first);
		if (last < 0xFF)
			appendStringInfoChar(&high, (char) (last + 1));
		add_pair(ranges, &low, &high);
	}
	ranges->rank = Min(ranges->rank, PIG_RANK_RANGE);
}

void
pig_add_strings_with_prefix(PigRanges *ranges, const PigJsonPath *path, const char *bytes, int size)
{
	FOR_EACH_PLACE(path, place)
	{
		StringInfoData low = new_element(path, PIG_JSON_STRING | place);
		StringInfoData high;

		initStringInfo(&high);
		appendBinaryStringInfo(&low, bytes, Min(size, PIG_KEY_BYTES_MAX));
		cut_element(&low);
		/* what is above all that begin so; a sort is never 0xFF */
		appendBinaryStringInfo(&high, low.data, low.len);
		while ((unsigned char) high.data[high.len - 1] == 0xFF)
			high.len--;
		high.data[high.len - 1]++;
		add_pair(ranges, &low, &high);
	}
	ranges->rank = Min(ranges->rank, PIG_RANK_RANGE);
}

/*
 * Of numbers that are cut equal keys mean nothing. Others that are above a number have a key above it and a zero, because no byte behind it is one.
 */
void
pig_add_numbers(PigRanges *ranges, const PigJsonPath *path, int sort, Numeric low_number, Numeric high_number, bool is_strict)
{
	FOR_EACH_PLACE(path, place)
	{
		StringInfoData low = new_element(path, sort | place);
		StringInfoData high = new_element(path, (sort | place) + (high_number == NULL ? 1 : 0));

		if (low_number != NULL)
		{
			append_number(&low, low_number);
			cut_element(&low);
			if (is_strict && low.len < PIG_KEY_BYTES_MAX)
				appendStringInfoChar(&low, '\0');
		}
		if (high_number != NULL)
		{
			append_number(&high, high_number);
			cut_element(&high);
			if (!is_strict || high.len == PIG_KEY_BYTES_MAX)
				appendStringInfoChar(&high, '\0');
		}
		add_pair(ranges, &low, &high);
	}
	if (low_number == NULL || high_number == NULL)
		ranges->rank = Min(ranges->rank, PIG_RANK_RANGE);
}

void
pig_add_json_value(PigRanges *ranges, const PigJsonPath *path, const JsonbValue *value)
{
	switch (value->type)
	{
		case jbvNull:
			pig_add_sorts(ranges, path, PIG_JSON_NULL, PIG_JSON_NULL);
			break;
		case jbvBool:
			pig_add_sorts(ranges, path, value->val.boolean ? PIG_JSON_TRUE : PIG_JSON_FALSE, value->val.boolean ? PIG_JSON_TRUE : PIG_JSON_FALSE);
			break;
		case jbvNumeric:
			pig_add_numbers(ranges, path, PIG_JSON_NUMBER, value->val.numeric, value->val.numeric, false);
			break;
		case jbvString:
			pig_add_string(ranges, path, value->val.string.val, value->val.string.len);
			break;
		default:
			pig_add_sorts(ranges, path, PIG_JSON_OBJECT, PIG_JSON_ARRAY);
	}
}

static int
compare_bytes(const char *a, int a_size, const pigment_host_bytes *b)
{
	int			order = memcmp(a, b->bytes, Min((size_t) a_size, b->size));

	return order != 0 ? order : ((size_t) a_size > b->size) - ((size_t) a_size < b->size);
}

bool
pig_in_ranges(const PigRanges *ranges, const char *bytes, int size)
{
	for (int i = 0; i < ranges->count; i += 2)
	{
		int			above = compare_bytes(bytes, size, &ranges->keys[i]);

		if (ranges->keys[i + 1].bytes == NULL ? above == 0 : above >= 0 && compare_bytes(bytes, size, &ranges->keys[i + 1]) < 0)
			return true;
	}
	return false;
}

/* ---- what operators of jsonb ask for ---- */

/*
 * "contained" is in a value that has its scalars, and its objects and arrays without members, at their places; those of an array in an array there.
 */
List *
pig_ranges_of_contained(Jsonb *contained)
{
	List	   *all = NIL;
	JsonbIterator *iterator = JsonbIteratorInit(&contained->root);
	JsonbIteratorToken token;
	JsonbIteratorToken before = WJB_DONE;
	JsonbValue	value;
	PigJsonPath path = {.direct = true};
	Level	   *level = NULL;
	bool		is_deep = false;

	while ((token = JsonbIteratorNext(&iterator, &value, false)) != WJB_DONE)
	{
		PigRanges  *ranges = NULL;

		path.direct = level == NULL || level->in_array == 0;
		path.in_array = !path.direct;
		if (token == WJB_BEGIN_OBJECT || token == WJB_BEGIN_ARRAY)
		{
			bool		is_scalar = token == WJB_BEGIN_ARRAY && value.val.array.rawScalar;
			Level	   *inner = palloc(sizeof(Level));

			*inner = (Level) {level, path.size, path.count, level != NULL ? level->in_array : 0, is_deep};
			if (token == WJB_BEGIN_ARRAY && !is_scalar)
				inner->in_array = PIG_JSON_IN_ARRAY;
			level = inner;
		}
		else if (token == WJB_KEY)
		{
			path.size = level->size;
			path.count = level->count;
			is_deep = level->is_deep || !pig_json_path_add(&path, value.val.string.val, value.val.string.len);
		}
		else if (token == WJB_VALUE || token == WJB_ELEM)
		{
			/* a scalar that is all there is is in an array too */
			path.in_array |= level->outer == NULL && path.direct && token == WJB_ELEM;
			if (!is_deep)
				pig_add_json_value(ranges = pig_new_ranges(), &path, &value);
		}
		else
		{
			bool		is_empty = before == WJB_BEGIN_OBJECT || before == WJB_BEGIN_ARRAY;

			path.size = level->size;
			path.count = level->count;
			is_deep = level->is_deep;
			level = level->outer;
			path.direct = level == NULL || level->in_array == 0;
			path.in_array = !path.direct;
			if (is_empty && !is_deep)
				pig_add_sorts(ranges = pig_new_ranges(), &path, token == WJB_END_OBJECT ? PIG_JSON_OBJECT : PIG_JSON_ARRAY,
							  token == WJB_END_OBJECT ? PIG_JSON_OBJECT : PIG_JSON_ARRAY);
		}
		if (ranges != NULL)
			all = lappend(all, ranges);
		before = token;
	}
	return all;
}

/*
 * What has this key, or string in an array; NULL: that is too long.
 */
PigRanges *
pig_ranges_of_top_key(const char *bytes, int size)
{
	PigRanges  *ranges = pig_new_ranges();
	PigJsonPath top = {.direct = true, .in_array = true};
	PigJsonPath path = {.direct = true};

	if (!pig_json_path_add(&path, bytes, size))
		return NULL;
	pig_add_sorts(ranges, &path, PIG_JSON_NULL, PIG_JSON_LAST);
	pig_add_string(ranges, &top, bytes, size);
	return ranges;
}
