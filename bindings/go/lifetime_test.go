// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pigment-db/pigment/bindings/go"
)

func isClosed(err error) bool {
	return errors.Is(err, pigment.ErrClosed) && errors.Is(err, pigment.ErrFailedPrecondition)
}

func isInvalid(err error) bool { return errors.Is(err, pigment.ErrInvalidArgument) }

func TestLifetimeUseAfterCloseOfTheClient(t *testing.T) {
	client, docs := openSample(t)
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	everyCall(t, client, docs, t.Context(), isClosed)
	if err := client.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
	if err := docs.Close(); err != nil {
		t.Errorf("close of the collection: %v", err)
	}
	everyCall(t, client, docs, t.Context(), isClosed)
}

func TestLifetimeUseAfterCloseOfTheCollection(t *testing.T) {
	client, docs := openSample(t)
	for range 2 {
		if err := docs.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, f := range collectionCalls(docs) {
		if err := f(t.Context()); !isClosed(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	again, err := client.GetCollection(t.Context(), "docs", nil)
	if err != nil {
		t.Fatal(err)
	}
	if count, err := again.Count(t.Context()); count != 4 || err != nil {
		t.Errorf("%d records, %v", count, err)
	}
}

func TestLifetimeNilAndZeroReceivers(t *testing.T) {
	everyCall(t, nil, nil, t.Context(), isInvalid)
	everyCall(t, &pigment.Client{}, &pigment.Collection{}, t.Context(), isInvalid)
	var client *pigment.Client
	var collection *pigment.Collection
	if err := errors.Join(client.Close(), collection.Close(), (&pigment.Client{}).Close(), (&pigment.Collection{}).Close()); err != nil {
		t.Error(err)
	}
}

func TestLifetimeNilContext(t *testing.T) {
	client, docs := openSample(t)
	var none context.Context
	everyCall(t, client, docs, none, isInvalid)
	for name, err := range map[string]error{
		"CheckDirectory": second(pigment.CheckDirectory(none, t.TempDir(), false)),
		"Repair":         second(pigment.Repair(none, t.TempDir(), t.TempDir())),
	} {
		if !isInvalid(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestLifetimeCollectionsOutliveNobody(t *testing.T) {
	client := openMemory(t)
	docs := create(t, client, "docs", nil)
	if err := client.DeleteCollection(t.Context(), "docs", pigment.Scope{}); err != nil {
		t.Fatal(err)
	}
	if err := second(docs.Count(t.Context())); !errors.Is(err, pigment.ErrNotFound) {
		t.Errorf("count of a deleted collection: %v", err)
	}
}

func TestScopeOfAClientIsForCallsThatNameNone(t *testing.T) {
	client, err := pigment.OpenMemory(&pigment.OpenOptions{Scope: pigment.Scope{Tenant: "acme", Database: "papers"}})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx := t.Context()
	if err := errors.Join(client.CreateTenant(ctx, "acme"), client.CreateDatabase(ctx, "", "papers"), client.CreateDatabase(ctx, "", "plans")); err != nil {
		t.Fatal(err)
	}
	create(t, client, "docs", nil)
	create(t, client, "docs", &pigment.CollectionOptions{Scope: pigment.Scope{Database: "plans"}})
	create(t, client, "docs", &pigment.CollectionOptions{Scope: pigment.Scope{Tenant: pigment.DefaultTenant, Database: pigment.DefaultDatabase}})
	docs, err := client.GetCollection(ctx, "docs", nil)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := docs.Describe(ctx); err != nil || info.Tenant != "acme" || info.Database != "papers" {
		t.Errorf("%+v, %v", info, err)
	}
	if n, err := client.CountCollections(ctx, pigment.Scope{}); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
	if infos, err := client.ListCollections(ctx, pigment.Scope{}, pigment.Page{}); len(infos) != 1 || err != nil || infos[0].Database != "papers" {
		t.Errorf("%+v, %v", infos, err)
	}
	if databases, err := client.ListDatabases(ctx, "", pigment.Page{}); len(databases) != 2 || err != nil {
		t.Errorf("%+v, %v", databases, err)
	}
	if database, err := client.GetDatabase(ctx, "", "papers"); database.Tenant != "acme" || err != nil {
		t.Errorf("%+v, %v", database, err)
	}
	if err := errors.Join(client.DeleteCollection(ctx, "docs", pigment.Scope{}), client.DeleteDatabase(ctx, "", "plans")); err != nil {
		t.Error(err)
	}
	if n, err := client.CountCollections(ctx, pigment.Scope{Tenant: pigment.DefaultTenant, Database: pigment.DefaultDatabase}); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

func TestLifetimeTwoClosesAtOnceCloseOnce(t *testing.T) {
	for range 20 {
		client, docs := openSample(t)
		var all sync.WaitGroup
		for range 8 {
			all.Add(1)
			go func() {
				defer all.Done()
				if err := errors.Join(docs.Close(), client.Close()); err != nil {
					t.Error(err)
				}
				if _, err := client.Position(context.Background()); !isClosed(err) {
					t.Errorf("a Close returned before the store was closed: %v", err)
				}
			}()
		}
		all.Wait()
	}
}

// Nobody holds the client any more: its store is closed, and somebody is told.
func TestLeakNetClosesAForgottenClient(t *testing.T) {
	var mutex sync.Mutex
	var said bytes.Buffer
	before := slog.Default()
	slog.SetDefault(slog.New(slog.NewTextHandler(lockedWriter{&mutex, &said}, nil)))
	defer slog.SetDefault(before)

	directory := filepath.Join(t.TempDir(), "store")
	func() {
		client, err := pigment.Open(directory, nil)
		if err != nil {
			t.Fatal(err)
		}
		docs := create(t, client, "docs", nil)
		if _, err := docs.Add(t.Context(), pigment.Records{IDs: []string{"a"}, Embeddings: pigment.Flat([]float32{1}, 1)}); err != nil {
			t.Fatal(err)
		}
	}()
	if !eventually(func() bool {
		runtime.GC()
		mutex.Lock()
		defer mutex.Unlock()
		return strings.Contains(said.String(), "never closed") && strings.Contains(said.String(), directory)
	}) {
		t.Fatalf("nothing was said: %s", said.String())
	}
	client, err := pigment.Open(directory, &pigment.OpenOptions{Sync: pigment.SyncOff}) // other options: the first engine is gone
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	docs, err := client.GetCollection(t.Context(), "docs", nil)
	if err != nil {
		t.Fatal(err)
	}
	if count, err := docs.Count(t.Context()); count != 1 || err != nil {
		t.Errorf("%d records, %v", count, err)
	}
}

// A collection keeps its client, and is freed without a word.
func TestLeakNetLeavesAClientThatACollectionNeeds(t *testing.T) {
	docs := func() *pigment.Collection {
		client, err := pigment.OpenMemory(nil)
		if err != nil {
			t.Fatal(err)
		}
		return create(t, client, "docs", nil)
	}()
	for range 5 {
		runtime.GC()
		time.Sleep(time.Millisecond)
		if _, err := docs.Count(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	runtime.KeepAlive(docs)
}

// Nor is a client closed under the last call of somebody who holds nothing any more.
func TestLeakNetLeavesAClientThatACallNeeds(t *testing.T) {
	embed := func(ctx context.Context, p pigment.Purpose, texts []string) ([][]float32, error) {
		for range 10 {
			runtime.GC()
			time.Sleep(time.Millisecond)
		}
		return lengths(ctx, p, texts)
	}
	makeOne := func() *pigment.Collection {
		client, err := pigment.OpenMemory(nil)
		if err != nil {
			t.Fatal(err)
		}
		return create(t, client, "docs", &pigment.CollectionOptions{EmbeddingFunction: &pigment.EmbeddingFunction{Name: "gc", Embed: embed}})
	}
	if _, err := makeOne().Add(t.Context(), oneDocument); err != nil {
		t.Error(err)
	}
}

func eventually(is func() bool) bool {
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if is() {
			return true
		}
	}
	return false
}

type lockedWriter struct {
	mutex *sync.Mutex
	to    *bytes.Buffer
}

func (w lockedWriter) Write(text []byte) (int, error) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	return w.to.Write(text)
}
