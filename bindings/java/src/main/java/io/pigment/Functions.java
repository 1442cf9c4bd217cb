// SPDX-License-Identifier: Apache-2.0
//
// Written by bindings/tables/generate from pigment.h. Do not edit.

package io.pigment;

import static java.lang.foreign.ValueLayout.ADDRESS;
import static java.lang.foreign.ValueLayout.JAVA_BOOLEAN;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** The functions of pigment.h under their own names. Loading this class loads the library. */
final class Functions {
  private Functions() {}

  private static final MethodHandle ABI_VERSION =
      NativeLibrary.handle("pigment_abi_version", FunctionDescriptor.of(JAVA_INT));

  static int abiVersion() {
    try { return (int) ABI_VERSION.invokeExact(); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle VERSION =
      NativeLibrary.handle("pigment_version", FunctionDescriptor.of(ADDRESS));

  static MemorySegment version() {
    try { return (MemorySegment) VERSION.invokeExact(); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle BUILD_INFO =
      NativeLibrary.handle("pigment_build_info", FunctionDescriptor.of(ADDRESS));

  static MemorySegment buildInfo() {
    try { return (MemorySegment) BUILD_INFO.invokeExact(); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle STATUS_NAME =
      NativeLibrary.trivial("pigment_status_name", FunctionDescriptor.of(ADDRESS, JAVA_INT));

  static MemorySegment statusName(int status) {
    try { return (MemorySegment) STATUS_NAME.invokeExact(status); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle STATUS_SQLSTATE =
      NativeLibrary.trivial("pigment_status_sqlstate", FunctionDescriptor.of(ADDRESS, JAVA_INT));

  static MemorySegment statusSqlstate(int status) {
    try { return (MemorySegment) STATUS_SQLSTATE.invokeExact(status); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle STATUS_RETRYABLE =
      NativeLibrary.trivial("pigment_status_retryable", FunctionDescriptor.of(JAVA_BOOLEAN, JAVA_INT));

  static boolean statusRetryable(int status) {
    try { return (boolean) STATUS_RETRYABLE.invokeExact(status); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle STATUS_FAULT =
      NativeLibrary.trivial("pigment_status_fault", FunctionDescriptor.of(JAVA_INT, JAVA_INT));

  static int statusFault(int status) {
    try { return (int) STATUS_FAULT.invokeExact(status); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle ERROR_STATUS =
      NativeLibrary.trivial("pigment_error_status", FunctionDescriptor.of(JAVA_INT, ADDRESS));

  static int errorStatus(MemorySegment error) {
    try { return (int) ERROR_STATUS.invokeExact(error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle ERROR_DETAIL =
      NativeLibrary.trivial("pigment_error_detail", FunctionDescriptor.of(JAVA_INT, ADDRESS));

  static int errorDetail(MemorySegment error) {
    try { return (int) ERROR_DETAIL.invokeExact(error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle ERROR_MESSAGE =
      NativeLibrary.trivial("pigment_error_message", FunctionDescriptor.of(ADDRESS, ADDRESS));

  static MemorySegment errorMessage(MemorySegment error) {
    try { return (MemorySegment) ERROR_MESSAGE.invokeExact(error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle ERROR_HINT =
      NativeLibrary.trivial("pigment_error_hint", FunctionDescriptor.of(ADDRESS, ADDRESS));

  static MemorySegment errorHint(MemorySegment error) {
    try { return (MemorySegment) ERROR_HINT.invokeExact(error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle ERROR_ROW =
      NativeLibrary.trivial("pigment_error_row", FunctionDescriptor.of(JAVA_LONG, ADDRESS));

  static long errorRow(MemorySegment error) {
    try { return (long) ERROR_ROW.invokeExact(error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle ERROR_FILE =
      NativeLibrary.trivial("pigment_error_file", FunctionDescriptor.of(ADDRESS, ADDRESS));

  static MemorySegment errorFile(MemorySegment error) {
    try { return (MemorySegment) ERROR_FILE.invokeExact(error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle ERROR_OFFSET =
      NativeLibrary.trivial("pigment_error_offset", FunctionDescriptor.of(JAVA_LONG, ADDRESS));

  static long errorOffset(MemorySegment error) {
    try { return (long) ERROR_OFFSET.invokeExact(error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle ERROR_FREE =
      NativeLibrary.handle("pigment_error_free", FunctionDescriptor.ofVoid(ADDRESS));

  static void errorFree(MemorySegment error) {
    try { ERROR_FREE.invokeExact(error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle BUFFER_DATA =
      NativeLibrary.trivial("pigment_buffer_data", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS));

  static MemorySegment bufferData(MemorySegment buffer, MemorySegment size) {
    try { return (MemorySegment) BUFFER_DATA.invokeExact(buffer, size); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle BUFFER_FREE =
      NativeLibrary.handle("pigment_buffer_free", FunctionDescriptor.ofVoid(ADDRESS));

  static void bufferFree(MemorySegment buffer) {
    try { BUFFER_FREE.invokeExact(buffer); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle LIMITS =
      NativeLibrary.handle("pigment_limits", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  static int limits(MemorySegment json, MemorySegment error) {
    try { return (int) LIMITS.invokeExact(json, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CANCEL_NEW =
      NativeLibrary.handle("pigment_cancel_new", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  static int cancelNew(MemorySegment cancel, MemorySegment error) {
    try { return (int) CANCEL_NEW.invokeExact(cancel, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CANCEL_SET =
      NativeLibrary.trivial("pigment_cancel_set", FunctionDescriptor.ofVoid(ADDRESS));

  static void cancelSet(MemorySegment cancel) {
    try { CANCEL_SET.invokeExact(cancel); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CANCEL_IS_SET =
      NativeLibrary.trivial("pigment_cancel_is_set", FunctionDescriptor.of(JAVA_BOOLEAN, ADDRESS));

  static boolean cancelIsSet(MemorySegment cancel) {
    try { return (boolean) CANCEL_IS_SET.invokeExact(cancel); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CANCEL_FREE =
      NativeLibrary.handle("pigment_cancel_free", FunctionDescriptor.ofVoid(ADDRESS));

  static void cancelFree(MemorySegment cancel) {
    try { CANCEL_FREE.invokeExact(cancel); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CANCEL_PROGRESS =
      NativeLibrary.handle("pigment_cancel_progress", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  static int cancelProgress(MemorySegment cancel, MemorySegment progress, MemorySegment error) {
    try { return (int) CANCEL_PROGRESS.invokeExact(cancel, progress, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle NOW_NS =
      NativeLibrary.trivial("pigment_now_ns", FunctionDescriptor.of(JAVA_LONG));

  static long nowNs() {
    try { return (long) NOW_NS.invokeExact(); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CALL_OPTIONS_INIT =
      NativeLibrary.handle("pigment_call_options_init", FunctionDescriptor.ofVoid(ADDRESS));

  static void callOptionsInit(MemorySegment options) {
    try { CALL_OPTIONS_INIT.invokeExact(options); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle EMBEDDING_SINK_PUT =
      NativeLibrary.handle("pigment_embedding_sink_put", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG));

  static int embeddingSinkPut(MemorySegment sink, MemorySegment values, long rows, long dimension) {
    try { return (int) EMBEDDING_SINK_PUT.invokeExact(sink, values, rows, dimension); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle EMBEDDING_SINK_FAIL =
      NativeLibrary.handle("pigment_embedding_sink_fail", FunctionDescriptor.ofVoid(ADDRESS, ADDRESS, JAVA_LONG));

  static void embeddingSinkFail(MemorySegment sink, MemorySegment message, long messageSize) {
    try { EMBEDDING_SINK_FAIL.invokeExact(sink, message, messageSize); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle EMBED_LEXICAL =
      NativeLibrary.handle("pigment_embed_lexical", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS));

  static int embedLexical(long count, MemorySegment texts, long dimension, MemorySegment values, MemorySegment error) {
    try { return (int) EMBED_LEXICAL.invokeExact(count, texts, dimension, values, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle EMBEDDING_FUNCTION_LEXICAL =
      NativeLibrary.handle("pigment_embedding_function_lexical", FunctionDescriptor.of(JAVA_INT, JAVA_LONG, ADDRESS, ADDRESS));

  static int embeddingFunctionLexical(long dimension, MemorySegment function, MemorySegment error) {
    try { return (int) EMBEDDING_FUNCTION_LEXICAL.invokeExact(dimension, function, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle OPEN_OPTIONS_INIT =
      NativeLibrary.handle("pigment_open_options_init", FunctionDescriptor.ofVoid(ADDRESS));

  static void openOptionsInit(MemorySegment options) {
    try { OPEN_OPTIONS_INIT.invokeExact(options); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_OPEN =
      NativeLibrary.handle("pigment_client_open", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS));

  static int clientOpen(MemorySegment path, long pathSize, MemorySegment options, MemorySegment client, MemorySegment error) {
    try { return (int) CLIENT_OPEN.invokeExact(path, pathSize, options, client, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_OPEN_TRACED =
      NativeLibrary.handle("pigment_client_open_traced", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int clientOpenTraced(MemorySegment path, long pathSize, MemorySegment options, MemorySegment tracing, MemorySegment client, MemorySegment error) {
    try { return (int) CLIENT_OPEN_TRACED.invokeExact(path, pathSize, options, tracing, client, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_CLOSE =
      NativeLibrary.handle("pigment_client_close", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  static int clientClose(MemorySegment client, MemorySegment error) {
    try { return (int) CLIENT_CLOSE.invokeExact(client, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_FREE =
      NativeLibrary.handle("pigment_client_free", FunctionDescriptor.ofVoid(ADDRESS));

  static void clientFree(MemorySegment client) {
    try { CLIENT_FREE.invokeExact(client); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_FLUSH =
      NativeLibrary.handle("pigment_client_flush", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  static int clientFlush(MemorySegment client, MemorySegment error) {
    try { return (int) CLIENT_FLUSH.invokeExact(client, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_FLUSH_WITH =
      NativeLibrary.handle("pigment_client_flush_with", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  static int clientFlushWith(MemorySegment client, MemorySegment options, MemorySegment error) {
    try { return (int) CLIENT_FLUSH_WITH.invokeExact(client, options, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_COMPACT =
      NativeLibrary.handle("pigment_client_compact", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int clientCompact(MemorySegment client, MemorySegment options, MemorySegment result, MemorySegment error) {
    try { return (int) CLIENT_COMPACT.invokeExact(client, options, result, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_STATISTICS =
      NativeLibrary.handle("pigment_client_statistics", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  static int clientStatistics(MemorySegment client, MemorySegment json, MemorySegment error) {
    try { return (int) CLIENT_STATISTICS.invokeExact(client, json, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_BACKUP =
      NativeLibrary.handle("pigment_client_backup", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS));

  static int clientBackup(MemorySegment client, MemorySegment path, long pathSize, MemorySegment options, MemorySegment json, MemorySegment error) {
    try { return (int) CLIENT_BACKUP.invokeExact(client, path, pathSize, options, json, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_CHECK =
      NativeLibrary.handle("pigment_client_check", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_BOOLEAN, ADDRESS, ADDRESS, ADDRESS));

  static int clientCheck(MemorySegment client, boolean full, MemorySegment options, MemorySegment json, MemorySegment error) {
    try { return (int) CLIENT_CHECK.invokeExact(client, full, options, json, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CHECK =
      NativeLibrary.handle("pigment_check", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, JAVA_BOOLEAN, ADDRESS, ADDRESS, ADDRESS));

  static int check(MemorySegment path, long pathSize, boolean full, MemorySegment options, MemorySegment json, MemorySegment error) {
    try { return (int) CHECK.invokeExact(path, pathSize, full, options, json, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle REPAIR =
      NativeLibrary.handle("pigment_repair", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS));

  static int repair(MemorySegment from, long fromSize, MemorySegment to, long toSize, MemorySegment options, MemorySegment json, MemorySegment error) {
    try { return (int) REPAIR.invokeExact(from, fromSize, to, toSize, options, json, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_POSITION =
      NativeLibrary.handle("pigment_client_position", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  static int clientPosition(MemorySegment client, MemorySegment position, MemorySegment error) {
    try { return (int) CLIENT_POSITION.invokeExact(client, position, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_REFRESH =
      NativeLibrary.handle("pigment_client_refresh", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  static int clientRefresh(MemorySegment client, MemorySegment position, MemorySegment error) {
    try { return (int) CLIENT_REFRESH.invokeExact(client, position, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_CREATE_TENANT =
      NativeLibrary.handle("pigment_client_create_tenant", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS));

  static int clientCreateTenant(MemorySegment client, MemorySegment name, long nameSize, MemorySegment error) {
    try { return (int) CLIENT_CREATE_TENANT.invokeExact(client, name, nameSize, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_GET_TENANT =
      NativeLibrary.handle("pigment_client_get_tenant", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS));

  static int clientGetTenant(MemorySegment client, MemorySegment name, long nameSize, MemorySegment json, MemorySegment error) {
    try { return (int) CLIENT_GET_TENANT.invokeExact(client, name, nameSize, json, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_LIST_TENANTS =
      NativeLibrary.handle("pigment_client_list_tenants", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  static int clientListTenants(MemorySegment client, MemorySegment json, MemorySegment error) {
    try { return (int) CLIENT_LIST_TENANTS.invokeExact(client, json, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_DELETE_TENANT =
      NativeLibrary.handle("pigment_client_delete_tenant", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS));

  static int clientDeleteTenant(MemorySegment client, MemorySegment name, long nameSize, MemorySegment error) {
    try { return (int) CLIENT_DELETE_TENANT.invokeExact(client, name, nameSize, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_CREATE_DATABASE =
      NativeLibrary.handle("pigment_client_create_database", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS));

  static int clientCreateDatabase(MemorySegment client, MemorySegment tenant, long tenantSize, MemorySegment name, long nameSize, MemorySegment error) {
    try { return (int) CLIENT_CREATE_DATABASE.invokeExact(client, tenant, tenantSize, name, nameSize, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_GET_DATABASE =
      NativeLibrary.handle("pigment_client_get_database", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS));

  static int clientGetDatabase(MemorySegment client, MemorySegment tenant, long tenantSize, MemorySegment name, long nameSize, MemorySegment json, MemorySegment error) {
    try { return (int) CLIENT_GET_DATABASE.invokeExact(client, tenant, tenantSize, name, nameSize, json, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_LIST_DATABASES =
      NativeLibrary.handle("pigment_client_list_databases", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS));

  static int clientListDatabases(MemorySegment client, MemorySegment tenant, long tenantSize, long limit, long offset, MemorySegment json, MemorySegment error) {
    try { return (int) CLIENT_LIST_DATABASES.invokeExact(client, tenant, tenantSize, limit, offset, json, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_DELETE_DATABASE =
      NativeLibrary.handle("pigment_client_delete_database", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS));

  static int clientDeleteDatabase(MemorySegment client, MemorySegment tenant, long tenantSize, MemorySegment name, long nameSize, MemorySegment error) {
    try { return (int) CLIENT_DELETE_DATABASE.invokeExact(client, tenant, tenantSize, name, nameSize, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_OPTIONS_INIT =
      NativeLibrary.handle("pigment_collection_options_init", FunctionDescriptor.ofVoid(ADDRESS));

  static void collectionOptionsInit(MemorySegment options) {
    try { COLLECTION_OPTIONS_INIT.invokeExact(options); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_CREATE_COLLECTION =
      NativeLibrary.handle("pigment_client_create_collection", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS));

  static int clientCreateCollection(MemorySegment client, MemorySegment scope, MemorySegment name, long nameSize, MemorySegment options, MemorySegment collection, MemorySegment error) {
    try { return (int) CLIENT_CREATE_COLLECTION.invokeExact(client, scope, name, nameSize, options, collection, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_GET_COLLECTION =
      NativeLibrary.handle("pigment_client_get_collection", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS));

  static int clientGetCollection(MemorySegment client, MemorySegment scope, MemorySegment name, long nameSize, MemorySegment function, MemorySegment collection, MemorySegment error) {
    try { return (int) CLIENT_GET_COLLECTION.invokeExact(client, scope, name, nameSize, function, collection, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_GET_COLLECTION_BY_ID =
      NativeLibrary.handle("pigment_client_get_collection_by_id", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS));

  static int clientGetCollectionById(MemorySegment client, MemorySegment id, long idSize, MemorySegment function, MemorySegment collection, MemorySegment error) {
    try { return (int) CLIENT_GET_COLLECTION_BY_ID.invokeExact(client, id, idSize, function, collection, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_LIST_COLLECTIONS =
      NativeLibrary.handle("pigment_client_list_collections", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, JAVA_LONG, ADDRESS, ADDRESS));

  static int clientListCollections(MemorySegment client, MemorySegment scope, long limit, long offset, MemorySegment json, MemorySegment error) {
    try { return (int) CLIENT_LIST_COLLECTIONS.invokeExact(client, scope, limit, offset, json, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_COUNT_COLLECTIONS =
      NativeLibrary.handle("pigment_client_count_collections", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int clientCountCollections(MemorySegment client, MemorySegment scope, MemorySegment count, MemorySegment error) {
    try { return (int) CLIENT_COUNT_COLLECTIONS.invokeExact(client, scope, count, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle CLIENT_DELETE_COLLECTION =
      NativeLibrary.handle("pigment_client_delete_collection", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS));

  static int clientDeleteCollection(MemorySegment client, MemorySegment scope, MemorySegment name, long nameSize, MemorySegment error) {
    try { return (int) CLIENT_DELETE_COLLECTION.invokeExact(client, scope, name, nameSize, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_DESCRIBE =
      NativeLibrary.handle("pigment_collection_describe", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  static int collectionDescribe(MemorySegment collection, MemorySegment json, MemorySegment error) {
    try { return (int) COLLECTION_DESCRIBE.invokeExact(collection, json, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_MODIFY =
      NativeLibrary.handle("pigment_collection_modify", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  static int collectionModify(MemorySegment collection, MemorySegment options, MemorySegment error) {
    try { return (int) COLLECTION_MODIFY.invokeExact(collection, options, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_FORK =
      NativeLibrary.handle("pigment_collection_fork", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS));

  static int collectionFork(MemorySegment collection, MemorySegment newName, long newNameSize, MemorySegment fork, MemorySegment error) {
    try { return (int) COLLECTION_FORK.invokeExact(collection, newName, newNameSize, fork, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_FLUSH =
      NativeLibrary.handle("pigment_collection_flush", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS));

  static int collectionFlush(MemorySegment collection, MemorySegment error) {
    try { return (int) COLLECTION_FLUSH.invokeExact(collection, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_FLUSH_WITH =
      NativeLibrary.handle("pigment_collection_flush_with", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  static int collectionFlushWith(MemorySegment collection, MemorySegment options, MemorySegment error) {
    try { return (int) COLLECTION_FLUSH_WITH.invokeExact(collection, options, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_SEGMENTS =
      NativeLibrary.handle("pigment_collection_segments", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  static int collectionSegments(MemorySegment collection, MemorySegment json, MemorySegment error) {
    try { return (int) COLLECTION_SEGMENTS.invokeExact(collection, json, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_COMPACT =
      NativeLibrary.handle("pigment_collection_compact", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int collectionCompact(MemorySegment collection, MemorySegment options, MemorySegment result, MemorySegment error) {
    try { return (int) COLLECTION_COMPACT.invokeExact(collection, options, result, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_FREE =
      NativeLibrary.handle("pigment_collection_free", FunctionDescriptor.ofVoid(ADDRESS));

  static void collectionFree(MemorySegment collection) {
    try { COLLECTION_FREE.invokeExact(collection); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_ADD =
      NativeLibrary.handle("pigment_collection_add", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int collectionAdd(MemorySegment collection, MemorySegment records, MemorySegment options, MemorySegment result, MemorySegment error) {
    try { return (int) COLLECTION_ADD.invokeExact(collection, records, options, result, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_UPDATE =
      NativeLibrary.handle("pigment_collection_update", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int collectionUpdate(MemorySegment collection, MemorySegment records, MemorySegment options, MemorySegment result, MemorySegment error) {
    try { return (int) COLLECTION_UPDATE.invokeExact(collection, records, options, result, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_UPSERT =
      NativeLibrary.handle("pigment_collection_upsert", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int collectionUpsert(MemorySegment collection, MemorySegment records, MemorySegment options, MemorySegment result, MemorySegment error) {
    try { return (int) COLLECTION_UPSERT.invokeExact(collection, records, options, result, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_DELETE =
      NativeLibrary.handle("pigment_collection_delete", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int collectionDelete(MemorySegment collection, MemorySegment request, MemorySegment options, MemorySegment result, MemorySegment error) {
    try { return (int) COLLECTION_DELETE.invokeExact(collection, request, options, result, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_GET =
      NativeLibrary.handle("pigment_collection_get", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int collectionGet(MemorySegment collection, MemorySegment request, MemorySegment options, MemorySegment result, MemorySegment error) {
    try { return (int) COLLECTION_GET.invokeExact(collection, request, options, result, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_PEEK =
      NativeLibrary.handle("pigment_collection_peek", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS));

  static int collectionPeek(MemorySegment collection, long limit, MemorySegment options, MemorySegment result, MemorySegment error) {
    try { return (int) COLLECTION_PEEK.invokeExact(collection, limit, options, result, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_COUNT =
      NativeLibrary.handle("pigment_collection_count", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int collectionCount(MemorySegment collection, MemorySegment options, MemorySegment count, MemorySegment error) {
    try { return (int) COLLECTION_COUNT.invokeExact(collection, options, count, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_COUNT_WHERE =
      NativeLibrary.handle("pigment_collection_count_where", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int collectionCountWhere(MemorySegment collection, MemorySegment request, MemorySegment options, MemorySegment count, MemorySegment error) {
    try { return (int) COLLECTION_COUNT_WHERE.invokeExact(collection, request, options, count, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_FACETS =
      NativeLibrary.handle("pigment_collection_facets", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int collectionFacets(MemorySegment collection, MemorySegment request, MemorySegment options, MemorySegment json, MemorySegment error) {
    try { return (int) COLLECTION_FACETS.invokeExact(collection, request, options, json, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_CONTAINS =
      NativeLibrary.handle("pigment_collection_contains", FunctionDescriptor.of(JAVA_INT, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int collectionContains(MemorySegment collection, long count, MemorySegment ids, MemorySegment options, MemorySegment present, MemorySegment error) {
    try { return (int) COLLECTION_CONTAINS.invokeExact(collection, count, ids, options, present, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle QUERY_REQUEST_INIT =
      NativeLibrary.handle("pigment_query_request_init", FunctionDescriptor.ofVoid(ADDRESS));

  static void queryRequestInit(MemorySegment request) {
    try { QUERY_REQUEST_INIT.invokeExact(request); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_QUERY =
      NativeLibrary.handle("pigment_collection_query", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int collectionQuery(MemorySegment collection, MemorySegment request, MemorySegment options, MemorySegment result, MemorySegment error) {
    try { return (int) COLLECTION_QUERY.invokeExact(collection, request, options, result, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle TEXT_SEARCH_REQUEST_INIT =
      NativeLibrary.handle("pigment_text_search_request_init", FunctionDescriptor.ofVoid(ADDRESS));

  static void textSearchRequestInit(MemorySegment request) {
    try { TEXT_SEARCH_REQUEST_INIT.invokeExact(request); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_SEARCH_TEXT =
      NativeLibrary.handle("pigment_collection_search_text", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int collectionSearchText(MemorySegment collection, MemorySegment request, MemorySegment options, MemorySegment result, MemorySegment error) {
    try { return (int) COLLECTION_SEARCH_TEXT.invokeExact(collection, request, options, result, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_QUERY_COUNT =
      NativeLibrary.trivial("pigment_result_query_count", FunctionDescriptor.of(JAVA_LONG, ADDRESS));

  static long resultQueryCount(MemorySegment result) {
    try { return (long) RESULT_QUERY_COUNT.invokeExact(result); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_ROW_COUNT =
      NativeLibrary.trivial("pigment_result_row_count", FunctionDescriptor.of(JAVA_LONG, ADDRESS));

  static long resultRowCount(MemorySegment result) {
    try { return (long) RESULT_ROW_COUNT.invokeExact(result); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_QUERY_OFFSETS =
      NativeLibrary.trivial("pigment_result_query_offsets", FunctionDescriptor.of(ADDRESS, ADDRESS));

  static MemorySegment resultQueryOffsets(MemorySegment result) {
    try { return (MemorySegment) RESULT_QUERY_OFFSETS.invokeExact(result); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_IDS =
      NativeLibrary.trivial("pigment_result_ids", FunctionDescriptor.of(JAVA_BOOLEAN, ADDRESS, ADDRESS));

  static boolean resultIds(MemorySegment result, MemorySegment column) {
    try { return (boolean) RESULT_IDS.invokeExact(result, column); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_DOCUMENTS =
      NativeLibrary.trivial("pigment_result_documents", FunctionDescriptor.of(JAVA_BOOLEAN, ADDRESS, ADDRESS));

  static boolean resultDocuments(MemorySegment result, MemorySegment column) {
    try { return (boolean) RESULT_DOCUMENTS.invokeExact(result, column); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_METADATAS =
      NativeLibrary.trivial("pigment_result_metadatas", FunctionDescriptor.of(JAVA_BOOLEAN, ADDRESS, ADDRESS));

  static boolean resultMetadatas(MemorySegment result, MemorySegment column) {
    try { return (boolean) RESULT_METADATAS.invokeExact(result, column); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_URIS =
      NativeLibrary.trivial("pigment_result_uris", FunctionDescriptor.of(JAVA_BOOLEAN, ADDRESS, ADDRESS));

  static boolean resultUris(MemorySegment result, MemorySegment column) {
    try { return (boolean) RESULT_URIS.invokeExact(result, column); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_DISTANCES =
      NativeLibrary.trivial("pigment_result_distances", FunctionDescriptor.of(ADDRESS, ADDRESS));

  static MemorySegment resultDistances(MemorySegment result) {
    try { return (MemorySegment) RESULT_DISTANCES.invokeExact(result); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_EMBEDDINGS =
      NativeLibrary.trivial("pigment_result_embeddings", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS));

  static MemorySegment resultEmbeddings(MemorySegment result, MemorySegment dimension) {
    try { return (MemorySegment) RESULT_EMBEDDINGS.invokeExact(result, dimension); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_SCORES =
      NativeLibrary.trivial("pigment_result_scores", FunctionDescriptor.of(ADDRESS, ADDRESS));

  static MemorySegment resultScores(MemorySegment result) {
    try { return (MemorySegment) RESULT_SCORES.invokeExact(result); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_HIGHLIGHTS =
      NativeLibrary.trivial("pigment_result_highlights", FunctionDescriptor.of(JAVA_BOOLEAN, ADDRESS, ADDRESS));

  static boolean resultHighlights(MemorySegment result, MemorySegment column) {
    try { return (boolean) RESULT_HIGHLIGHTS.invokeExact(result, column); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_INCLUDED =
      NativeLibrary.trivial("pigment_result_included", FunctionDescriptor.of(JAVA_INT, ADDRESS));

  static int resultIncluded(MemorySegment result) {
    try { return (int) RESULT_INCLUDED.invokeExact(result); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_POSITION =
      NativeLibrary.trivial("pigment_result_position", FunctionDescriptor.of(JAVA_LONG, ADDRESS));

  static long resultPosition(MemorySegment result) {
    try { return (long) RESULT_POSITION.invokeExact(result); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_EXPLAIN =
      NativeLibrary.trivial("pigment_result_explain", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS));

  static MemorySegment resultExplain(MemorySegment result, MemorySegment size) {
    try { return (MemorySegment) RESULT_EXPLAIN.invokeExact(result, size); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_CURSOR =
      NativeLibrary.trivial("pigment_result_cursor", FunctionDescriptor.of(ADDRESS, ADDRESS, ADDRESS));

  static MemorySegment resultCursor(MemorySegment result, MemorySegment size) {
    try { return (MemorySegment) RESULT_CURSOR.invokeExact(result, size); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_FREE =
      NativeLibrary.handle("pigment_result_free", FunctionDescriptor.ofVoid(ADDRESS));

  static void resultFree(MemorySegment result) {
    try { RESULT_FREE.invokeExact(result); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle RESULT_ARROW_STREAM =
      NativeLibrary.handle("pigment_result_arrow_stream", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS));

  static int resultArrowStream(MemorySegment result, MemorySegment stream, MemorySegment error) {
    try { return (int) RESULT_ARROW_STREAM.invokeExact(result, stream, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_ADD_ARROW =
      NativeLibrary.handle("pigment_collection_add_arrow", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int collectionAddArrow(MemorySegment collection, MemorySegment stream, MemorySegment options, MemorySegment result, MemorySegment batches, MemorySegment error) {
    try { return (int) COLLECTION_ADD_ARROW.invokeExact(collection, stream, options, result, batches, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_UPDATE_ARROW =
      NativeLibrary.handle("pigment_collection_update_arrow", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int collectionUpdateArrow(MemorySegment collection, MemorySegment stream, MemorySegment options, MemorySegment result, MemorySegment batches, MemorySegment error) {
    try { return (int) COLLECTION_UPDATE_ARROW.invokeExact(collection, stream, options, result, batches, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }

  private static final MethodHandle COLLECTION_UPSERT_ARROW =
      NativeLibrary.handle("pigment_collection_upsert_arrow", FunctionDescriptor.of(JAVA_INT, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS, ADDRESS));

  static int collectionUpsertArrow(MemorySegment collection, MemorySegment stream, MemorySegment options, MemorySegment result, MemorySegment batches, MemorySegment error) {
    try { return (int) COLLECTION_UPSERT_ARROW.invokeExact(collection, stream, options, result, batches, error); } catch (Throwable unexpected) { throw NativeLibrary.unexpected(unexpected); }
  }
}
