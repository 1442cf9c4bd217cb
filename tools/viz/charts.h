// SPDX-License-Identifier: Apache-2.0
//
// The drawings of a page, as SVG elements. Plain functions; their colours are classes of the page's
// style.

#pragma once

#include <span>
#include <string>

#include "tools/json.h"
#include "tools/viz/projection.h"
#include "tools/viz/recall.h"
#include "tools/viz/sample.h"

namespace pigment_tool {

// Each record a dot, both axes in one scale. Who points at a dot is told id and document.
std::string DrawMap(const Projection& projection, std::span<const SampledRecord> sample);

// Recall over width, which doubles from mark to mark.
std::string DrawRecall(std::span<const WidthRecall> widths);

// The rows of a segment beside those of the largest one: live and deleted.
std::string DrawRows(uint64_t live, uint64_t rows, uint64_t largest);

}  // namespace pigment_tool
