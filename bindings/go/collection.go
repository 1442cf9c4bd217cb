// SPDX-License-Identifier: Apache-2.0

package pigment

// #include "shim.h"
import "C"

import (
	"context"
	"encoding/json"
	"runtime"
)

// A Collection is a handle on records. Any goroutine may use it, and must not copy it. Close frees it at once, which nobody needs to do: the
// garbage collector does the same. It keeps its client open for as long as nobody closes that.
type Collection struct {
	client  *Client
	h       *handle
	c       *C.pigment_collection
	cleanup runtime.Cleanup
	callsGo bool // an embedding function of Go may run within its calls
}

func newCollection(client *Client, c *C.pigment_collection, callsGo bool) *Collection {
	made := &Collection{client: client, c: c, callsGo: callsGo}
	made.h = newHandle("collection", func() { C.pigment_collection_free(c) })
	made.cleanup = runtime.AddCleanup(made, func(h *handle) {
		if h.close() {
			h.release()
		}
	}, made.h)
	return made
}

// Close frees the handle when the last call of it has returned, and never fails. The records stay.
func (c *Collection) Close() error {
	if c == nil || c.h == nil || !c.h.close() {
		return nil
	}
	c.cleanup.Stop()
	c.h.release()
	return nil
}

func (c *Collection) acquire() error {
	if c == nil || c.h == nil {
		return invalid(DetailNone, -1, "collection is nil or was not opened")
	}
	return c.h.acquire()
}

// Also keeps the garbage collector from freeing what nobody holds any more while its last call runs.
func (c *Collection) release() {
	c.h.release()
	runtime.KeepAlive(c)
}

func (c *Collection) enter(ctx context.Context) error {
	if err := check(ctx); err != nil {
		return err
	}
	return c.acquire()
}

// Runs f with what ctx says; f gives how the call ended. `embeds` when it may embed texts.
func (c *Collection) call(ctx context.Context, minPosition uint64, embeds bool, f func(C.pgo_call) C.pgo_done) error {
	if err := c.acquire(); err != nil {
		return err
	}
	defer c.release()
	var k call
	if err := k.begin(ctx, minPosition, embeds && c.callsGo); err != nil {
		return err
	}
	return k.finish(f(k.c))
}

// Describe says what the collection is like.
func (c *Collection) Describe(ctx context.Context) (CollectionInfo, error) {
	var info CollectionInfo
	if err := c.enter(ctx); err != nil {
		return info, err
	}
	defer c.release()
	err := decoded(C.pgo_collection_json(C.PGO_DESCRIBE, c.c), &info)
	return info, err
}

// ModifyOptions says what of a collection is changed.
type ModifyOptions struct {
	Name          Maybe[string]
	Metadata      Metadata        // replaces all of it; nil: unchanged
	MetadataJSON  json.RawMessage // instead of Metadata
	Configuration json.RawMessage // merged; nil: unchanged. docs/operations.md says what may change
}

// Modify changes what the options name.
func (c *Collection) Modify(ctx context.Context, options ModifyOptions) error {
	metadata, err := metadataText(options.Metadata, options.MetadataJSON, -1)
	if err != nil {
		return err
	}
	if err := c.enter(ctx); err != nil {
		return err
	}
	defer c.release()
	var name C.pgo_text
	if to, ok := options.Name.Get(); ok {
		name = textOf(to)
	}
	return take(C.pgo_modify(c.c, name, jsonOf(metadata), jsonOf(options.Configuration)))
}

// Fork makes a collection with the same records; segments are shared, later writes are not. It has the same embedding function.
func (c *Collection) Fork(ctx context.Context, name string) (*Collection, error) {
	if err := c.enter(ctx); err != nil {
		return nil, err
	}
	defer c.release()
	text := textOf(name)
	var fork *C.pigment_collection
	var failure *C.pigment_error
	if status := C.pigment_collection_fork(c.c, text.data, text.size, &fork, &failure); status != C.PIGMENT_OK {
		return nil, taken(status, failure)
	}
	return newCollection(c.client, fork, c.callsGo), nil
}

// Flush writes what the collection has in memory into a segment.
func (c *Collection) Flush(ctx context.Context) error {
	return c.call(ctx, 0, false, func(k C.pgo_call) C.pgo_done { return C.pgo_flush(nil, c.c, k) })
}

// A Segment is a part of a collection that is written and never changed.
type Segment struct {
	Segment        uint64 `json:"segment"`
	Kind           string `json:"kind"`
	Rows           uint64 `json:"rows"`
	LiveRows       uint64 `json:"live_rows"`
	Bytes          uint64 `json:"bytes"`
	DeletionsBytes uint64 `json:"deletions_bytes"`
	Dimension      int    `json:"dimension"`
	Codes          bool   `json:"codes"`
	Shared         bool   `json:"shared"`
}

// Segments lists them in the order of their first flush; what was written since the last one is in none.
func (c *Collection) Segments(ctx context.Context) ([]Segment, error) {
	if err := c.enter(ctx); err != nil {
		return nil, err
	}
	defer c.release()
	var segments []Segment
	err := decoded(C.pgo_collection_json(C.PGO_SEGMENTS, c.c), &segments)
	return segments, err
}

// Compact merges the collection's segments as far as that saves anything.
func (c *Collection) Compact(ctx context.Context) (Compaction, error) {
	var compacted C.pgo_compacted
	err := c.call(ctx, 0, false, func(k C.pgo_call) C.pgo_done {
		compacted = C.pgo_compact(nil, c.c, k)
		return compacted.done
	})
	return compactionOf(compacted), err
}
