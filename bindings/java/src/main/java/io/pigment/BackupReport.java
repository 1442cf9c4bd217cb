// SPDX-License-Identifier: Apache-2.0

package io.pigment;

import java.util.Map;

/**
 * What a backup copied.
 *
 * @param position of the log that the copy has
 * @param collections how many
 * @param files how many
 * @param bytes of all files
 */
public record BackupReport(long position, long collections, long files, long bytes) {
  static BackupReport of(Object json) {
    Map<String, Object> object = Json.object(json);
    return new BackupReport(
        Json.number(object, "position"), Json.number(object, "collections"), Json.number(object, "files"), Json.number(object, "bytes"));
  }
}
