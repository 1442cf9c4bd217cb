// SPDX-License-Identifier: Apache-2.0
//
// Turns bytes into a sequence of calls of the C interface: every function of pigment.h and
// pigment_host.h, with hostile arguments. tests/c_api/fuzz_coverage_test.cc proves that no exported
// function is left out.

#include "tests/fuzz/abi_sequence.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  abi_fuzz::RunSequence(data, size, abi_fuzz::Table());
  return 0;
}
