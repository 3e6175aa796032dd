# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The recorder's plugin in the emulator, lib/br2pgo/br2pgo-qemu.so: the code of src/record/plugin and
# what of src/base and src/record it uses. Its speed is the recording's, so that it is optimised in
# every build; the emulator cannot load a sanitizer's run-time.
#
# br2pgo_plugin is an archive of the same code for unit tests.
file(GLOB plugin_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/record/plugin/*.c)
set(shared_sources src/record/area.c src/record/launch.c)
set(BR2PGO_PLUGIN_NAME br2pgo-qemu.so)

add_library(br2pgo_plugin STATIC EXCLUDE_FROM_ALL ${plugin_sources} ${shared_sources})
target_link_libraries(br2pgo_plugin PUBLIC br2pgo_flags br2pgo_base)

add_library(br2pgo_qemu MODULE ${plugin_sources} ${shared_sources}
  src/base/mem.c src/base/read_at.c)
set_target_properties(br2pgo_qemu PROPERTIES
  PREFIX "" OUTPUT_NAME br2pgo-qemu LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/br2pgo)
target_compile_options(br2pgo_qemu PRIVATE -O2)
# The last word counts, and what comes from br2pgo_flags is behind the target's own options.
add_library(br2pgo_not_sanitized INTERFACE)
if(BR2PGO_SANITIZE OR BR2PGO_FUZZ)
  target_compile_options(br2pgo_not_sanitized INTERFACE -fno-sanitize=all)
  target_link_options(br2pgo_not_sanitized INTERFACE -fno-sanitize=all)
endif()
target_link_libraries(br2pgo_qemu PRIVATE br2pgo_flags br2pgo_not_sanitized)

# Where the program looks, from where it is installed.
file(RELATIVE_PATH plugin_folder /p/${CMAKE_INSTALL_BINDIR} /p/${CMAKE_INSTALL_LIBDIR}/br2pgo)
target_compile_definitions(br2pgo_module_record PRIVATE
  BR2PGO_PLUGIN_FOLDER="${plugin_folder}" BR2PGO_PLUGIN_NAME="${BR2PGO_PLUGIN_NAME}")
