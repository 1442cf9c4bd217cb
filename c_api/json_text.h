// SPDX-License-Identifier: Apache-2.0
//
// The small JSON answers of the interface: descriptions of tenants, databases and collections.
// Pure; any thread.

#pragma once

#include <string>
#include <string_view>

#include "engine/catalog/catalog.h"

namespace pigment::abi {

// `text` as a JSON string with its quotes.
std::string QuoteJson(std::string_view text);

std::string DescribeTenant(std::string_view name);
std::string DescribeDatabase(const Catalog::DatabaseEntry& entry);
std::string DescribeCollection(const CollectionEntry& entry);

}  // namespace pigment::abi
