// SPDX-License-Identifier: Apache-2.0

package pigment

// #include "shim.h"
import "C"

import "context"

// What a store has from the beginning, and what an empty name of a tenant or database stands for.
const (
	DefaultTenant   = "default_tenant"
	DefaultDatabase = "default_database"
)

// A Tenant is a namespace of databases.
type Tenant struct {
	Name string `json:"name"`
}

// A Database is a namespace of collections.
type Database struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Tenant string `json:"tenant"`
}

// A Page is a part of a list. The zero value is all of it.
type Page struct {
	Limit  Maybe[int]
	Offset int
}

func (p Page) limit() C.int64_t {
	if limit, ok := p.Limit.Get(); ok {
		return C.int64_t(limit)
	}
	return -1
}

// CreateTenant makes a tenant; names have at least three characters.
func (c *Client) CreateTenant(ctx context.Context, name string) error {
	text := textOf(name)
	return c.do(ctx, func(failure **C.pigment_error) C.pigment_status {
		return C.pigment_client_create_tenant(c.c, text.data, text.size, failure)
	})
}

// GetTenant fails with [ErrNotFound] where there is none.
func (c *Client) GetTenant(ctx context.Context, name string) (Tenant, error) {
	var tenant Tenant
	err := c.read(ctx, func() C.pgo_json { return C.pgo_get_tenant(c.c, textOf(name)) }, &tenant)
	return tenant, err
}

// ListTenants gives their names, in order.
func (c *Client) ListTenants(ctx context.Context) ([]string, error) {
	var names []string
	err := c.read(ctx, func() C.pgo_json { return C.pgo_client_json(C.PGO_TENANTS, c.c) }, &names)
	return names, err
}

// DeleteTenant deletes a tenant with everything in it.
func (c *Client) DeleteTenant(ctx context.Context, name string) error {
	text := textOf(name)
	return c.do(ctx, func(failure **C.pigment_error) C.pigment_status {
		return C.pigment_client_delete_tenant(c.c, text.data, text.size, failure)
	})
}

// CreateDatabase makes a database of a tenant ("": that of [OpenOptions], or [DefaultTenant]).
func (c *Client) CreateDatabase(ctx context.Context, tenant, name string) error {
	text := textOf(name)
	return c.do(ctx, func(failure **C.pigment_error) C.pigment_status {
		of, _ := c.scopeOf(Scope{Tenant: tenant})
		return C.pigment_client_create_database(c.c, of.data, of.size, text.data, text.size, failure)
	})
}

// GetDatabase fails with [ErrNotFound] where there is none.
func (c *Client) GetDatabase(ctx context.Context, tenant, name string) (Database, error) {
	var database Database
	err := c.read(ctx, func() C.pgo_json {
		of, _ := c.scopeOf(Scope{Tenant: tenant})
		return C.pgo_get_database(c.c, of, textOf(name))
	}, &database)
	return database, err
}

// ListDatabases gives the databases of a tenant by name.
func (c *Client) ListDatabases(ctx context.Context, tenant string, page Page) ([]Database, error) {
	var databases []Database
	err := c.read(ctx, func() C.pgo_json {
		of, _ := c.scopeOf(Scope{Tenant: tenant})
		return C.pgo_list_databases(c.c, of, page.limit(), C.int64_t(page.Offset))
	}, &databases)
	return databases, err
}

// DeleteDatabase deletes a database with its collections.
func (c *Client) DeleteDatabase(ctx context.Context, tenant, name string) error {
	text := textOf(name)
	return c.do(ctx, func(failure **C.pigment_error) C.pigment_status {
		of, _ := c.scopeOf(Scope{Tenant: tenant})
		return C.pigment_client_delete_database(c.c, of.data, of.size, text.data, text.size, failure)
	})
}

// A call that answers with JSON.
func (c *Client) read(ctx context.Context, f func() C.pgo_json, into any) error {
	if err := c.enter(ctx); err != nil {
		return err
	}
	defer c.release()
	return decoded(f(), into)
}
