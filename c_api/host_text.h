// SPDX-License-Identifier: Apache-2.0
//
// The handle of a query of texts, shared by the shims that make and that search with it.

#pragma once

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "c_api/error.h"
#include "engine/segment/host_text.h"
#include "pigment/pigment_host.h"

struct pigment_text_query : pigment::abi::Handle<pigment::abi::HandleKind::kTextQuery> {
  pigment_text_query(pigment_text_analyzer* by, std::vector<pigment::HostTextClause> clauses,
                     const pigment::HostTextQuery::Settings& settings)
      : analyzer(by),
        query(std::make_shared<pigment::HostTextQuery>(std::move(clauses), settings)) {}

  pigment_text_analyzer* const analyzer;
  const std::shared_ptr<pigment::HostTextQuery>
      query;                                      // searches that were made with it have it too
  std::optional<pigment::HostTextScorer> scorer;  // of what was counted last
};
