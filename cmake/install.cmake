# SPDX-License-Identifier: Apache-2.0
#
# Install rules. Component `library`: headers, both libraries, pkg-config file, CMake package; relocatable under any
# prefix. Component `extension`: module, control file and scripts, in the folders that pg_config names.

include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(DIRECTORY c_api/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library FILES_MATCHING PATTERN "*.h")
install(TARGETS pigment EXPORT PigmentTargets COMPONENT library)
install(TARGETS pigment_static EXPORT PigmentStaticTargets COMPONENT library)

if(TARGET pigment_tool)
  # Found from where the program lies, so that a moved tree keeps working.
  file(RELATIVE_PATH tool_to_library "/p/${CMAKE_INSTALL_BINDIR}" "/p/${CMAKE_INSTALL_LIBDIR}")
  set_target_properties(pigment_tool PROPERTIES INSTALL_RPATH "$ORIGIN/${tool_to_library}")
  install(TARGETS pigment_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT library)
endif()
# The manual page and the completions, as the program prints them. A sanitized one cannot run everywhere.
if(TARGET pigment_tool AND NOT PIGMENT_SANITIZE)
  set(manual_dir "${PROJECT_BINARY_DIR}/tools/manual")
  file(MAKE_DIRECTORY "${manual_dir}")
  set(manual_files "")
  foreach(form man:pigment.1 bash:pigment zsh:_pigment fish:pigment.fish)
    string(REGEX MATCH "^([a-z]+):(.*)$" unused ${form})
    set(file "${manual_dir}/${CMAKE_MATCH_2}")
    add_custom_command(OUTPUT "${file}" COMMAND pigment_tool manual ${CMAKE_MATCH_1} > "${file}" DEPENDS pigment_tool VERBATIM)
    list(APPEND manual_files "${file}")
  endforeach()
  add_custom_target(pigment_manual ALL DEPENDS ${manual_files})
  install(FILES "${manual_dir}/pigment.1" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT library)
  install(FILES "${manual_dir}/pigment" DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT library)
  install(FILES "${manual_dir}/_pigment" DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions COMPONENT library)
  install(FILES "${manual_dir}/pigment.fish" DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT library)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Pigment)
install(EXPORT PigmentTargets NAMESPACE Pigment:: DESTINATION ${package_dir} COMPONENT library)
install(EXPORT PigmentStaticTargets NAMESPACE Pigment:: DESTINATION ${package_dir} COMPONENT library)
configure_package_config_file(cmake/PigmentConfig.cmake.in "${PROJECT_BINARY_DIR}/PigmentConfig.cmake"
  INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the ABI's unstable parts.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/PigmentConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/PigmentConfig.cmake" "${PROJECT_BINARY_DIR}/PigmentConfigVersion.cmake"
  DESTINATION ${package_dir} COMPONENT library)

# The prefix in pigment.pc is found from where the file lies, so that a moved tree keeps working.
file(RELATIVE_PATH PIGMENT_PC_TO_PREFIX "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
string(REGEX REPLACE "/$" "" PIGMENT_PC_TO_PREFIX "${PIGMENT_PC_TO_PREFIX}")
configure_file(cmake/pigment.pc.in "${PROJECT_BINARY_DIR}/pigment.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/pigment.pc" DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)

if(TARGET pigment_pg)
  install(TARGETS pigment_pg DESTINATION "${pg_pkglibdir}" COMPONENT extension)
  install(FILES sql/pigment.control "${pigment_sql}" "${pigment_upgrade_sql}" DESTINATION "${pg_sharedir}/extension" COMPONENT extension)
endif()
