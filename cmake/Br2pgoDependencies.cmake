# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# One interface target per foreign library: br2pgo_elf, _dw, _zstd, _zlib, _lzma, _md, _jansson, _iberty, _llvm,
# _opencsd, and, where there are such processors, _ipt.
# BR2PGO_PRIVATE_PACKAGES and BR2PGO_PRIVATE_FLAGS are what a static link of libbr2pgo.a needs, as
# pkg-config names and, for LLVM, as linker flags; BR2PGO_PACKAGE_FLAGS are the packages' flags.
find_package(PkgConfig REQUIRED)

set(BR2PGO_PRIVATE_PACKAGES "")
set(BR2PGO_PRIVATE_FLAGS "")
set(BR2PGO_PACKAGE_FLAGS "")

function(br2pgo_package name package debian)
  pkg_check_modules(BR2PGO_${name} QUIET ${package})
  if(NOT BR2PGO_${name}_FOUND)
    message(FATAL_ERROR
      "${package} not found by pkg-config; on Debian and Ubuntu: apt-get install ${debian}, "
      "or scripts/install-packages.sh for all of them")
  endif()
  add_library(br2pgo_${name} INTERFACE)
  target_include_directories(br2pgo_${name} SYSTEM INTERFACE ${BR2PGO_${name}_INCLUDE_DIRS})
  target_link_libraries(br2pgo_${name} INTERFACE ${BR2PGO_${name}_LINK_LIBRARIES})
  set(BR2PGO_PRIVATE_PACKAGES ${BR2PGO_PRIVATE_PACKAGES} ${package} PARENT_SCOPE)
  set(BR2PGO_PACKAGE_FLAGS ${BR2PGO_PACKAGE_FLAGS} ${BR2PGO_${name}_LDFLAGS} PARENT_SCOPE)
endfunction()

br2pgo_package(elf libelf libelf-dev)
br2pgo_package(dw libdw libdw-dev)
br2pgo_package(zstd libzstd libzstd-dev)
br2pgo_package(zlib zlib zlib1g-dev)
br2pgo_package(lzma liblzma liblzma-dev)
br2pgo_package(md libmd libmd-dev)
br2pgo_package(jansson jansson libjansson-dev)

# The demangler, only as an archive, without pkg-config.
find_path(BR2PGO_IBERTY_INCLUDE libiberty/demangle.h)
find_library(BR2PGO_IBERTY_LIBRARY iberty)
mark_as_advanced(BR2PGO_IBERTY_INCLUDE BR2PGO_IBERTY_LIBRARY)
if(NOT BR2PGO_IBERTY_INCLUDE OR NOT BR2PGO_IBERTY_LIBRARY)
  message(FATAL_ERROR "libiberty not found; on Debian and Ubuntu: apt-get install libiberty-dev, "
                      "or scripts/install-packages.sh for all that is needed")
endif()
add_library(br2pgo_iberty INTERFACE)
target_include_directories(br2pgo_iberty SYSTEM INTERFACE ${BR2PGO_IBERTY_INCLUDE})
target_link_libraries(br2pgo_iberty INTERFACE ${BR2PGO_IBERTY_LIBRARY})
list(APPEND BR2PGO_PRIVATE_FLAGS -liberty)

# The decoder of Arm ETM; the C interface has no pkg-config file.
find_path(BR2PGO_OPENCSD_INCLUDE opencsd/c_api/opencsd_c_api.h)
find_library(BR2PGO_OPENCSD_LIBRARY opencsd_c_api)
mark_as_advanced(BR2PGO_OPENCSD_INCLUDE BR2PGO_OPENCSD_LIBRARY)
if(NOT BR2PGO_OPENCSD_INCLUDE OR NOT BR2PGO_OPENCSD_LIBRARY)
  message(FATAL_ERROR "libopencsd not found; on Debian and Ubuntu: apt-get install libopencsd-dev, "
                      "or scripts/install-packages.sh for all that is needed")
endif()
add_library(br2pgo_opencsd INTERFACE)
target_include_directories(br2pgo_opencsd SYSTEM INTERFACE ${BR2PGO_OPENCSD_INCLUDE})
target_link_libraries(br2pgo_opencsd INTERFACE ${BR2PGO_OPENCSD_LIBRARY})
list(APPEND BR2PGO_PRIVATE_FLAGS -lopencsd_c_api)

# The decoder of Intel PT, without pkg-config; Debian has it for x86 only.
find_path(BR2PGO_IPT_INCLUDE intel-pt.h)
find_library(BR2PGO_IPT_LIBRARY ipt)
mark_as_advanced(BR2PGO_IPT_INCLUDE BR2PGO_IPT_LIBRARY)
if(BR2PGO_IPT_INCLUDE AND BR2PGO_IPT_LIBRARY)
  add_library(br2pgo_ipt INTERFACE)
  target_include_directories(br2pgo_ipt SYSTEM INTERFACE ${BR2PGO_IPT_INCLUDE})
  target_link_libraries(br2pgo_ipt INTERFACE ${BR2PGO_IPT_LIBRARY})
  target_compile_definitions(br2pgo_ipt INTERFACE BR2PGO_HAVE_IPT)
  list(APPEND BR2PGO_PRIVATE_FLAGS -lipt)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  message(FATAL_ERROR "libipt not found; on Debian and Ubuntu: apt-get install libipt-dev, "
                      "or scripts/install-packages.sh for all that is needed")
endif()

include(Br2pgoLLVM)
