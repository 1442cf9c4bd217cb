// SPDX-License-Identifier: Apache-2.0

package pigment

// #include "shim.h"
import "C"

import (
	"cmp"
	"context"
	"log/slog"
	"math"
	"runtime"
	"sync"
	"time"
)

// A Client is an open store. Any goroutine may use it, and must not copy it.
type Client struct {
	h       *handle
	c       *C.pigment_client
	scope   Scope // of calls that name none
	cleanup runtime.Cleanup
	closing sync.Mutex
}

// OpenOptions says how a store is opened; the zero value is the default of everything. Opens of one directory within a process share one
// engine and must give equal options.
type OpenOptions struct {
	Scope             Scope // of calls that leave tenant or database empty; the options of two opens may differ in it
	Sync              SyncMode
	SyncInterval      time.Duration // whole milliseconds, of SyncInterval; 0: 100 ms
	MemoryBudgetBytes uint64        // 0: no limit
	FlushRowsMax      uint32        // rows that are not in a segment yet before a flush; 0: 16384
	FlushBytesMax     uint64        // 0: 64 MiB
	ReadOnly          bool          // takes no lock, writes and creates nothing
	MustExist         bool          // fail with ErrNotFound instead of creating the directory
	ReserveBytes      uint64        // kept so that deletes go through on a full disk; 0: the default, math.MaxUint64: none
	BackgroundThreads int           // that merge segments; 0: 1; -1: none, the writer who makes a merge necessary does it
	EraseLog          bool          // overwrite what was deleted before log files go
	MapFiles          bool          // map segments instead of reading them: a failing disk is a signal then
}

// Open opens the store in a directory, and makes it where there is none. Nil options are the defaults.
func Open(path string, options *OpenOptions) (*Client, error) {
	if path == "" {
		e := invalid(DetailNone, -1, "argument path is empty")
		e.Hint = "OpenMemory opens a store without a directory"
		return nil, e
	}
	return open(path, options)
}

// OpenMemory opens a store that is gone when it is closed.
func OpenMemory(options *OpenOptions) (*Client, error) { return open("", options) }

func open(path string, options *OpenOptions) (*Client, error) {
	if err := checkLibrary(loadedABI()); err != nil {
		return nil, err
	}
	c, err := options.c()
	if err != nil {
		return nil, err
	}
	client := &Client{}
	if options != nil {
		client.scope = options.Scope
	}
	var failure *C.pigment_error
	text := optionalText(path)
	if status := C.pigment_client_open(text.data, text.size, &c, &client.c, &failure); status != C.PIGMENT_OK {
		return nil, taken(status, failure)
	}
	opened := client.c
	client.h = newHandle("client", func() { C.pigment_client_free(opened) })
	client.cleanup = runtime.AddCleanup(client, func(h *handle) { closeForgotten(h, opened, path) }, client.h)
	return client, nil
}

func (o *OpenOptions) c() (C.pigment_open_options, error) {
	var c C.pigment_open_options
	C.pigment_open_options_init(&c)
	if o == nil {
		return c, nil
	}
	interval := o.SyncInterval / time.Millisecond
	if o.SyncInterval < 0 || o.SyncInterval%time.Millisecond != 0 || interval > math.MaxUint32 {
		return c, invalid(DetailNone, -1, "options.SyncInterval is %v, expected whole milliseconds", o.SyncInterval)
	}
	if o.BackgroundThreads != int(int32(o.BackgroundThreads)) {
		return c, invalid(DetailNone, -1, "options.BackgroundThreads is %d", o.BackgroundThreads)
	}
	c.sync_mode = C.int32_t(o.Sync)
	c.sync_interval_ms = C.uint32_t(interval)
	c.memory_budget_bytes = C.uint64_t(o.MemoryBudgetBytes)
	c.flush_rows_max = C.uint32_t(o.FlushRowsMax)
	c.flush_bytes_max = C.uint64_t(o.FlushBytesMax)
	c.read_only = C.bool(o.ReadOnly)
	c.must_exist = C.bool(o.MustExist)
	c.reserve_bytes = C.uint64_t(o.ReserveBytes)
	c.background_threads = C.int32_t(o.BackgroundThreads)
	c.erase_log = C.bool(o.EraseLog)
	c.map_files = C.bool(o.MapFiles)
	return c, nil
}

// Close waits for calls that write, makes everything durable, and says what went wrong with that. Calls that come later fail with
// [ErrClosed], those of collections too. Another Close does nothing; it waits for the first one.
func (c *Client) Close() error {
	if c == nil || c.h == nil {
		return nil
	}
	c.closing.Lock()
	defer c.closing.Unlock()
	if !c.h.close() {
		return nil
	}
	c.cleanup.Stop()
	defer c.h.release()
	return closeStore(c.c)
}

func closeStore(c *C.pigment_client) error {
	var failure *C.pigment_error
	if status := C.pigment_client_close(c, &failure); status != C.PIGMENT_OK {
		return taken(status, failure)
	}
	return nil
}

// The garbage collector found a client that nobody closed.
func closeForgotten(h *handle, c *C.pigment_client, path string) {
	if !h.close() {
		return
	}
	go func() { // not in the way of other cleanups: a close may have much to write
		defer h.release()
		err := closeStore(c)
		slog.Warn("pigment: a client was never closed", "path", path, "close", err)
	}()
}

// For the length of a call; release when it succeeds.
func (c *Client) acquire() error {
	if c == nil || c.h == nil {
		return invalid(DetailNone, -1, "client is nil or was not opened")
	}
	return c.h.acquire()
}

// Also keeps the garbage collector from closing a client that nobody holds any more while its last call runs.
func (c *Client) release() {
	c.h.release()
	runtime.KeepAlive(c)
}

// Where a call is that may have named a tenant or a database.
func (c *Client) scopeOf(s Scope) (tenant, database C.pgo_text) {
	return optionalText(cmp.Or(s.Tenant, c.scope.Tenant)), optionalText(cmp.Or(s.Database, c.scope.Database))
}

// A call of the catalog or the like, which has no options in C: the context is looked at before it.
func (c *Client) do(ctx context.Context, f func(failure **C.pigment_error) C.pigment_status) error {
	if err := c.enter(ctx); err != nil {
		return err
	}
	defer c.release()
	var failure *C.pigment_error
	if status := f(&failure); status != C.PIGMENT_OK {
		return taken(status, failure)
	}
	return nil
}

// Succeeds when the context is not over and the client is open; release then.
func (c *Client) enter(ctx context.Context) error {
	if err := check(ctx); err != nil {
		return err
	}
	return c.acquire()
}

// Flush writes what every collection has in memory into segments.
func (c *Client) Flush(ctx context.Context) error {
	return c.call(ctx, func(k C.pgo_call) C.pgo_done { return C.pgo_flush(c.c, nil, k) })
}

// Position is the last visible position of the log.
func (c *Client) Position(ctx context.Context) (uint64, error) {
	var position C.uint64_t
	err := c.do(ctx, func(failure **C.pigment_error) C.pigment_status {
		return C.pigment_client_position(c.c, &position, failure)
	})
	return uint64(position), err
}

// Refresh lets a read-only client catch up with the writer, and gives the position that it has then.
func (c *Client) Refresh(ctx context.Context) (uint64, error) {
	var position C.uint64_t
	err := c.do(ctx, func(failure **C.pigment_error) C.pigment_status {
		return C.pigment_client_refresh(c.c, &position, failure)
	})
	return uint64(position), err
}
