// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pigment-db/pigment/bindings/go"
)

func fill(t *testing.T, docs *pigment.Collection, from, to int) {
	t.Helper()
	for i := from; i < to; i++ {
		if _, err := docs.Upsert(t.Context(), pigment.Records{
			IDs: []string{fmt.Sprint(i)}, Embeddings: pigment.Flat([]float32{float32(i), 1}, 2), Documents: []string{fmt.Sprint("document ", i)},
		}); err != nil {
			t.Fatal(err)
		}
	}
}

func TestMaintenanceOfAStore(t *testing.T) {
	directory := t.TempDir()
	store, backup, repaired := filepath.Join(directory, "store"), filepath.Join(directory, "backup"), filepath.Join(directory, "repaired")
	client, err := pigment.Open(store, &pigment.OpenOptions{BackgroundThreads: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	docs := create(t, client, "docs", &pigment.CollectionOptions{Metadata: pigment.Metadata{"a": 1.0}})
	for i := range 3 {
		fill(t, docs, i*20, i*20+30)
		if i == 1 {
			err = client.Flush(t.Context())
		} else {
			err = docs.Flush(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	segments, err := docs.Segments(t.Context())
	if err != nil || len(segments) < 2 || segments[0].Dimension != 2 || segments[0].Rows == 0 || segments[0].Bytes == 0 || segments[0].Kind == "" {
		t.Fatalf("%+v, %v", segments, err)
	}
	compacted, err := docs.Compact(t.Context())
	if err != nil || compacted.Records != 70 || compacted.SegmentsIn != uint64(len(segments)) || compacted.SegmentsOut != 1 || compacted.BytesBefore == 0 {
		t.Errorf("%+v, %v", compacted, err)
	}
	if again, err := client.Compact(t.Context()); err != nil || again.Records != 70 {
		t.Errorf("%+v, %v", again, err)
	}
	raw, err := client.Statistics(t.Context())
	var statistics struct {
		Version  string
		Position uint64
		Catalog  struct{ Collections uint64 }
	}
	if err := errors.Join(err, json.Unmarshal(raw, &statistics)); err != nil || statistics.Version != pigment.Version() || statistics.Catalog.Collections != 1 {
		t.Errorf("%s, %v", raw, err)
	}
	if report, err := client.Check(t.Context(), true); err != nil || !report.Clean || report.Totals.LiveRows != 70 || report.Totals.RowsQueried != 70 {
		t.Errorf("%+v, %v", report, err)
	}
	copied, err := client.Backup(t.Context(), backup)
	if err != nil || copied.Position != statistics.Position || copied.Collections != 1 || copied.Files == 0 || copied.Bytes == 0 {
		t.Errorf("%+v, %v", copied, err)
	}
	if _, err := client.Backup(t.Context(), backup); !errors.Is(err, pigment.ErrAlreadyExists) {
		t.Errorf("%v", err)
	}
	if report, err := pigment.CheckDirectory(t.Context(), backup, false); err != nil || !report.Clean || report.Totals.LiveRows != 70 {
		t.Errorf("%+v, %v", report, err)
	}
	saved, err := pigment.Repair(t.Context(), backup, repaired)
	if err != nil || !saved.Lossless || saved.Catalog != "whole" || len(saved.Collections) != 1 || saved.Collections[0].Rows != 70 {
		t.Errorf("%+v, %v", saved, err)
	}
	if _, err := pigment.CheckDirectory(t.Context(), "", false); !isInvalid(err) && !errors.Is(err, pigment.ErrNotFound) {
		t.Errorf("%v", err)
	}
	if _, err := pigment.Repair(t.Context(), filepath.Join(directory, "nothing"), ""); err == nil {
		t.Error("a repair of nothing succeeds")
	}
}

func TestMaintenanceFindsDamageAndSaysWhere(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	client, err := pigment.Open(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	docs := create(t, client, "docs", nil)
	fill(t, docs, 0, 100)
	if err := errors.Join(docs.Flush(t.Context()), client.Close()); err != nil {
		t.Fatal(err)
	}
	var largest string
	var size int64
	err = filepath.Walk(store, func(path string, info os.FileInfo, err error) error {
		if err == nil && info.Mode().IsRegular() && info.Size() > size && filepath.Base(path) != "RESERVE" && filepath.Ext(path) != ".log" {
			largest, size = path, info.Size()
		}
		return err
	})
	if err != nil || largest == "" {
		t.Fatal(largest, err)
	}
	bytes, err := os.ReadFile(largest)
	if err != nil {
		t.Fatal(err)
	}
	for i := range bytes {
		bytes[i] ^= 0xff
	}
	if err := os.WriteFile(largest, bytes, 0o600); err != nil {
		t.Fatal(err)
	}
	report, err := pigment.CheckDirectory(t.Context(), store, false)
	if err != nil {
		t.Logf("%v", err)
	}
	if err == nil && (report.Clean || report.Errors == 0 || len(report.Findings) == 0 || report.Findings[0].Message == "") {
		t.Errorf("%s is damaged: %+v", largest, report)
	}
	if err != nil && !errors.Is(err, pigment.ErrDataLoss) {
		t.Errorf("%s is damaged: %v", largest, err)
	}
}

func TestOpenSaysWhyNot(t *testing.T) {
	directory := t.TempDir()
	file := filepath.Join(directory, "file")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	chroma := filepath.Join(directory, "chroma")
	if err := errors.Join(os.Mkdir(chroma, 0o700), os.WriteFile(filepath.Join(chroma, "chroma.sqlite3"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"empty":      second(pigment.Open("", nil)),
		"nul":        second(pigment.Open("a\x00b", nil)),
		"sync":       second(pigment.Open(filepath.Join(directory, "a"), &pigment.OpenOptions{Sync: 3})),
		"interval":   second(pigment.Open(filepath.Join(directory, "b"), &pigment.OpenOptions{SyncInterval: 1})),
		"negative":   second(pigment.OpenMemory(&pigment.OpenOptions{SyncInterval: -1})),
		"background": second(pigment.OpenMemory(&pigment.OpenOptions{BackgroundThreads: 1 << 33})),
		"threads":    second(pigment.OpenMemory(&pigment.OpenOptions{BackgroundThreads: -2})),
		"memory":     second(pigment.OpenMemory(&pigment.OpenOptions{ReadOnly: true})),
	} {
		if !isInvalid(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := pigment.Open(filepath.Join(directory, "none"), &pigment.OpenOptions{MustExist: true}); !errors.Is(err, pigment.ErrNotFound) {
		t.Error(err)
	}
	var e *pigment.Error
	if _, err := pigment.Open(chroma, nil); !errors.As(err, &e) || e.Hint == "" {
		t.Errorf("%v", err)
	}
	if _, err := pigment.Open(file, nil); err == nil {
		t.Error("a file opens")
	}
}

// Opens of one directory must give equal options: so each option is seen to arrive.
func TestOpenOptionsArrive(t *testing.T) {
	for i, options := range []pigment.OpenOptions{
		{Sync: pigment.SyncOff}, {Sync: pigment.SyncInterval, SyncInterval: 50 * time.Millisecond}, {MemoryBudgetBytes: 1 << 30}, {FlushRowsMax: 100},
		{FlushBytesMax: 1 << 20}, {ReserveBytes: 1 << 16}, {BackgroundThreads: -1}, {EraseLog: true}, {MapFiles: true},
	} {
		store := filepath.Join(t.TempDir(), "store")
		first, err := pigment.Open(store, &options)
		if err != nil {
			t.Fatal(err)
		}
		other := pigment.OpenOptions{Sync: options.Sync} // what differs is the last field that is given
		if i == 0 {
			other.Sync = pigment.SyncFull
		}
		if client, err := pigment.Open(store, &other); err == nil {
			client.Close()
			t.Errorf("%+v and %+v are taken for equal", options, other)
		}
		if client, err := pigment.Open(store, &options); err != nil {
			t.Errorf("%+v: %v", options, err)
		} else if err := client.Close(); err != nil {
			t.Error(err)
		}
		if err := first.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestReadOnlyClientsCatchUp(t *testing.T) {
	store := filepath.Join(t.TempDir(), "store")
	writer, err := pigment.Open(store, nil)
	if err != nil {
		t.Fatal(err)
	}
	docs := create(t, writer, "docs", nil)
	fill(t, docs, 0, 3)
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	reader, err := pigment.Open(store, &pigment.OpenOptions{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	position, err := reader.Refresh(t.Context())
	if known, err2 := reader.Position(t.Context()); err != nil || err2 != nil || position == 0 || known != position {
		t.Errorf("%d, %d, %v, %v", position, known, err, err2)
	}
	read, err := reader.GetCollection(t.Context(), "docs", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := read.Add(t.Context(), pigment.Records{IDs: []string{"x"}, Embeddings: pigment.Flat([]float32{1, 2}, 2)}); !errors.Is(err, pigment.ErrReadOnly) {
		t.Error(err)
	}
}
