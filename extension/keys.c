/* SPDX-License-Identifier: Apache-2.0 */

/*
 * keys.c
 *	  The columns of an index, and the keys of values and rows.
 */
#include "postgres.h"

#include <math.h>

#include "catalog/pg_collation.h"
#include "catalog/pg_type.h"
#include "compat.h"
#include "lib/stringinfo.h"
#include "port/pg_bswap.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/jsonb.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/numeric.h"
#include "utils/pg_locale.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"
#include "utils/varbit.h"

#include "am.h"
#include "engine_error.h"
#include "halfvec.h"
#include "json_keys.h"
#include "keys.h"
#include "ranked_text.h"
#include "sparsevec.h"
#include "text_fold.h"

/* ---- columns ---- */

bool
pig_is_key_type(Oid type)
{
	switch (type)
	{
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case FLOAT4OID:
		case FLOAT8OID:
		case NUMERICOID:
		case TEXTOID:
		case VARCHAROID:
		case BOOLOID:
		case UUIDOID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return true;
		default:
			return false;
	}
}

static void
check_collation(Relation index, int i)
{
	Oid			collation = index->rd_indcollation[i];

	if (OidIsValid(collation) && !get_collation_isdeterministic(collation))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("column %d of index \"%s\" has a nondeterministic collation", i + 1, RelationGetRelationName(index)),
				 errhint("Access method pigment compares texts by their bytes. Index the column with a deterministic collation.")));
}

PigColumn
pig_column_of(Oid family, Oid class_type, Oid collation)
{
	PigColumn	column = {.kind = PIG_COLUMN_VECTOR, .type = class_type, .key_bytes_max = PIG_KEY_BYTES_MAX};

	if (class_type == TEXTOID && OidIsValid(get_opfamily_proc(family, TEXTOID, TEXTOID, PIG_TEXT_OPTIONS_PROC)))
		column.kind = PIG_COLUMN_RANKED;
	else if (class_type == ANYARRAYOID)
		column.kind = PIG_COLUMN_LIST;
	else if (class_type == JSONBOID)
	{
		column.kind = OidIsValid(get_opfamily_member(family, JSONBOID, JSONBOID, PIG_METADATA_WHERE)) ? PIG_COLUMN_METADATA :
			PIG_COLUMN_JSON;
		column.has_paths = OidIsValid(get_opfamily_member(family, JSONBOID, JSONPATHOID, PIG_JSON_PATH_EXISTS));
	}
	else if (pig_is_key_type(class_type))
	{
		column.kind = PIG_COLUMN_VALUE;
		column.orders_by_bytes = !OidIsValid(collation) || pig_collation_is_c(collation);
		column.has_grams = class_type == TEXTOID && OidIsValid(get_opfamily_member(family, TEXTOID, TEXTOID, PIG_TEXT_ILIKE));
		if (column.has_grams)
			column.key_bytes_max = PIG_SEARCHED_KEY_BYTES_MAX;
	}
	else if (OidIsValid(get_opfamily_proc(family, class_type, class_type, PIG_SPARSE_PROC)))
		column.kind = PIG_COLUMN_SPARSE;
	return column;
}

bool
pig_ranks_by_elements(PigColumnKind kind)
{
	return kind == PIG_COLUMN_RANKED || kind == PIG_COLUMN_SPARSE;
}

static PigColumn
describe_column(Relation index, int i)
{
	PigColumn	column = pig_column_of(index->rd_opfamily[i], index->rd_opcintype[i], index->rd_indcollation[i]);

	if (column.kind == PIG_COLUMN_LIST)
	{
		column.type = get_element_type(getBaseType(TupleDescAttr(RelationGetDescr(index), i)->atttypid));
		if (!pig_is_key_type(getBaseType(column.type)))
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("column %d of index \"%s\" is an array of %s, which has no operator class of access method pigment",
							i + 1, RelationGetRelationName(index), format_type_be(column.type))));
		column.type = getBaseType(column.type);
	}
	if (column.kind == PIG_COLUMN_RANKED)
		column.analyzer = pig_column_analyzer(index, i);
	else if (column.kind == PIG_COLUMN_SPARSE)
		column.metric = pig_column_metric(index, i);
	else if (column.kind != PIG_COLUMN_VECTOR)
		check_collation(index, i);
	return column;
}

static void
check_bits(int64 bits)
{
	if (bits == 0)
		ereport(ERROR,
				(errcode(ERRCODE_DATA_EXCEPTION),
				 errmsg("bit must have at least 1 bit for a pigment index")));
	if (bits > PIG_BITS_MAX)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("bit cannot have more than %d bits for a pigment index, got " INT64_FORMAT, PIG_BITS_MAX, bits)));
}

static PigElement
describe_element(Relation index, int i)
{
	int32		typmod = TupleDescAttr(RelationGetDescr(index), i)->atttypmod;

	if (index->rd_opcintype[i] == BITOID)
	{
		if (typmod > 0)
			check_bits(typmod);
		return PIG_ELEMENT_BIT;
	}
	return OidIsValid(index_getprocid(index, (AttrNumber) (i + 1), PIG_HALVES_PROC)) ? PIG_ELEMENT_HALF : PIG_ELEMENT_FLOAT;
}

/*
 * A copy of what is kept with the relation: that goes when the relation's cache entry is made anew, which reading any catalog may bring about.
 */
PigColumns
pig_columns(Relation index)
{
	PigColumns	columns = {.count = IndexRelationGetNumberOfKeyAttributes(index), .vector = -1};
	bool		is_ranked = false;

	if (index->rd_amcache != NULL)
		return *(const PigColumns *) index->rd_amcache;
	for (int i = 0; i < columns.count; i++)
	{
		columns.columns[i] = describe_column(index, i);
		if (columns.columns[i].kind == PIG_COLUMN_RANKED && is_ranked)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("index \"%s\" has more than one column of ranked text", RelationGetRelationName(index)),
					 errhint("Make an index for each, or one of an expression that joins them.")));
		is_ranked |= columns.columns[i].kind == PIG_COLUMN_RANKED;
		if (columns.columns[i].kind != PIG_COLUMN_VECTOR)
			columns.has_keys = true;
		else if (columns.vector >= 0)
			ereport(ERROR,
					(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
					 errmsg("index \"%s\" has more than one vector column", RelationGetRelationName(index)),
					 errhint("Make an index for each.")));
		else
		{
			columns.vector = i;
			columns.element = describe_element(index, i);
		}
	}
	index->rd_amcache = MemoryContextAlloc(index->rd_indexcxt, sizeof(PigColumns));
	memcpy(index->rd_amcache, &columns, sizeof(PigColumns));
	return columns;
}

/*
 * Each bit as a number.
 */
static PigVector
bits_vector(VarBit *bits)
{
	uint32		dimension = (uint32) VARBITLEN(bits);
	float	   *values;

	check_bits(VARBITLEN(bits));
	values = palloc(sizeof(float) * dimension);
	for (uint32 i = 0; i < dimension; i++)
		values[i] = VARBITS(bits)[i / BITS_PER_BYTE] & (HIGHBIT >> (i % BITS_PER_BYTE)) ? 1 : 0;
	return (PigVector) {dimension, values};
}

PigVector
pig_column_vector(const PigColumns *columns, Datum value)
{
	Vector	   *vector;

	switch (columns->element)
	{
		case PIG_ELEMENT_HALF:
			{
				HalfVector *halves = DatumGetHalfVector(value);

				return (PigVector) {(uint32) halves->dim, pig_halfvec_floats(halves)};
			}
		case PIG_ELEMENT_BIT:
			return bits_vector(DatumGetVarBitP(value));
		case PIG_ELEMENT_FLOAT:
			break;
	}
	vector = DatumGetVector(value);
	return (PigVector) {(uint32) vector->dim, vector->x};
}

/* ---- values ---- */

static void
append_integer(StringInfo out, int64 value)
{
	uint64		ordered = pg_hton64((uint64) value ^ (UINT64CONST(1) << 63));

	appendBinaryStringInfo(out, (const char *) &ordered, sizeof(ordered));
}

static void
append_double(StringInfo out, double value)
{
	const uint64 sign = UINT64CONST(1) << 63;
	uint64		bits = ~UINT64CONST(0);

	if (!isnan(value))
	{
		double		plain = value == 0 ? 0 : value;

		memcpy(&bits, &plain, sizeof(bits));
		bits = (bits & sign) != 0 ? ~bits : bits ^ sign;
	}
	bits = pg_hton64(bits);
	appendBinaryStringInfo(out, (const char *) &bits, sizeof(bits));
}

/* First bytes of numerics, ascending. */
enum
{
	NUMERIC_MINUS_INFINITY,
	NUMERIC_NEGATIVE,
	NUMERIC_ZERO,
	NUMERIC_POSITIVE,
	NUMERIC_INFINITY,
	NUMERIC_NAN
};

/*
 * Digits of 0.d1d2d3... times ten to the power of *exponent, without zeros at either end; returns how many.
 */
static int
significant_digits(const char *text, char *digits, int32 *exponent)
{
	int			count = 0;
	bool		behind_point = false;

	*exponent = 0;
	for (; *text != '\0'; text++)
	{
		if (*text == '.')
			behind_point = true;
		else if (count == 0 && *text == '0')
			*exponent -= behind_point;
		else
		{
			digits[count++] = *text;
			*exponent += !behind_point;
		}
	}
	while (count > 0 && digits[count - 1] == '0')
		count--;
	return count;
}

/*
 * The sign's byte; exponent in four bytes, as integers are ordered; two digits a byte, each pair plus one. Of a negative number all bytes behind
 * the first are flipped and 255 follows, so that more digits are less. Numbers that are equal have one key, whatever their scale.
 */
static void
append_numeric(StringInfo out, Numeric value)
{
	char	   *text = DatumGetCString(DirectFunctionCall1(numeric_out, NumericGetDatum(value)));
	bool		is_negative = text[0] == '-';
	const char *number = text + is_negative;
	char	   *digits = palloc(strlen(text) + 2);
	int32		exponent;
	uint32		ordered;
	int			count;
	int			begin;

	if (number[0] == 'I')
		appendStringInfoCharMacro(out, is_negative ? NUMERIC_MINUS_INFINITY : NUMERIC_INFINITY);
	else if (number[0] == 'N')
		appendStringInfoCharMacro(out, NUMERIC_NAN);
	else if ((count = significant_digits(number, digits, &exponent)) == 0)
		appendStringInfoCharMacro(out, NUMERIC_ZERO);
	else
	{
		appendStringInfoCharMacro(out, is_negative ? NUMERIC_NEGATIVE : NUMERIC_POSITIVE);
		begin = out->len;
		ordered = pg_hton32((uint32) exponent ^ (UINT32_C(1) << 31));
		appendBinaryStringInfo(out, (const char *) &ordered, sizeof(ordered));
		digits[count] = '0';
		for (int i = 0; i < count; i += 2)
			appendStringInfoChar(out, (char) ((digits[i] - '0') * 10 + (digits[i + 1] - '0') + 1));
		if (is_negative)
		{
			for (int i = begin; i < out->len; i++)
				out->data[i] = (char) ~out->data[i];
			appendStringInfoChar(out, (char) 255);
		}
	}
	pfree(digits);
	pfree(text);
}

static void
append_text(StringInfo out, Datum value, int bytes_max)
{
	/* a slice of what lies out of line, where the server has it so */
	struct varlena *text = PG_DETOAST_DATUM_SLICE(value, 0, bytes_max + 1);

	appendBinaryStringInfo(out, VARDATA_ANY(text), (int) VARSIZE_ANY_EXHDR(text));
	if ((Pointer) text != DatumGetPointer(value))
		pfree(text);
}

bool
pig_value_key(const PigColumn *column, Oid type, Datum value, StringInfo out)
{
	int			begin = out->len;

	switch (type)
	{
		case INT2OID:
			append_integer(out, DatumGetInt16(value));
			break;
		case INT4OID:
			append_integer(out, DatumGetInt32(value));
			break;
		case INT8OID:
			append_integer(out, DatumGetInt64(value));
			break;
		case FLOAT4OID:
			append_double(out, DatumGetFloat4(value));
			break;
		case FLOAT8OID:
			append_double(out, DatumGetFloat8(value));
			break;
		case NUMERICOID:
			append_numeric(out, DatumGetNumeric(value));
			break;
		case TEXTOID:
		case VARCHAROID:
			append_text(out, value, column->key_bytes_max);
			break;
		case BOOLOID:
			appendStringInfoChar(out, DatumGetBool(value) ? 1 : 0);
			break;
		case UUIDOID:
			appendBinaryStringInfo(out, (const char *) DatumGetUUIDP(value)->data, UUID_LEN);
			break;
		case DATEOID:
			append_integer(out, DatumGetDateADT(value));
			break;
		case TIMESTAMPOID:
			append_integer(out, DatumGetTimestamp(value));
			break;
		case TIMESTAMPTZOID:
			append_integer(out, DatumGetTimestampTz(value));
			break;
		default:
			elog(ERROR, "type %u has no keys", type);
	}
	/* as long as the longest counts as cut: what follows is not known */
	if (out->len - begin < column->key_bytes_max)
		return false;
	out->len = begin + column->key_bytes_max;
	return true;
}

/* ---- rows ---- */

typedef struct KeyList
{
	StringInfoData bytes;		/* of all keys, one after the other */
	pigment_host_key *keys;		/* bytes are still offsets */
	size_t		count;
	size_t		capacity;
} KeyList;

static void
begin_key(KeyList *list, int column, int32 kind)
{
	if (list->count == list->capacity)
	{
		list->capacity = Max(list->capacity * 2, INDEX_MAX_KEYS);
		list->keys = list->keys == NULL ? MemoryContextAllocHuge(CurrentMemoryContext, list->capacity * sizeof(pigment_host_key)) :
			repalloc_huge(list->keys, list->capacity * sizeof(pigment_host_key));
	}
	list->keys[list->count].column = (uint32) column;
	list->keys[list->count].kind = kind;
	list->keys[list->count].bytes = (const void *) (uintptr_t) list->bytes.len;
	list->keys[list->count].size = 0;
}

static void
end_key(KeyList *list)
{
	pigment_host_key *key = &list->keys[list->count++];

	key->size = (size_t) list->bytes.len - (size_t) (uintptr_t) key->bytes;
}

static int
compare_keys(const void *a, const void *b)
{
	const pigment_host_key *left = a;
	const pigment_host_key *right = b;
	int			order = memcmp(left->bytes, right->bytes, Min(left->size, right->size));

	return order != 0 ? order : (left->size > right->size) - (left->size < right->size);
}

static void
add_elements(KeyList *list, int number, const PigColumn *column, Datum value)
{
	ArrayType  *array = DatumGetArrayTypeP(value);
	int16		length;
	bool		by_value;
	char		align;
	ArrayIterator iterator;
	Datum		element;
	bool		is_null;
	ArrayMetaState state = {0};

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &length, &by_value, &align);
	state.element_type = ARR_ELEMTYPE(array);
	state.typlen = length;
	state.typbyval = by_value;
	state.typalign = align;
	iterator = array_create_iterator(array, 0, &state);
	while (array_iterate(iterator, &element, &is_null))
	{
		if (is_null)
			continue;
		begin_key(list, number, PIGMENT_KEY_ELEMENT);
		(void) pig_value_key(column, column->type, element, &list->bytes);
		end_key(list);
	}
	array_free_iterator(iterator);
}

typedef struct ElementsOf
{
	KeyList    *list;
	int			column;
} ElementsOf;

static void
add_json_element(void *arg, const char *bytes, int size)
{
	ElementsOf *of = arg;

	begin_key(of->list, of->column, PIGMENT_KEY_ELEMENT);
	appendBinaryStringInfo(&of->list->bytes, bytes, size);
	end_key(of->list);
}

static void
add_json_elements(KeyList *list, int number, const PigColumn *column, Datum value)
{
	ElementsOf	of = {list, number};
	int32		count = 0;
	Datum	   *entries;

	if (column->has_paths)
	{
		pig_visit_json_elements(DatumGetJsonbP(value), add_json_element, &of);
		return;
	}
	entries = (Datum *) DatumGetPointer(DirectFunctionCall2(gin_extract_jsonb, value, PointerGetDatum(&count)));
	for (int32 i = 0; i < count; i++)
	{
		begin_key(list, number, PIGMENT_KEY_ELEMENT);
		(void) pig_value_key(column, TEXTOID, entries[i], &list->bytes);
		end_key(list);
	}
}

static void
add_grams(KeyList *list, int number, Datum value)
{
	text	   *given = DatumGetTextPP(value);
	StringInfoData folded;
	void	   *grams;
	size_t		size;

	initStringInfo(&folded);
	pig_fold_text(VARDATA_ANY(given), VARSIZE_ANY_EXHDR(given), &folded);
	grams = MemoryContextAllocHuge(CurrentMemoryContext, sizeof(uint32) * (Size) Max(folded.len, 1));
	size = pigment_host_grams(folded.data, (size_t) folded.len, grams);
	if (size > 0)
	{
		begin_key(list, number, PIGMENT_KEY_GRAMS);
		appendBinaryStringInfo(&list->bytes, grams, (int) size);
		end_key(list);
	}
	pfree(grams);
	pfree(folded.data);
	if ((Pointer) given != DatumGetPointer(value))
		pfree(given);
}

/*
 * What the engine gave as elements, each behind its size. Frees the buffer.
 */
static void
add_engine_elements(KeyList *list, int column, pigment_buffer *elements)
{
	size_t		size;
	const char *bytes = pigment_buffer_data(elements, &size);
	uint32		element;
	int			begin = list->bytes.len;

	/* nothing may fail while there is a buffer of the engine's, but to copy it into what is there already */
	PG_TRY();
	{
		appendBinaryStringInfo(&list->bytes, bytes, (int) Min(size, MaxAllocSize));
	}
	PG_FINALLY();
	{
		pigment_buffer_free(elements);
	}
	PG_END_TRY();
	for (size_t place = 0; place < size; place += element)
	{
		memcpy(&element, list->bytes.data + begin + place, sizeof(element));
		place += sizeof(element);
		begin_key(list, column, PIGMENT_KEY_ELEMENT);
		list->keys[list->count].bytes = (const void *) (uintptr_t) ((size_t) begin + place);
		list->keys[list->count++].size = element;
	}
}

/*
 * An error of the engine's names what no metadata may hold.
 */
static void
add_metadata_elements(KeyList *list, int column, Datum value)
{
	Jsonb	   *metadata = DatumGetJsonbP(value);
	StringInfoData json;
	pigment_buffer *elements = NULL;
	pigment_error *error = NULL;

	initStringInfo(&json);
	JsonbToCString(&json, &metadata->root, VARSIZE(metadata));
	pig_check(pigment_host_metadata_elements(json.data, (size_t) json.len, &elements, &error), &error);
	add_engine_elements(list, column, elements);
}

static void
add_words(KeyList *list, int number, const PigColumn *column, Datum value)
{
	text	   *given = DatumGetTextPP(value);
	size_t		size;
	const char *bytes = pig_engine_text(VARDATA_ANY(given), VARSIZE_ANY_EXHDR(given), &size);
	pigment_buffer *elements = NULL;
	pigment_error *error = NULL;

	pig_check(pigment_host_text_elements(column->analyzer, bytes, size, &elements, &error), &error);
	add_engine_elements(list, number, elements);
}

static void
add_sparse_values(KeyList *list, int number, const PigColumn *column, Datum value)
{
	pigment_sparse_vector vector = pig_engine_sparsevec(DatumGetSparseVector(value));
	pigment_buffer *elements = NULL;
	pigment_error *error = NULL;

	pig_check(pigment_host_sparse_elements(column->metric, &vector, &elements, &error), &error);
	add_engine_elements(list, number, elements);
}

/*
 * Elements in order, each once; keys have their places now.
 */
static void
sort_elements(KeyList *list)
{
	size_t		kept = 0;

	for (size_t begin = 0, end; begin < list->count; begin = end)
	{
		end = begin + 1;
		if (list->keys[begin].kind == PIGMENT_KEY_ELEMENT)
		{
			while (end < list->count && list->keys[end].kind == PIGMENT_KEY_ELEMENT &&
				   list->keys[end].column == list->keys[begin].column)
				end++;
			qsort(&list->keys[begin], end - begin, sizeof(pigment_host_key), compare_keys);
		}
		for (size_t i = begin; i < end; i++)
			if (i == begin || compare_keys(&list->keys[i], &list->keys[kept - 1]) != 0)
				list->keys[kept++] = list->keys[i];
	}
	list->count = kept;
}

PigKeys
pig_row_keys(const PigColumns *columns, Datum *values, bool *isnull)
{
	KeyList		list = {0};

	if (!columns->has_keys)
		return (PigKeys) {NULL, 0};
	initStringInfo(&list.bytes);
	for (int i = 0; i < columns->count; i++)
	{
		const PigColumn *column = &columns->columns[i];

		if (isnull[i] || column->kind == PIG_COLUMN_VECTOR)
			continue;
		begin_key(&list, i, PIGMENT_KEY_VALUE);
		if (column->kind == PIG_COLUMN_VALUE)
			(void) pig_value_key(column, column->type, values[i], &list.bytes);
		end_key(&list);
		if (column->kind == PIG_COLUMN_LIST)
			add_elements(&list, i, column, values[i]);
		else if (column->kind == PIG_COLUMN_JSON)
			add_json_elements(&list, i, column, values[i]);
		else if (column->kind == PIG_COLUMN_METADATA)
			add_metadata_elements(&list, i, values[i]);
		else if (column->kind == PIG_COLUMN_RANKED)
			add_words(&list, i, column, values[i]);
		else if (column->kind == PIG_COLUMN_SPARSE)
			add_sparse_values(&list, i, column, values[i]);
		else if (column->has_grams)
			add_grams(&list, i, values[i]);
	}
	for (size_t i = 0; i < list.count; i++)
		list.keys[i].bytes = list.bytes.data + (uintptr_t) list.keys[i].bytes;
	sort_elements(&list);
	return (PigKeys) {list.keys, list.count};
}

void *
pig_encode_keys(const PigKeys *keys, size_t *size)
{
	void	   *out;

	*size = pigment_host_keys_bytes(keys->keys, keys->count);
	if (*size == 0)
		return NULL;
	out = MemoryContextAllocHuge(CurrentMemoryContext, *size);
	pigment_host_keys_encode(keys->keys, keys->count, out);
	return out;
}
