# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
include(CMakePackageConfigHelpers)

install(FILES docs/man/br2pgo.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(DIRECTORY include/br2pgo DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN *.h)
install(FILES ${PROJECT_BINARY_DIR}/include/br2pgo/version.h
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/br2pgo)
if(TARGET br2pgo)
  install(TARGETS br2pgo DESTINATION ${CMAKE_INSTALL_BINDIR})
  install(TARGETS br2pgo_qemu DESTINATION ${CMAKE_INSTALL_LIBDIR}/br2pgo)
endif()
install(TARGETS br2pgo_disassembly DESTINATION ${CMAKE_INSTALL_LIBDIR}/br2pgo)
if(BR2PGO_COMPLETIONS)
  set(completion ${PROJECT_BINARY_DIR}/completion/br2pgo)
  install(FILES ${completion}.bash RENAME br2pgo
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${completion}.zsh RENAME _br2pgo DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
  install(FILES ${completion}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

# Links by the names of the tools whose command lines br2pgo takes (src/cli/compat), in a folder of their
# own, so that who wants them puts that before the tools' on the PATH:
#   cmake --install BUILD --component compat_links
# or, with the option, as part of every installation.
set(compat_dir ${CMAKE_INSTALL_LIBEXECDIR}/br2pgo)
set(compat_links "")
file(RELATIVE_PATH compat_target /p/${compat_dir} /p/${CMAKE_INSTALL_BINDIR}/br2pgo)
foreach(name llvm-profgen perf2bolt create_llvm_prof create_gcov)
  set(link ${PROJECT_BINARY_DIR}/${compat_dir}/${name})
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/${compat_dir})
  file(CREATE_LINK ${compat_target} ${link} SYMBOLIC)
  list(APPEND compat_links ${link})
endforeach()
set(compat_exclude EXCLUDE_FROM_ALL)
if(BR2PGO_INSTALL_COMPAT_LINKS)
  set(compat_exclude "")
endif()
install(FILES ${compat_links} DESTINATION ${compat_dir} COMPONENT compat_links ${compat_exclude})

if(NOT TARGET br2pgo_shared)
  return()
endif()

set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/br2pgo)
install(TARGETS br2pgo_shared EXPORT br2pgo)
install(TARGETS br2pgo_static EXPORT br2pgo-static)
install(EXPORT br2pgo NAMESPACE br2pgo:: FILE br2pgo-shared.cmake DESTINATION ${cmake_dir})
install(EXPORT br2pgo-static NAMESPACE br2pgo:: FILE br2pgo-static.cmake DESTINATION ${cmake_dir})

# The static library's needs, as flags: the installed files know nothing of this build's targets.
set(BR2PGO_STATIC_LIBRARIES ${BR2PGO_PRIVATE_FLAGS})
list(JOIN BR2PGO_PRIVATE_PACKAGES " " BR2PGO_PC_REQUIRES)
# Flags instead of Requires.private: that would ask for what a static libdw needs, too, which Debian's
# libdw-dev does not bring.
list(JOIN BR2PGO_PRIVATE_FLAGS " " BR2PGO_PC_LIBS)
list(JOIN BR2PGO_PACKAGE_FLAGS " " BR2PGO_PC_PACKAGES)
file(RELATIVE_PATH BR2PGO_PC_PREFIX /p/${CMAKE_INSTALL_LIBDIR}/pkgconfig /p)
configure_file(cmake/br2pgo.pc.in br2pgo.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/br2pgo.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

# Also for find_package(br2pgo PATHS <build folder>), so that what was not installed can be used.
set(build_package ${PROJECT_BINARY_DIR}/lib/cmake/br2pgo)
export(EXPORT br2pgo NAMESPACE br2pgo:: FILE ${build_package}/br2pgo-shared.cmake)
configure_package_config_file(cmake/br2pgo-config.cmake.in CMakeFiles/br2pgo-config.cmake
                              INSTALL_DESTINATION ${cmake_dir} PATH_VARS CMAKE_INSTALL_BINDIR)
configure_package_config_file(cmake/br2pgo-config.cmake.in ${build_package}/br2pgo-config.cmake
                              INSTALL_PREFIX ${PROJECT_BINARY_DIR} INSTALL_DESTINATION lib/cmake/br2pgo
                              PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(CMakeFiles/br2pgo-config-version.cmake COMPATIBILITY SameMinorVersion)
set(package_files ${PROJECT_BINARY_DIR}/CMakeFiles/br2pgo-config-version.cmake ${PROJECT_SOURCE_DIR}/cmake/Br2pgoProfile.cmake
                  ${PROJECT_SOURCE_DIR}/cmake/Br2pgoProfileRun.cmake)
foreach(file IN LISTS package_files)
  configure_file(${file} ${build_package} COPYONLY)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/CMakeFiles/br2pgo-config.cmake ${package_files} DESTINATION ${cmake_dir})
