# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Compiler and linker flags of all own code: the interface target br2pgo_flags.
include(CheckCCompilerFlag)

add_library(br2pgo_flags INTERFACE)
target_compile_definitions(br2pgo_flags INTERFACE _GNU_SOURCE)
target_include_directories(br2pgo_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}
  ${PROJECT_BINARY_DIR}/include)

# Known to gcc and clang alike.
target_compile_options(br2pgo_flags INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes -Wmissing-prototypes
  -Wvla -Wformat=2 -Wnull-dereference -Wcast-qual -Wwrite-strings -Wundef -Wimplicit-fallthrough
  -Wpointer-arith -Wold-style-definition -Wmissing-field-initializers)
# Known to one of them.
foreach(flag -Wcast-align=strict -Wduplicated-cond -Wlogical-op -Wcomma)
  string(MAKE_C_IDENTIFIER "BR2PGO_HAS${flag}" has)
  check_c_compiler_flag(${flag} ${has})
  if(${has})
    target_compile_options(br2pgo_flags INTERFACE ${flag})
  endif()
endforeach()
if(BR2PGO_WERROR)
  target_compile_options(br2pgo_flags INTERFACE -Werror)
endif()

# The build directory and the checkout leave no trace in what is built.
target_compile_options(br2pgo_flags INTERFACE
  -ffile-prefix-map=${PROJECT_BINARY_DIR}=build -ffile-prefix-map=${PROJECT_SOURCE_DIR}=.
  -ffunction-sections -fdata-sections)
target_link_options(br2pgo_flags INTERFACE -Wl,--gc-sections -Wl,--as-needed)

if(BR2PGO_HARDENING)
  target_compile_options(br2pgo_flags INTERFACE
    -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong)
  foreach(flag -fstack-clash-protection -fcf-protection)
    string(MAKE_C_IDENTIFIER "BR2PGO_HAS${flag}" has)
    check_c_compiler_flag(${flag} ${has})
    if(${has})
      target_compile_options(br2pgo_flags INTERFACE ${flag})
    endif()
  endforeach()
  target_link_options(br2pgo_flags INTERFACE -Wl,-z,relro -Wl,-z,now)
  include(CheckPIESupported)
  check_pie_supported(LANGUAGES C)
endif()

if(BR2PGO_FUZZ)
  target_compile_options(br2pgo_flags INTERFACE -fsanitize=fuzzer-no-link)
endif()
if(BR2PGO_SANITIZE)
  target_compile_options(br2pgo_flags INTERFACE
    -fsanitize=${BR2PGO_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(br2pgo_flags INTERFACE -fsanitize=${BR2PGO_SANITIZE})
endif()
