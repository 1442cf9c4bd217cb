// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pigment-db/pigment/bindings/go"
)

func TestMetadataKeepsIntegersFloatsAndBytesApart(t *testing.T) {
	type word string
	number := 7
	metadata := pigment.Metadata{
		"int": 2, "float": 2.0, "tiny": 5e-324, "big": int64(math.MaxInt64), "small": int8(-3), "unsigned": uint16(9), "f32": float32(0.1),
		"text": "q\"\\\n\t\x00é\u2028", "word": word("named"), "yes": true, "ints": []int{1, 2}, "floats": []float64{1, 2.5}, "texts": []any{"a", "b"},
		"words": []word{"c"}, "pointer": &number, "number": json.Number("1e3"),
	}
	docs := create(t, openMemory(t), "docs", nil)
	batch := pigment.Records{IDs: []string{"a"}, Embeddings: pigment.Flat([]float32{1}, 1), Metadatas: []pigment.Metadata{metadata}}
	if _, err := docs.Add(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	result, err := docs.Get(t.Context(), pigment.Get{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := result.Row(0).Metadata()
	wanted := pigment.Metadata{
		"int": int64(2), "float": 2.0, "tiny": 5e-324, "big": int64(math.MaxInt64), "small": int64(-3), "unsigned": int64(9), "f32": 0.1,
		"text": "q\"\\\n\t\x00é\u2028", "word": "named", "yes": true, "ints": []any{int64(1), int64(2)}, "floats": []any{1.0, 2.5},
		"texts": []any{"a", "b"}, "words": []any{"c"}, "pointer": int64(7), "number": 1000.0,
	}
	if err != nil || !reflect.DeepEqual(got, wanted) {
		t.Errorf("%#v, %v", got, err)
	}
	again, err := json.Marshal(got)
	if err != nil || !slices.Equal(again, result.MetadataJSON[0]) {
		t.Logf("printed %s, stored %s", again, result.MetadataJSON[0]) // the order of keys is the library's own
	}
	if _, err := docs.Update(t.Context(), pigment.Records{IDs: []string{"a"}, Metadatas: []pigment.Metadata{{"int": nil, "word": "other"}}}); err != nil {
		t.Fatal(err)
	}
	result, err = docs.Get(t.Context(), pigment.Get{Where: pigment.And(pigment.Not(pigment.Exists("int")), pigment.Eq("word", "other"))})
	if err != nil || len(result.IDs) != 1 {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestPathsOfNestedMetadataAreKeys(t *testing.T) {
	docs := create(t, openMemory(t), "docs", &pigment.CollectionOptions{Configuration: pigment.Configuration{NestedMetadata: true}.JSON()})
	batch := pigment.Records{IDs: []string{"a", "b"}, Embeddings: pigment.Flat([]float32{1, 2}, 1), Metadatas: []pigment.Metadata{
		{"size": map[string]any{"width": 2, "in/out": map[string]bool{"x": true}}}, {"size": map[string]float64{"width": 1.5}},
	}}
	if _, err := docs.Add(t.Context(), batch); err != nil {
		t.Fatal(err)
	}
	result, err := docs.Get(t.Context(), pigment.Get{Where: pigment.And(pigment.Gt("$/size/width", 1.6), pigment.Eq("$/size/in~1out/x", true))})
	if err != nil || !slices.Equal(result.IDs, []string{"a"}) {
		t.Fatalf("%+v, %v", result, err)
	}
	got, err := result.Row(0).Metadata()
	wanted := pigment.Metadata{"size": map[string]any{"width": int64(2), "in/out": map[string]any{"x": true}}}
	if err != nil || !reflect.DeepEqual(got, wanted) {
		t.Errorf("%#v, %v", got, err)
	}
}

func TestMetadataThatCannotBe(t *testing.T) {
	docs := create(t, openMemory(t), "docs", nil)
	for name, metadata := range map[string]pigment.Metadata{
		"nan": {"a": math.NaN()}, "list of infinity": {"a": []float64{math.Inf(1)}}, "channel": {"a": make(chan int)}, "function": {"a": func() {}},
		"struct": {"a": struct{}{}}, "map": {"a": map[string]any{"b": 1}}, "map by ints": {"a": map[int]string{}}, "empty": {}, "no utf-8": {"a": "\xff"},
		"key": {"#a": 1}, "key no utf-8": {"\xff": 1}, "empty list": {"a": []int{}}, "mixed": {"a": []any{1, "x"}}, "too large": {"a": uint64(math.MaxUint64)},
		"nil": {"a": nil, "b": (*int)(nil)}, "complex": {"a": 1i}, "raw": {"a": json.RawMessage("{")},
	} {
		batch := pigment.Records{IDs: []string{"x", "y"}, Embeddings: pigment.Flat([]float32{1, 2}, 1), Metadatas: []pigment.Metadata{nil, metadata}}
		_, err := docs.Add(t.Context(), batch)
		var e *pigment.Error
		if name == "nil" { // what to delete may be absent
			if err != nil && !isInvalid(err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if !errors.As(err, &e) || e.Code != pigment.CodeInvalidArgument || e.Row != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	client := openMemory(t)
	twice := &pigment.CollectionOptions{Metadata: pigment.Metadata{"a": 1}, MetadataJSON: []byte(`{"a":1}`)}
	if _, err := client.CreateCollection(t.Context(), "abc", twice); !isInvalid(err) {
		t.Error(err)
	}
	var metadata pigment.Metadata
	if err := json.Unmarshal([]byte("[1]"), &metadata); !isInvalid(err) {
		t.Error(err)
	}
	if err := json.Unmarshal([]byte("null"), &metadata); err != nil || metadata != nil {
		t.Error(err)
	}
}

func TestVectorsOfEveryType(t *testing.T) {
	docs := create(t, openMemory(t), "docs", nil)
	for id, vectors := range map[string]pigment.Vectors{
		"f32": pigment.Flat([]float32{1, -2}, 2), "f64": pigment.Flat([]float64{1, -2}, 2), "i32": pigment.Flat([]int32{1, -2}, 2),
		"i64": pigment.Flat([]int64{1, -2}, 2), "f16": pigment.FlatHalf([]uint16{0x3c00, 0xc000}, 2), "rows": pigment.Rows([][]float64{{1, -2}}),
	} {
		if _, err := docs.Add(t.Context(), pigment.Records{IDs: []string{id}, Embeddings: vectors}); err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		result, err := docs.Get(t.Context(), pigment.Get{IDs: []string{id}, Include: pigment.IncludeEmbeddings})
		if err != nil || !slices.Equal(result.Embeddings, []float32{1, -2}) || result.Dimension != 2 {
			t.Errorf("%s: %+v, %v", id, result, err)
		}
	}
}

func TestVectorsThatCannotBe(t *testing.T) {
	docs := create(t, openMemory(t), "docs", nil)
	if _, err := docs.Add(t.Context(), pigment.Records{IDs: []string{"a"}, Embeddings: pigment.Flat([]float32{1, 2}, 2)}); err != nil {
		t.Fatal(err)
	}
	nan := float32(math.NaN())
	for name, vectors := range map[string]pigment.Vectors{
		"half a row": pigment.Flat([]float32{1, 2, 3}, 2), "dimension 0": pigment.Flat([]float32{1, 2}, 0), "below 0": pigment.Flat([]float32{1}, -1),
		"none": pigment.Rows([][]float32{}), "empty": pigment.Rows([][]float32{{}}), "nil row": pigment.Rows([][]float32{nil}),
		"ragged": pigment.Rows([][]float32{{1, 2}, {1}}), "nan": pigment.Flat([]float32{1, nan}, 2), "f64": pigment.Flat([]float64{1e300, 1}, 2),
		"other dimension": pigment.Flat([]float32{1, 2, 3}, 3),
	} {
		if _, err := docs.Query(t.Context(), pigment.Query{Embeddings: vectors}); !isInvalid(err) {
			t.Errorf("query %s: %v", name, err)
		}
		if _, err := docs.Add(t.Context(), pigment.Records{IDs: []string{"b"}, Embeddings: vectors}); !isInvalid(err) {
			t.Errorf("add %s: %v", name, err)
		}
	}
	long := pigment.Flat(make([]float32, 70000), 70000)
	if _, err := docs.Query(t.Context(), pigment.Query{Embeddings: long}); !errors.Is(err, pigment.ErrResourceExhausted) {
		t.Errorf("query too long: %v", err)
	}
	if _, err := docs.Add(t.Context(), pigment.Records{IDs: []string{"b"}, Embeddings: long}); !errors.Is(err, pigment.ErrResourceExhausted) {
		t.Errorf("add too long: %v", err)
	}
	if none := pigment.Rows[float32](nil); !reflect.DeepEqual(none, pigment.Vectors{}) || !reflect.DeepEqual(pigment.Flat[int64](nil, 3), none) {
		t.Error("nil is not absent")
	}
}

// The library cannot see how long a slice is.
func TestColumnsOfOtherLengths(t *testing.T) {
	docs := create(t, openMemory(t), "docs", nil)
	vectors := pigment.Flat([]float32{1, 2}, 1)
	ids := []string{"a", "b"}
	for name, batch := range map[string]pigment.Records{
		"documents": {Documents: []string{"a"}}, "has_document": {Documents: ids, HasDocument: []bool{true}}, "uris": {URIs: []string{"a", "b", "c"}},
		"has_uri": {URIs: ids, HasURI: []bool{}}, "metadatas": {Metadatas: []pigment.Metadata{}}, "metadata_json": {MetadataJSON: []json.RawMessage{nil}},
	} {
		batch.IDs, batch.Embeddings = ids, vectors
		if _, err := docs.Add(t.Context(), batch); !isInvalid(err) || !strings.Contains(err.Error(), name+":") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, batch := range map[string]pigment.Records{
		"no ids":     {Embeddings: vectors},
		"vectors":    {IDs: ids, Embeddings: pigment.Flat([]float32{1, 2, 3}, 1)},
		"empty":      {IDs: []string{}, Embeddings: pigment.Rows([][]float32{})},
		"nothing":    {},
		"no vectors": {IDs: ids},
		"has alone":  {IDs: ids, Embeddings: vectors, HasDocument: []bool{true, true}},
		"twice":      {IDs: ids, Embeddings: vectors, Metadatas: make([]pigment.Metadata, 2), MetadataJSON: make([]json.RawMessage, 2)},
	} {
		if _, err := docs.Add(t.Context(), batch); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if count, err := docs.Count(t.Context()); count != 0 || err != nil {
		t.Errorf("%d records, %v", count, err)
	}
}
