// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/pigment-db/pigment/bindings/go"
)

func TestResultHasWhatWasAskedForAlone(t *testing.T) {
	_, docs := openSample(t)
	for include, columns := range map[pigment.Include][]string{
		pigment.IncludeDefault:    {"Documents", "HasDocument", "MetadataJSON"},
		pigment.IncludeNothing:    {},
		pigment.IncludeURIs:       {"URIs", "HasURI"},
		pigment.IncludeEmbeddings: {"Embeddings"},
	} {
		result, err := docs.Get(t.Context(), pigment.Get{Include: include})
		if err != nil {
			t.Fatal(err)
		}
		for _, column := range []string{"Documents", "HasDocument", "MetadataJSON", "URIs", "HasURI", "Embeddings", "Distances", "Scores", "Highlights"} {
			if is := !reflect.ValueOf(*result).FieldByName(column).IsNil(); is != slices.Contains(columns, column) {
				t.Errorf("include %d: %s is there: %v", include, column, is)
			}
		}
		if include != pigment.IncludeDefault && result.Included&^pigment.IncludeNothing != include&^pigment.IncludeNothing {
			t.Errorf("include %d: %d", include, result.Included)
		}
	}
	for _, include := range []pigment.Include{pigment.IncludeDistances, 64, -1, pigment.IncludeNothing | pigment.IncludeURIs} {
		if _, err := docs.Get(t.Context(), pigment.Get{Include: include}); !isInvalid(err) {
			t.Errorf("include %d: %v", include, err)
		}
	}
}

func TestResultTellsAbsentFromEmpty(t *testing.T) {
	_, docs := openSample(t)
	result, err := docs.Get(t.Context(), pigment.Get{Include: pigment.IncludeDocuments | pigment.IncludeURIs | pigment.IncludeMetadatas})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(result.HasDocument, []bool{true, true, true, false}) || !slices.Equal(result.Documents, []string{"the quick brown fox", "", "a fox and a fox", ""}) {
		t.Errorf("%v %q", result.HasDocument, result.Documents)
	}
	if !slices.Equal(result.HasURI, []bool{true, false, false, true}) || result.URIs[3] != "file:d" {
		t.Errorf("%v %q", result.HasURI, result.URIs)
	}
	if result.MetadataJSON[1] != nil || string(result.MetadataJSON[0]) != `{"a":1}` {
		t.Errorf("%q", result.MetadataJSON)
	}
	if metadata, err := result.Row(1).Metadata(); metadata != nil || err != nil {
		t.Errorf("%v, %v", metadata, err)
	}
	result.MetadataJSON[0] = append(result.MetadataJSON[0], "overflow"...) // columns share memory, rows do not reach into each other
	if string(result.MetadataJSON[2]) != `{"a":2.5,"tags":["x","y"]}` {
		t.Errorf("%s", result.MetadataJSON[2])
	}
}

func TestResultOfManyQueries(t *testing.T) {
	_, docs := openSample(t)
	result, err := docs.Query(t.Context(), pigment.Query{
		Embeddings: pigment.Rows([][]float32{{1, 0}, {0, 1}, {-1, 0}}), MaxDistance: pigment.Some(1.0),
		Include: pigment.IncludeDistances | pigment.IncludeEmbeddings, Explain: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for q, row := range result.QueryRows() {
		seen = append(seen, fmt.Sprintf("%d%s %.1f %v", q, row.ID, row.Distance, row.Embedding))
	}
	wanted := []string{"0a 0.0 [1 0]", "0c 0.4 [0.8 0.6]", "1b 0.0 [0 1]", "1c 0.8 [0.8 0.6]", "2d 0.0 [-1 0]"}
	if !slices.Equal(seen, wanted) || result.Queries() != 3 || !slices.Equal(result.Offsets, []int{0, 2, 4, 5}) {
		t.Errorf("%q, %v", seen, result.Offsets)
	}
	part := result.Query(1)
	if !slices.Equal(part.IDs, []string{"b", "c"}) || part.Queries() != 1 || len(part.Embeddings) != 4 || len(part.Distances) != 2 || part.Documents != nil {
		t.Errorf("%+v", part)
	}
	if !json.Valid(result.Explain) {
		t.Errorf("%s", result.Explain)
	}
	for range result.Rows() { // stops where the loop does
		break
	}
	for range result.QueryRows() {
		break
	}
	empty, err := docs.Query(t.Context(), pigment.Query{Embeddings: pigment.Flat([]float32{1, 0}, 2), IDs: []string{}})
	if err != nil || len(empty.IDs) != 0 || empty.Queries() != 1 || empty.IDs == nil {
		t.Errorf("%+v, %v", empty, err)
	}
	for name, query := range map[string]pigment.Query{
		"nothing": {}, "n_results": {NResults: -1}, "recall": {Recall: 1.5}, "recall nan": {Recall: math.NaN()}, "width": {SearchWidth: -1},
		"threads": {Threads: math.MaxInt}, "threads below": {Threads: -2}, "max distance": {MaxDistance: pigment.Some(math.NaN())}, "no texts": {Texts: []string{}},
	} {
		if name != "nothing" && name != "no texts" {
			query.Embeddings = pigment.Flat([]float32{1, 0}, 2)
		}
		if _, err := docs.Query(t.Context(), query); !isInvalid(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestResultOfATextSearch(t *testing.T) {
	_, docs := openSample(t)
	result, err := docs.SearchText(t.Context(), pigment.TextSearch{Queries: []string{"fox", "quick fox"}, Operator: pigment.TextAll, Highlights: true})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(result.IDs, []string{"c", "a", "a"}) || len(result.Scores) != 3 || result.Scores[0] <= result.Scores[1] || result.Distances != nil {
		t.Errorf("%+v", result)
	}
	if !reflect.DeepEqual(result.Query(0).Row(0).Highlights, []pigment.Span{{2, 5}, {12, 15}}) {
		t.Errorf("%v", result.Highlights)
	}
	if result.Query(1).Row(0).Score != result.Scores[2] {
		t.Errorf("%v", result.Scores)
	}
	for name, search := range map[string]pigment.TextSearch{
		"operator": {Queries: []string{"x"}, Operator: 2}, "none": {}, "include": {Queries: []string{"x"}, Include: pigment.IncludeDistances},
	} {
		if _, err := docs.SearchText(t.Context(), search); !isInvalid(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	plain := create(t, openMemory(t), "plain", nil)
	if _, err := plain.SearchText(t.Context(), pigment.TextSearch{Queries: []string{"x"}}); !errors.Is(err, pigment.ErrFailedPrecondition) {
		t.Error(err)
	}
}

func TestScanGivesEveryRecordOnceWhateverIsWritten(t *testing.T) {
	docs := create(t, openMemory(t), "docs", nil)
	for i := range 100 {
		if _, err := docs.Add(t.Context(), pigment.Records{
			IDs: []string{fmt.Sprintf("%03d", i)}, Embeddings: pigment.Flat([]float32{1}, 1), Metadatas: []pigment.Metadata{{"n": i % 10}},
		}); err != nil {
			t.Fatal(err)
		}
	}
	scan := docs.Scan(t.Context(), pigment.Get{Limit: pigment.Some(7), Include: pigment.IncludeNothing, Offset: 3})
	for range 2 { // it begins anew with every loop
		var seen []string
		for row, err := range scan {
			if err != nil {
				t.Fatal(err)
			}
			seen = append(seen, row.ID)
			if len(seen) == 20 {
				if _, err := docs.Upsert(t.Context(), pigment.Records{IDs: []string{"999", "005"}, Embeddings: pigment.Flat([]float32{2, 2}, 1)}); err != nil {
					t.Fatal(err)
				}
			}
		}
		if len(seen) != 98 || seen[0] != "003" || seen[97] != "999" || !slices.IsSorted(seen) {
			t.Errorf("%d: %v", len(seen), seen)
		}
	}
	var seen []string
	order := pigment.Get{OrderBy: []pigment.Order{{Key: "n", Descending: true}, {Key: pigment.KeyID}}, Limit: pigment.Some(4)}
	for row, err := range docs.Scan(t.Context(), order) {
		if err != nil || len(seen) == 11 {
			break
		}
		seen = append(seen, row.ID)
	}
	if wanted := []string{"009", "019", "029", "039", "049", "059", "069", "079", "089", "099", "008"}; !slices.Equal(seen, wanted) {
		t.Errorf("%v", seen)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	count := 0
	for _, err := range docs.Scan(ctx, pigment.Get{Limit: pigment.Some(10)}) {
		if count++; count == 15 {
			cancel()
		}
		if err != nil && !isCancelled(err) {
			t.Error(err)
		}
	}
	if count != 21 { // two pages, and the error
		t.Errorf("%d rows after a cancel", count)
	}
	for name, get := range map[string]pigment.Get{
		"limit": {Limit: pigment.Some(-1)}, "offset": {Offset: -1}, "cursor": {Cursor: "nonsense"}, "order": {OrderBy: []pigment.Order{{}}},
		"twice": {OrderBy: []pigment.Order{{Key: "n"}}, OrderByJSON: []byte("[]")},
	} {
		for _, err := range docs.Scan(t.Context(), get) {
			if !isInvalid(err) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	for range docs.Scan(t.Context(), pigment.Get{Limit: pigment.Some(0)}) {
		t.Error("a limit of 0 gives a record")
	}
}

// Whatever the numbers: an answer or an error of the library.
func TestReadsWithExtremeNumbers(t *testing.T) {
	client, docs := openSample(t)
	for _, n := range []int{math.MinInt, -1, 0, 1, math.MaxInt32, math.MaxInt} {
		for _, m := range []int{math.MinInt, -1, 0, 1, math.MaxInt32, math.MaxInt} {
			limit, vector := pigment.Some(n), pigment.Flat([]float32{1, 0}, 2)
			var e *pigment.Error
			for name, err := range map[string]error{
				"get":    second(docs.Get(t.Context(), pigment.Get{Limit: limit, Offset: m})),
				"peek":   second(docs.Peek(t.Context(), n)),
				"query":  second(docs.Query(t.Context(), pigment.Query{Embeddings: vector, NResults: n, SearchWidth: m})),
				"text":   second(docs.SearchText(t.Context(), pigment.TextSearch{Queries: []string{"fox"}, NResults: n})),
				"facets": second(docs.Facets(t.Context(), pigment.FacetsRequest{Keys: []string{"a"}, Limit: limit})),
				"delete": second(docs.Delete(t.Context(), pigment.DeleteRequest{Where: pigment.Exists("nothing"), Limit: limit})),
				"list":   second(client.ListCollections(t.Context(), pigment.Scope{}, pigment.Page{Limit: limit, Offset: m})),
			} {
				if err != nil && (!errors.As(err, &e) || e.Code != pigment.CodeInvalidArgument && e.Code != pigment.CodeResourceExhausted) {
					t.Errorf("%s with %d and %d: %v", name, n, m, err)
				}
			}
		}
	}
	if count, err := docs.Count(t.Context()); count != 4 || err != nil {
		t.Errorf("%d records, %v", count, err)
	}
}

func TestReadsThatCount(t *testing.T) {
	_, docs := openSample(t)
	if there, err := docs.Contains(t.Context(), []string{"a", "z", "a", "d"}); err != nil || !slices.Equal(there, []bool{true, false, true, true}) {
		t.Errorf("%v, %v", there, err)
	}
	if there, err := docs.Contains(t.Context(), nil); err != nil || len(there) != 0 {
		t.Errorf("%v, %v", there, err)
	}
	if n, err := docs.CountWhere(t.Context(), pigment.CountRequest{IDs: []string{"a", "a", "z", "c"}, Where: pigment.Exists("a")}); n != 2 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	facets, err := docs.Facets(t.Context(), pigment.FacetsRequest{Keys: []string{"a", "tags", "none"}})
	wanted := map[string][]pigment.Facet{
		"a": {{int64(1), 1}, {2.5, 1}, {"text", 1}}, "tags": {{"x", 1}, {"y", 1}}, "none": {},
	}
	if err != nil || !reflect.DeepEqual(facets, wanted) {
		t.Errorf("%v, %v", facets, err)
	}
	if _, err := docs.Facets(t.Context(), pigment.FacetsRequest{}); !isInvalid(err) {
		t.Error(err)
	}
	peek, err := docs.Peek(t.Context(), 2)
	if err != nil || !slices.Equal(peek.IDs, []string{"a", "b"}) || len(peek.Embeddings) != 4 {
		t.Errorf("%+v, %v", peek, err)
	}
}
