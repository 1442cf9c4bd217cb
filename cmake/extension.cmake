# SPDX-License-Identifier: Apache-2.0
#
# The PostgreSQL extension: the module for the server of PIGMENT_PG_CONFIG, modules for the servers of PIGMENT_PG_OTHERS
# that tests run beside it, and the scripts, which are the same for all servers.

# pigment_pg_module(NAME FOLDER INCLUDEDIR): one module, as FOLDER/pigment.so of the build.
function(pigment_pg_module name folder includedir)
  add_library(${name} MODULE ${extension_sources})
  target_include_directories(${name} SYSTEM PRIVATE "${includedir}")
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}/extension")
  target_link_libraries(${name} PRIVATE pigment_static)
  target_link_options(${name} PRIVATE "LINKER:--version-script=${PROJECT_SOURCE_DIR}/extension/pigment_pg.map")
  # The archive's C++ symbols never bind to those of another module of the server.
  target_link_options(${name} PRIVATE LINKER:-Bsymbolic)
  # PG_FUNCTION_ARGS names an argument that not every function uses.
  # The server is compiled with -fno-strict-aliasing and -fwrapv; its headers count on them.
  # Its elog() and ereport() keep names of files, which are to be the same wherever it is built.
  target_compile_options(${name} PRIVATE -Wno-unused-parameter -fno-strict-aliasing -fwrapv
    "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
  set_target_properties(${name} PROPERTIES
    PREFIX "" OUTPUT_NAME pigment SUFFIX .so LINKER_LANGUAGE CXX
    C_EXTENSIONS ON # PostgreSQL's headers use GNU C
    # Before PostgreSQL 16 PG_FUNCTION_INFO_V1 exports nothing; what leaves the module is the map's decision alone.
    C_VISIBILITY_PRESET default
    LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${folder}"
    LINK_DEPENDS "${PROJECT_SOURCE_DIR}/extension/pigment_pg.map")
endfunction()

file(GLOB extension_sources CONFIGURE_DEPENDS extension/*.c)
set_source_files_properties(extension/half.c PROPERTIES COMPILE_OPTIONS -O3)
pigment_pg_module(pigment_pg extension "${pg_includedir_server}")

# Built by name alone (scripts/checks/servers.py).
set(PIGMENT_PG_OTHERS "" CACHE STRING "pg_config of further servers, a list; each gives a target pigment_pg_<major>")
foreach(other_pg_config ${PIGMENT_PG_OTHERS})
  if(NOT EXISTS "${other_pg_config}") # removed since: the cache outlives it
    continue()
  endif()
  execute_process(COMMAND "${other_pg_config}" --version OUTPUT_VARIABLE other_version COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${other_pg_config}" --includedir-server
    OUTPUT_VARIABLE other_includedir OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCH "[0-9]+" other_major "${other_version}")
  pigment_pg_module(pigment_pg_${other_major} extension-${other_major} "${other_includedir}")
  set_target_properties(pigment_pg_${other_major} PROPERTIES EXCLUDE_FROM_ALL ON)
endforeach()

# The script of a version is written in parts, joined here in this order.
set(PIGMENT_SQL_PARTS
  types operators halfvec sparsevec bit access_method halfvec_index sparsevec_index bit_index within filters ranked catalog collections records maintenance adopt)
# Parts that 0.1.0 had nothing of: the script that upgrades from it takes them as they are.
set(PIGMENT_SQL_NEW_PARTS halfvec sparsevec bit halfvec_index sparsevec_index bit_index within filters ranked adopt)

set(pigment_sql "${PROJECT_BINARY_DIR}/extension/pigment--${PROJECT_VERSION}.sql")
set(sql_parts ${PIGMENT_SQL_PARTS})
list(TRANSFORM sql_parts PREPEND "${PROJECT_SOURCE_DIR}/sql/")
list(TRANSFORM sql_parts APPEND .sql)
add_custom_command(OUTPUT "${pigment_sql}" COMMAND cat ${sql_parts} > "${pigment_sql}" DEPENDS ${sql_parts} VERBATIM)
add_custom_target(pigment_sql ALL DEPENDS "${pigment_sql}")
add_dependencies(pigment_pg pigment_sql)

set(new_parts "")
foreach(part ${PIGMENT_SQL_NEW_PARTS})
  file(READ "sql/${part}.sql" text)
  string(APPEND new_parts "${text}\n")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "sql/${part}.sql")
endforeach()
set(pigment_upgrade_sql "${PROJECT_BINARY_DIR}/extension/pigment--0.1.0--0.2.0.sql")
set(extschema "@extschema@") # the server's, not ours
configure_file(sql/pigment--0.1.0--0.2.0.sql "${pigment_upgrade_sql}" @ONLY)
