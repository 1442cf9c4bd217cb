/* SPDX-License-Identifier: Apache-2.0 */

/*
 * json_test.c
 *	  What the planner gives an index in the place of a condition on an expression of jsonb, pigment.json_test, as ranges of elements (json_keys.h).
 *
 * A row for which the condition holds has an element in the ranges; others may, and a filter looks at them. A value of "->>" is the text of a string,
 * a number, a boolean, an object or an array; casts of it take strings too.
 */
#include "postgres.h"

#include "access/htup_details.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "executor/executor.h"
#include "fmgr.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/numeric.h"

#include "json_keys.h"
#include "json_test.h"

/* Attributes of pigment.json_test */
enum
{
	TEST_PATH,
	TEST_TYPE,
	TEST_OPERATOR,
	TEST_TEXTS,
	TEST_NUMBERS,
	TEST_ATTRIBUTES
};

/* Texts of longer numbers are not read. */
#define NUMBER_BYTES_MAX 1000

/* Bytes with which a string begins that is a boolean: of both what is no ASCII, which may be a space somewhere, spaces, and the "o" of on and off. */
typedef struct ByteRange
{
	unsigned char first;
	unsigned char last;
} ByteRange;

static const ByteRange any_boolean[] = {{'\t', '\r'}, {' ', ' '}, {'O', 'O'}, {'o', 'o'}, {0x80, 0xFF}};
static const ByteRange true_boolean[] = {{'1', '1'}, {'T', 'T'}, {'Y', 'Y'}, {'t', 't'}, {'y', 'y'}};
static const ByteRange false_boolean[] = {{'0', '0'}, {'F', 'F'}, {'N', 'N'}, {'f', 'f'}, {'n', 'n'}};

/* ---- values ---- */

static Numeric
numeric_of(const char *text)
{
	return DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(text), ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

/*
 * Whether a number of jsonb may have this text: digits, perhaps with a sign and a point.
 */
static bool
is_text_of_number(const char *bytes, int size)
{
	int			i = size > 0 && bytes[0] == '-';
	int			digits = 0;
	int			points = 0;

	for (; i < size; i++)
	{
		if (bytes[i] >= '0' && bytes[i] <= '9')
			digits++;
		else if (bytes[i] == '.' && digits > 0 && points == 0)
			points++;
		else
			return false;
	}
	return digits > 0 && bytes[size - 1] != '.';
}

static void
add_text(PigRanges *ranges, const PigJsonPath *path, text *given)
{
	const char *bytes = VARDATA_ANY(given);
	int			size = (int) VARSIZE_ANY_EXHDR(given);

	pig_add_string(ranges, path, bytes, size);
	if (size > NUMBER_BYTES_MAX && is_text_of_number(bytes, size))
		pig_add_sorts(ranges, path, PIG_JSON_NUMBER, PIG_JSON_NUMBER);
	else if (is_text_of_number(bytes, size))
	{
		Numeric		number = numeric_of(pnstrdup(bytes, (Size) size));

		pig_add_numbers(ranges, path, PIG_JSON_NUMBER, number, number, false);
	}
	else if (size == 4 && memcmp(bytes, "true", 4) == 0)
		pig_add_sorts(ranges, path, PIG_JSON_TRUE, PIG_JSON_TRUE);
	else if (size == 5 && memcmp(bytes, "false", 5) == 0)
		pig_add_sorts(ranges, path, PIG_JSON_FALSE, PIG_JSON_FALSE);
	else if (size > 0 && bytes[0] == '{')
		pig_add_sorts(ranges, path, PIG_JSON_OBJECT, PIG_JSON_OBJECT);
	else if (size > 0 && bytes[0] == '[')
		pig_add_sorts(ranges, path, PIG_JSON_ARRAY, PIG_JSON_ARRAY);
}

/*
 * A value of jsonb, as text.
 */
static void
add_json(PigRanges *ranges, const PigJsonPath *path, text *given)
{
	Jsonb	   *json = DatumGetJsonbP(DirectFunctionCall1(jsonb_in, CStringGetDatum(text_to_cstring(given))));
	JsonbValue	scalar;

	if (JsonbExtractScalar(&json->root, &scalar))
		pig_add_json_value(ranges, path, &scalar);
	else
		pig_add_sorts(ranges, path, PIG_JSON_OBJECT, PIG_JSON_ARRAY);
}

/*
 * Of an expression whose value is the number of an element but for rounding.
 */
typedef struct Rounding
{
	const char *type;			/* as in the test */
	const char *relative;
	const char *absolute;
	bool		takes_strings;
} Rounding;

/* The value that is compared with has been rounded too: a double to 15 digits. */
static const Rounding roundings[] = {
	{PIG_TEST_NUMBER, NULL, NULL, true},
	{PIG_TEST_REAL, "1e-6", "1e-40", true},
	{PIG_TEST_DOUBLE, "1e-14", "1e-300", true},
	{PIG_TEST_JSON_NUMBER, NULL, NULL, false},
	{PIG_TEST_JSON_INTEGER, NULL, "1", false},
	{PIG_TEST_JSON_REAL, "1e-6", "1", false},
	{PIG_TEST_JSON_DOUBLE, "1e-14", "1", false},
};

static const Rounding *
rounding_of(const char *type)
{
	for (size_t i = 0; i < lengthof(roundings); i++)
		if (strcmp(roundings[i].type, type) == 0)
			return &roundings[i];
	return NULL;
}

static Numeric
widened(Numeric number, const Rounding *rounding, PGFunction away)
{
	Datum		result = NumericGetDatum(number);

	if (numeric_is_nan(number) || numeric_is_inf(number))
		return number;
	if (rounding->relative != NULL)
		result = DirectFunctionCall2(away, result,
									 DirectFunctionCall2(numeric_mul, DirectFunctionCall1(numeric_abs, NumericGetDatum(number)),
														 NumericGetDatum(numeric_of(rounding->relative))));
	if (rounding->absolute != NULL)
		result = DirectFunctionCall2(away, result, NumericGetDatum(numeric_of(rounding->absolute)));
	return DatumGetNumeric(result);
}

static void
add_number(PigRanges *ranges, const PigJsonPath *path, const Rounding *rounding, const char *operator, Numeric number)
{
	Numeric		low = operator[0] != '<' ? widened(number, rounding, numeric_sub) : NULL;
	Numeric		high = operator[0] != '>' ? widened(number, rounding, numeric_add) : NULL;
	bool		is_strict = strcmp(operator, "<") == 0 || strcmp(operator, ">") == 0;

	pig_add_numbers(ranges, path, PIG_JSON_NUMBER, low, high, is_strict);
	if (rounding->takes_strings)
		pig_add_numbers(ranges, path, PIG_JSON_DECIMAL, low, high, is_strict);
}

static void
add_booleans(PigRanges *ranges, const PigJsonPath *path, const ByteRange *bytes, int count)
{
	for (int i = 0; i < count; i++)
		pig_add_strings_from(ranges, path, bytes[i].first, bytes[i].last);
}

static void
add_boolean(PigRanges *ranges, const PigJsonPath *path, bool value, bool takes_strings)
{
	Numeric		number;

	pig_add_sorts(ranges, path, value ? PIG_JSON_TRUE : PIG_JSON_FALSE, value ? PIG_JSON_TRUE : PIG_JSON_FALSE);
	if (!takes_strings)
		return;
	number = numeric_of(value ? "1" : "0");
	pig_add_numbers(ranges, path, PIG_JSON_NUMBER, number, number, false);
	add_booleans(ranges, path, any_boolean, lengthof(any_boolean));
	add_booleans(ranges, path, value ? true_boolean : false_boolean, lengthof(true_boolean));
}

/* ---- tests ---- */

/*
 * NULL among the keys is an element of an array. A scalar that "->" gave is an array of one to the next.
 */
static PigJsonPath
read_path(Datum value)
{
	PigJsonPath path = {.direct = true};
	bool		has_arrays = false;
	Datum	   *keys;
	bool	   *nulls;
	int			count;

	deconstruct_array(DatumGetArrayTypeP(value), TEXTOID, -1, false, TYPALIGN_INT, &keys, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		text	   *key;

		if (nulls[i])
		{
			has_arrays = true;
			continue;
		}
		key = DatumGetTextPP(keys[i]);
		if (!pig_json_path_add(&path, VARDATA_ANY(key), (int) VARSIZE_ANY_EXHDR(key)))
			ereport(ERROR,
					(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
					 errmsg("a path of jsonb is too long for an index of access method pigment"),
					 errdetail("It has more than %d keys, or these take more than %d bytes, with one behind each.",
							   PIG_JSON_KEYS_MAX, PIG_JSON_PATH_BYTES_MAX)));
	}
	path.in_array = has_arrays;
	return path;
}

static void
add_values(PigRanges *ranges, const PigJsonPath *path, const char *type, const char *operator, ArrayType *values)
{
	const Rounding *rounding = rounding_of(type);
	bool		is_text = strcmp(type, PIG_TEST_TEXT) == 0;
	Datum	   *elements;
	bool	   *nulls;
	int			count;

	if (rounding == NULL && !is_text && strcmp(type, PIG_TEST_JSON) != 0)
		ereport(ERROR, (errcode(ERRCODE_INVALID_PARAMETER_VALUE), errmsg("a test of jsonb has type \"%s\", which is none", type)));
	deconstruct_array(values, rounding != NULL ? NUMERICOID : TEXTOID, -1, false, TYPALIGN_INT, &elements, &nulls, &count);
	for (int i = 0; i < count; i++)
	{
		if (nulls[i])
			continue;
		if (rounding != NULL)
			add_number(ranges, path, rounding, operator, DatumGetNumeric(elements[i]));
		else if (is_text)
			add_text(ranges, path, DatumGetTextPP(elements[i]));
		else
			add_json(ranges, path, DatumGetTextPP(elements[i]));
	}
	/* what a cast may take in some other way */
	if (rounding != NULL && rounding->takes_strings && ranges->count > 0)
		pig_add_sorts(ranges, path, PIG_JSON_ODD, PIG_JSON_ODD);
}

PigRanges *
pig_ranges_of_test(Datum test, bool *lacks)
{
	HeapTupleHeader row = DatumGetHeapTupleHeader(test);
	PigRanges  *ranges = pig_new_ranges();
	Datum		values[TEST_ATTRIBUTES];
	bool		nulls[TEST_ATTRIBUTES];
	PigJsonPath path;
	char	   *type;
	char	   *operator;
	int			of_values;

	for (int i = 0; i < TEST_ATTRIBUTES; i++)
		values[i] = GetAttributeByNum(row, (AttrNumber) (i + 1), &nulls[i]);
	if (nulls[TEST_PATH] || nulls[TEST_TYPE] || nulls[TEST_OPERATOR])
		ereport(ERROR, (errcode(ERRCODE_NULL_VALUE_NOT_ALLOWED), errmsg("a test of jsonb has no path, no type or no operator")));
	path = read_path(values[TEST_PATH]);
	type = TextDatumGetCString(values[TEST_TYPE]);
	operator = TextDatumGetCString(values[TEST_OPERATOR]);
	of_values = rounding_of(type) != NULL ? TEST_NUMBERS : TEST_TEXTS;
	*lacks = strcmp(operator, PIG_TEST_IS_NULL) == 0;
	if (*lacks || strcmp(operator, PIG_TEST_IS_NOT_NULL) == 0)
		pig_add_sorts(ranges, &path, strcmp(type, PIG_TEST_JSON) == 0 ? PIG_JSON_NULL : PIG_JSON_FALSE, PIG_JSON_LAST);
	else if (strcmp(type, PIG_TEST_BOOLEAN) == 0 || strcmp(type, PIG_TEST_JSON_BOOLEAN) == 0)
		add_boolean(ranges, &path, strcmp(operator, PIG_TEST_TRUE) == 0, strcmp(type, PIG_TEST_BOOLEAN) == 0);
	else if (!nulls[of_values])
		add_values(ranges, &path, type, operator, DatumGetArrayTypeP(values[of_values]));
	return ranges;
}

/* ---- the operator, for rows that are looked at again ---- */

typedef struct Finding
{
	const PigRanges *ranges;
	bool		found;
} Finding;

static void
find_element(void *arg, const char *bytes, int size)
{
	Finding    *finding = arg;

	finding->found = finding->found || pig_in_ranges(finding->ranges, bytes, size);
}

/*
 * NULL has no elements, which a test may ask for.
 */
PG_FUNCTION_INFO_V1(pigment_pg_json_may_pass);
Datum
pigment_pg_json_may_pass(PG_FUNCTION_ARGS)
{
	Finding		finding = {0};
	bool		lacks;

	if (PG_ARGISNULL(1))
		PG_RETURN_NULL();
	finding.ranges = pig_ranges_of_test(PG_GETARG_DATUM(1), &lacks);
	if (!PG_ARGISNULL(0))
		pig_visit_json_elements(PG_GETARG_JSONB_P(0), find_element, &finding);
	PG_RETURN_BOOL(finding.found != lacks);
}
