/* SPDX-License-Identifier: Apache-2.0
 *
 * A store on disk and what keeps it well: a fork, a backup while it is open, a check of the backup, a deadline, a cancel token that
 * ends calls. The directory is the argument; it must not exist.
 */

#include <pigment/pigment.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect(pigment_status status, pigment_error *error) {
  if (status == PIGMENT_OK) return;
  fprintf(stderr, "%s: %s\n", pigment_status_name(status), pigment_error_message(error));
  pigment_error_free(error);
  exit(1);
}

static uint64_t count(pigment_collection *collection) {
  uint64_t records = 0;
  pigment_error *error = NULL;
  expect(pigment_collection_count(collection, NULL, &records, &error), error);
  return records;
}

static pigment_status add(pigment_collection *collection, char id, const pigment_call_options *options,
                          pigment_error **error) {
  static const int64_t offsets[] = {0, 1};
  static const float embedding[] = {1, 2, 3};
  pigment_records records = {.struct_size = sizeof records};
  records.count = 1;
  records.ids.offsets = offsets;
  records.ids.bytes = &id;
  records.embeddings.data = embedding;
  records.embeddings.rows = 1;
  records.embeddings.dimension = 3;
  return pigment_collection_add(collection, &records, options, NULL, error);
}

/* Segments are shared; what is written later is not. */
static void fork_it(pigment_collection *log) {
  pigment_collection *fork = NULL;
  pigment_error *error = NULL;
  expect(pigment_collection_fork(log, "experiment", 10, &fork, &error), error);
  expect(add(fork, 'z', NULL, &error), error);
  printf("the fork has %d records, the collection %d\n", (int)count(fork), (int)count(log));
  pigment_collection_free(fork);
}

static void back_up(pigment_client *client, const char *to) {
  pigment_buffer *report = NULL;
  pigment_error *error = NULL;
  expect(pigment_client_backup(client, to, strlen(to), NULL, NULL, &error), error);
  expect(pigment_check(to, strlen(to), true, NULL, &report, &error), error);
  printf("the backup is %s\n", strstr(pigment_buffer_data(report, NULL), "\"clean\":true") ? "whole" : "damaged");
  pigment_buffer_free(report);
}

/* A token stays set: every call that is given it ends. So does one behind its deadline. Nothing is written. */
static void give_up(pigment_collection *log) {
  pigment_call_options options;
  pigment_cancel *cancel = NULL;
  pigment_error *error = NULL;
  expect(pigment_cancel_new(&cancel, &error), error);
  pigment_call_options_init(&options);
  options.cancel = cancel;
  pigment_cancel_set(cancel); /* from any thread, also from a signal handler */
  printf("%s\n", pigment_status_name(add(log, 'c', &options, &error)));
  pigment_error_free(error);
  pigment_cancel_free(cancel);
  pigment_call_options_init(&options);
  options.deadline_ns = pigment_now_ns() - 1;
  printf("%s\n", pigment_status_name(add(log, 'c', &options, &error)));
  pigment_error_free(error);
}

int main(int argc, char **argv) {
  pigment_client *client = NULL;
  pigment_collection *log = NULL;
  pigment_error *error = NULL;
  char copy[4096];
  if (argc != 2) {
    fprintf(stderr, "usage: example_upkeep DIRECTORY\n");
    return 2;
  }
  snprintf(copy, sizeof copy, "%s.backup", argv[1]);
  expect(pigment_client_open(argv[1], strlen(argv[1]), NULL, &client, &error), error);
  expect(pigment_client_create_collection(client, NULL, "log", 3, NULL, &log, &error), error);
  expect(add(log, 'a', NULL, &error), error);
  expect(add(log, 'b', NULL, &error), error);
  fork_it(log);
  back_up(client, copy);
  give_up(log);
  printf("the collection has %d records\n", (int)count(log));
  pigment_collection_free(log);
  expect(pigment_client_close(client, &error), error);
  pigment_client_free(client);
  return 0;
}
