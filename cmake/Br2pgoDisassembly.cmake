# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# lib/br2pgo/br2pgo-disassembly.so: the disassemblers of other machines than x86-64, which is all that
# src/image/disassembly has. Of LLVM it shows nothing: the program has another copy.
add_library(br2pgo_disassembly MODULE src/image/disassembly/disassembly.c)
set_target_properties(br2pgo_disassembly PROPERTIES
  PREFIX "" OUTPUT_NAME br2pgo-disassembly LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/br2pgo)
target_link_libraries(br2pgo_disassembly PRIVATE br2pgo_flags br2pgo_not_sanitized br2pgo_llvm_others)
target_link_options(br2pgo_disassembly PRIVATE -Wl,--exclude-libs,ALL)

# Where the program looks, from where it is installed.
file(RELATIVE_PATH module_folder /p/${CMAKE_INSTALL_BINDIR} /p/${CMAKE_INSTALL_LIBDIR}/br2pgo)
target_compile_definitions(br2pgo_module_image PRIVATE BR2PGO_MODULE_FOLDER="${module_folder}")
