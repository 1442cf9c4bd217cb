// SPDX-License-Identifier: Apache-2.0

package pigment

// #include "shim.h"
import "C"

import (
	"context"
	"sync"
)

// A Progress sees how far long calls are: flushes, compactions, backups, checks and repairs whose context has it by [WithProgress]. Any
// goroutine. The zero value is ready.
type Progress struct {
	mutex sync.Mutex
	token *C.pigment_cancel // of the call that runs
	last  ProgressState     // of the one before it
}

// A ProgressState is one phase of long work; the next one begins at 0 again.
type ProgressState struct {
	Phase string // "flush", "merge", "index", "log", "segments", "records" or "search"; "": nothing has begun
	Unit  string // "rows", "bytes", "batches", "files" or "collections"
	Done  uint64 // never goes back within a phase
	Total uint64 // 0: nobody knows
}

type progressKey struct{}

// WithProgress gives a context whose calls tell p how far they are, one call at a time.
func WithProgress(ctx context.Context, p *Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, p)
}

// State is what the call is at that runs, or was at its end.
func (p *Progress) State() ProgressState {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.token == nil {
		return p.last
	}
	return stateOf(p.token)
}

func (p *Progress) begin(token *C.pigment_cancel) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.token = token
}

func (p *Progress) end() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.token != nil {
		p.token, p.last = nil, stateOf(p.token)
	}
}

func stateOf(token *C.pigment_cancel) ProgressState {
	s := C.pgo_progress_of(token)
	if s.phase == nil {
		return ProgressState{}
	}
	return ProgressState{C.GoString(s.phase), C.GoString(s.unit), uint64(s.done), uint64(s.total)}
}
