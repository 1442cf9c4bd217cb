// SPDX-License-Identifier: Apache-2.0

package pigment

// #include "shim.h"
import "C"

import (
	"context"
	"errors"
	"runtime/cgo"
	"sync"
	"sync/atomic"
	"time"
)

// A call carries a context into the library: its deadline, a cancel token that the context sets, and, where an embedding function of Go may
// run within it, a place where that one finds the context and leaves its error.
type call struct {
	c     C.pgo_call
	ctx   context.Context
	armed *armedToken
	stop  func() bool
	state *callState
	key   cgo.Handle

	progress *Progress // that asks the token; nil: nobody does
}

// What embedding functions of a call share with it. They run one after another, in the goroutine of the call as far as C can tell.
type callState struct {
	ctx    context.Context
	mutex  sync.Mutex
	failed error // what the first of them returned that failed
}

// A token, held by the call and by the function that waits for the context.
type armedToken struct {
	token *C.pigment_cancel
	users atomic.Int32
}

func (a *armedToken) release() {
	if a.users.Add(-1) == 0 {
		C.pigment_cancel_free(a.token)
	}
}

// Tokens that were never set, to be used again.
var spareTokens = make(chan *C.pigment_cancel, 64)

func newToken() (*C.pigment_cancel, error) {
	select {
	case token := <-spareTokens:
		return token, nil
	default:
	}
	return freshToken()
}

// A token that says of no other call how far it came.
func freshToken() (*C.pigment_cancel, error) {
	var token *C.pigment_cancel
	var failure *C.pigment_error
	if status := C.pigment_cancel_new(&token, &failure); status != C.PIGMENT_OK {
		return nil, taken(status, failure)
	}
	return token, nil
}

func spareToken(token *C.pigment_cancel) {
	select {
	case spareTokens <- token:
	default:
		C.pigment_cancel_free(token)
	}
}

// What every call does first: a context that is nil or over already ends it.
func check(ctx context.Context) error {
	if ctx == nil {
		return invalid(DetailNone, -1, "argument ctx is nil")
	}
	if ctx.Err() != nil {
		return contextError(ctx, nil)
	}
	return nil
}

// Ready to be passed as k.c; every begin that succeeds needs a finish, after the library has returned.
func (k *call) begin(ctx context.Context, minPosition uint64, embeds bool) error {
	if err := check(ctx); err != nil {
		return err
	}
	k.ctx = ctx
	k.c.min_position = C.uint64_t(minPosition)
	if deadline, ok := ctx.Deadline(); ok {
		k.c.timeout_ns = C.int64_t(max(time.Until(deadline), 1))
	}
	progress, _ := ctx.Value(progressKey{}).(*Progress)
	if ctx.Done() != nil || progress != nil {
		tokenOf := newToken
		if progress != nil {
			tokenOf = freshToken
		}
		token, err := tokenOf()
		if err != nil {
			return err
		}
		armed := &armedToken{token: token}
		armed.users.Store(2)
		k.armed, k.c.cancel = armed, token
		k.stop = context.AfterFunc(ctx, func() {
			C.pigment_cancel_set(token)
			armed.release()
		})
	}
	if progress != nil {
		k.progress = progress
		progress.begin(k.armed.token)
	}
	if embeds {
		k.state = &callState{ctx: ctx}
		k.key = cgo.NewHandle(k.state)
		k.c.state = C.uintptr_t(k.key)
	}
	return nil
}

// Gives the call's error with what caused it.
func (k *call) finish(done C.pgo_done) error {
	if k.progress != nil {
		k.progress.end()
	}
	if k.stop != nil {
		switch unset := k.stop(); { // nobody has set it, and nobody will
		case unset && k.progress == nil:
			spareToken(k.armed.token)
		case unset:
			C.pigment_cancel_free(k.armed.token) // it still says how far this call came
		default:
			k.armed.release()
		}
	}
	if k.state != nil {
		k.key.Delete()
	}
	if done.status == C.PIGMENT_OK {
		return nil
	}
	e := taken(done.status, done.error)
	if k.state != nil && k.state.failed != nil {
		e.cause = append(e.cause, k.state.failed)
	}
	if e.Code == CodeCancelled || e.Code == CodeDeadlineExceeded {
		return contextError(k.ctx, e)
	}
	return e
}

// An error that says what ctx says; `from` is what the library said, when it was asked. What the context does not know of stays as it is:
// an embedding function may have a deadline of its own.
func contextError(ctx context.Context, from *Error) error {
	over := ctx.Err()
	if deadline, ok := ctx.Deadline(); over == nil && ok && from.Code == CodeDeadlineExceeded && !time.Now().Before(deadline) {
		over = context.DeadlineExceeded // the library's clock was the faster one
	}
	if over == nil {
		return from
	}
	e := from
	if e == nil {
		e = &Error{Message: over.Error(), Row: -1, Offset: -1}
	}
	e.Code = CodeCancelled
	if errors.Is(over, context.DeadlineExceeded) {
		e.Code = CodeDeadlineExceeded
	}
	e.cause = append(e.cause, over)
	if cause := context.Cause(ctx); cause != nil && cause != over {
		e.cause = append(e.cause, cause)
	}
	return e
}
