// SPDX-License-Identifier: Apache-2.0

package pigment

// #include "shim.h"
import "C"

import (
	"context"
	"encoding/json"
	"iter"
	"unsafe"
)

// A Get chooses records: those in IDs (when given) that match the filters (when given).
type Get struct {
	IDs           []string // nil: any; ids that do not exist are left out
	Where         Where
	WhereDocument WhereDocument
	Limit         Maybe[int]
	Offset        int
	Include       Include // default: documents and metadatas
	OrderBy       []Order // empty: by insertion
	OrderByJSON   json.RawMessage
	Cursor        string // of an earlier result: only records behind it
	Explain       bool
	MinPosition   uint64 // fail with ErrStale unless the store has reached this position of the log
}

// An Order sorts by a key of metadata, [KeyID] or [KeyURI]: bools before numbers before texts, records without the key last.
type Order struct {
	Key        string
	Descending bool
}

// Get gives records in the order of their insertion, or as OrderBy says.
func (c *Collection) Get(ctx context.Context, get Get) (*Result, error) {
	order, err := get.order()
	if err != nil {
		return nil, err
	}
	var result C.pgo_result
	err = c.call(ctx, get.MinPosition, false, func(k C.pgo_call) C.pgo_done {
		result = C.pgo_get_records(c.c, C.pgo_get{
			filter: filterOf(get.IDs, get.Where, get.WhereDocument), limit: numberOf(get.Limit), offset: C.int64_t(get.Offset),
			include: C.int32_t(get.Include), explain: C.bool(get.Explain), order_by: order, cursor: optionalText(get.Cursor),
		}, k)
		return result.done
	})
	return newResult(result, err)
}

func (g *Get) order() (C.pgo_text, error) {
	if len(g.OrderBy) == 0 {
		return jsonOf(g.OrderByJSON), nil
	}
	if g.OrderByJSON != nil {
		return C.pgo_text{}, invalid(DetailNone, -1, "the order is given twice, as a list and as JSON")
	}
	text := []byte{'['}
	for i, order := range g.OrderBy {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(appendQuoted(append(text, `{"key":`...), order.Key), `,"descending":`...)
		if order.Descending {
			text = append(text, "true}"...)
		} else {
			text = append(text, "false}"...)
		}
	}
	return jsonOf(append(text, ']')), nil
}

// Scan gives all records that get chooses, as many at a time as its Limit says (none: 1000), each time behind the last: what is written meanwhile
// neither repeats a record nor passes one over. An error ends it.
func (c *Collection) Scan(ctx context.Context, get Get) iter.Seq2[Row, error] {
	return func(yield func(Row, error) bool) {
		page := get // of this loop: the function may be called again
		if !page.Limit.present {
			page.Limit = Some(1000)
		}
		for {
			result, err := c.Get(ctx, page)
			if err != nil {
				yield(Row{}, err)
				return
			}
			for row := range result.Rows() {
				if !yield(row, nil) {
					return
				}
			}
			if result.Cursor == "" || len(result.IDs) == 0 {
				return
			}
			page.Cursor, page.Offset = result.Cursor, 0
		}
	}
}

// Peek gives the first records with documents, metadatas and embeddings.
func (c *Collection) Peek(ctx context.Context, limit int) (*Result, error) {
	var result C.pgo_result
	err := c.call(ctx, 0, false, func(k C.pgo_call) C.pgo_done {
		result = C.pgo_peek(c.c, C.int64_t(limit), k)
		return result.done
	})
	return newResult(result, err)
}

// Count counts all records.
func (c *Collection) Count(ctx context.Context) (int, error) {
	var counted C.pgo_count
	err := c.call(ctx, 0, false, func(k C.pgo_call) C.pgo_done {
		counted = C.pgo_count_records(c.c, k)
		return counted.done
	})
	return int(counted.count), err
}

// A CountRequest chooses records: those in IDs (when given) that match the filters (when given).
type CountRequest struct {
	IDs           []string // unknown ids are not counted, and an id twice is counted once
	Where         Where
	WhereDocument WhereDocument
	MinPosition   uint64
}

// CountWhere counts the records that the request chooses. No record is read of which an index is certain.
func (c *Collection) CountWhere(ctx context.Context, request CountRequest) (int, error) {
	var counted C.pgo_count
	err := c.call(ctx, request.MinPosition, false, func(k C.pgo_call) C.pgo_done {
		counted = C.pgo_count_where(c.c, filterOf(request.IDs, request.Where, request.WhereDocument), k)
		return counted.done
	})
	return int(counted.count), err
}

// A FacetsRequest chooses records as a [CountRequest] does, and the keys whose values are counted.
type FacetsRequest struct {
	Keys          []string // of metadata, or KeyURI; each once
	IDs           []string
	Where         Where
	WhereDocument WhereDocument
	Limit         Maybe[int] // values of each key
	MinPosition   uint64
}

// A Facet is a value (bool, int64, float64 or string) and how many records have it.
type Facet struct {
	Value any
	Count uint64
}

// UnmarshalJSON reads what the library gives.
func (f *Facet) UnmarshalJSON(raw []byte) error {
	var facet struct {
		Value json.RawMessage
		Count uint64
	}
	err := json.Unmarshal(raw, &facet)
	if err == nil {
		f.Count = facet.Count
		f.Value, err = parseJSON(facet.Value)
	}
	return err
}

// Facets counts, for each key, how many of the chosen records have each value, the most frequent first. Exact; 2 and 2.0 are one value, and a
// list counts once for each of its different elements.
func (c *Collection) Facets(ctx context.Context, request FacetsRequest) (map[string][]Facet, error) {
	var answer C.pgo_json
	err := c.call(ctx, request.MinPosition, false, func(k C.pgo_call) C.pgo_done {
		answer = C.pgo_facets(c.c, C.size_t(len(request.Keys)), columnOf(request.Keys, nil),
			filterOf(request.IDs, request.Where, request.WhereDocument), numberOf(request.Limit), k)
		return answer.done
	})
	if err != nil {
		return nil, err
	}
	var facets map[string][]Facet
	return facets, decoded(answer, &facets)
}

// Contains says which of the ids are there. Reads ids alone, no record.
func (c *Collection) Contains(ctx context.Context, ids []string) ([]bool, error) {
	if ids == nil {
		ids = []string{}
	}
	present := make([]byte, len(ids)+1)
	err := c.call(ctx, 0, false, func(k C.pgo_call) C.pgo_done {
		return C.pgo_contains(c.c, C.size_t(len(ids)), columnOf(ids, nil), (*C.uint8_t)(unsafe.Pointer(&present[0])), k)
	})
	if err != nil {
		return nil, err
	}
	there := make([]bool, len(ids))
	for i := range there {
		there[i] = present[i] != 0
	}
	return there, nil
}
