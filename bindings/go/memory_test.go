// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pigment-db/pigment/bindings/go"
)

// What every kind of call takes it gives back: the process does not grow over thousands of them. Run without the race detector, which has
// memory of its own.
func TestMemoryDoesNotGrowWithCalls(t *testing.T) {
	client, docs := openSample(t)
	embedded := create(t, client, "embedded", &pigment.CollectionOptions{EmbeddingFunction: &pigment.EmbeddingFunction{Name: "m", Embed: lengths}})
	everything := pigment.IncludeDocuments | pigment.IncludeMetadatas | pigment.IncludeURIs | pigment.IncludeEmbeddings | pigment.IncludeDistances
	query := pigment.Query{Embeddings: pigment.Flat([]float32{1, 0}, 2), Include: everything, Explain: true}
	round := func() {
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		over, end := context.WithCancel(t.Context())
		go end()
		for name, err := range map[string]error{
			"query":  second(docs.Query(ctx, query)),
			"text":   second(docs.SearchText(ctx, pigment.TextSearch{Queries: []string{"fox"}, Highlights: true})),
			"embed":  second(embedded.Query(ctx, pigment.Query{Texts: []string{"fox"}})),
			"facets": second(docs.Facets(ctx, pigment.FacetsRequest{Keys: []string{"a"}})),
			"get":    second(docs.Get(ctx, pigment.Get{IDs: []string{"a"}, Where: pigment.Gt("a", 0)})),
			"handle": second(client.GetCollection(ctx, "embedded", &pigment.GetCollectionOptions{EmbeddingFunction: pigment.Lexical(8)})),
		} {
			if (err != nil) != (name == "handle") { // a conflict: what was given is taken back
				t.Fatalf("%s: %v", name, err)
			}
		}
		handle, err := client.GetCollection(ctx, "docs", &pigment.GetCollectionOptions{
			EmbeddingFunction: &pigment.EmbeddingFunction{Name: "default", Embed: lengths},
		})
		if err != nil {
			t.Fatal(err)
		}
		handle.Close()
		if _, err := docs.Query(over, query); err != nil && !isCancelled(err) {
			t.Fatal(err)
		}
		if _, err := docs.Query(ctx, pigment.Query{}); !isInvalid(err) {
			t.Fatal(err)
		}
	}
	doesNotGrow(t, "calls of all kinds", 3000, 6<<20, round)
	doesNotGrow(t, "errors", 20000, 2<<20, func() {
		if _, err := docs.Query(t.Context(), pigment.Query{Recall: 2}); !isInvalid(err) {
			t.Fatal(err)
		}
	})
	doesNotGrow(t, "texts", 20000, 2<<20, func() {
		if _, err := docs.Describe(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
	doesNotGrow(t, "tokens", 20000, 2<<20, func() {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := docs.Count(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
	})
	runtime.KeepAlive(client)
}

// What is done a second time, and twice as often, takes no more than so many bytes.
func doesNotGrow(t *testing.T, what string, rounds, most int, round func()) {
	t.Helper()
	measure := func(rounds int) int {
		for range rounds {
			round()
		}
		debug.FreeOSMemory()
		return residentBytes(t)
	}
	before := measure(rounds)
	after := measure(2 * rounds)
	t.Logf("%s: %d KiB, then %d KiB", what, before>>10, after>>10)
	if after-before > most {
		t.Errorf("%s: %d rounds took %d bytes", what, 2*rounds, after-before)
	}
}

func residentBytes(t *testing.T) int {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}
