// SPDX-License-Identifier: Apache-2.0
//
// CheckNotes: where the parts of a check write down what they find. One thread.

#pragma once

#include <string>
#include <utility>

#include "engine/collection/check.h"

namespace pigment {

class CheckNotes {
 public:
  static constexpr size_t kFindingsMax = 1000;

  void Add(CheckFinding finding) {
    if (finding.severity == CheckSeverity::kError) ++report_.errors;
    if (finding.severity == CheckSeverity::kWarning) ++report_.warnings;
    if (report_.findings.size() < kFindingsMax) {
      report_.findings.push_back(std::move(finding));
    } else {
      ++report_.findings_left_out;
    }
  }
  // An error that some part of the engine reported; ok: nothing.
  void AddStatus(const Status& status, const std::string& collection,
                 const std::string& file = std::string()) {
    if (status.ok()) return;
    Add({.severity = CheckSeverity::kError,
         .code = status.code(),
         .detail = status.detail(),
         .collection = collection,
         .file = status.file().empty() ? file : status.file(),
         .offset = status.offset(),
         .message = status.message()});
  }
  void AddError(Detail detail, const std::string& collection, const std::string& file,
                int64_t offset, std::string message) {
    Add({.severity = CheckSeverity::kError,
         .code = Code::kDataLoss,
         .detail = detail,
         .collection = collection,
         .file = file,
         .offset = offset,
         .message = std::move(message)});
  }

  CheckTotals& totals() { return report_.totals; }
  CheckReport& report() { return report_; }

 private:
  CheckReport report_;
};

}  // namespace pigment
