// SPDX-License-Identifier: Apache-2.0

package pigment_test

import (
	"encoding/json"

	"github.com/pigment-db/pigment/bindings/go"
)

// One step as calls of the binding: its answer as JSON, or the error.
func (r *runner) execute(s step) (any, error) {
	a := arguments{s.Args}
	ctx, client := r.ctx, r.client
	page := pigment.Page{Limit: a.number("limit"), Offset: get(a, "offset", 0)}
	switch s.Op {
	case "close":
		return nil, client.Close()
	case "reopen":
		if err := client.Close(); err != nil {
			return nil, err
		}
		return nil, r.open()
	case "create_tenant":
		return nil, client.CreateTenant(ctx, a.text("name"))
	case "get_tenant":
		tenant, err := client.GetTenant(ctx, a.text("name"))
		return answerOf(tenant), err
	case "list_tenants":
		names, err := client.ListTenants(ctx)
		return answerOf(names), err
	case "delete_tenant":
		return nil, client.DeleteTenant(ctx, a.text("name"))
	case "create_database":
		return nil, client.CreateDatabase(ctx, a.text("tenant"), a.text("name"))
	case "get_database":
		database, err := client.GetDatabase(ctx, a.text("tenant"), a.text("name"))
		return answerOf(database), err
	case "list_databases":
		databases, err := client.ListDatabases(ctx, a.text("tenant"), page)
		return answerOf(databases), err
	case "delete_database":
		return nil, client.DeleteDatabase(ctx, a.text("tenant"), a.text("name"))
	case "create_collection":
		options := &pigment.CollectionOptions{
			Scope: a.scope(), MetadataJSON: a.json("metadata"), Configuration: a.json("configuration"), Schema: a.json("schema"),
			EmbeddingFunction: a.function(),
		}
		create := client.CreateCollection
		if get(a, "get_or_create", false) {
			create = client.GetOrCreateCollection
		}
		made, err := create(ctx, a.text("name"), options)
		return r.keep(made, err, a)
	case "get_collection":
		found, err := client.GetCollection(ctx, a.text("name"), &pigment.GetCollectionOptions{Scope: a.scope(), EmbeddingFunction: a.function()})
		return r.keep(found, err, a)
	case "get_collection_by_id":
		id := a.text("id")
		if a.has("of") {
			info, err := r.collections[a.text("of")].Describe(ctx)
			if err != nil {
				return nil, err
			}
			id = info.ID
		}
		found, err := client.GetCollectionByID(ctx, id, a.function())
		return r.keep(found, err, a)
	case "list_collections":
		infos, err := client.ListCollections(ctx, a.scope(), page)
		if get(a, "sorted_by_name", false) {
			sortedByName(infos)
		}
		return answerOf(infos), err
	case "count_collections":
		count, err := client.CountCollections(ctx, a.scope())
		return int64(count), err
	case "delete_collection":
		return nil, client.DeleteCollection(ctx, a.text("name"), a.scope())
	case "flush":
		if !a.has("collection") {
			return nil, client.Flush(ctx)
		}
	}
	c, there := r.collections[a.text("collection")]
	if !there {
		panic("no collection " + a.text("collection") + " or no op " + s.Op)
	}
	return r.executeOn(c, s.Op, a)
}

func (r *runner) executeOn(c *pigment.Collection, op string, a arguments) (any, error) {
	ctx, ids := r.ctx, a.texts("ids")
	switch op {
	case "flush":
		return nil, c.Flush(ctx)
	case "describe":
		return r.describe(c)
	case "modify":
		options := pigment.ModifyOptions{MetadataJSON: a.json("metadata"), Configuration: a.json("configuration")}
		if a.has("name") {
			options.Name = pigment.Some(a.text("name"))
		}
		return nil, c.Modify(ctx, options)
	case "fork":
		fork, err := c.Fork(ctx, a.text("new_name"))
		return r.keep(fork, err, a)
	case "add":
		return written(c.Add(ctx, a.records()))
	case "update":
		return written(c.Update(ctx, a.records()))
	case "upsert":
		return written(c.Upsert(ctx, a.records()))
	case "delete":
		return written(c.Delete(ctx, pigment.DeleteRequest{
			IDs: ids, Where: a.where(), WhereDocument: a.whereDocument(), Limit: a.number("limit"),
		}))
	case "get":
		request := pigment.Get{
			IDs: ids, Where: a.where(), WhereDocument: a.whereDocument(), Limit: a.number("limit"), Offset: get(a, "offset", 0),
			Include: a.include(), OrderByJSON: a.json("order_by"), Cursor: a.text("cursor"),
		}
		if get(a, "goes_on", false) {
			request.Cursor = r.cursor
		}
		r.cursor = ""
		result, err := c.Get(ctx, request)
		if err != nil {
			return nil, err
		}
		r.cursor = result.Cursor
		answer := columns(result)
		answer["may_go_on"] = result.Cursor != ""
		return answer, nil
	case "peek":
		result, err := c.Peek(ctx, get(a, "limit", 10))
		if err != nil {
			return nil, err
		}
		return columns(result), nil
	case "query":
		request := pigment.Query{
			Embeddings: a.vectors(), Texts: a.texts("texts"), NResults: get(a, "n_results", 10), IDs: ids, Where: a.where(),
			WhereDocument: a.whereDocument(), Include: a.include(),
		}
		if a.has("max_distance") {
			request.MaxDistance = pigment.Some(floatOf(a.values["max_distance"]))
		}
		result, err := c.Query(ctx, request)
		if err != nil {
			return nil, err
		}
		return queryColumns(result), nil
	case "count":
		if ids == nil && !a.has("where") && !a.has("where_document") && !a.has("where_raw") && !a.has("where_document_raw") {
			count, err := c.Count(ctx)
			return int64(count), err
		}
		count, err := c.CountWhere(ctx, pigment.CountRequest{IDs: ids, Where: a.where(), WhereDocument: a.whereDocument()})
		return int64(count), err
	case "facets":
		facets, err := c.Facets(ctx, pigment.FacetsRequest{
			Keys: a.texts("keys"), IDs: ids, Where: a.where(), WhereDocument: a.whereDocument(), Limit: a.number("limit"),
		})
		answer := map[string]any{}
		for key, values := range facets {
			answer[key] = list(each(values, func(f pigment.Facet) any {
				return map[string]any{"value": f.Value, "count": int64(f.Count)}
			}), nil)
		}
		return answer, err
	}
	panic("unknown op " + op)
}

var _ json.Marshaler = pigment.Metadata{}
