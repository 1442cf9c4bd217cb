/* SPDX-License-Identifier: Apache-2.0 */

/*
 * text_fold.c
 *	  Folding of texts for grams.
 *
 * What lower() and upper() of any locale make of a character, and of those around it, must fold to the same as the character:
 *
 *	- pairs of cases of the scripts below, those of Unicode 15; sigma at the end of a word
 *	- signs that have the small letter of another: Kelvin, Angstrom, Ohm, capital theta symbol and sharp s
 *	- Turkish: I without a dot and with one are i
 *	- a dot above is left out, because Turkish takes it off an I, Lithuanian puts it between an I or J and its accents, and others make it of
 *	  a dotted I; and an i with grave, acute or tilde is an i and its accent, as Lithuanian has it
 *
 * Whatever else has cases folds to itself, and pig_folds_all_cases() says no to it. In other encodings than UTF-8 that is all but ASCII.
 */
#include "postgres.h"

#include "mb/pg_wchar.h"

#include "text_fold.h"

#define DOT_ABOVE 0x0307

typedef struct Range
{
	pg_wchar	first;
	pg_wchar	last;
} Range;

/* Characters of these fold with all their cases, or have none. */
static const Range known_ranges[] = {
	{0x0000, 0x00B4}, {0x00B6, 0x017F}, {0x0386, 0x03CE}, {0x0400, 0x0481}, {0x048A, 0x04BF}, {0x04C1, 0x04CE},
	{0x04D0, 0x052F}, {0x0531, 0x0556}, {0x0561, 0x0586}, {0x0590, 0x109F}, {0x1E00, 0x1E95}, {0x1EA0, 0x1EFF},
	{0x2000, 0x206F}, {0x20A0, 0x20CF}, {0x2600, 0x27BF}, {0x3000, 0x9FFF}, {0xAC00, 0xD7A3}, {0xFE00, 0xFE0F},
	{0x1F000, 0x1F12F}, {0x1F18A, 0x1FAFF}, {0x20000, 0x3FFFF},
};

static bool
is_between(pg_wchar character, pg_wchar first, pg_wchar last)
{
	return character >= first && character <= last;
}

static pg_wchar
fold_latin(pg_wchar character)
{
	if (is_between(character, 'A', 'Z') || (is_between(character, 0x00C0, 0x00DE) && character != 0x00D7))
		return character + 0x20;
	if (is_between(character, 0x0100, 0x0137) || is_between(character, 0x014A, 0x0177) || is_between(character, 0x1E00, 0x1E95) ||
		is_between(character, 0x1EA0, 0x1EFF))
		return character | 1;
	if (is_between(character, 0x0139, 0x0148) || is_between(character, 0x0179, 0x017E))
		return character + character % 2;
	switch (character)
	{
		case 0x0178:			/* Y with diaeresis */
			return 0x00FF;
		case 0x017F:			/* long s */
			return 's';
		case 0x1E9E:			/* capital sharp s */
			return 0x00DF;
		case 0x212A:			/* Kelvin */
			return 'k';
		case 0x212B:			/* Angstrom */
			return 0x00E5;
		default:
			return character;
	}
}

static pg_wchar
fold_greek(pg_wchar character)
{
	if (is_between(character, 0x0391, 0x03AB))
		return character + 0x20;
	if (is_between(character, 0x0388, 0x038A))
		return character + 0x25;
	if (is_between(character, 0x038E, 0x038F))
		return character + 0x3F;
	switch (character)
	{
		case 0x0386:
			return 0x03AC;
		case 0x038C:
			return 0x03CC;
		case 0x03C2:			/* sigma at the end of a word */
			return 0x03C3;
		case 0x03F4:			/* capital theta symbol */
			return 0x03B8;
		case 0x2126:			/* Ohm */
			return 0x03C9;
		default:
			return character;
	}
}

static pg_wchar
fold_cyrillic(pg_wchar character)
{
	if (is_between(character, 0x0400, 0x040F))
		return character + 0x50;
	if (is_between(character, 0x0410, 0x042F))
		return character + 0x20;
	if (is_between(character, 0x0460, 0x0481) || is_between(character, 0x048A, 0x04BF) || is_between(character, 0x04D0, 0x052F))
		return character | 1;
	if (is_between(character, 0x04C1, 0x04CE))
		return character + character % 2;
	return character;
}

static pg_wchar
fold_character(pg_wchar character)
{
	if (is_between(character, 0x0370, 0x03FF) || character == 0x2126)
		return fold_greek(character);
	if (is_between(character, 0x0400, 0x052F))
		return fold_cyrillic(character);
	if (is_between(character, 0x0531, 0x0556))	/* Armenian */
		return character + 0x30;
	return fold_latin(character);
}

static void
append_character(StringInfo out, pg_wchar character)
{
	unsigned char bytes[MAX_MULTIBYTE_CHAR_LEN + 1];

	unicode_to_utf8(character, bytes);
	appendBinaryStringInfo(out, (const char *) bytes, pg_utf_mblen(bytes));
}

static void
append_folded(StringInfo out, pg_wchar character)
{
	switch (character)
	{
		case DOT_ABOVE:
			return;
		case 0x0130:			/* I with a dot */
		case 0x0131:			/* i without */
			appendStringInfoCharMacro(out, 'i');
			return;
		case 0x00CC:
		case 0x00EC:
			appendStringInfoCharMacro(out, 'i');
			append_character(out, 0x0300);
			return;
		case 0x00CD:
		case 0x00ED:
			appendStringInfoCharMacro(out, 'i');
			append_character(out, 0x0301);
			return;
		case 0x0128:
		case 0x0129:
			appendStringInfoCharMacro(out, 'i');
			append_character(out, 0x0303);
			return;
		default:
			append_character(out, fold_character(character));
	}
}

int
pig_character_bytes(const char *at, const char *end)
{
	return Min(pg_mblen(at), (int) Min(end - at, MAX_MULTIBYTE_CHAR_LEN));
}

void
pig_fold_text(const char *text, Size size, StringInfo out)
{
	const char *end = text + size;
	bool		is_utf8 = GetDatabaseEncoding() == PG_UTF8;

	/* most texts keep their size */
	enlargeStringInfo(out, (int) size);
	for (int bytes; text < end; text += bytes)
	{
		bytes = IS_HIGHBIT_SET(*text) ? pig_character_bytes(text, end) : 1;
		if (bytes == 1)
			appendStringInfoCharMacro(out, pg_ascii_tolower((unsigned char) *text));
		else if (is_utf8 && pg_utf_mblen((const unsigned char *) text) == bytes)
			append_folded(out, utf8_to_unicode((const unsigned char *) text));
		else
			appendBinaryStringInfo(out, text, bytes);
	}
}

bool
pig_folds_all_cases(const char *at, const char *end)
{
	pg_wchar	character;

	if (GetDatabaseEncoding() != PG_UTF8)
		/* a locale may have an I with a dot, a Kelvin sign or a long s */
		return !IS_HIGHBIT_SET(*at) && strchr("iIkKsS", *at) == NULL;
	if (pg_utf_mblen((const unsigned char *) at) > end - at)
		return false;
	character = utf8_to_unicode((const unsigned char *) at);
	for (Size i = 0; i < lengthof(known_ranges); i++)
		if (is_between(character, known_ranges[i].first, known_ranges[i].last))
			return true;
	return false;
}
