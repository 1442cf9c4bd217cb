// SPDX-License-Identifier: Apache-2.0
//
// Tenants and databases.

#include <optional>
#include <string>
#include <vector>

#include "c_api/client.h"
#include "c_api/json_text.h"
#include "engine/record/validate.h"

namespace pigment::abi {
namespace {

Result<Catalog*> OpenCatalog(const pigment_client& client) {
  PIGMENT_RETURN_IF_ERROR(client.core->CheckUsable());
  return client.core->store().catalog();
}

Result<std::string> ReadTenant(const char* tenant, size_t size) {
  PIGMENT_ASSIGN_OR_RETURN(const auto text, ReadOptionalText(tenant, size, "tenant"));
  return text && !text->empty() ? std::string(*text) : std::string(kDefaultTenant);
}

std::string JoinArray(const std::vector<std::string>& items) {
  std::string json = "[";
  for (size_t i = 0; i < items.size(); ++i) json += (i == 0 ? "" : ",") + items[i];
  return json + "]";
}

struct NamedDatabase {
  std::string tenant;
  std::string name;
};

Result<NamedDatabase> ReadDatabase(const char* tenant, size_t tenant_size, const char* name,
                                   size_t name_size) {
  NamedDatabase read;
  PIGMENT_ASSIGN_OR_RETURN(const std::string_view text, ReadText(name, name_size, "name"));
  PIGMENT_ASSIGN_OR_RETURN(read.tenant, ReadTenant(tenant, tenant_size));
  read.name = std::string(text);
  return read;
}

}  // namespace
}  // namespace pigment::abi

using pigment::Catalog;
using pigment::Status;
using pigment::abi::Call;
using pigment::abi::CheckHandle;
using pigment::abi::CheckNotNull;
using pigment::abi::ClearBuffer;
using pigment::abi::NewBuffer;
using pigment::abi::OpenCatalog;
using pigment::abi::ReadDatabase;
using pigment::abi::ReadTenant;
using pigment::abi::ReadText;

pigment_status pigment_client_create_tenant(pigment_client* client, const char* name,
                                            size_t name_size, pigment_error** error) {
  return Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view text, ReadText(name, name_size, "name"));
    PIGMENT_ASSIGN_OR_RETURN(Catalog* const catalog, OpenCatalog(*client));
    PIGMENT_RETURN_IF_ERROR(pigment::CheckTenantName(text));
    return catalog->CreateTenant(std::string(text));
  });
}

pigment_status pigment_client_get_tenant(pigment_client* client, const char* name, size_t name_size,
                                         pigment_buffer** json, pigment_error** error) {
  return Call(
      error, [&] { ClearBuffer(json); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{json, "json"}}));
        PIGMENT_ASSIGN_OR_RETURN(const std::string_view text, ReadText(name, name_size, "name"));
        PIGMENT_ASSIGN_OR_RETURN(Catalog* const catalog, OpenCatalog(*client));
        PIGMENT_RETURN_IF_ERROR(catalog->GetTenant(std::string(text)));
        *json = NewBuffer(pigment::abi::DescribeTenant(text));
        return Status::Ok();
      });
}

pigment_status pigment_client_list_tenants(pigment_client* client, pigment_buffer** json,
                                           pigment_error** error) {
  return Call(
      error, [&] { ClearBuffer(json); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{json, "json"}}));
        PIGMENT_ASSIGN_OR_RETURN(Catalog* const catalog, OpenCatalog(*client));
        std::vector<std::string> items;
        for (const std::string& name : catalog->ListTenants())
          items.push_back(pigment::abi::QuoteJson(name));
        *json = NewBuffer(pigment::abi::JoinArray(items));
        return Status::Ok();
      });
}

pigment_status pigment_client_delete_tenant(pigment_client* client, const char* name,
                                            size_t name_size, pigment_error** error) {
  return Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
    PIGMENT_ASSIGN_OR_RETURN(const std::string_view text, ReadText(name, name_size, "name"));
    PIGMENT_RETURN_IF_ERROR(client->core->CheckUsable());
    return client->core->store().DeleteTenant(std::string(text));
  });
}

pigment_status pigment_client_create_database(pigment_client* client, const char* tenant,
                                              size_t tenant_size, const char* name,
                                              size_t name_size, pigment_error** error) {
  return Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
    PIGMENT_ASSIGN_OR_RETURN(const auto read, ReadDatabase(tenant, tenant_size, name, name_size));
    PIGMENT_ASSIGN_OR_RETURN(Catalog* const catalog, OpenCatalog(*client));
    PIGMENT_RETURN_IF_ERROR(pigment::CheckDatabaseName(read.name));
    return catalog->CreateDatabase(read.tenant, read.name).status();
  });
}

pigment_status pigment_client_get_database(pigment_client* client, const char* tenant,
                                           size_t tenant_size, const char* name, size_t name_size,
                                           pigment_buffer** json, pigment_error** error) {
  return Call(
      error, [&] { ClearBuffer(json); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{json, "json"}}));
        PIGMENT_ASSIGN_OR_RETURN(const auto read,
                                 ReadDatabase(tenant, tenant_size, name, name_size));
        PIGMENT_ASSIGN_OR_RETURN(Catalog* const catalog, OpenCatalog(*client));
        PIGMENT_ASSIGN_OR_RETURN(const Catalog::DatabaseEntry entry,
                                 catalog->GetDatabase(read.tenant, read.name));
        *json = NewBuffer(pigment::abi::DescribeDatabase(entry));
        return Status::Ok();
      });
}

pigment_status pigment_client_list_databases(pigment_client* client, const char* tenant,
                                             size_t tenant_size, int64_t limit, int64_t offset,
                                             pigment_buffer** json, pigment_error** error) {
  return Call(
      error, [&] { ClearBuffer(json); },
      [&]() -> Status {
        PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
        PIGMENT_RETURN_IF_ERROR(CheckNotNull({{json, "json"}}));
        PIGMENT_ASSIGN_OR_RETURN(const std::string read, ReadTenant(tenant, tenant_size));
        PIGMENT_ASSIGN_OR_RETURN(Catalog* const catalog, OpenCatalog(*client));
        PIGMENT_ASSIGN_OR_RETURN(const auto entries, catalog->ListDatabases(read));
        PIGMENT_ASSIGN_OR_RETURN(const auto page,
                                 pigment::abi::ReadPage(limit, offset, entries.size()));
        std::vector<std::string> items;
        for (size_t i = page.first; i < page.end; ++i)
          items.push_back(pigment::abi::DescribeDatabase(entries[i]));
        *json = NewBuffer(pigment::abi::JoinArray(items));
        return Status::Ok();
      });
}

pigment_status pigment_client_delete_database(pigment_client* client, const char* tenant,
                                              size_t tenant_size, const char* name,
                                              size_t name_size, pigment_error** error) {
  return Call(error, [&]() -> Status {
    PIGMENT_RETURN_IF_ERROR(CheckHandle(client, "client"));
    PIGMENT_ASSIGN_OR_RETURN(const auto read, ReadDatabase(tenant, tenant_size, name, name_size));
    PIGMENT_RETURN_IF_ERROR(client->core->CheckUsable());
    return client->core->store().DeleteDatabase(read.tenant, read.name);
  });
}
