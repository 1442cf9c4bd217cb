// SPDX-License-Identifier: Apache-2.0

package main

// #cgo pkg-config: pigment
// #cgo CFLAGS: -std=gnu11 -O2 -Wall -Wextra -Werror
// #include "loops.h"
import "C"

import (
	"errors"
	"runtime"
	"time"
	"unsafe"

	"github.com/pigment-db/pigment/bindings/go"
)

type cSide struct{ client *C.pigment_client }

type cCollection struct{ c *C.pigment_collection }

var errC = errors.New("the C side failed")

func openC(path string) cSide {
	client := C.bench_open((*C.char)(unsafe.Pointer(unsafe.StringData(path))), C.size_t(len(path)))
	if client == nil {
		must(errC)
	}
	return cSide{client}
}

func (c cSide) collection(name string) cCollection {
	collection := C.bench_collection(c.client, (*C.char)(unsafe.Pointer(unsafe.StringData(name))), C.size_t(len(name)))
	if collection == nil {
		must(errC)
	}
	return cCollection{collection}
}

func (c cCollection) free() { C.pigment_collection_free(c.c) }

// What the clock shows, or what the process has used of processors.
func now() time.Duration { return time.Duration(C.bench_now(C.bool(*cpu))) }

func took(ns C.int64_t) time.Duration {
	if ns < 0 {
		must(errC)
	}
	return time.Duration(ns)
}

func (c cCollection) query(vectors []float32, count, dimension, nResults int) time.Duration {
	return took(C.bench_query(c.c, C.bool(*cpu), (*C.float)(&vectors[0]), C.size_t(count), C.size_t(dimension), C.int64_t(nResults)))
}

func (c cCollection) count(calls int) time.Duration {
	return took(C.bench_count(c.c, C.bool(*cpu), C.size_t(calls)))
}

func (c cCollection) get(calls, limit int) time.Duration {
	return took(C.bench_get(c.c, C.bool(*cpu), C.size_t(calls), C.int64_t(limit)))
}

func (c cCollection) add(batch *batch) time.Duration {
	defer batch.pins.Unpin()
	return took(C.bench_add(c.c, C.bool(*cpu), batch.pinned()))
}

// A batch as C's columns, made once: C pays for no conversion.
type batch struct {
	rows                      int
	values                    []float32
	ids, documents, metadatas column
	pins                      runtime.Pinner
}

type column struct {
	offsets []int64
	bytes   []byte
}

func newBatch(records pigment.Records, values []float32) *batch {
	b := &batch{rows: len(records.IDs), values: values, ids: columnOf(records.IDs), documents: columnOf(records.Documents)}
	b.metadatas = columnOf(records.MetadataJSON)
	return b
}

func columnOf[T ~string | ~[]byte](texts []T) column {
	c := column{offsets: []int64{0}}
	for _, text := range texts {
		c.bytes = append(c.bytes, text...)
		c.offsets = append(c.offsets, int64(len(c.bytes)))
	}
	return c
}

func (b *batch) pinned() C.bench_batch {
	offsets := func(c column) *C.int64_t {
		b.pins.Pin(&c.offsets[0])
		return (*C.int64_t)(&c.offsets[0])
	}
	bytes := func(c column) *C.char {
		b.pins.Pin(&c.bytes[0])
		return (*C.char)(unsafe.Pointer(&c.bytes[0]))
	}
	b.pins.Pin(&b.values[0])
	return C.bench_batch{
		rows: C.size_t(b.rows), dimension: C.size_t(len(b.values) / b.rows), vectors: (*C.float)(&b.values[0]),
		id_offsets: offsets(b.ids), ids: bytes(b.ids), document_offsets: offsets(b.documents), documents: bytes(b.documents),
		metadata_offsets: offsets(b.metadatas), metadatas: bytes(b.metadatas),
	}
}
