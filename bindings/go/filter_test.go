// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"encoding/json"
	"math"
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/pigment-db/pigment/bindings/go"
)

// Every example of docs/filters.md that Go's types can say, and what the builder must print: the same JSON, with $eq written out.
var whereExamples = map[string]pigment.Where{
	`{"lang": "en"}`:                                                 pigment.Eq("lang", "en"),
	`{"lang": {"$eq": "en"}}`:                                        pigment.Eq("lang", "en"),
	`{"lang": {"$ne": "en"}}`:                                        pigment.Ne("lang", "en"),
	`{"year": {"$gte": 2020}}`:                                       pigment.Gte("year", 2020),
	`{"year": {"$lt": 2000.5}}`:                                      pigment.Lt("year", 2000.5),
	`{"lang": {"$in": ["de", "fr"]}}`:                                pigment.In("lang", "de", "fr"),
	`{"lang": {"$nin": ["de", "fr"]}}`:                               pigment.Nin("lang", "de", "fr"),
	`{"draft": true}`:                                                pigment.Eq("draft", true),
	`{"score": 2}`:                                                   pigment.Eq("score", 2),
	`{"year": 2024.0}`:                                               pigment.Eq("year", 2024.0),
	`{"year": {"$gt": 2023.5}}`:                                      pigment.Gt("year", 2023.5),
	`{"year": "2024"}`:                                               pigment.Eq("year", "2024"),
	`{"draft": 1}`:                                                   pigment.Eq("draft", uint8(1)),
	`{"tags": {"$contains": "animal"}}`:                              pigment.Contains("tags", "animal"),
	`{"tags": {"$not_contains": "fast"}}`:                            pigment.NotContains("tags", "fast"),
	`{"tags": "animal"}`:                                             pigment.Eq("tags", "animal"),
	`{"sizes": {"$contains": 1}}`:                                    pigment.Contains("sizes", 1),
	`{"sizes": {"$contains": 1.0}}`:                                  pigment.Contains("sizes", float32(1)),
	`{"lang": {"$contains": "e"}}`:                                   pigment.Contains("lang", "e"),
	`{"year": {"$between": [1999, 2020]}}`:                           pigment.Between("year", 1999, 2020),
	`{"lang": {"$between": ["d", "dz"]}}`:                            pigment.Between("lang", "d", "dz"),
	`{"lang": {"$prefix": "e"}}`:                                     pigment.Prefix("lang", "e"),
	`{"lang": {"$ieq": "EN"}}`:                                       pigment.EqFold("lang", "EN"),
	`{"lang": {"$iprefix": "D"}}`:                                    pigment.PrefixFold("lang", "D"),
	`{"tags": {"$exists": true}}`:                                    pigment.Exists("tags"),
	`{"year": {"$prefix": "20"}}`:                                    pigment.Prefix("year", "20"),
	`{"tags": {"$ieq": "ANIMAL"}}`:                                   pigment.EqFold("tags", "ANIMAL"),
	`{"$and": [{"lang": "en"}, {"year": {"$gt": 2000}}]}`:            pigment.And(pigment.Eq("lang", "en"), pigment.Gt("year", 2000)),
	`{"$or": [{"lang": "de"}, {"year": {"$lt": 2000}}]}`:             pigment.Or(pigment.Eq("lang", "de"), pigment.Lt("year", 2000)),
	`{"$and": [{"year": {"$gte": 1999}}, {"year": {"$lte": 2020}}]}`: pigment.And(pigment.Gte("year", 1999), pigment.Lte("year", 2020)),
	`{"$or": [{"$and": [{"lang": "en"}, {"draft": false}]}, {"score": 2.0}]}`: pigment.Or(
		pigment.And(pigment.Eq("lang", "en"), pigment.Eq("draft", false)), pigment.Eq("score", 2.0)),
	`{"$not": {"year": {"$gt": 2000}}}`:   pigment.Not(pigment.Gt("year", 2000)),
	`{"#id": {"$in": ["r1", "r9"]}}`:      pigment.In(pigment.KeyID, "r1", "r9"),
	`{"#id": {"$ne": "r1"}}`:              pigment.Ne(pigment.KeyID, "r1"),
	`{"chroma:uri": "file:///fox.txt"}`:   pigment.Eq(pigment.KeyURI, "file:///fox.txt"),
	`{"#document": {"$contains": "fox"}}`: pigment.Document(pigment.DocumentContains("fox")),
	`{"$or": [{"#document": {"$regex": "F.chs"}}, {"year": 1999}]}`: pigment.Or(
		pigment.Document(pigment.DocumentMatches("F.chs")), pigment.Eq("year", 1999)),
	`{"#id": {"$prefix": "r"}}`:             pigment.Prefix(pigment.KeyID, "r"),
	`{"#id": {"$between": ["r2", "r3"]}}`:   pigment.Between(pigment.KeyID, "r2", "r3"),
	`{"chroma:uri": {"$iprefix": "FILE:"}}`: pigment.PrefixFold(pigment.KeyURI, "FILE:"),
}

// Those that Go says in other words: there is no Exists with false, but a Not.
var whereInOtherWords = map[string]pigment.Where{
	`{"year": {"$exists": false}}`:       pigment.Not(pigment.Exists("year")),
	`{"chroma:uri": {"$exists": false}}`: pigment.Not(pigment.Exists(pigment.KeyURI)),
	`{"#document": {"$exists": false}}`:  pigment.Not(pigment.Document(pigment.DocumentExists())),
	`{"$not": {"$or": [{"lang": {"$ieq": "DE"}}, {"draft": {"$exists": false}}]}}`: pigment.Not(
		pigment.Or(pigment.EqFold("lang", "DE"), pigment.Not(pigment.Exists("draft")))),
}

var documentExamples = map[string]pigment.WhereDocument{
	`{"$contains": "brown"}`:       pigment.DocumentContains("brown"),
	`{"$contains": "Brown"}`:       pigment.DocumentContains("Brown"),
	`{"$not_contains": "fox"}`:     pigment.DocumentNotContains("fox"),
	`{"$contains": "100%"}`:        pigment.DocumentContains("100%"),
	`{"$contains": "n_s"}`:         pigment.DocumentContains("n_s"),
	`{"$regex": "qu?ick|schnell"}`: pigment.DocumentMatches("qu?ick|schnell"),
	`{"$regex": "(?i)THE"}`:        pigment.DocumentMatches("(?i)THE"),
	`{"$regex": "^In"}`:            pigment.DocumentMatches("^In"),
	`{"$regex": "(?m)^In"}`:        pigment.DocumentMatches("(?m)^In"),
	`{"$not_regex": "[0-9]"}`:      pigment.DocumentNotMatches("[0-9]"),
	`{"$and": [{"$contains": "br"}, {"$not_contains": "fox"}]}`: pigment.DocumentAnd(
		pigment.DocumentContains("br"), pigment.DocumentNotContains("fox")),
	`{"$icontains": "BROWN"}`:         pigment.DocumentContainsFold("BROWN"),
	`{"$exists": true}`:               pigment.DocumentExists(),
	`{"$not": {"$icontains": "THE"}}`: pigment.DocumentNot(pigment.DocumentContainsFold("THE")),
}

// The filters page: records, and examples with the ids that they match.
func readFilterPage(t *testing.T) (records []pigment.Row, where, document map[string][]string) {
	t.Helper()
	page, err := os.ReadFile("../../docs/filters.md")
	if err != nil {
		t.Fatal(err)
	}
	where, document = map[string][]string{}, map[string][]string{}
	for _, block := range regexp.MustCompile("(?s)```json (\\w+)\n(.*?)```").FindAllStringSubmatch(string(page), -1) {
		if block[1] == "records" {
			var raw []struct {
				ID, Document, URI string
				Metadata          json.RawMessage
			}
			if err := json.Unmarshal([]byte(block[2]), &raw); err != nil {
				t.Fatal(err)
			}
			for _, r := range raw {
				records = append(records, pigment.Row{
					ID: r.ID, Document: r.Document, HasDocument: r.Document != "", URI: r.URI, HasURI: r.URI != "", MetadataJSON: r.Metadata,
				})
			}
			continue
		}
		for _, line := range strings.Split(strings.TrimSpace(block[2]), "\n") {
			filter, ids, ok := strings.Cut(line, " -> ")
			if !ok {
				t.Fatalf("not understood: %s", line)
			}
			wanted := strings.Fields(ids)
			if strings.TrimSpace(ids) == "nothing" {
				wanted = []string{}
			}
			map[string]map[string][]string{"where": where, "where_document": document}[block[1]][strings.TrimSpace(filter)] = wanted
		}
	}
	return records, where, document
}

func TestFilterBuilderSaysWhatTheFilterPageSays(t *testing.T) {
	rows, where, document := readFilterPage(t)
	if len(rows) != 4 || len(where) < 40 || len(document) < 14 {
		t.Fatalf("%d records, %d and %d examples", len(rows), len(where), len(document))
	}
	docs := create(t, openMemory(t), "docs", nil)
	records := pigment.Records{Embeddings: pigment.Flat(make([]float32, len(rows)), 1)}
	for _, row := range rows {
		records.IDs = append(records.IDs, row.ID)
		records.Documents, records.HasDocument = append(records.Documents, row.Document), append(records.HasDocument, row.HasDocument)
		records.URIs, records.HasURI = append(records.URIs, row.URI), append(records.HasURI, row.HasURI)
		records.MetadataJSON = append(records.MetadataJSON, row.MetadataJSON)
	}
	if _, err := docs.Add(t.Context(), records); err != nil {
		t.Fatal(err)
	}
	matches := func(example string, get pigment.Get, wanted []string) {
		t.Helper()
		result, err := docs.Get(t.Context(), get)
		if err != nil || !reflect.DeepEqual(result.IDs, wanted) {
			t.Errorf("%s: %+v, %v", example, result, err)
		}
	}
	for example, wanted := range where {
		filter, said := whereExamples[example]
		if said {
			samePrinted(t, example, filter.String())
		} else if filter, said = whereInOtherWords[example]; !said {
			t.Errorf("nothing in Go says %s", example)
			continue
		}
		matches(example, pigment.Get{Where: filter}, wanted)
		matches(example, pigment.Get{Where: pigment.WhereJSON(example)}, wanted)
	}
	for example, wanted := range document {
		filter, said := documentExamples[example]
		if !said {
			t.Errorf("nothing in Go says %s", example)
			continue
		}
		samePrinted(t, example, filter.String())
		matches(example, pigment.Get{WhereDocument: filter}, wanted)
		matches(example, pigment.Get{Where: pigment.Document(filter)}, wanted)
	}
}

// Equal JSON, where {key: value} is short for {key: {"$eq": value}}.
func samePrinted(t *testing.T, expected, printed string) {
	t.Helper()
	a, b := parse([]byte(expected)), parse([]byte(printed))
	if !reflect.DeepEqual(longForm(a), b) {
		t.Errorf("%s is printed as %s", expected, printed)
	}
}

func longForm(filter any) any {
	switch f := filter.(type) {
	case []any:
		return each(f, longForm)
	case map[string]any:
		out := map[string]any{}
		for key, value := range f {
			switch {
			case key == "$and" || key == "$or" || key == "$not":
				out[key] = longForm(value)
			case strings.HasPrefix(key, "$") || reflect.TypeOf(value).Kind() == reflect.Map:
				out[key] = value
			default:
				out[key] = map[string]any{"$eq": value}
			}
		}
		return out
	}
	return filter
}

func TestFilterPrinting(t *testing.T) {
	type language string
	for wanted, filter := range map[string]pigment.Where{
		``:                                   {},
		`{"a":{"$eq":"en"}}`:                 pigment.Eq("a", language("en")),
		`{"a":{"$eq":0.1}}`:                  pigment.Eq("a", float32(0.1)),
		`{"a":{"$eq":1e+300}}`:               pigment.Eq("a", 1e300),
		`{"a":{"$eq":9223372036854775807}}`:  pigment.Eq("a", int64(math.MaxInt64)),
		`{"a":{"$eq":18446744073709551615}}`: pigment.Eq("a", uint64(math.MaxUint64)),
		`{"\"\\\u000a\u0001é":{"$eq":"\u0000<&"}}`: pigment.Eq("\"\\\n\x01é", "\x00<&"),
		`{"a":{"$in":[]}}`:                         pigment.In[string]("a"),
		`{"a":{"$in":[1,2]}}`:                      pigment.In("a", []uint8{1, 2}...),
		`{"a":{"$exists":true}}`:                   pigment.And(pigment.Where{}, pigment.Exists("a")),
		`{"b":{"$gt":1}}`:                          pigment.Or(pigment.Gt("b", 1)),
		`{"$not":{}}`:                              pigment.Not(pigment.Where{}),
		`{"$or":[{"#document":{"$contains":"x"}},{"$not":{"#document":{"$regex":"y"}}}]}`: pigment.Document(pigment.DocumentOr(
			pigment.DocumentContains("x"), pigment.DocumentNot(pigment.DocumentMatches("y")))),
	} {
		if got := filter.String(); got != wanted {
			t.Errorf("%s is printed as %s", wanted, got)
		}
	}
	for name, none := range map[string]string{
		"and": pigment.And().String(), "or": pigment.Or(pigment.Exists("a"), pigment.Where{}).String(),
		"document and": pigment.DocumentAnd(pigment.WhereDocument{}).String(),
		"document or":  pigment.DocumentOr(pigment.DocumentExists(), pigment.WhereDocument{}).String(),
		"document":     pigment.Document(pigment.WhereDocument{}).String(),
	} {
		if none != "" {
			t.Errorf("%s of none is %s", name, none)
		}
	}
	if text, err := json.Marshal([]any{pigment.Where{}, pigment.Exists("a"), pigment.DocumentExists(), pigment.WhereDocument{}}); err != nil ||
		string(text) != `[null,{"a":{"$exists":true}},{"$exists":true},null]` {
		t.Errorf("%s, %v", text, err)
	}
}

// What no JSON can say, and what is no filter, is refused by the library and crashes nothing.
func TestFilterRefusals(t *testing.T) {
	_, docs := openSample(t)
	for _, where := range []pigment.Where{
		pigment.Eq("a", math.NaN()), pigment.Gt("a", float32(math.Inf(1))), pigment.In("a", 1, math.Inf(-1)), pigment.In[int]("a"),
		pigment.Eq("a", "\xff"), pigment.Eq("\xff", "a"), pigment.Not(pigment.Where{}), pigment.WhereJSON(""), pigment.WhereJSON("{"),
		pigment.Eq("a", uint64(math.MaxUint64)), pigment.Document(pigment.WhereDocumentJSON(`{"a":1}`)),
	} {
		if _, err := docs.Get(t.Context(), pigment.Get{Where: where}); !isInvalid(err) {
			t.Errorf("%s: %v", where, err)
		}
	}
	for _, document := range []pigment.WhereDocument{
		pigment.DocumentContains(""), pigment.DocumentMatches("("), pigment.WhereDocumentJSON(""), pigment.DocumentNot(pigment.WhereDocument{}),
	} {
		if _, err := docs.Get(t.Context(), pigment.Get{WhereDocument: document}); !isInvalid(err) {
			t.Errorf("%s: %v", document, err)
		}
	}
}
