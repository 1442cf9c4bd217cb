// SPDX-License-Identifier: Apache-2.0

// Package pigment searches collections of records by vector, text and filter, in a directory or in memory: the Go binding of libpigment.
//
// A record has an id and, each of them if it likes, an embedding, a document, metadata and a uri. A query gives the records nearest to a
// vector among those that match a filter. The model and its words are Chroma's.
//
//	client, err := pigment.Open("store", nil)
//	docs, err := client.GetOrCreateCollection(ctx, "docs", nil)
//	_, err = docs.Add(ctx, pigment.Records{IDs: ids, Embeddings: pigment.Rows(vectors)})
//	result, err := docs.Query(ctx, pigment.Query{Embeddings: pigment.Flat(vector, 384), Where: pigment.Gt("year", 2000)})
//
// # Contexts
//
// A call that works for long looks at its context all the while: when that is cancelled, or its deadline passes, the call returns soon
// with an error of which [errors.Is] finds [context.Canceled] or [context.DeadlineExceeded], and nothing was changed. Calls of the catalog
// (tenants, databases, collections), Flush and Segments look at it before they begin.
//
// # Errors
//
// Every error of the library is an [*Error], with a code, often a detail, the message and what it is about. [errors.Is] compares with
// [ErrNotFound], [ErrClosed] and the like. Wrong arguments, closed handles and nil receivers give errors, never a panic.
//
// # Lifetime and goroutines
//
// A [Client] must be closed; Close may be called more than once. A [Collection] may be closed, which frees it at once, and is freed by
// the garbage collector otherwise. All methods of both may be called by any number of goroutines, Close among them: it waits for calls
// that run, and those that come later get [ErrClosed]. A [Result] is plain memory of Go, and nobody's to close.
package pigment
