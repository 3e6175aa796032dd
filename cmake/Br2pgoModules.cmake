# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# br2pgo_module(NAME FOLDER [FLAT] [USES modules...] [LIBRARIES targets...])
#
# Makes the object library br2pgo_module_NAME of all .c files in FOLDER and, unless FLAT, its sub-folders, and the
# archive br2pgo_NAME of them, which links to those of the modules it uses: unit tests link to the
# archive of their module, so that a call into a part that may not be used does not link.
# A module without a source file is left out; pt*.c need libipt.
set(BR2PGO_MODULES "")

function(br2pgo_module name folder)
  cmake_parse_arguments(PARSE_ARGV 2 arg "FLAT" "" "USES;LIBRARIES")
  set(patterns ${PROJECT_SOURCE_DIR}/${folder}/*.c)
  if(NOT arg_FLAT)
    list(APPEND patterns ${PROJECT_SOURCE_DIR}/${folder}/*/*.c)
  endif()
  file(GLOB sources CONFIGURE_DEPENDS ${patterns})
  if(NOT TARGET br2pgo_ipt)
    list(FILTER sources EXCLUDE REGEX "/trace/pt[^/]*$")
  endif()
  if(NOT sources)
    message(STATUS "module ${name}: no source file")
    return()
  endif()
  add_library(br2pgo_module_${name} OBJECT ${sources})
  target_link_libraries(br2pgo_module_${name} PRIVATE br2pgo_flags ${arg_LIBRARIES})
  add_library(br2pgo_${name} STATIC $<TARGET_OBJECTS:br2pgo_module_${name}>)
  target_link_libraries(br2pgo_${name} INTERFACE br2pgo_flags ${arg_LIBRARIES})
  foreach(module ${arg_USES})
    if(TARGET br2pgo_${module})
      target_link_libraries(br2pgo_${name} INTERFACE br2pgo_${module})
    endif()
  endforeach()
  set(BR2PGO_MODULES ${BR2PGO_MODULES} ${name} PARENT_SCOPE)
endfunction()
