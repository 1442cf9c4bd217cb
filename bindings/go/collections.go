// SPDX-License-Identifier: Apache-2.0

package pigment

// #include "shim.h"
import "C"

import (
	"context"
	"encoding/json"
)

// A Scope says where a collection lives; empty fields are what [OpenOptions] says, or [DefaultTenant] and [DefaultDatabase].
type Scope struct {
	Tenant   string
	Database string
}

// CollectionOptions says what a new collection is like; the zero value is the default of everything.
type CollectionOptions struct {
	Scope
	Metadata          Metadata
	MetadataJSON      json.RawMessage // instead of Metadata
	Configuration     json.RawMessage // [Configuration.JSON] makes one; nil: all defaults
	Schema            json.RawMessage // which values can be filtered by: docs/schema.md; not with a Configuration of the index
	EmbeddingFunction *EmbeddingFunction
}

// GetCollectionOptions says which collection is meant, and what embeds its texts. The function must have the name that is stored, where one is.
// Without it the collection takes vectors, and texts give [ErrNoEmbeddingFunction].
type GetCollectionOptions struct {
	Scope
	EmbeddingFunction *EmbeddingFunction
}

// CollectionInfo describes a collection; configuration and schema are as they have effect, with every default.
type CollectionInfo struct {
	ID                string          `json:"id"`
	Name              string          `json:"name"`
	Tenant            string          `json:"tenant"`
	Database          string          `json:"database"`
	Metadata          Metadata        `json:"metadata"` // nil: none
	Configuration     json.RawMessage `json:"configuration"`
	Schema            json.RawMessage `json:"schema"`             // null: none
	EmbeddingFunction *FunctionInfo   `json:"embedding_function"` // nil: none
	Dimension         *int            `json:"dimension"`          // nil: nothing was added yet
}

// A FunctionInfo is what a collection knows of its embedding function.
type FunctionInfo struct {
	Name   string          `json:"name"`
	Config json.RawMessage `json:"config"`
}

// CreateCollection makes a collection; where one has the name already, it fails with [ErrAlreadyExists]. Nil options are the defaults.
func (c *Client) CreateCollection(ctx context.Context, name string, options *CollectionOptions) (*Collection, error) {
	return c.create(ctx, name, options, false)
}

// GetOrCreateCollection gives the collection of this name as it is, or makes it.
func (c *Client) GetOrCreateCollection(ctx context.Context, name string, options *CollectionOptions) (*Collection, error) {
	return c.create(ctx, name, options, true)
}

func (c *Client) create(ctx context.Context, name string, options *CollectionOptions, getOrCreate bool) (*Collection, error) {
	if options == nil {
		options = &CollectionOptions{}
	}
	metadata, err := metadataText(options.Metadata, options.MetadataJSON, -1)
	if err != nil {
		return nil, err
	}
	return c.open(ctx, options.EmbeddingFunction, func(function C.pgo_function) C.pgo_opened {
		tenant, database := c.scopeOf(options.Scope)
		return C.pgo_create_collection(c.c, tenant, database, textOf(name), jsonOf(metadata),
			jsonOf(options.Configuration), jsonOf(options.Schema), C.bool(getOrCreate), function)
	})
}

// GetCollection fails with [ErrNotFound] where there is none. Nil options are the defaults.
func (c *Client) GetCollection(ctx context.Context, name string, options *GetCollectionOptions) (*Collection, error) {
	if options == nil {
		options = &GetCollectionOptions{}
	}
	return c.open(ctx, options.EmbeddingFunction, func(function C.pgo_function) C.pgo_opened {
		tenant, database := c.scopeOf(options.Scope)
		return C.pgo_get_collection(c.c, tenant, database, textOf(name), function)
	})
}

// GetCollectionByID gets a collection by its UUID; the function may be nil.
func (c *Client) GetCollectionByID(ctx context.Context, id string, function *EmbeddingFunction) (*Collection, error) {
	return c.open(ctx, function, func(function C.pgo_function) C.pgo_opened {
		return C.pgo_get_collection_by_id(c.c, textOf(id), function)
	})
}

// What makes a handle, with a function that is the library's from then on.
func (c *Client) open(ctx context.Context, function *EmbeddingFunction, f func(C.pgo_function) C.pgo_opened) (*Collection, error) {
	if err := c.enter(ctx); err != nil {
		return nil, err
	}
	defer c.release()
	given, drop, err := function.c()
	if err != nil {
		return nil, err
	}
	opened := f(given)
	if err := take(opened.done); err != nil {
		drop()
		return nil, err
	}
	return newCollection(c, opened.collection, function.callsGo()), nil
}

// ListCollections describes the collections of a database by id.
func (c *Client) ListCollections(ctx context.Context, scope Scope, page Page) ([]CollectionInfo, error) {
	var collections []CollectionInfo
	err := c.read(ctx, func() C.pgo_json {
		tenant, database := c.scopeOf(scope)
		return C.pgo_list_collections(c.c, tenant, database, page.limit(), C.int64_t(page.Offset))
	}, &collections)
	return collections, err
}

// CountCollections counts those of a database.
func (c *Client) CountCollections(ctx context.Context, scope Scope) (int, error) {
	if err := c.enter(ctx); err != nil {
		return 0, err
	}
	defer c.release()
	tenant, database := c.scopeOf(scope)
	counted := C.pgo_count_collections(c.c, tenant, database)
	return int(counted.count), take(counted.done)
}

// DeleteCollection deletes a collection with its records; handles of it fail with [ErrNotFound] from then on.
func (c *Client) DeleteCollection(ctx context.Context, name string, scope Scope) error {
	if err := c.enter(ctx); err != nil {
		return err
	}
	defer c.release()
	tenant, database := c.scopeOf(scope)
	return take(C.pgo_delete_collection(c.c, tenant, database, textOf(name)))
}
