// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"sort"
	"strings"
	"testing"

	"github.com/pigment-db/pigment/bindings/go"
)

// A runner does the steps of one script.
type runner struct {
	t           *testing.T
	ctx         context.Context
	directory   string // "": in memory
	client      *pigment.Client
	collections map[string]*pigment.Collection
	cursor      string // of the last get
}

func newRunner(t *testing.T, directory string) *runner {
	r := &runner{t: t, ctx: t.Context(), directory: directory}
	t.Cleanup(func() { // by whatever client is open then
		if err := r.client.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := r.open(); err != nil {
		t.Fatal(err)
	}
	return r
}

func (r *runner) open() (err error) {
	r.collections = map[string]*pigment.Collection{}
	if r.directory == "" {
		r.client, err = pigment.OpenMemory(nil)
	} else {
		r.client, err = pigment.Open(r.directory, nil)
	}
	return err
}

// Arguments of a step; what is of the wrong type is a mistake in the script.
type arguments struct {
	values map[string]json.RawMessage
}

func get[T any](a arguments, key string, otherwise T) T {
	raw, there := a.values[key]
	if !there {
		return otherwise
	}
	var value T
	if err := json.Unmarshal(raw, &value); err != nil {
		panic(fmt.Sprintf("%s: %v", key, err))
	}
	return value
}

func (a arguments) has(key string) bool       { return a.values[key] != nil }
func (a arguments) text(key string) string    { return get(a, key, "") }
func (a arguments) texts(key string) []string { return get[[]string](a, key, nil) }
func (a arguments) scope() pigment.Scope {
	return pigment.Scope{Tenant: a.text("tenant"), Database: a.text("database")}
}
func (a arguments) number(key string) (n pigment.Maybe[int]) {
	if a.has(key) {
		n = pigment.Some(get(a, key, 0))
	}
	return n
}

// JSON as it stands in the script, or the text under key_raw; nil when neither is there.
func (a arguments) json(key string) json.RawMessage {
	if a.has(key + "_raw") {
		return json.RawMessage(a.text(key + "_raw"))
	}
	return a.values[key]
}

func (a arguments) where() (where pigment.Where) {
	if text := a.json("where"); text != nil {
		where = pigment.WhereJSON(string(text))
	}
	return where
}

func (a arguments) whereDocument() (where pigment.WhereDocument) {
	if text := a.json("where_document"); text != nil {
		where = pigment.WhereDocumentJSON(string(text))
	}
	return where
}

func (a arguments) include() pigment.Include {
	if !a.has("include") {
		return pigment.IncludeDefault
	}
	bits := map[string]pigment.Include{
		"documents": pigment.IncludeDocuments, "metadatas": pigment.IncludeMetadatas, "embeddings": pigment.IncludeEmbeddings,
		"uris": pigment.IncludeURIs, "distances": pigment.IncludeDistances,
	}
	var include pigment.Include
	for _, name := range a.texts("include") {
		if bits[name] == 0 {
			panic("unknown column " + name)
		}
		include |= bits[name]
	}
	if include == 0 {
		return pigment.IncludeNothing
	}
	return include
}

func floatOf(raw json.RawMessage) float64 {
	switch string(raw) {
	case `"NaN"`:
		return math.NaN()
	case `"Infinity"`:
		return math.Inf(1)
	case `"-Infinity"`:
		return math.Inf(-1)
	}
	var value float64
	if err := json.Unmarshal(raw, &value); err != nil {
		panic(err.Error())
	}
	return value
}

func (a arguments) vectors() pigment.Vectors {
	if !a.has("embeddings") {
		return pigment.Vectors{}
	}
	switch dtype := get(a, "dtype", "f32"); dtype {
	case "f32":
		rows := [][]float32{}
		for _, row := range get[[][]json.RawMessage](a, "embeddings", nil) {
			rows = append(rows, each(row, func(raw json.RawMessage) float32 { return float32(floatOf(raw)) }))
		}
		return pigment.Rows(rows)
	case "f64":
		rows := [][]float64{}
		for _, row := range get[[][]json.RawMessage](a, "embeddings", nil) {
			rows = append(rows, each(row, floatOf))
		}
		return pigment.Rows(rows)
	case "i32":
		return pigment.Rows(get[[][]int32](a, "embeddings", nil))
	case "i64":
		return pigment.Rows(get[[][]int64](a, "embeddings", nil))
	default:
		panic("unknown dtype " + dtype)
	}
}

func each[T, U any](values []T, f func(T) U) []U {
	out := make([]U, len(values))
	for i, value := range values {
		out[i] = f(value)
	}
	return out
}

// Texts, absent where null.
func (a arguments) optionalTexts(key string) (texts []string, has []bool) {
	if !a.has(key) {
		return nil, nil
	}
	texts, has = []string{}, []bool{}
	for _, text := range get[[]*string](a, key, nil) {
		has = append(has, text != nil)
		if text == nil {
			text = new(string)
		}
		texts = append(texts, *text)
	}
	return texts, has
}

func (a arguments) records() pigment.Records {
	records := pigment.Records{IDs: a.texts("ids"), Embeddings: a.vectors()}
	records.Documents, records.HasDocument = a.optionalTexts("documents")
	records.URIs, records.HasURI = a.optionalTexts("uris")
	if a.has("metadatas") {
		records.MetadataJSON = []json.RawMessage{}
		for _, raw := range get[[]json.RawMessage](a, "metadatas", nil) {
			var text string
			if string(raw) == "null" {
				raw = nil
			} else if json.Unmarshal(raw, &text) == nil {
				raw = json.RawMessage(text)
			}
			records.MetadataJSON = append(records.MetadataJSON, raw)
		}
	}
	return records
}

// The embedding function of the scripts: component i counts the letter 'a' + i.
func (a arguments) function() *pigment.EmbeddingFunction {
	if !a.has("function") {
		return nil
	}
	of := arguments{get[map[string]json.RawMessage](a, "function", nil)}
	dimension, fault := get(of, "dimension", 3), of.text("fault")
	return &pigment.EmbeddingFunction{
		Name: get(of, "name", "letters"), Config: of.values["config"], Space: of.text("space"),
		Embed: func(_ context.Context, _ pigment.Purpose, texts []string) ([][]float32, error) {
			if fault == "fail" {
				return nil, &pigment.Error{Code: pigment.CodeUnavailable, Message: "the model is asleep", Row: -1}
			}
			rows := each(texts, func(text string) []float32 {
				row := make([]float32, dimension)
				for _, letter := range []byte(text) {
					if at := int(letter) - 'a'; at >= 0 && at < dimension {
						row[at]++
					}
				}
				return row
			})
			switch fault {
			case "nan":
				rows[len(rows)-1][dimension-1] = float32(math.NaN())
			case "short":
				rows = rows[1:]
			case "extra":
				rows = append(rows, make([]float32, dimension))
			case "":
			default:
				panic("unknown fault " + fault)
			}
			return rows, nil
		},
	}
}

// Keeps a handle under args.as, else args.name (or args.new_name), and answers with its description.
func (r *runner) keep(made *pigment.Collection, err error, a arguments) (any, error) {
	if err != nil {
		if made != nil {
			panic("a collection beside an error")
		}
		return nil, err
	}
	r.collections[get(a, "as", get(a, "name", get(a, "new_name", "id")))] = made
	return r.describe(made)
}

func (r *runner) describe(c *pigment.Collection) (any, error) {
	info, err := c.Describe(r.ctx)
	return answerOf(info), err
}

// What the binding gives, as JSON of its own names.
func answerOf(value any) any {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err.Error())
	}
	return parse(text)
}

func written(result pigment.WriteResult, err error) (any, error) {
	return map[string]any{
		"inserted": int64(result.Inserted), "updated": int64(result.Updated), "skipped": int64(result.Skipped), "deleted": int64(result.Deleted),
	}, err
}

// Columns of the rows of a result that has one query.
func columns(result *pigment.Result) map[string]any {
	out := map[string]any{"ids": list(result.IDs, nil)}
	if result.Documents != nil {
		out["documents"] = list(result.Documents, result.HasDocument)
	}
	if result.URIs != nil {
		out["uris"] = list(result.URIs, result.HasURI)
	}
	if result.MetadataJSON != nil {
		metadatas := []any{}
		for row := range result.Rows() {
			metadata, err := row.Metadata()
			if err != nil {
				panic(err.Error())
			}
			if metadata == nil {
				metadatas = append(metadatas, nil)
			} else {
				metadatas = append(metadatas, map[string]any(metadata))
			}
		}
		out["metadatas"] = metadatas
	}
	if result.Distances != nil {
		out["distances"] = list(each(result.Distances, func(f float32) float64 { return float64(f) }), nil)
	}
	if result.Embeddings != nil {
		rows := []any{}
		for row := range result.Rows() {
			rows = append(rows, list(each(row.Embedding, func(f float32) float64 { return float64(f) }), nil))
		}
		out["embeddings"] = rows
	}
	return out
}

func list[T any](values []T, has []bool) []any {
	out := make([]any, len(values))
	for i, value := range values {
		if has == nil || has[i] {
			out[i] = value
		}
	}
	return out
}

// A list per query of each column.
func queryColumns(result *pigment.Result) map[string]any {
	out := map[string]any{}
	for q := range result.Queries() {
		for name, column := range columns(result.Query(q)) {
			before, _ := out[name].([]any)
			out[name] = append(before, column)
		}
	}
	return out
}

func sortedByName(infos []pigment.CollectionInfo) {
	sort.Slice(infos, func(i, j int) bool { return strings.Compare(infos[i].Name, infos[j].Name) < 0 })
}
