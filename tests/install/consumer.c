/* SPDX-License-Identifier: Apache-2.0
 *
 * A program of somebody who has only the installed package: built by tests/install/run through pkg-config and through
 * CMake, on the shared and on the static library.
 */

#include <pigment/pigment.h>
#include <stdio.h>

int main(void) {
  if (pigment_abi_version() != PIGMENT_ABI_VERSION) {
    fprintf(stderr, "header of ABI %d, library of ABI %d\n", (int)PIGMENT_ABI_VERSION, (int)pigment_abi_version());
    return 1;
  }
  printf("pigment %s\n", pigment_version());
  return 0;
}
