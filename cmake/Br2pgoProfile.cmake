# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Profile-guided builds with br2pgo: train, convert, rebuild. Found by find_package(br2pgo), or included from a copy of
# this file and Br2pgoProfileRun.cmake beside it. CMake 3.21 or newer (tried: 3.25), any Makefile or Ninja generator.
#
#   br2pgo_add_profile(
#     TARGET <target>...              what takes the profile: at least one program or shared library, and any libraries
#                                     that are linked into them; the first one names the rest: <target>-profile
#     COMMAND <command> [<arg>...]    trains: runs what is to become fast on typical input; a target's name stands for
#     [COMMAND ...]...                its program; generator expressions are allowed
#     [COMPILER auto|llvm|gcc|bolt]   who uses the profile; auto: clang or GCC, whichever compiles
#     [PROFILE <file>]                where the profile is kept, relative to the current source folder: check it in, and
#                                     builds need neither br2pgo nor training. Default: in the build folder
#     [MIN_RECORDS <n>]               fewer branch records in an image are too few; default 1000
#     [MIN_DENSITY <n>]               fewer for each byte of an image's code that ran are too few; default 1
#     [MAX_STALE <percent>]           more of the sources may not be other than those the profile is of; default 50
#     [WORKING_DIRECTORY <folder>]    where the commands run; default: the current source folder
#     [RECORD_OPTIONS <option>...]    for br2pgo record, e.g. --emulate
#     [CONVERT_OPTIONS <option>...])  for the conversion, e.g. --symbol-list
#
# What it does is up to the cache variable <project>_PGO, <project> as in project():
#   OFF   (the default) nothing to the targets
#   USE   the targets are built with the profile, which must be there
#   MAKE  the same, and the profile is made by the build when it is not there
# In each, `cmake --build <build folder> --target <target>-profile` makes the profile anew: it builds the targets without
# a profile, in <build folder>/br2pgo-train, with all cache variables as here; runs the commands under `br2pgo record`;
# and puts the profile in its place. The next build uses it, if it is to.
#
# Making a profile fails, and leaves the old one, when a command fails, when what ran is another build of a target than
# the one that was made to train (told by build-ids), and when there are too few branch records.
#
# Beside the profile, <file>.made-of keeps what it was made of: the compiler, build-ids, and digests of the functions in
# the targets' source files (what ends with a line that begins with a brace); check it in with the profile. Before the
# targets are built with the profile, <target>-profile-check compares: it says how much of the sources is not
# as it was, and fails above MAX_STALE. Generated sources and headers do not count. A profile for another compiler
# is refused when it is configured.
#
# llvm and gcc: all targets share one profile. bolt: one program or shared library; each link of it ends with llvm-bolt
# (BR2PGO_LLVM_BOLT), which puts its result in the program's place; it fails if the profile is of other code. What was
# linked stays beside it as <file>.unbolted.
#
# BR2PGO_PROGRAM is the br2pgo to use; find_package(br2pgo) sets it to its own.
include_guard(GLOBAL)
set(_BR2PGO_PROFILE_DIR ${CMAKE_CURRENT_LIST_DIR})

# Splits COMMAND a b COMMAND c into `arg_COMMAND_0` (a;b) ..., with their number in `arg_COMMANDS` and the targets they
# start with in `arg_STARTED`; the rest as cmake_parse_arguments does. Semicolons in `words` are escaped.
macro(_br2pgo_parse words)
  set(arg_COMMANDS 0)
  set(arg_STARTED "")
  set(_others "")
  set(_in_command FALSE)
  set(_lists TARGET RECORD_OPTIONS CONVERT_OPTIONS)
  set(_values COMPILER PROFILE MIN_RECORDS MIN_DENSITY MAX_STALE WORKING_DIRECTORY)
  foreach(_word IN LISTS ${words})
    string(REPLACE ";" "\\;" _word "${_word}")
    if(_word STREQUAL "COMMAND")
      set(_in_command TRUE)
      set(_at ${arg_COMMANDS})
      math(EXPR arg_COMMANDS "${_at} + 1")
      set(arg_COMMAND_${_at} "")
    elseif(_word IN_LIST _lists OR _word IN_LIST _values)
      set(_in_command FALSE)
      list(APPEND _others "${_word}")
    elseif(_in_command AND arg_COMMAND_${_at} STREQUAL "" AND TARGET "${_word}")
      list(APPEND arg_STARTED "${_word}")
      set(arg_COMMAND_${_at} "$<TARGET_FILE:${_word}>")
    elseif(_in_command)
      list(APPEND arg_COMMAND_${_at} "${_word}")
    else()
      list(APPEND _others "${_word}")
    endif()
  endforeach()
  cmake_parse_arguments(arg "" "${_values}" "${_lists}" ${_others})
endmacro()

function(_br2pgo_fail text)
  message(FATAL_ERROR "br2pgo_add_profile: ${text}")
endfunction()

# auto, llvm, gcc or bolt into llvm, gcc or bolt; empty where no compiler here takes profiles.
function(_br2pgo_compiler wanted ret)
  set(ids "${CMAKE_C_COMPILER_ID};${CMAKE_CXX_COMPILER_ID}")
  if(wanted STREQUAL "bolt")
    set(${ret} bolt PARENT_SCOPE)
  elseif(wanted MATCHES "^(auto|llvm)$" AND ids MATCHES "Clang|IntelLLVM")
    set(${ret} llvm PARENT_SCOPE)
  elseif(wanted MATCHES "^(auto|gcc)$" AND ids MATCHES "GNU")
    set(${ret} gcc PARENT_SCOPE)
  elseif(wanted MATCHES "^(auto|llvm|gcc)$")
    set(${ret} "" PARENT_SCOPE)
  else()
    _br2pgo_fail("COMPILER is auto, llvm, gcc or bolt, not '${wanted}'")
  endif()
endfunction()

# What a compiler that is too old says of the options would not tell what to do.
function(_br2pgo_check_version compiler)
  foreach(language C CXX)
    set(version "${CMAKE_${language}_COMPILER_VERSION}")
    if(compiler STREQUAL "gcc" AND CMAKE_${language}_COMPILER_ID STREQUAL "GNU" AND version VERSION_LESS 5)
      _br2pgo_fail("GCC ${version} takes no such profile: use GCC 5 or newer, or leave ${PROJECT_NAME}_PGO off")
    elseif(compiler STREQUAL "llvm" AND CMAKE_${language}_COMPILER_ID STREQUAL "Clang" AND version VERSION_LESS 5)
      _br2pgo_fail("clang ${version} takes no -fdebug-info-for-profiling: use clang 5 or newer, or leave\
 ${PROJECT_NAME}_PGO off")
    endif()
  endforeach()
endfunction()

# A profile that was made for another compiler. GCC's begins with "gcda", as a little-endian number; a line of llvm-bolt's
# with the kind of a symbol, 0 to 4, or the kind of the file.
function(_br2pgo_check_kind compiler profile)
  file(READ "${profile}" magic LIMIT 4 HEX)
  file(STRINGS "${profile}" line LIMIT_COUNT 1 LIMIT_INPUT 4096)
  set(kind llvm)
  if(magic STREQUAL "61646367" OR magic STREQUAL "67636461")
    set(kind gcc)
  elseif(line MATCHES "^[0-4] [^ ]+ [0-9a-f]+ [0-4] " OR line MATCHES "^(boltedcollection|no_lbr)")
    set(kind bolt)
  endif()
  set(name_llvm clang)
  set(name_gcc GCC)
  set(name_bolt llvm-bolt)
  if(NOT kind STREQUAL compiler)
    _br2pgo_fail("'${profile}' is a profile for ${name_${kind}}, not for ${name_${compiler}}: make it anew with this\
 compiler, or name another file with PROFILE")
  endif()
endfunction()

# The targets behind aliases, and those of them that are images: what is loaded and can be recorded.
function(_br2pgo_targets names ret_targets ret_images)
  set(targets "")
  set(images "")
  foreach(name IN LISTS names)
    if(NOT TARGET ${name})
      _br2pgo_fail("there is no target '${name}' (yet): add it before its profile")
    endif()
    get_target_property(alias ${name} ALIASED_TARGET)
    if(alias)
      set(name ${alias})
    endif()
    get_target_property(type ${name} TYPE)
    get_target_property(imported ${name} IMPORTED)
    if(imported OR NOT type MATCHES "^(EXECUTABLE|(SHARED|MODULE|STATIC|OBJECT)_LIBRARY)$")
      _br2pgo_fail("'${name}' is not compiled here, so it cannot take a profile")
    endif()
    get_target_property(other ${name} BR2PGO_PROFILE)
    if(other)
      _br2pgo_fail("'${name}' has the profile of '${other}' already")
    endif()
    list(APPEND targets ${name})
    if(type MATCHES "^(EXECUTABLE|(SHARED|MODULE)_LIBRARY)$")
      list(APPEND images ${name})
    endif()
  endforeach()
  if(NOT images)
    _br2pgo_fail("TARGET needs a program or a shared library: only those run")
  endif()
  set(${ret_targets} ${targets} PARENT_SCOPE)
  set(${ret_images} ${images} PARENT_SCOPE)
endfunction()

# Calls it at the end of the configuration, with the other arguments, lists among them.
function(_br2pgo_later call)
  set(words "")
  math(EXPR last "${ARGC} - 1")
  foreach(i RANGE 1 ${last})
    string(APPEND words " [==[${ARGV${i}}]==]")
  endforeach()
  cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [==[${CMAKE_SOURCE_DIR}]==] CALL ${call}${words})")
endfunction()

function(_br2pgo_compile targets)
  foreach(target IN LISTS targets)
    target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:C,CXX>:${ARGN}>")
  endforeach()
endfunction()

# What a program must have for its records to be told in terms of its source, or of its blocks for BOLT.
function(_br2pgo_prepare compiler targets images)
  if(compiler STREQUAL "llvm")
    _br2pgo_compile("${targets}" -g -fdebug-info-for-profiling)
  elseif(compiler STREQUAL "gcc")
    _br2pgo_compile("${targets}" -g)
  endif()
  foreach(image IN LISTS images)
    # Not every clang asks its linker for a build-id.
    target_link_options(${image} PRIVATE LINKER:--build-id)
    if(compiler STREQUAL "bolt")
      target_link_options(${image} PRIVATE LINKER:--emit-relocs)
    endif()
  endforeach()
endfunction()

# In the training build: <name>-train records and converts.
function(_br2pgo_add_training name compiler images)
  set(plan "set(program [==[${BR2PGO_PROGRAM}]==])\nset(folder [==[${CMAKE_BINARY_DIR}/br2pgo/${name}]==])\n")
  string(APPEND plan "set(compiler ${compiler})\nset(min_records ${arg_MIN_RECORDS})\nset(min_density ${arg_MIN_DENSITY})\n")
  string(APPEND plan "set(working_directory [==[${arg_WORKING_DIRECTORY}]==])\n")
  string(APPEND plan "set(record_options [==[${arg_RECORD_OPTIONS}]==])\n")
  string(APPEND plan "set(convert_options [==[${arg_CONVERT_OPTIONS}]==])\n")
  if(compiler STREQUAL "gcc")
    set(gcc "${CMAKE_C_COMPILER}")
    if(NOT CMAKE_C_COMPILER_ID STREQUAL "GNU")
      set(gcc "${CMAKE_CXX_COMPILER}")
    endif()
    string(APPEND plan "list(APPEND convert_options --gcc [==[${gcc}]==])\n")
  endif()
  foreach(image IN LISTS images)
    string(APPEND plan "list(APPEND images [==[$<TARGET_FILE:${image}>]==])\n")
  endforeach()
  math(EXPR last "${arg_COMMANDS} - 1")
  foreach(i RANGE ${last})
    string(APPEND plan "set(command_${i} [==[${arg_COMMAND_${i}}]==])\n")
  endforeach()
  string(APPEND plan "set(commands ${arg_COMMANDS})\n")
  set(file "${CMAKE_BINARY_DIR}/br2pgo/${name}/plan-$<CONFIG>.cmake")
  file(GENERATE OUTPUT "${file}" CONTENT "${plan}")
  add_custom_target(${name}-train
    COMMAND ${CMAKE_COMMAND} "-DPLAN=${file}" -P ${_BR2PGO_PROFILE_DIR}/Br2pgoProfileRun.cmake
    DEPENDS ${images} ${arg_STARTED} USES_TERMINAL VERBATIM)
endfunction()

# All that was said to this build, for the training build to be said again. Not what lies in this build's folder.
function(_br2pgo_write_cache file)
  get_cmake_property(names CACHE_VARIABLES)
  set(text "")
  foreach(name IN LISTS names)
    get_property(type CACHE ${name} PROPERTY TYPE)
    get_property(value CACHE ${name} PROPERTY VALUE)
    string(FIND "${value}" "${CMAKE_BINARY_DIR}/" inside)
    if(type MATCHES "^(INTERNAL|STATIC)$" OR inside EQUAL 0 OR value STREQUAL CMAKE_BINARY_DIR)
      continue()
    elseif(type STREQUAL "UNINITIALIZED")
      set(type STRING)
    endif()
    string(APPEND text "set(${name} [==[${value}]==] CACHE ${type} \"\" FORCE)\n")
  endforeach()
  file(WRITE "${file}" "${text}")
endfunction()

# The commands that build the training build, let it train, and put the profile in its place.
function(_br2pgo_training_commands name compiler made profile ret)
  set(folder ${CMAKE_BINARY_DIR}/br2pgo-train)
  set(cache ${CMAKE_BINARY_DIR}/CMakeFiles/br2pgo-train.cmake)
  _br2pgo_write_cache(${cache})
  set(generator -G "${CMAKE_GENERATOR}")
  if(CMAKE_GENERATOR_PLATFORM)
    list(APPEND generator -A "${CMAKE_GENERATOR_PLATFORM}")
  endif()
  if(CMAKE_GENERATOR_TOOLSET)
    list(APPEND generator -T "${CMAKE_GENERATOR_TOOLSET}")
  endif()
  # make is called as such, so that it shares its jobs.
  set(build ${CMAKE_COMMAND} --build ${folder} --config $<CONFIG> --target ${name}-train)
  if(CMAKE_GENERATOR MATCHES "Makefiles")
    set(build $(MAKE) -C ${folder} ${name}-train)
  endif()
  set(described "${compiler}")
  foreach(language C CXX)
    if(CMAKE_${language}_COMPILER_ID)
      string(APPEND described ", ${language} by ${CMAKE_${language}_COMPILER_ID} ${CMAKE_${language}_COMPILER_VERSION}")
    endif()
  endforeach()
  set(${ret}
    COMMAND ${CMAKE_COMMAND} -S ${CMAKE_SOURCE_DIR} -B ${folder} ${generator} -C ${cache} --no-warn-unused-cli
            -DBR2PGO_STAGE:INTERNAL=train "-DBR2PGO_PROGRAM:INTERNAL=${BR2PGO_PROGRAM}"
    COMMAND ${build}
    COMMAND ${CMAKE_COMMAND} "-DNOTE=${profile}.made-of" "-DSOURCES=${CMAKE_BINARY_DIR}/br2pgo/${name}.sources"
            "-DIMAGES=${folder}/br2pgo/${name}/images" "-DCOMPILER=${described}"
            -P ${_BR2PGO_PROFILE_DIR}/Br2pgoProfileRun.cmake
    COMMAND ${CMAKE_COMMAND} -E copy_if_different ${folder}/br2pgo/${name}/${made} ${profile}
    PARENT_SCOPE)
endfunction()

# The source files of a target that are there; what is not is to be generated.
function(_br2pgo_sources target ret)
  get_target_property(sources ${target} SOURCES)
  get_target_property(source_folder ${target} SOURCE_DIR)
  set(paths "")
  foreach(source IN LISTS sources)
    if(NOT source MATCHES "\\$<")
      get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${source_folder}")
      if(EXISTS "${path}")
        list(APPEND paths "${path}")
      endif()
    endif()
  endforeach()
  set(${ret} ${paths} PARENT_SCOPE)
endfunction()

# A new profile makes every object of the target anew: the compilers do not list it among what they have read.
function(_br2pgo_watch_sources target profile)
  get_target_property(sources ${target} SOURCES)
  get_target_property(source_folder ${target} SOURCE_DIR)
  get_target_property(binary_folder ${target} BINARY_DIR)
  foreach(source IN LISTS sources)
    if(source MATCHES "\\$<")
      continue()
    endif()
    # A relative name would be taken for one in the folder of this call. What is not there is to be generated.
    get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${source_folder}")
    if(NOT EXISTS "${path}")
      get_filename_component(path "${source}" ABSOLUTE BASE_DIR "${binary_folder}")
    endif()
    set_property(SOURCE "${path}" TARGET_DIRECTORY ${target} APPEND PROPERTY OBJECT_DEPENDS "${profile}")
  endforeach()
endfunction()

# At the end of the configuration, when all sources are known: what the profile is of, for the note beside it.
function(_br2pgo_list_sources name targets)
  set(all "")
  foreach(target IN LISTS targets)
    _br2pgo_sources(${target} sources)
    list(APPEND all ${sources})
  endforeach()
  # Not what another build has made.
  list(FILTER all EXCLUDE REGEX "^${CMAKE_BINARY_DIR}/")
  list(REMOVE_DUPLICATES all)
  list(SORT all)
  list(JOIN all "\n" text)
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/br2pgo/${name}.sources" CONTENT "${text}" @ONLY)
  set_property(GLOBAL PROPERTY BR2PGO_SOURCES_${name} "${all}")
endfunction()

# <name>-profile-check, without which the targets are not built.
function(_br2pgo_add_check name targets profile max_stale made_by_build)
  get_property(sources GLOBAL PROPERTY BR2PGO_SOURCES_${name})
  set(needs ${sources})
  if(made_by_build OR EXISTS "${profile}")
    list(APPEND needs "${profile}")
  endif()
  set(stamp "${CMAKE_BINARY_DIR}/br2pgo/${name}.checked")
  add_custom_command(OUTPUT "${stamp}"
    COMMAND ${CMAKE_COMMAND} "-DCHECK=${profile}" "-DSOURCES=${CMAKE_BINARY_DIR}/br2pgo/${name}.sources"
            "-DMAX_STALE=${max_stale}" "-DAGAIN=cmake --build ${CMAKE_BINARY_DIR} --target ${name}-profile"
            "-DSTAMP=${stamp}" -P ${_BR2PGO_PROFILE_DIR}/Br2pgoProfileRun.cmake
    DEPENDS ${needs} VERBATIM COMMENT "Checking the profile of ${name}")
  add_custom_target(${name}-profile-check DEPENDS "${stamp}")
  if(made_by_build)
    add_dependencies(${name}-profile-check ${name}-profile-file)
  endif()
  foreach(target IN LISTS targets)
    add_dependencies(${target} ${name}-profile-check)
  endforeach()
endfunction()

function(_br2pgo_use_bolt image profile)
  find_program(BR2PGO_LLVM_BOLT NAMES llvm-bolt llvm-bolt-19 llvm-bolt-22 llvm-bolt-21 llvm-bolt-20 llvm-bolt-18)
  if(NOT BR2PGO_LLVM_BOLT)
    _br2pgo_fail("there is no llvm-bolt: install one, or set BR2PGO_LLVM_BOLT")
  endif()
  set_property(TARGET ${image} APPEND PROPERTY LINK_DEPENDS "${profile}")
  add_custom_command(TARGET ${image} POST_BUILD
    COMMAND ${CMAKE_COMMAND} "-DBOLT=${BR2PGO_LLVM_BOLT}" "-DIMAGE=$<TARGET_FILE:${image}>" "-DPROFILE=${profile}"
            -P ${_BR2PGO_PROFILE_DIR}/Br2pgoProfileRun.cmake
    VERBATIM)
endfunction()

function(_br2pgo_use compiler targets images profile)
  if(compiler STREQUAL "bolt")
    _br2pgo_prepare(bolt "${targets}" "${images}")
    _br2pgo_use_bolt(${images} "${profile}")
    return()
  endif()
  if(compiler STREQUAL "llvm")
    set(option "-fprofile-sample-use=${profile}")
    _br2pgo_compile("${targets}" "${option}")
  else()
    # Before GCC 16, lines are told otherwise without -g; clang needs none.
    set(option "-fauto-profile=${profile}")
    _br2pgo_compile("${targets}" -g "${option}")
  endif()
  foreach(image IN LISTS images)
    # With link-time optimisation the linker compiles, too.
    target_link_options(${image} PRIVATE "${option}")
  endforeach()
  foreach(target IN LISTS targets)
    # In a unity build CMake does not pass on what the sources depend on, which are all known only at the end.
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
    _br2pgo_later(_br2pgo_watch_sources ${target} "${profile}")
  endforeach()
endfunction()

function(_br2pgo_check_arguments)
  if(arg_UNPARSED_ARGUMENTS)
    _br2pgo_fail("unknown: ${arg_UNPARSED_ARGUMENTS}")
  elseif(NOT arg_TARGET)
    _br2pgo_fail("TARGET is missing")
  elseif(arg_COMMANDS EQUAL 0)
    _br2pgo_fail("COMMAND is missing: what is to be run to train?")
  elseif(NOT arg_MIN_RECORDS MATCHES "^[1-9][0-9]*$")
    _br2pgo_fail("MIN_RECORDS is a positive number, not '${arg_MIN_RECORDS}'")
  elseif(NOT arg_MIN_DENSITY MATCHES "^[0-9]+$")
    _br2pgo_fail("MIN_DENSITY is a number, not '${arg_MIN_DENSITY}'")
  elseif(NOT arg_MAX_STALE MATCHES "^[0-9][0-9]?$|^100$")
    _br2pgo_fail("MAX_STALE is a number of percent, not '${arg_MAX_STALE}'")
  elseif(NOT ${PROJECT_NAME}_PGO MATCHES "^(OFF|USE|MAKE)$")
    _br2pgo_fail("${PROJECT_NAME}_PGO is OFF, USE or MAKE, not '${${PROJECT_NAME}_PGO}'")
  endif()
  math(EXPR last "${arg_COMMANDS} - 1")
  foreach(i RANGE ${last})
    if(arg_COMMAND_${i} STREQUAL "")
      _br2pgo_fail("a COMMAND is empty")
    endif()
  endforeach()
endfunction()

# Targets and the use of the profile, outside of the training build.
function(_br2pgo_add_use name compiler targets images profile)
  set(suffix_llvm prof)
  set(suffix_gcc gcov)
  set(suffix_bolt fdata)
  set(made ${name}.${suffix_${compiler}})
  if(profile STREQUAL "")
    set(profile ${CMAKE_BINARY_DIR}/br2pgo/${made})
  endif()
  get_filename_component(profile "${profile}" ABSOLUTE BASE_DIR ${CMAKE_CURRENT_SOURCE_DIR})
  get_filename_component(folder "${profile}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  set(mode ${${PROJECT_NAME}_PGO})
  if(mode STREQUAL "USE" AND NOT EXISTS "${profile}")
    _br2pgo_fail("there is no profile '${profile}'; make it: cmake -D${PROJECT_NAME}_PGO=OFF ${CMAKE_BINARY_DIR} &&\
 cmake --build ${CMAKE_BINARY_DIR} --target ${name}-profile")
  endif()
  # What the build made, `clean` removes: not a file that was in the source folder before.
  string(FIND "${profile}" "${CMAKE_BINARY_DIR}/" inside)
  set(made_by_build FALSE)
  if(mode STREQUAL "MAKE" AND (inside EQUAL 0 OR NOT EXISTS "${profile}"))
    set(made_by_build TRUE)
  endif()
  if(NOT BR2PGO_PROGRAM AND made_by_build)
    _br2pgo_fail("there is no br2pgo: install it, or set BR2PGO_PROGRAM")
  elseif(NOT BR2PGO_PROGRAM)
    add_custom_target(${name}-profile
      COMMAND ${CMAKE_COMMAND} -E echo "there is no br2pgo: install it, or set BR2PGO_PROGRAM, and configure again"
      COMMAND ${CMAKE_COMMAND} -E false)
  else()
    _br2pgo_training_commands(${name} ${compiler} ${made} "${profile}" commands)
    add_custom_target(${name}-profile ${commands} USES_TERMINAL VERBATIM COMMENT "Making the profile of ${name}")
  endif()
  if(made_by_build)
    add_custom_command(OUTPUT "${profile}" ${commands} USES_TERMINAL VERBATIM
      BYPRODUCTS "${profile}.made-of" COMMENT "Making the profile of ${name}, which is not there")
    add_custom_target(${name}-profile-file DEPENDS "${profile}")
    foreach(target IN LISTS targets)
      add_dependencies(${target} ${name}-profile-file)
    endforeach()
  endif()
  _br2pgo_later("_br2pgo_list_sources" ${name} "${targets}")
  if(NOT mode STREQUAL "OFF")
    if(EXISTS "${profile}")
      _br2pgo_check_kind(${compiler} "${profile}")
    endif()
    _br2pgo_later("_br2pgo_add_check" ${name} "${targets}" "${profile}" ${arg_MAX_STALE} ${made_by_build})
    _br2pgo_use(${compiler} "${targets}" "${images}" "${profile}")
  endif()
endfunction()

function(br2pgo_add_profile)
  set(${PROJECT_NAME}_PGO OFF CACHE STRING "Profile-guided optimisation: OFF, USE the profile, MAKE it when missing")
  set_property(CACHE ${PROJECT_NAME}_PGO PROPERTY STRINGS OFF USE MAKE)
  set(words "")
  if(ARGC GREATER 0)
    math(EXPR last "${ARGC} - 1")
    foreach(i RANGE ${last})
      string(REPLACE ";" "\\;" word "${ARGV${i}}")
      list(APPEND words "${word}")
    endforeach()
  endif()
  _br2pgo_parse(words)
  foreach(default COMPILER=auto PROFILE= MIN_RECORDS=1000 MIN_DENSITY=1 MAX_STALE=50 "WORKING_DIRECTORY=${CMAKE_CURRENT_SOURCE_DIR}")
    string(REGEX MATCH "^([A-Z_]+)=(.*)$" ignored "${default}")
    if(NOT DEFINED arg_${CMAKE_MATCH_1})
      set(arg_${CMAKE_MATCH_1} "${CMAKE_MATCH_2}")
    endif()
  endforeach()
  _br2pgo_check_arguments()
  _br2pgo_targets("${arg_TARGET}" targets images)
  list(GET targets 0 name)
  set_target_properties(${targets} PROPERTIES BR2PGO_PROFILE ${name})
  _br2pgo_compiler("${arg_COMPILER}" compiler)
  if(compiler STREQUAL "")
    if(NOT ${PROJECT_NAME}_PGO STREQUAL "OFF")
      _br2pgo_fail("no compiler here takes ${arg_COMPILER} profiles: C by '${CMAKE_C_COMPILER_ID}', C++ by\
 '${CMAKE_CXX_COMPILER_ID}'")
    endif()
    return()
  endif()
  list(LENGTH images count)
  if(compiler STREQUAL "bolt" AND (NOT count EQUAL 1 OR NOT "${targets}" STREQUAL "${images}"))
    _br2pgo_fail("llvm-bolt takes the profile of one program or shared library: one call for each")
  endif()
  if(NOT ${PROJECT_NAME}_PGO STREQUAL "OFF")
    _br2pgo_check_version(${compiler})
  endif()
  find_program(BR2PGO_PROGRAM br2pgo)
  if(BR2PGO_STAGE STREQUAL "train")
    _br2pgo_prepare(${compiler} "${targets}" "${images}")
    _br2pgo_add_training(${name} ${compiler} "${images}")
  else()
    _br2pgo_add_use(${name} ${compiler} "${targets}" "${images}" "${arg_PROFILE}")
  endif()
endfunction()
