# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What is delivered: libbr2pgo.so, libbr2pgo.a, br2pgo.
set(library_objects "")
foreach(module ${BR2PGO_MODULES})
  if(NOT module MATCHES "^(cli|record)$")
    list(APPEND library_objects $<TARGET_OBJECTS:br2pgo_module_${module}>)
  endif()
endforeach()
set(library_needs br2pgo_elf br2pgo_dw br2pgo_zstd br2pgo_zlib br2pgo_lzma br2pgo_md
    br2pgo_jansson br2pgo_iberty br2pgo_llvm br2pgo_opencsd)
if(TARGET br2pgo_ipt)
  list(APPEND library_needs br2pgo_ipt)
endif()

if(TARGET br2pgo_module_lib)
  add_library(br2pgo_shared SHARED ${library_objects})
  set_target_properties(br2pgo_shared PROPERTIES
    OUTPUT_NAME br2pgo EXPORT_NAME br2pgo VERSION ${PROJECT_VERSION} SOVERSION 0
    LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/br2pgo.map)
  target_link_libraries(br2pgo_shared PRIVATE
    "$<BUILD_INTERFACE:br2pgo_flags;${library_needs}>")
  target_link_options(br2pgo_shared PRIVATE
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/br2pgo.map -Wl,--exclude-libs,ALL)
  # A sanitizer's run-time is in the program only.
  if(NOT BR2PGO_SANITIZE)
    target_link_options(br2pgo_shared PRIVATE -Wl,--no-undefined)
  endif()

  add_library(br2pgo_static STATIC ${library_objects})
  set_target_properties(br2pgo_static PROPERTIES OUTPUT_NAME br2pgo EXPORT_NAME br2pgo-static)
  target_link_libraries(br2pgo_static INTERFACE
    "$<BUILD_INTERFACE:br2pgo_flags;${library_needs}>")
  foreach(target br2pgo_shared br2pgo_static)
    target_include_directories(${target} INTERFACE
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  endforeach()
  add_library(br2pgo::br2pgo ALIAS br2pgo_shared)
  add_library(br2pgo::br2pgo-static ALIAS br2pgo_static)
endif()

if(TARGET br2pgo_module_cli AND TARGET br2pgo_static)
  set(program_objects $<TARGET_OBJECTS:br2pgo_module_cli>)
  if(TARGET br2pgo_module_record)
    list(APPEND program_objects $<TARGET_OBJECTS:br2pgo_module_record>)
  endif()
  add_executable(br2pgo ${program_objects})
  target_link_libraries(br2pgo PRIVATE br2pgo_static br2pgo_jansson)
  set_target_properties(br2pgo PROPERTIES LINKER_LANGUAGE C)
endif()

# Scripts for shells, which the program prints; where it cannot run here they are left out.
set(BR2PGO_COMPLETIONS "")
if(TARGET br2pgo AND (NOT CMAKE_CROSSCOMPILING OR CMAKE_CROSSCOMPILING_EMULATOR))
  foreach(shell bash zsh fish)
    set(script ${PROJECT_BINARY_DIR}/completion/br2pgo.${shell})
    add_custom_command(OUTPUT ${script}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/completion
      COMMAND br2pgo --completion ${shell} > ${script} DEPENDS br2pgo VERBATIM)
    list(APPEND BR2PGO_COMPLETIONS ${script})
  endforeach()
  add_custom_target(br2pgo_completion ALL DEPENDS ${BR2PGO_COMPLETIONS})
endif()
