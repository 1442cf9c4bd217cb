// SPDX-License-Identifier: Apache-2.0

package pigment

// #include "shim.h"
import "C"

import (
	"encoding/json"
	"unsafe"
)

// Go's values as the library wants them: memory without pointers in it, which the library reads during the call only.

// What stands for the bytes of an empty text, which is not an absent one.
var noBytes [1]byte

func textOf(s string) C.pgo_text {
	if s == "" {
		return C.pgo_text{data: (*C.char)(unsafe.Pointer(&noBytes[0]))}
	}
	return C.pgo_text{data: (*C.char)(unsafe.Pointer(unsafe.StringData(s))), size: C.size_t(len(s))}
}

// As textOf, but the empty text is absent.
func optionalText(s string) C.pgo_text {
	if s == "" {
		return C.pgo_text{}
	}
	return textOf(s)
}

// Nil is absent.
func jsonOf(raw []byte) C.pgo_text {
	if raw == nil {
		return C.pgo_text{}
	}
	return textOf(unsafe.String(unsafe.SliceData(raw), len(raw)))
}

// A column that is being built, row by row.
type column struct {
	offsets []int64
	bytes   []byte
	bits    []byte // nil: every row is there
}

func newColumn(rows, size int, optional bool) column {
	c := column{offsets: make([]int64, rows+1), bytes: make([]byte, 0, max(size, 1))}
	if optional {
		c.bits = make([]byte, rows/8+1)
	}
	return c
}

// Row i is what was appended to bytes since the last row.
func (c *column) end(i int, present bool) {
	c.offsets[i+1] = int64(len(c.bytes))
	if present && c.bits != nil {
		c.bits[i/8] |= 1 << (i % 8)
	}
}

func (c *column) c() C.pigment_text_column {
	return C.pigment_text_column{
		offsets:  (*C.int64_t)(unsafe.Pointer(unsafe.SliceData(c.offsets))),
		bytes:    (*C.char)(unsafe.Pointer(unsafe.SliceData(c.bytes))),
		validity: (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(c.bits))),
	}
}

// A column of texts; nil is absent. A row i is absent where has is given and has[i] is false.
func columnOf(texts []string, has []bool) C.pigment_text_column {
	if texts == nil {
		return C.pigment_text_column{}
	}
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	column := newColumn(len(texts), size, has != nil)
	for i, text := range texts {
		column.bytes = append(column.bytes, text...)
		column.end(i, has == nil || has[i])
	}
	return column.c()
}

// The same of JSON; a row that is nil is absent.
func rawColumn(texts []json.RawMessage) C.pigment_text_column {
	if texts == nil {
		return C.pigment_text_column{}
	}
	size := 0
	for _, text := range texts {
		size += len(text)
	}
	column := newColumn(len(texts), size, true)
	for i, text := range texts {
		column.bytes = append(column.bytes, text...)
		column.end(i, text != nil)
	}
	return column.c()
}

// Copies of a column's rows begin .. end; has says which of them are there. All texts share one block of memory.
func textsOf(column C.pigment_text_column, rows int) (texts []string, has []bool) {
	if column.offsets == nil {
		return nil, nil
	}
	offsets := unsafe.Slice((*int64)(unsafe.Pointer(column.offsets)), rows+1)
	first := offsets[0]
	block := string(unsafe.Slice((*byte)(unsafe.Pointer(column.bytes)), offsets[rows])[first:])
	texts, has = make([]string, rows), make([]bool, rows)
	for i := range texts {
		if has[i] = isPresent(column, i); has[i] {
			texts[i] = block[offsets[i]-first : offsets[i+1]-first]
		}
	}
	return texts, has
}

// As textsOf, but an absent row is nil, and a present one never.
func rawsOf(column C.pigment_text_column, rows int) []json.RawMessage {
	if column.offsets == nil {
		return nil
	}
	offsets := unsafe.Slice((*int64)(unsafe.Pointer(column.offsets)), rows+1)
	first := offsets[0]
	block := append(make([]byte, 0, offsets[rows]-first+1), unsafe.Slice((*byte)(unsafe.Pointer(column.bytes)), offsets[rows])[first:]...)
	raws := make([]json.RawMessage, rows)
	for i := range raws {
		if isPresent(column, i) {
			begin, end := offsets[i]-first, offsets[i+1]-first
			raws[i] = block[begin:end:end]
		}
	}
	return raws
}

func isPresent(column C.pigment_text_column, row int) bool {
	return column.validity == nil || *(*byte)(unsafe.Add(unsafe.Pointer(column.validity), row/8))&(1<<(row%8)) != 0
}

func goText(text C.pgo_text) string {
	return string(unsafe.Slice((*byte)(unsafe.Pointer(text.data)), text.size))
}

func numberOf(n Maybe[int]) C.pgo_number {
	return C.pgo_number{present: C.bool(n.present), value: C.int64_t(n.value)}
}
