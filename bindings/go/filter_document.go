// SPDX-License-Identifier: Apache-2.0

package pigment

// A WhereDocument is a filter on documents; the zero value is none. A record without a document matches [DocumentNotContains],
// [DocumentNotMatches] and what [DocumentNot] makes of the others, and nothing else.
type WhereDocument struct {
	operator string          // of a clause
	operand  any             // of a clause
	children []WhereDocument // of a group
	raw      string          // instead of all that
	present  bool
}

// WhereDocumentJSON takes a filter as text, in the grammar of docs/filters.md; the library parses it.
func WhereDocumentJSON(text string) WhereDocument { return WhereDocument{raw: text, present: true} }

// DocumentContains matches documents that have this text in them, as it stands.
func DocumentContains(text string) WhereDocument { return documentClause("$contains", text) }

// DocumentNotContains matches all others.
func DocumentNotContains(text string) WhereDocument { return documentClause("$not_contains", text) }

// DocumentContainsFold matches documents that have this text in them whatever the case of the letters ("$icontains").
func DocumentContainsFold(text string) WhereDocument { return documentClause("$icontains", text) }

// DocumentMatches matches documents in which a regular expression of RE2 matches somewhere ("$regex").
func DocumentMatches(regex string) WhereDocument { return documentClause("$regex", regex) }

// DocumentNotMatches matches all others.
func DocumentNotMatches(regex string) WhereDocument { return documentClause("$not_regex", regex) }

// DocumentExists matches records that have a document.
func DocumentExists() WhereDocument { return documentClause("$exists", true) }

// DocumentAnd matches what all filters match; those that are none are left out.
func DocumentAnd(filters ...WhereDocument) WhereDocument {
	var present []WhereDocument
	for _, filter := range filters {
		if filter.present {
			present = append(present, filter)
		}
	}
	return documentGroup("$and", present)
}

// DocumentOr matches what one of the filters matches; one that is none matches everything, and so does the Or.
func DocumentOr(filters ...WhereDocument) WhereDocument {
	for _, filter := range filters {
		if !filter.present {
			return WhereDocument{}
		}
	}
	return documentGroup("$or", filters)
}

// DocumentNot matches what the filter does not match; of none it is refused by the library.
func DocumentNot(filter WhereDocument) WhereDocument {
	if !filter.present {
		return WhereDocumentJSON(`{"$not":{}}`)
	}
	return WhereDocument{operator: "$not", children: []WhereDocument{filter}, present: true}
}

// String is the filter's JSON, "" of none.
func (w WhereDocument) String() string { return string(w.text()) }

// MarshalJSON gives the filter's JSON, null of none.
func (w WhereDocument) MarshalJSON() ([]byte, error) {
	if !w.present {
		return []byte("null"), nil
	}
	return w.text(), nil
}

func documentClause(operator string, operand any) WhereDocument {
	return WhereDocument{operator: operator, operand: operand, present: true}
}

func documentGroup(operator string, filters []WhereDocument) WhereDocument {
	switch len(filters) {
	case 0:
		return WhereDocument{}
	case 1:
		return filters[0]
	}
	return WhereDocument{operator: operator, children: append([]WhereDocument(nil), filters...), present: true}
}

func (w WhereDocument) text() []byte {
	return w.print(func(clause []byte) []byte { return clause })
}

// As a filter on fields, where every clause names what it is about.
func (w WhereDocument) inFields() []byte {
	return w.print(func(clause []byte) []byte {
		return append(append(appendQuoted([]byte{'{'}, keyDocument), ':'), append(clause, '}')...)
	})
}

func (w WhereDocument) print(wrap func([]byte) []byte) []byte {
	if !w.present {
		return nil
	}
	if w.operator == "" {
		return wrap([]byte(w.raw))
	}
	if w.children == nil {
		return wrap(appendClause(nil, w.operator, w.operand))
	}
	texts := make([][]byte, len(w.children))
	for i, child := range w.children {
		texts[i] = child.print(wrap)
	}
	return group(w.operator, texts, w.operator != "$not")
}
