// SPDX-License-Identifier: Apache-2.0

// Bench measures what calls through the Go binding cost beside the same calls in C, on one engine in one process, in turns. It prints a line for
// each figure: "go FIGURE go_ns c_ns ratio", times per call (of add: per batch), the lower quartile of many short turns, which other programs disturb least; lines that begin with # say what was
// measured where.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/pigment-db/pigment/bindings/go"
)

var (
	rounds    = flag.Int("rounds", 201, "turns of each side, a few milliseconds each; their lower quartile counts")
	rows      = flag.Int("rows", 20000, "records that queries search")
	dimension = flag.Int("dimension", 384, "numbers of a vector")
	batchRows = flag.Int("batch", 1000, "records of an add")
	queries   = flag.Int("queries", 20, "queries of a turn")
	seed      = flag.Uint64("seed", 1, "of the data")
	cpu       = flag.Bool("cpu", false, "count the time of processors that the process takes, not that of the clock: on a busy machine")
)

// What both sides use.
type bench struct {
	ctx    context.Context
	client *pigment.Client
	docs   *pigment.Collection
	c      cSide
	random *rand.Rand
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("bench: ")
	flag.Parse()
	folder, err := os.MkdirTemp("", "pigment-bench-go")
	must(err)
	defer os.RemoveAll(folder)
	b := open(filepath.Join(folder, "store"))
	defer b.client.Close()
	fmt.Printf("# %s, libpigment %s, %s\n", runtime.Version(), pigment.Version(), pigment.BuildInfo())
	fmt.Printf("# %d records of %d dimensions, seed %d, %d rounds, %d cores\n", *rows, *dimension, *seed, *rounds, runtime.NumCPU())
	b.query()
	b.count()
	b.get()
	b.add()
}

func open(path string) *bench {
	client, err := pigment.Open(path, &pigment.OpenOptions{Sync: pigment.SyncOff, BackgroundThreads: -1})
	must(err)
	b := &bench{ctx: context.Background(), client: client, random: rand.New(rand.NewPCG(*seed, 1))}
	b.docs, err = client.CreateCollection(b.ctx, "docs", nil)
	must(err)
	for from := 0; from < *rows; from += 5000 {
		must(second(b.docs.Add(b.ctx, b.records(from, min(5000, *rows-from)))))
	}
	must(second(b.docs.Compact(b.ctx)))
	b.c = openC(path)
	return b
}

// Records with a vector, some hundred bytes of document, and two fields.
func (b *bench) records(from, count int) pigment.Records {
	records := pigment.Records{Embeddings: pigment.Flat(b.vectors(count), *dimension)}
	for i := from; i < from+count; i++ {
		records.IDs = append(records.IDs, fmt.Sprintf("record-%08d", i))
		records.Documents = append(records.Documents, fmt.Sprintf("document %d: %0100d", i, b.random.Int()))
		records.MetadataJSON = append(records.MetadataJSON, json.RawMessage(fmt.Sprintf(`{"year":%d,"lang":"en"}`, 1900+i%130)))
	}
	return records
}

// Vectors around some hundred points, as those of texts are around their topics.
func (b *bench) vectors(count int) []float32 {
	values := make([]float32, 0, count**dimension)
	for range count {
		topic := rand.New(rand.NewPCG(*seed, b.random.Uint64N(200)))
		for range *dimension {
			values = append(values, float32(topic.NormFloat64()+0.3*b.random.NormFloat64()))
		}
	}
	return values
}

func (b *bench) query() {
	vectors := b.vectors(*queries)
	c := b.c.collection("docs")
	with := func(ctx context.Context) func() time.Duration {
		return func() time.Duration {
			begin := now()
			for i := range *queries {
				one := vectors[i**dimension : (i+1)**dimension]
				must(second(b.docs.Query(ctx, pigment.Query{Embeddings: pigment.Flat(one, *dimension), NResults: 10})))
			}
			return since(begin)
		}
	}
	cQueries := func() time.Duration { return c.query(vectors, *queries, *dimension, 10) }
	compare("query_10", *queries, with(b.ctx), cQueries)
	late, cancel := context.WithTimeout(b.ctx, time.Hour)
	defer cancel()
	compare("query_10_deadline", *queries, with(late), cQueries)
}

func (b *bench) count() {
	c := b.c.collection("docs")
	const calls = 2000
	compare("count", calls, func() time.Duration {
		begin := now()
		for range calls {
			must(second(b.docs.Count(b.ctx)))
		}
		return since(begin)
	}, func() time.Duration { return c.count(calls) })
}

func (b *bench) get() {
	c := b.c.collection("docs")
	const calls = 5
	compare("get_1000", calls, func() time.Duration {
		begin := now()
		for range calls {
			must(second(b.docs.Get(b.ctx, pigment.Get{Limit: pigment.Some(1000)})))
		}
		return since(begin)
	}, func() time.Duration { return c.get(calls, 1000) })
}

// Batches go into a new collection each, which is deleted afterwards: what is compared stands on equal ground.
func (b *bench) add() {
	records := b.records(0, *batchRows)
	values := b.vectors(*batchRows)
	records.Embeddings = pigment.Flat(values, *dimension)
	batch := newBatch(records, values)
	fresh := func(f func(*pigment.Collection) time.Duration) time.Duration {
		c, err := b.client.CreateCollection(b.ctx, "fresh", nil)
		must(err)
		took := f(c)
		must(c.Close())
		must(b.client.DeleteCollection(b.ctx, "fresh", pigment.Scope{}))
		return took
	}
	timed := func(records func() pigment.Records) func() time.Duration {
		return func() time.Duration {
			return fresh(func(c *pigment.Collection) time.Duration {
				begin := now()
				must(second(c.Add(b.ctx, records())))
				return since(begin)
			})
		}
	}
	inC := func() time.Duration {
		return fresh(func(*pigment.Collection) time.Duration {
			c := b.c.collection("fresh")
			defer c.free()
			return c.add(batch)
		})
	}
	name := fmt.Sprintf("add_%d", *batchRows)
	compare(name, 1, timed(func() pigment.Records { return records }), inC)
	maps := make([]pigment.Metadata, len(records.IDs))
	for i, raw := range records.MetadataJSON {
		must(json.Unmarshal(raw, &maps[i]))
	}
	compare(name+"_maps", 1, timed(func() pigment.Records {
		with := records
		with.MetadataJSON, with.Metadatas = nil, maps
		return with
	}), inC)
}

// Both sides in turns, the first of them in turns as well; the lower quartile of each.
func compare(figure string, calls int, inGo, inC func() time.Duration) {
	var goTimes, cTimes []time.Duration
	for round := range *rounds + 2 {
		var ofGo, ofC time.Duration
		if round%2 == 0 {
			ofGo, ofC = inGo(), inC()
		} else {
			ofC, ofGo = inC(), inGo()
		}
		if round >= 2 { // the first two warm up
			goTimes, cTimes = append(goTimes, ofGo), append(cTimes, ofC)
		}
	}
	goNS, cNS := quartile(goTimes)/float64(calls), quartile(cTimes)/float64(calls)
	fmt.Printf("go %s %.0f %.0f %.3f\n", figure, goNS, cNS, goNS/cNS)
}

func quartile(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/4])
}

// From the clock that counts, on both sides.
func since(begin time.Duration) time.Duration { return now() - begin }

func second[T any](_ T, err error) error { return err }

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
