// SPDX-License-Identifier: Apache-2.0

package pigment

// #include "shim.h"
import "C"

import (
	"context"
	"encoding/json"
)

// Records is a batch as columns, all as long as IDs; a nil column is absent. Without Embeddings documents are embedded by the collection's
// function.
type Records struct {
	IDs          []string
	Embeddings   Vectors
	Documents    []string
	HasDocument  []bool // nil: every row has one; an empty document is one
	Metadatas    []Metadata
	MetadataJSON []json.RawMessage // instead of Metadatas; nil: the row has none
	URIs         []string
	HasURI       []bool // nil: every row has one
}

// A WriteResult counts what a write did.
type WriteResult struct {
	Inserted uint64
	Updated  uint64
	Skipped  uint64 // add of an id that exists; update or delete of one that does not
	Deleted  uint64
	Position uint64 // of the write in the log; a read may ask for it as MinPosition
}

// Add inserts records; those whose ids exist are left as they are. A batch is atomic: all of it is durable and visible, or none.
func (c *Collection) Add(ctx context.Context, records Records) (WriteResult, error) {
	return c.write(ctx, C.PGO_ADD, &records)
}

// Update changes records that exist, others are skipped. Metadata merges by key, and a nil value deletes its key.
func (c *Collection) Update(ctx context.Context, records Records) (WriteResult, error) {
	return c.write(ctx, C.PGO_UPDATE, &records)
}

// Upsert updates records that exist and inserts the others.
func (c *Collection) Upsert(ctx context.Context, records Records) (WriteResult, error) {
	return c.write(ctx, C.PGO_UPSERT, &records)
}

func (c *Collection) write(ctx context.Context, what C.int32_t, records *Records) (WriteResult, error) {
	batch, err := records.c()
	if err != nil {
		return WriteResult{}, err
	}
	var written C.pgo_written
	err = c.call(ctx, 0, batch.embeddings.data == nil && batch.documents.offsets != nil, func(k C.pgo_call) C.pgo_done {
		written = C.pgo_write(what, c.c, batch, k)
		return written.done
	})
	return writeResult(written), err
}

func writeResult(w C.pgo_written) WriteResult {
	return WriteResult{uint64(w.inserted), uint64(w.updated), uint64(w.skipped), uint64(w.deleted), uint64(w.position)}
}

// The library cannot see how long a column is, so that is looked at here.
func (r *Records) c() (C.pgo_records, error) {
	ids := r.IDs
	if ids == nil {
		ids = []string{}
	}
	for _, column := range []struct {
		name string
		rows int
		here bool
	}{
		{"documents", len(r.Documents), r.Documents != nil},
		{"has_document", len(r.HasDocument), r.HasDocument != nil},
		{"metadatas", len(r.Metadatas), r.Metadatas != nil},
		{"metadata_json", len(r.MetadataJSON), r.MetadataJSON != nil},
		{"uris", len(r.URIs), r.URIs != nil},
		{"has_uri", len(r.HasURI), r.HasURI != nil},
	} {
		if column.here && column.rows != len(ids) {
			return C.pgo_records{}, invalid(DetailNone, -1, "unequal lengths for fields: ids: %d, %s: %d", len(ids), column.name, column.rows)
		}
	}
	if r.Documents == nil && r.HasDocument != nil || r.URIs == nil && r.HasURI != nil {
		return C.pgo_records{}, invalid(DetailNone, -1, "has_document or has_uri is given without the texts")
	}
	vectors, err := r.Embeddings.c()
	if err != nil {
		return C.pgo_records{}, err
	}
	metadatas, err := r.metadatas()
	if err != nil {
		return C.pgo_records{}, err
	}
	return C.pgo_records{
		count: C.size_t(len(ids)), ids: columnOf(ids, nil), embeddings: vectors, documents: columnOf(r.Documents, r.HasDocument),
		metadatas: metadatas, uris: columnOf(r.URIs, r.HasURI),
	}, nil
}

func (r *Records) metadatas() (C.pigment_text_column, error) {
	if r.Metadatas != nil && r.MetadataJSON != nil {
		return C.pigment_text_column{}, invalid(DetailMetadata, -1, "metadata is given twice, as maps and as JSON")
	}
	if r.Metadatas == nil {
		return rawColumn(r.MetadataJSON), nil
	}
	column := newColumn(len(r.Metadatas), 0, true)
	for i, metadata := range r.Metadatas {
		if metadata != nil {
			var err error
			if column.bytes, err = appendJSON(column.bytes, map[string]any(metadata)); err != nil {
				return C.pigment_text_column{}, invalid(DetailMetadata, i, "metadata: %v", err)
			}
		}
		column.end(i, metadata != nil)
	}
	return column.c(), nil
}

// A DeleteRequest chooses records: those in IDs (when given) that match the filters (when given); one of them must be given.
type DeleteRequest struct {
	IDs           []string
	Where         Where
	WhereDocument WhereDocument
	Limit         Maybe[int] // only with a filter
}

// Delete deletes the records that the request chooses.
func (c *Collection) Delete(ctx context.Context, request DeleteRequest) (WriteResult, error) {
	var written C.pgo_written
	err := c.call(ctx, 0, false, func(k C.pgo_call) C.pgo_done {
		written = C.pgo_delete(c.c, filterOf(request.IDs, request.Where, request.WhereDocument), numberOf(request.Limit), k)
		return written.done
	})
	return writeResult(written), err
}

func filterOf(ids []string, where Where, document WhereDocument) C.pgo_filter {
	filter := C.pgo_filter{ids_count: C.size_t(len(ids)), ids: columnOf(ids, nil)}
	if where.present {
		filter.where = textOf(string(where.text))
	}
	if document.present {
		filter.where_document = textOf(document.String())
	}
	return filter
}
