// SPDX-License-Identifier: Apache-2.0

package pigment

import "sync/atomic"

// A handle counts the calls that use an object of the library, so that it is freed when it is closed and the last of them has returned,
// and so that nobody gets in afterwards. The owner has one use from the beginning.
type handle struct {
	state atomic.Int64 // uses, and isClosed
	what  string       // "client", for messages
	free  func()
}

const isClosed = 1 << 62

func newHandle(what string, free func()) *handle {
	h := &handle{what: what, free: free}
	h.state.Store(1)
	return h
}

// Every acquire that succeeds needs a release. A handle that is nil belongs to an object that Open, Create or Get did not make.
func (h *handle) acquire() error {
	for {
		state := h.state.Load()
		if state&isClosed != 0 {
			return closed(h.what)
		}
		if h.state.CompareAndSwap(state, state+1) {
			return nil
		}
	}
}

func (h *handle) release() {
	if h.state.Add(-1) == isClosed {
		h.free()
	}
}

// Lets nobody in any more; true for the one who did it, who then owes the owner's release.
func (h *handle) close() bool { return h.state.Or(isClosed)&isClosed == 0 }
