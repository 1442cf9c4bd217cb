// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/pigment-db/pigment/bindings/go"
)

// Every method that takes a context, called with arguments that are right otherwise.

func clientCalls(c *pigment.Client, directory string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"Flush":            c.Flush,
		"Position":         func(ctx context.Context) error { return second(c.Position(ctx)) },
		"Refresh":          func(ctx context.Context) error { return second(c.Refresh(ctx)) },
		"CreateTenant":     func(ctx context.Context) error { return c.CreateTenant(ctx, "tenant") },
		"GetTenant":        func(ctx context.Context) error { return second(c.GetTenant(ctx, pigment.DefaultTenant)) },
		"ListTenants":      func(ctx context.Context) error { return second(c.ListTenants(ctx)) },
		"DeleteTenant":     func(ctx context.Context) error { return c.DeleteTenant(ctx, "other") },
		"CreateDatabase":   func(ctx context.Context) error { return c.CreateDatabase(ctx, "", "database") },
		"GetDatabase":      func(ctx context.Context) error { return second(c.GetDatabase(ctx, "", pigment.DefaultDatabase)) },
		"ListDatabases":    func(ctx context.Context) error { return second(c.ListDatabases(ctx, "", pigment.Page{})) },
		"DeleteDatabase":   func(ctx context.Context) error { return c.DeleteDatabase(ctx, "", "other") },
		"CreateCollection": func(ctx context.Context) error { return second(c.CreateCollection(ctx, "made", nil)) },
		"GetOrCreateCollection": func(ctx context.Context) error {
			return second(c.GetOrCreateCollection(ctx, "docs", nil))
		},
		"GetCollection": func(ctx context.Context) error { return second(c.GetCollection(ctx, "docs", nil)) },
		"GetCollectionByID": func(ctx context.Context) error {
			return second(c.GetCollectionByID(ctx, "00000000-0000-0000-0000-000000000000", nil))
		},
		"ListCollections": func(ctx context.Context) error {
			return second(c.ListCollections(ctx, pigment.Scope{}, pigment.Page{}))
		},
		"CountCollections": func(ctx context.Context) error { return second(c.CountCollections(ctx, pigment.Scope{})) },
		"DeleteCollection": func(ctx context.Context) error { return c.DeleteCollection(ctx, "other", pigment.Scope{}) },
		"Compact":          func(ctx context.Context) error { return second(c.Compact(ctx)) },
		"Backup":           func(ctx context.Context) error { return second(c.Backup(ctx, directory+"/backup")) },
		"Check":            func(ctx context.Context) error { return second(c.Check(ctx, true)) },
		"Statistics":       func(ctx context.Context) error { return second(c.Statistics(ctx)) },
	}
}

func collectionCalls(c *pigment.Collection) map[string]func(context.Context) error {
	batch := pigment.Records{IDs: []string{"x"}, Embeddings: pigment.Flat([]float32{1, 2}, 2)}
	return map[string]func(context.Context) error{
		"Describe": func(ctx context.Context) error { return second(c.Describe(ctx)) },
		"Modify": func(ctx context.Context) error {
			return c.Modify(ctx, pigment.ModifyOptions{Metadata: pigment.Metadata{"a": 1}})
		},
		"Fork":     func(ctx context.Context) error { return second(c.Fork(ctx, "forked")) },
		"Flush":    c.Flush,
		"Segments": func(ctx context.Context) error { return second(c.Segments(ctx)) },
		"Compact":  func(ctx context.Context) error { return second(c.Compact(ctx)) },
		"Add":      func(ctx context.Context) error { return second(c.Add(ctx, batch)) },
		"Update":   func(ctx context.Context) error { return second(c.Update(ctx, batch)) },
		"Upsert":   func(ctx context.Context) error { return second(c.Upsert(ctx, batch)) },
		"Delete": func(ctx context.Context) error {
			return second(c.Delete(ctx, pigment.DeleteRequest{IDs: []string{"nobody"}}))
		},
		"Get": func(ctx context.Context) error { return second(c.Get(ctx, pigment.Get{})) },
		"Scan": func(ctx context.Context) error {
			for _, err := range c.Scan(ctx, pigment.Get{}) {
				return err
			}
			return nil
		},
		"Peek":       func(ctx context.Context) error { return second(c.Peek(ctx, 3)) },
		"Count":      func(ctx context.Context) error { return second(c.Count(ctx)) },
		"CountWhere": func(ctx context.Context) error { return second(c.CountWhere(ctx, pigment.CountRequest{})) },
		"Facets": func(ctx context.Context) error {
			return second(c.Facets(ctx, pigment.FacetsRequest{Keys: []string{"a"}}))
		},
		"Contains": func(ctx context.Context) error { return second(c.Contains(ctx, []string{"x"})) },
		"Query": func(ctx context.Context) error {
			return second(c.Query(ctx, pigment.Query{Embeddings: pigment.Flat([]float32{1, 2}, 2)}))
		},
		"SearchText": func(ctx context.Context) error {
			return second(c.SearchText(ctx, pigment.TextSearch{Queries: []string{"fox"}}))
		},
	}
}

func second[T any](_ T, err error) error { return err }

// A client in memory with one collection of two dimensions, a text index and some records.
func openSample(t testing.TB) (*pigment.Client, *pigment.Collection) {
	t.Helper()
	client := openMemory(t)
	docs, err := client.CreateCollection(context.Background(), "docs", &pigment.CollectionOptions{
		Configuration: pigment.Configuration{TextIndex: &pigment.TextIndex{}}.JSON(),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, err = docs.Add(context.Background(), pigment.Records{
		IDs: []string{"a", "b", "c", "d"}, Embeddings: pigment.Flat([]float32{1, 0, 0, 1, 0.8, 0.6, -1, 0}, 2),
		Documents:   []string{"the quick brown fox", "", "a fox and a fox", "nothing"},
		HasDocument: []bool{true, true, true, false},
		Metadatas:   []pigment.Metadata{{"a": 1}, nil, {"a": 2.5, "tags": []string{"x", "y"}}, {"a": "text"}},
		URIs:        []string{"file:a", "", "", "file:d"}, HasURI: []bool{true, false, false, true},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client, docs
}

func openMemory(t testing.TB) *pigment.Client {
	t.Helper()
	client, err := pigment.OpenMemory(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	return client
}

func create(t testing.TB, client *pigment.Client, name string, options *pigment.CollectionOptions) *pigment.Collection {
	t.Helper()
	c, err := client.CreateCollection(context.Background(), name, options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Calls everything on a client and a collection; each must fail as `fails` says.
func everyCall(t *testing.T, client *pigment.Client, c *pigment.Collection, ctx context.Context, fails func(error) bool) {
	t.Helper()
	for of, calls := range map[string]map[string]func(context.Context) error{
		"client": clientCalls(client, t.TempDir()), "collection": collectionCalls(c),
	} {
		for name, f := range calls {
			if err := f(ctx); !fails(err) {
				t.Errorf("%s.%s: %v", of, name, err)
			}
		}
	}
}

// No method is forgotten above.
func TestCallsAreAllMethods(t *testing.T) {
	for of, calls := range map[reflect.Type][]string{
		reflect.TypeFor[*pigment.Client]():     keys(clientCalls(nil, "")),
		reflect.TypeFor[*pigment.Collection](): keys(collectionCalls(nil)),
	} {
		for i := range of.NumMethod() {
			if name := of.Method(i).Name; name != "Close" && !slices.Contains(calls, name) {
				t.Errorf("%v.%s is in no table", of, name)
			}
		}
	}
}

func keys(calls map[string]func(context.Context) error) (names []string) {
	for name := range calls {
		names = append(names, name)
	}
	return names
}

func TestCallsSucceed(t *testing.T) {
	client, docs := openSample(t)
	wanted := map[string]error{ // what is not there
		"Refresh": nil, "DeleteTenant": pigment.ErrNotFound, "DeleteDatabase": pigment.ErrNotFound, "GetCollectionByID": pigment.ErrNotFound,
		"DeleteCollection": pigment.ErrNotFound,
	}
	for name, f := range collectionCalls(docs) {
		if err := f(t.Context()); err != nil {
			t.Errorf("collection.%s: %v", name, err)
		}
	}
	for name, f := range clientCalls(client, t.TempDir()) {
		if err := f(t.Context()); !errors.Is(err, wanted[name]) {
			t.Errorf("client.%s: %v", name, err)
		}
	}
}
