// SPDX-License-Identifier: Apache-2.0
//
// The reports of maintenance as JSON. Pure; any thread.

#pragma once

#include <string>
#include <vector>

#include "engine/collection/repair.h"
#include "engine/collection/store.h"

namespace pigment::abi {

std::string DescribeBackup(const BackupSummary& summary);
std::string DescribeCheck(const CheckReport& report);
std::string DescribeRepair(const RepairReport& report);
std::string DescribeSegments(const std::vector<SegmentDescription>& segments);
std::string DescribeStatistics(const StoreCondition& condition, const LoadingStatistics& statistics,
                               const MaintenanceStatistics& maintenance);

}  // namespace pigment::abi
