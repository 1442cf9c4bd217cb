// SPDX-License-Identifier: Apache-2.0

package pigment

// #include "shim.h"
import "C"

import (
	"encoding/json"
	"iter"
	"unsafe"
)

// A Result holds records as columns, all as long as IDs; a column that was not included is nil. The rows of query q are
// Offsets[q] .. Offsets[q+1] ([Result.Query] cuts them out); a get has one query. Texts of a column share one block of memory.
type Result struct {
	IDs          []string
	Documents    []string
	HasDocument  []bool
	MetadataJSON []json.RawMessage // nil: the record has none
	URIs         []string
	HasURI       []bool
	Distances    []float32
	Scores       []float32 // of a text search
	Highlights   [][]Span  // of a text search that asked for them
	Embeddings   []float32 // Dimension numbers for each row
	Dimension    int

	Offsets  []int
	Included Include
	Position uint64          // of the log, that the answer saw
	Cursor   string          // of a get that its limit ended: where to go on
	Explain  json.RawMessage // stages with rows and nanoseconds, when asked for
}

// A Span is a part of a document that matched: bytes from Begin to End.
type Span struct{ Begin, End int }

// UnmarshalJSON reads what the library gives.
func (s *Span) UnmarshalJSON(raw []byte) error {
	var pair [2]int
	err := json.Unmarshal(raw, &pair)
	s.Begin, s.End = pair[0], pair[1]
	return err
}

// A Row is one record of a result; what was not included is zero.
type Row struct {
	ID           string
	Document     string
	HasDocument  bool
	MetadataJSON json.RawMessage
	URI          string
	HasURI       bool
	Embedding    []float32
	Distance     float32
	Score        float32
	Highlights   []Span
}

// Metadata parses the row's metadata; nil where it has none.
func (r Row) Metadata() (Metadata, error) {
	if r.MetadataJSON == nil {
		return nil, nil
	}
	var metadata Metadata
	err := metadata.UnmarshalJSON(r.MetadataJSON)
	return metadata, err
}

// Queries is how many queries the result answers.
func (r *Result) Queries() int { return max(len(r.Offsets)-1, 0) }

// Query gives the rows of query q as a result of their own, which shares memory with this one. It panics, as an index does, where there is
// no such query.
func (r *Result) Query(q int) *Result {
	begin, end := r.Offsets[q], r.Offsets[q+1]
	part := *r
	part.Offsets = []int{0, end - begin}
	part.IDs = cut(r.IDs, begin, end)
	part.Documents, part.HasDocument = cut(r.Documents, begin, end), cut(r.HasDocument, begin, end)
	part.MetadataJSON = cut(r.MetadataJSON, begin, end)
	part.URIs, part.HasURI = cut(r.URIs, begin, end), cut(r.HasURI, begin, end)
	part.Distances, part.Scores = cut(r.Distances, begin, end), cut(r.Scores, begin, end)
	part.Highlights = cut(r.Highlights, begin, end)
	part.Embeddings = cut(r.Embeddings, begin*r.Dimension, end*r.Dimension)
	return &part
}

func cut[T any](column []T, begin, end int) []T {
	if column == nil {
		return nil
	}
	return column[begin:end:end]
}

// Rows gives the records of all queries, one after another.
func (r *Result) Rows() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		for i := range r.IDs {
			if !yield(r.Row(i)) {
				return
			}
		}
	}
}

// QueryRows gives the records with the number of the query that each answers.
func (r *Result) QueryRows() iter.Seq2[int, Row] {
	return func(yield func(int, Row) bool) {
		for q := range r.Queries() {
			for i := r.Offsets[q]; i < r.Offsets[q+1]; i++ {
				if !yield(q, r.Row(i)) {
					return
				}
			}
		}
	}
}

// Row gives record i of all.
func (r *Result) Row(i int) Row {
	row := Row{ID: r.IDs[i]}
	if r.Documents != nil {
		row.Document, row.HasDocument = r.Documents[i], r.HasDocument[i]
	}
	if r.MetadataJSON != nil {
		row.MetadataJSON = r.MetadataJSON[i]
	}
	if r.URIs != nil {
		row.URI, row.HasURI = r.URIs[i], r.HasURI[i]
	}
	if r.Distances != nil {
		row.Distance = r.Distances[i]
	}
	if r.Scores != nil {
		row.Score = r.Scores[i]
	}
	if r.Highlights != nil {
		row.Highlights = r.Highlights[i]
	}
	if r.Embeddings != nil {
		row.Embedding = r.Embedding(i)
	}
	return row
}

// Embedding gives that of record i of all, or nil when the result does not include them.
func (r *Result) Embedding(i int) []float32 {
	return cut(r.Embeddings, i*r.Dimension, (i+1)*r.Dimension)
}

// Copies everything into Go's memory and frees the library's.
func newResult(from C.pgo_result, err error) (*Result, error) {
	if err != nil {
		return nil, err
	}
	defer C.pigment_result_free(from.result)
	rows := int(from.rows)
	r := &Result{
		Included: Include(from.included), Position: uint64(from.position), Cursor: goText(from.cursor), Dimension: int(from.dimension),
		MetadataJSON: rawsOf(from.metadatas, rows), Offsets: make([]int, int(from.queries)+1),
	}
	for i, offset := range unsafe.Slice((*uint64)(unsafe.Pointer(from.offsets)), len(r.Offsets)) {
		r.Offsets[i] = int(offset)
	}
	r.IDs, _ = textsOf(from.ids, rows)
	r.Documents, r.HasDocument = textsOf(from.documents, rows)
	r.URIs, r.HasURI = textsOf(from.uris, rows)
	r.Distances = floatsOf(from.distances, rows)
	r.Scores = floatsOf(from.scores, rows)
	r.Embeddings = floatsOf(from.embeddings, rows*r.Dimension)
	if from.explain.data != nil {
		r.Explain = json.RawMessage(goText(from.explain))
	}
	if from.highlights.offsets != nil {
		r.Highlights = make([][]Span, rows)
		for i, raw := range rawsOf(from.highlights, rows) {
			if raw == nil {
				continue
			}
			if err := decode(raw, &r.Highlights[i]); err != nil {
				return nil, err
			}
		}
	}
	return r, nil
}

func floatsOf(values *C.float, count int) []float32 {
	if values == nil {
		return nil
	}
	return append(make([]float32, 0, count), unsafe.Slice((*float32)(unsafe.Pointer(values)), count)...)
}
