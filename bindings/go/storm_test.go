// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync"
	"testing"
	"time"

	"github.com/pigment-db/pigment/bindings/go"
)

// What calls of a storm may end with: cancelled, late, or closed under them.
func expectedInStorm(err error) bool {
	return err == nil || isCancelled(err) || isLate(err) || isClosed(err)
}

// One call with arguments by chance.
func anyCall(ctx context.Context, random *rand.Rand, c *pigment.Collection) error {
	id := fmt.Sprint("id", random.IntN(200))
	batch := pigment.Records{
		IDs: []string{id, id + "x"}, Embeddings: pigment.Rows([][]float32{{random.Float32(), 1}, {1, random.Float32()}}),
		Documents: []string{"a fox", "no fox"}, Metadatas: []pigment.Metadata{{"n": random.IntN(10)}, nil},
	}
	switch random.IntN(9) {
	case 0:
		return second(c.Add(ctx, batch))
	case 1:
		return second(c.Upsert(ctx, batch))
	case 2:
		batch.Embeddings = pigment.Vectors{} // embedded by the function
		return second(c.Upsert(ctx, batch))
	case 3:
		return second(c.Delete(ctx, pigment.DeleteRequest{IDs: []string{id}}))
	case 4:
		return second(c.Query(ctx, pigment.Query{Texts: []string{id, "fox"}, Where: pigment.Gte("n", 3)}))
	case 5:
		for _, err := range c.Scan(ctx, pigment.Get{Limit: pigment.Some(7)}) {
			if err != nil {
				return err
			}
		}
		return nil
	case 6:
		return second(c.Facets(ctx, pigment.FacetsRequest{Keys: []string{"n"}}))
	case 7:
		return c.Flush(ctx)
	default:
		result, err := c.Query(ctx, pigment.Query{Embeddings: pigment.Flat([]float32{1, 0, 0, 1}, 2), NResults: 5})
		if err == nil && (result.Queries() != 2 || len(result.IDs) != len(result.Distances)) {
			return errors.New("a result is not whole")
		}
		return err
	}
}

// Goroutines that write, read, embed and cancel, while the collection and then the client are closed under them.
func TestStormOfCallsCancelsAndCloses(t *testing.T) {
	function := &pigment.EmbeddingFunction{Name: "storm", Embed: func(ctx context.Context, p pigment.Purpose, texts []string) ([][]float32, error) {
		runtime.Gosched()
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return lengths(ctx, p, texts)
	}}
	for round := range 6 {
		var options *pigment.OpenOptions
		client, err := pigment.OpenMemory(options)
		if round%2 == 1 {
			client, err = pigment.Open(filepath.Join(t.TempDir(), "store"), &pigment.OpenOptions{Sync: pigment.SyncOff, FlushRowsMax: 50})
		}
		if err != nil {
			t.Fatal(err)
		}
		docs := create(t, client, "docs", &pigment.CollectionOptions{EmbeddingFunction: function})
		var all sync.WaitGroup
		for worker := range 8 {
			all.Add(1)
			go func() {
				defer all.Done()
				random := rand.New(rand.NewPCG(uint64(round), uint64(worker)))
				for n := 0; ; n++ {
					ctx, cancel := context.WithCancel(t.Context())
					if random.IntN(4) == 0 {
						ctx, cancel = context.WithTimeout(t.Context(), time.Duration(random.IntN(500))*time.Microsecond)
					} else if random.IntN(4) == 0 {
						go cancel()
					}
					err := anyCall(ctx, random, docs)
					cancel()
					if !expectedInStorm(err) {
						t.Errorf("round %d, worker %d, call %d: %v", round, worker, n, err)
					}
					if isClosed(err) {
						return
					}
				}
			}()
		}
		time.Sleep(80 * time.Millisecond)
		if round%3 == 0 {
			docs.Close()
		}
		if err := client.Close(); err != nil {
			t.Error(err)
		}
		all.Wait()
	}
}

// Arguments and answers while the collector runs all the time: what C reads must be there, and what Go got must be its own.
func TestStormUnderGCPressure(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(1))
	stop := make(chan struct{})
	var collector sync.WaitGroup
	collector.Add(1)
	go func() {
		defer collector.Done()
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	docs := create(t, openMemory(t), "docs", &pigment.CollectionOptions{EmbeddingFunction: &pigment.EmbeddingFunction{Name: "gc", Embed: lengths}})
	var all sync.WaitGroup
	for worker := range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range 60 {
				id := fmt.Sprintf("%d-%d", worker, i)
				batch := pigment.Records{
					IDs: []string{id}, Embeddings: pigment.Rows([][]float32{{float32(worker), float32(i)}}), Documents: []string{"document of " + id},
					Metadatas: []pigment.Metadata{{"id": id}}, URIs: []string{"uri:" + id},
				}
				if i%2 == 0 {
					batch.Embeddings = pigment.Vectors{}
				}
				if _, err := docs.Add(t.Context(), batch); err != nil {
					t.Error(err)
				}
				all := pigment.IncludeDocuments | pigment.IncludeMetadatas | pigment.IncludeURIs | pigment.IncludeEmbeddings
				result, err := docs.Get(t.Context(), pigment.Get{Where: pigment.And(pigment.Eq("id", id), pigment.Eq(pigment.KeyID, id)), Include: all})
				if err != nil || len(result.IDs) != 1 {
					t.Errorf("%s: %v", id, err)
					continue
				}
				runtime.Gosched()
				row := result.Row(0)
				metadata, err := row.Metadata()
				if err != nil || row.ID != id || row.Document != "document of "+id || row.URI != "uri:"+id || metadata["id"] != id || len(row.Embedding) != 2 {
					t.Errorf("%s: %+v, %v", id, row, err)
				}
			}
		}()
	}
	all.Wait()
	close(stop)
	collector.Wait()
}

// Clients of one directory that come and go share an engine, and nobody's close takes it from another.
func TestStormOfClientsOfOneDirectory(t *testing.T) {
	directory := filepath.Join(t.TempDir(), "store")
	options := &pigment.OpenOptions{Sync: pigment.SyncOff}
	var all sync.WaitGroup
	for worker := range 4 {
		all.Add(1)
		go func() {
			defer all.Done()
			for i := range 12 {
				client, err := pigment.Open(directory, options)
				if err != nil {
					t.Error(err)
					return
				}
				docs, err := client.GetOrCreateCollection(t.Context(), "docs", nil)
				if err != nil {
					t.Error(err)
				} else if _, err := docs.Add(t.Context(), pigment.Records{
					IDs: []string{fmt.Sprint(worker, " ", i)}, Embeddings: pigment.Flat([]float32{1}, 1),
				}); err != nil {
					t.Error(err)
				}
				if err := client.Close(); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	all.Wait()
	client, err := pigment.Open(directory, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	docs, err := client.GetCollection(t.Context(), "docs", nil)
	if err != nil {
		t.Fatal(err)
	}
	if count, err := docs.Count(t.Context()); count != 48 || err != nil {
		t.Errorf("%d records, %v", count, err)
	}
}
