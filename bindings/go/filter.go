// SPDX-License-Identifier: Apache-2.0

package pigment

import (
	"math"
	"strconv"
)

// A Where is a filter on the fields of records, made by the functions below or given as JSON text ([WhereJSON]); the zero value is no filter,
// and matches everything. docs/filters.md says what each operator matches.
type Where struct {
	text    []byte
	present bool
}

// Fields that are no metadata, to be used like a key.
const (
	KeyID       = "#id"
	KeyURI      = "chroma:uri"
	keyDocument = "#document"
)

// A Numeric is what records are ordered by.
type Numeric interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// A Scalar is what a field may be.
type Scalar interface {
	~string | ~bool | Numeric
}

// WhereJSON takes a filter as text, in the grammar of docs/filters.md; the library parses it.
func WhereJSON(text string) Where { return Where{[]byte(text), true} }

// String is the filter's JSON, "" of none.
func (w Where) String() string { return string(w.text) }

// MarshalJSON gives the filter's JSON, null of none.
func (w Where) MarshalJSON() ([]byte, error) {
	if !w.present {
		return []byte("null"), nil
	}
	return w.text, nil
}

// Eq matches records whose field is this value.
func Eq[T Scalar](key string, value T) Where { return clause(key, "$eq", value) }

// Ne matches all others, those without the key among them.
func Ne[T Scalar](key string, value T) Where { return clause(key, "$ne", value) }

// Gt matches numbers above this one.
func Gt[T Numeric](key string, value T) Where { return clause(key, "$gt", value) }

// Gte matches this number and those above.
func Gte[T Numeric](key string, value T) Where { return clause(key, "$gte", value) }

// Lt matches numbers below this one.
func Lt[T Numeric](key string, value T) Where { return clause(key, "$lt", value) }

// Lte matches this number and those below.
func Lte[T Numeric](key string, value T) Where { return clause(key, "$lte", value) }

// In matches records whose field is one of these values.
func In[T Scalar](key string, values ...T) Where { return clause(key, "$in", values) }

// Nin matches all others, those without the key among them.
func Nin[T Scalar](key string, values ...T) Where { return clause(key, "$nin", values) }

// Contains matches lists that have this element.
func Contains[T Scalar](key string, element T) Where { return clause(key, "$contains", element) }

// NotContains matches all others, those without the key among them.
func NotContains[T Scalar](key string, element T) Where { return clause(key, "$not_contains", element) }

// Between matches numbers, or texts by their bytes, that are not below the first nor above the second.
func Between[T ~string | Numeric](key string, first, last T) Where {
	return clause(key, "$between", []T{first, last})
}

// Prefix matches texts that begin with this one.
func Prefix(key, text string) Where { return clause(key, "$prefix", text) }

// EqFold matches texts that equal this one whatever the case of the letters ("$ieq").
func EqFold(key, text string) Where { return clause(key, "$ieq", text) }

// PrefixFold matches texts that begin with this one whatever the case of the letters ("$iprefix").
func PrefixFold(key, text string) Where { return clause(key, "$iprefix", text) }

// Exists matches records that have the key; [Not] turns it round.
func Exists(key string) Where { return clause(key, "$exists", true) }

// Document matches records whose document matches, so that documents and fields can be joined by [Or].
func Document(document WhereDocument) Where {
	if !document.present {
		return Where{}
	}
	return Where{document.inFields(), true}
}

// And matches what all filters match. A filter that is none is left out; And of none is none.
func And(filters ...Where) Where { return joined("$and", filters) }

// Or matches what one of the filters matches. A filter that is none matches everything, and so does an Or with it.
func Or(filters ...Where) Where {
	for _, filter := range filters {
		if !filter.present {
			return Where{}
		}
	}
	return joined("$or", filters)
}

// Not matches what the filter does not match. There is no filter that matches nothing, so Not of none is refused by the library.
func Not(filter Where) Where {
	if !filter.present {
		return Where{[]byte(`{"$not":{}}`), true}
	}
	return Where{group("$not", [][]byte{filter.text}, false), true}
}

func joined(operator string, filters []Where) Where {
	var texts [][]byte
	for _, filter := range filters {
		if filter.present {
			texts = append(texts, filter.text)
		}
	}
	switch len(texts) {
	case 0:
		return Where{}
	case 1:
		return Where{texts[0], true}
	}
	return Where{group(operator, texts, true), true}
}

func clause(key, operator string, operand any) Where {
	text := append(appendQuoted([]byte{'{'}, key), ":"...)
	return Where{append(appendClause(text, operator, operand), '}'), true}
}

func appendClause(to []byte, operator string, operand any) []byte {
	to = append(to, `{"`...)
	to = append(append(to, operator...), `":`...)
	to, err := appendJSON(to, operand)
	if err != nil {
		to = append(to, unprintable(operand)...) // the library refuses what is no JSON, and says where
	}
	return append(to, '}')
}

// NaN and infinity, the only operands that JSON has no word for.
func unprintable(operand any) string {
	if number, ok := operand.(float64); ok {
		return strconv.FormatFloat(number, 'g', -1, 64)
	}
	return strconv.FormatFloat(math.NaN(), 'g', -1, 64)
}

func group(operator string, clauses [][]byte, list bool) []byte {
	text := append(append([]byte(`{"`), operator...), `":`...)
	if list {
		text = append(text, '[')
	}
	for i, clause := range clauses {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(text, clause...)
	}
	if list {
		text = append(text, ']')
	}
	return append(text, '}')
}
