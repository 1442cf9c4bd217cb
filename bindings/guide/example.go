package main

import (
	"context"
	"fmt"

	"github.com/pigment-db/pigment/bindings/go"
)

func main() {
	ctx := context.Background()
	client, err := pigment.OpenMemory(nil) // or pigment.Open("store", nil)
	must(err)
	defer client.Close()
	docs, err := client.CreateCollection(ctx, "docs", &pigment.CollectionOptions{EmbeddingFunction: pigment.Lexical(0)})
	must(err)
	_, err = docs.Add(ctx, pigment.Records{
		IDs:       []string{{ids}},
		Documents: []string{{documents}},
		Metadatas: []pigment.Metadata{{metadatas}},
	})
	must(err)
	result, err := docs.Query(ctx, pigment.Query{Texts: []string{"{query}"}, NResults: {n_results}, Where: pigment.Lt("year", {before})})
	must(err)
	for row := range result.Rows() {
		fmt.Println(row.ID, row.Document)
	}
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
