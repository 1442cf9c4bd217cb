// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/pigment-db/pigment/bindings/go"
)

// A store with three colours as vectors.
func colours() (*pigment.Client, *pigment.Collection) {
	client, err := pigment.OpenMemory(nil)
	if err != nil {
		log.Fatal(err)
	}
	docs, err := client.CreateCollection(context.Background(), "colours", nil)
	if err != nil {
		log.Fatal(err)
	}
	_, err = docs.Add(context.Background(), pigment.Records{
		IDs: []string{"red", "green", "orange"}, Embeddings: pigment.Rows([][]float32{{1, 0, 0}, {0, 1, 0}, {0.8, 0.6, 0}}),
		Metadatas: []pigment.Metadata{{"letters": 3}, {"letters": 5}, {"letters": 6, "mixed": true}},
	})
	if err != nil {
		log.Fatal(err)
	}
	return client, docs
}

func Example() {
	ctx := context.Background()
	client, err := pigment.OpenMemory(nil)
	if err != nil {
		log.Fatal(err)
	}
	defer client.Close()
	docs, err := client.CreateCollection(ctx, "docs", &pigment.CollectionOptions{EmbeddingFunction: pigment.Lexical(0)})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := docs.Add(ctx, pigment.Records{
		IDs: []string{"a", "b"}, Documents: []string{"How to back up a database", "How to bake bread"},
	}); err != nil {
		log.Fatal(err)
	}
	result, err := docs.Query(ctx, pigment.Query{Texts: []string{"backup of databases"}, NResults: 1})
	if err != nil {
		log.Fatal(err)
	}
	for row := range result.Rows() {
		fmt.Println(row.ID, row.Document)
	}
	// Output: a How to back up a database
}

func ExampleCollection_Query() {
	client, docs := colours()
	defer client.Close()
	result, err := docs.Query(context.Background(), pigment.Query{
		Embeddings: pigment.Flat([]float32{1, 0.1, 0}, 3), NResults: 2, Where: pigment.Lte("letters", 5),
	})
	if err != nil {
		log.Fatal(err)
	}
	for row := range result.Rows() {
		fmt.Printf("%s at %.2f\n", row.ID, row.Distance)
	}
	// Output:
	// red at 0.01
	// green at 1.81
}

func ExampleCollection_Scan() {
	client, docs := colours()
	defer client.Close()
	for row, err := range docs.Scan(context.Background(), pigment.Get{Where: pigment.Exists("mixed")}) {
		if err != nil {
			log.Fatal(err)
		}
		metadata, err := row.Metadata()
		fmt.Println(row.ID, metadata["letters"], err)
	}
	// Output: orange 6 <nil>
}

func ExampleCollection_Upsert() {
	client, docs := colours()
	defer client.Close()
	written, err := docs.Upsert(context.Background(), pigment.Records{
		IDs: []string{"red", "blue"}, Embeddings: pigment.Rows([][]float32{{0.9, 0, 0}, {0, 0, 1}}),
	})
	fmt.Println(written.Inserted, written.Updated, err)
	// Output: 1 1 <nil>
}

func ExampleError() {
	client, docs := colours()
	defer client.Close()
	_, err := docs.Add(context.Background(), pigment.Records{IDs: []string{"x", "y", "x"}, Embeddings: pigment.Flat(make([]float32, 9), 3)})
	var e *pigment.Error
	if errors.Is(err, pigment.ErrDuplicateID) && errors.As(err, &e) {
		fmt.Println(e.Code, "in row", e.Row)
	}
	// Output: invalid argument in row 2
}

func ExampleClient_Close() {
	client, docs := colours()
	fmt.Println(client.Close(), client.Close())
	_, err := docs.Count(context.Background())
	fmt.Println(errors.Is(err, pigment.ErrClosed))
	// Output:
	// <nil> <nil>
	// true
}

func ExampleCollection_Count_deadline() {
	client, docs := colours()
	defer client.Close()
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	_, err := docs.Count(ctx)
	fmt.Println(errors.Is(err, context.DeadlineExceeded))
	// Output: true
}

func ExampleWhere() {
	fmt.Println(pigment.And(pigment.Gt("year", 2000), pigment.Not(pigment.In("lang", "en", "de"))))
	// Output: {"$and":[{"year":{"$gt":2000}},{"$not":{"lang":{"$in":["en","de"]}}}]}
}

func ExampleEmbeddingFunction() {
	client, _ := colours()
	defer client.Close()
	lengths := &pigment.EmbeddingFunction{
		Name: "lengths",
		Embed: func(_ context.Context, _ pigment.Purpose, texts []string) ([][]float32, error) {
			vectors := make([][]float32, len(texts))
			for i, text := range texts {
				vectors[i] = []float32{float32(len(text))}
			}
			return vectors, nil
		},
	}
	words, err := client.CreateCollection(context.Background(), "words", &pigment.CollectionOptions{EmbeddingFunction: lengths})
	if err != nil {
		log.Fatal(err)
	}
	documents := []string{"a", "word", "sentence"}
	if _, err := words.Add(context.Background(), pigment.Records{IDs: documents, Documents: documents}); err != nil {
		log.Fatal(err)
	}
	result, err := words.Query(context.Background(), pigment.Query{Texts: []string{"seven.."}, NResults: 1})
	fmt.Println(result.IDs, err)
	// Output: [sentence] <nil>
}

func ExampleConfiguration_JSON() {
	fmt.Println(string(pigment.Configuration{HNSW: &pigment.HNSW{Space: "cosine"}, FullVectors: "f16"}.JSON()))
	// Output: {"hnsw":{"space":"cosine"},"full_vectors":"f16"}
}
