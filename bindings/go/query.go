// SPDX-License-Identifier: Apache-2.0

package pigment

// #include "shim.h"
import "C"

import "context"

// A Query asks for the records nearest to each of some vectors, or texts, among those in IDs (when given) that match the filters (when given).
type Query struct {
	Embeddings    Vectors  // a query in each row; wins over Texts
	Texts         []string // embedded by the collection's function
	NResults      int      // 0: 10
	IDs           []string // nil: any; unknown ids are no hit
	Where         Where
	WhereDocument WhereDocument
	Include       Include // default: documents, metadatas and distances
	Recall        float64 // of the nearest records the part that is to be found on average; 0: 0.98; 1: all of them
	SearchWidth   int     // nodes or clusters that are visited, in place of a recall
	MaxDistance   Maybe[float64]
	Threads       int // that may share many embeddings; 0: as many as there are cores
	Explain       bool
	MinPosition   uint64 // fail with ErrStale unless the store has reached this position of the log
}

// Query gives for each query the nearest records, ascending by distance (l2 squared, 1 - cosine, 1 - inner product), ties by insertion; fewer
// than NResults only when fewer match or are within MaxDistance. Distances are exact, whatever the recall.
func (c *Collection) Query(ctx context.Context, query Query) (*Result, error) {
	vectors, err := query.Embeddings.c()
	if err != nil {
		return nil, err
	}
	if query.Threads != int(int32(query.Threads)) {
		return nil, invalid(DetailNone, -1, "argument threads is %d", query.Threads)
	}
	request := C.pgo_query{
		filter: filterOf(query.IDs, query.Where, query.WhereDocument), embeddings: vectors, texts_count: C.size_t(len(query.Texts)),
		texts: columnOf(query.Texts, nil), n_results: nResults(query.NResults), include: C.int32_t(query.Include), explain: C.bool(query.Explain),
		recall: C.double(query.Recall), search_width: C.int64_t(query.SearchWidth), threads: C.int32_t(query.Threads),
		has_max_distance: C.bool(query.MaxDistance.present), max_distance: C.double(query.MaxDistance.value),
	}
	var result C.pgo_result
	err = c.call(ctx, query.MinPosition, vectors.data == nil && query.Texts != nil, func(k C.pgo_call) C.pgo_done {
		result = C.pgo_query_records(c.c, request, k)
		return result.done
	})
	return newResult(result, err)
}

func nResults(n int) C.int64_t {
	if n == 0 {
		return 10
	}
	return C.int64_t(n)
}

// A TextSearch asks for the documents that answer some texts best, in a collection with a text index.
type TextSearch struct {
	Queries       []string // words, "phrases", prefix*, +required: docs/text-search.md; every text is a query
	NResults      int      // 0: 10
	IDs           []string
	Where         Where
	WhereDocument WhereDocument
	Operator      TextOperator
	Include       Include // not distances; scores always come
	Highlights    bool
	Explain       bool
	MinPosition   uint64
}

// SearchText gives for each query the records that match, by BM25 over all records, the highest score first, ties by insertion. Without a
// text index it fails with [ErrFailedPrecondition].
func (c *Collection) SearchText(ctx context.Context, search TextSearch) (*Result, error) {
	queries := search.Queries
	if queries == nil {
		queries = []string{}
	}
	request := C.pgo_text_search{
		filter: filterOf(search.IDs, search.Where, search.WhereDocument), queries_count: C.size_t(len(queries)),
		queries: columnOf(queries, nil), n_results: nResults(search.NResults), any_or_all: C.int32_t(search.Operator),
		include: C.int32_t(search.Include), highlights: C.bool(search.Highlights), explain: C.bool(search.Explain),
	}
	var result C.pgo_result
	err := c.call(ctx, search.MinPosition, false, func(k C.pgo_call) C.pgo_done {
		result = C.pgo_search_text(c.c, request, k)
		return result.done
	})
	return newResult(result, err)
}
