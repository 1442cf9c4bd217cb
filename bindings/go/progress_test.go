// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"

	"github.com/pigment-db/pigment/bindings/go"
)

func TestProgressOfLongCalls(t *testing.T) {
	directory := t.TempDir()
	client, err := pigment.Open(filepath.Join(directory, "store"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	docs := create(t, client, "docs", nil)
	fill(t, docs, 0, 2000)
	var progress pigment.Progress
	for _, cancellable := range []bool{false, true} { // with a context that nothing can end, and with one
		progress = pigment.Progress{}
		ctx := pigment.WithProgress(context.Background(), &progress)
		if cancellable {
			var cancel context.CancelFunc
			ctx, cancel = context.WithCancel(ctx)
			defer cancel()
		}
		if _, err := docs.Count(ctx); err != nil || progress.State() != (pigment.ProgressState{}) {
			t.Errorf("%+v, %v", progress.State(), err)
		}
		if err := docs.Flush(ctx); err != nil || progress.State() != (pigment.ProgressState{Phase: "flush", Unit: "collections", Done: 1, Total: 1}) {
			t.Errorf("%+v, %v", progress.State(), err)
		}
		over, watched := make(chan struct{}), sync.WaitGroup{}
		watched.Add(1)
		go func() {
			defer watched.Done()
			for {
				select {
				case <-over:
					return
				default:
				}
				if s := progress.State(); s.Total != 0 && s.Done > s.Total {
					t.Errorf("%+v", s)
				}
			}
		}()
		report, err := client.Check(ctx, true)
		close(over)
		watched.Wait()
		if err != nil || !report.Clean || progress.State().Phase != "search" {
			t.Errorf("%+v, %v", progress.State(), err)
		}
	}
	ctx := pigment.WithProgress(t.Context(), &progress)
	if _, err := client.Backup(ctx, filepath.Join(directory, "copy")); err != nil {
		t.Fatal(err)
	}
	segments, err := docs.Segments(t.Context())
	var bytes uint64
	for _, segment := range segments {
		bytes += segment.Bytes
	}
	if err != nil || progress.State() != (pigment.ProgressState{Phase: "segments", Unit: "bytes", Done: bytes, Total: bytes}) {
		t.Errorf("%+v, %d bytes, %v", progress.State(), bytes, err)
	}
}
