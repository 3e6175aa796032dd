# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The page of `br2pgo report --html`: one HTML file made of src/report/page, cut where the report's
# data go, as two arrays in C. Run as a script with SOURCE and OUTPUT, else the rule that does so.
if(NOT CMAKE_SCRIPT_MODE_FILE)
  set(page_folder ${PROJECT_SOURCE_DIR}/src/report/page)
  file(GLOB page_files CONFIGURE_DEPENDS ${page_folder}/*)
  set(page_source ${PROJECT_BINARY_DIR}/report_page.c)
  add_custom_command(OUTPUT ${page_source}
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${page_folder} -DOUTPUT=${page_source}
            -P ${CMAKE_CURRENT_LIST_FILE}
    DEPENDS ${page_files} ${CMAKE_CURRENT_LIST_FILE} VERBATIM)
  target_sources(br2pgo_module_report PRIVATE ${page_source})
  return()
endif()

# Texts are joined as hexadecimal digits: CMake's lists would take ';' and '[' apart.
function(read_hex name ret)
  file(READ ${SOURCE}/${name} hex HEX)
  set(${ret} "${hex}" PARENT_SCOPE)
endfunction()

function(text_hex text ret)
  string(HEX "${text}" hex)
  set(${ret} "${hex}" PARENT_SCOPE)
endfunction()

function(write_array name hex)
  string(LENGTH "${hex}" digits)
  math(EXPR size "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)"
         "\\1\n" bytes "${bytes}")
  file(APPEND ${OUTPUT} "const size_t ${name}_size = ${size};\n"
       "const unsigned char ${name}[] = {\n${bytes}\n};\n")
endfunction()

read_hex(page.html page)
read_hex(page.css style)
set(script "")
foreach(name model elements tables plots flame graph function main)
  read_hex(${name}.js part)
  string(APPEND script "${part}")
endforeach()
text_hex("@STYLE@" mark)
string(REPLACE "${mark}" "${style}" page "${page}")
text_hex("@SCRIPT@" mark)
string(REPLACE "${mark}" "${script}" page "${page}")
text_hex("@DATA@" mark)
string(FIND "${page}" "${mark}" cut)
string(SUBSTRING "${page}" 0 ${cut} before)
string(LENGTH "${mark}" length)
math(EXPR behind "${cut} + ${length}")
string(SUBSTRING "${page}" ${behind} -1 after)

file(WRITE ${OUTPUT} "/* Made of src/report/page by cmake/Br2pgoPage.cmake. */\n"
     "#include \"report/page.h\"\n\n")
write_array(br2_page_before "${before}")
write_array(br2_page_after "${after}")
