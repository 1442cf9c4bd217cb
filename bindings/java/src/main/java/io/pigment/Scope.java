// SPDX-License-Identifier: Apache-2.0
//
// Where a collection lives, as the library takes it. Immutable; null is the default.

package io.pigment;

import java.lang.foreign.MemorySegment;

record Scope(String tenant, String database) {
  static final Scope DEFAULT = new Scope(null, null);

  MemorySegment struct(Call call) {
    if (tenant == null && database == null) {
      return MemorySegment.NULL;
    }
    MemorySegment scope = call.struct(Structs.Scope.SIZE);
    call.text(scope, Structs.Scope.TENANT, Structs.Scope.TENANT_SIZE, tenant, "tenant");
    call.text(scope, Structs.Scope.DATABASE, Structs.Scope.DATABASE_SIZE, database, "database");
    return scope;
  }
}
