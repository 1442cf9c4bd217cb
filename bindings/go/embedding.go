// SPDX-License-Identifier: Apache-2.0

package pigment

// #include "shim.h"
import "C"

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime/cgo"
	"runtime/debug"
	"unsafe"
)

// An EmbeddingFunction makes vectors of texts. A collection made with one stores Name and Config as data (nothing is ever loaded by them);
// who opens the collection again gives the function again.
type EmbeddingFunction struct {
	Name   string
	Config json.RawMessage // an object, or nil
	Space  string          // the distance that it prefers: "l2", "cosine", "ip"; "": none

	// Embed gives one vector for each text, all of one dimension. It may be called by several goroutines at once, and must not write to
	// the collection that it serves, nor close its client. ctx is that of the call that needs it. Its error is found in the
	// call's error by errors.Is and errors.As, and the code of an [*Error] is passed on; a panic is an error of the call too ([PanicError]).
	Embed func(ctx context.Context, purpose Purpose, texts []string) ([][]float32, error)

	lexical   bool
	dimension int
}

// Lexical is the built-in function "pigment_lexical_v1": hashes of words and of pieces of them, unit length, preferred space cosine. A pure
// function of the text; a baseline, not a semantic model. Dimension 0 is 384.
func Lexical(dimension int) *EmbeddingFunction {
	return &EmbeddingFunction{Name: "pigment_lexical_v1", Space: "cosine", lexical: true, dimension: dimension}
}

// EmbedLexical gives what [Lexical] makes of texts: a vector after the other.
func EmbedLexical(texts []string, dimension int) ([]float32, error) {
	if dimension < 0 || dimension > math.MaxUint16 { // what the library takes, looked at before memory is asked for
		return nil, invalid(DetailDimension, -1, "argument dimension is %d", dimension)
	}
	if texts == nil {
		texts = []string{}
	}
	values := make([]float32, len(texts)*dimension)
	data := dataOf(unsafe.Pointer(unsafe.SliceData(values)), len(values))
	done := C.pgo_embed_lexical(C.size_t(len(texts)), columnOf(texts, nil), C.size_t(dimension), (*C.float)(data))
	if err := take(done); err != nil {
		return nil, err
	}
	return values, nil
}

// A PanicError is what a panic of an embedding function becomes.
type PanicError struct {
	Value any    // what was passed to panic; nil when the function ended its goroutine
	Stack []byte // where
}

func (e *PanicError) Error() string {
	if e.Value == nil {
		return "the function ended its goroutine"
	}
	return fmt.Sprintf("the function panicked: %v", e.Value)
}

// Unwrap gives what was passed to panic, where that was an error.
func (e *PanicError) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}

// Whether Go code runs within calls of a collection that has the function.
func (f *EmbeddingFunction) callsGo() bool { return f != nil && !f.lexical }

// As the library wants it; drop takes it back, for a call that failed.
func (f *EmbeddingFunction) c() (given C.pgo_function, drop func(), err error) {
	if f == nil {
		return C.pgo_function{}, func() {}, nil
	}
	if f.lexical {
		if f.dimension < 0 {
			return C.pgo_function{}, nil, invalid(DetailDimension, -1, "argument dimension is %d", f.dimension)
		}
		return C.pgo_function{present: true, lexical: true, dimension: C.size_t(f.dimension)}, func() {}, nil
	}
	if f.Embed == nil {
		return C.pgo_function{}, nil, invalid(DetailEmbeddingFunction, -1, "embedding function %q has no Embed", f.Name)
	}
	copied := *f
	key := cgo.NewHandle(&copied)
	return C.pgo_function{
		present: true, handle: C.uintptr_t(key), name: textOf(f.Name), config: jsonOf(f.Config), space: optionalText(f.Space),
	}, key.Delete, nil
}

//export pigmentGoRelease
func pigmentGoRelease(key C.uintptr_t) { cgo.Handle(key).Delete() }

//export pigmentGoEmbed
func pigmentGoEmbed(key, running C.uintptr_t, purpose C.int32_t, count C.size_t, texts *C.pigment_text_column, sink *C.pigment_embedding_sink) C.pigment_status {
	function := cgo.Handle(key).Value().(*EmbeddingFunction)
	ctx := context.Background()
	var state *callState
	if running != 0 {
		state = cgo.Handle(running).Value().(*callState)
		ctx = state.ctx
	}
	given, _ := textsOf(*texts, int(count))
	vectors, err := function.run(ctx, Purpose(purpose), given)
	if err == nil {
		return put(sink, vectors)
	}
	if state != nil {
		state.fail(err)
	}
	message := err.Error()
	code := CodeUnknown
	var known *Error
	if errors.As(err, &known) && known.Code != CodeOK {
		code, message = known.Code, known.Message
	} else if errors.Is(err, context.Canceled) {
		code = CodeCancelled
	} else if errors.Is(err, context.DeadlineExceeded) {
		code = CodeDeadlineExceeded
	}
	text := textOf(message)
	C.pigment_embedding_sink_fail(sink, text.data, text.size)
	return C.pigment_status(code)
}

// Calls Embed in a goroutine of its own: neither a panic nor an end of the goroutine may unwind through the library.
func (f *EmbeddingFunction) run(ctx context.Context, purpose Purpose, texts []string) (vectors [][]float32, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		returned := false
		defer func() {
			if !returned {
				vectors, err = nil, &PanicError{Value: recover(), Stack: debug.Stack()}
			}
		}()
		vectors, err = f.Embed(ctx, purpose, texts)
		returned = true
	}()
	<-done
	return vectors, err
}

func (s *callState) fail(err error) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.failed == nil {
		s.failed = err
	}
}

// The library checks what it gets; after a mistake it takes no more, and knows which.
func put(sink *C.pigment_embedding_sink, vectors [][]float32) C.pigment_status {
	for _, vector := range vectors {
		data := dataOf(unsafe.Pointer(unsafe.SliceData(vector)), len(vector))
		if status := C.pigment_embedding_sink_put(sink, (*C.float)(data), 1, C.size_t(len(vector))); status != C.PIGMENT_OK {
			return status
		}
	}
	return C.PIGMENT_OK
}
