# embed_files(<target> <symbol> <header> FILES <file>... [BASE <dir>])
#
# Embeds files byte for byte in the library <target>. Writes generated/<header>, which declares
#   namespace clvet { struct EmbeddedFile { std::string_view path, text; };
#                     std::span<const EmbeddedFile> <symbol>(); }
# sorted by path relative to BASE. CMake alone, so it works when cross-compiling.
function(embed_files target symbol header)
  cmake_parse_arguments(ARG "" "BASE" "FILES" ${ARGN})
  set(out ${CMAKE_BINARY_DIR}/generated)
  set(source ${out}/${symbol}.cpp)
  list(SORT ARG_FILES)
  set(body "")
  set(table "")
  set(index 0)
  foreach(file IN LISTS ARG_FILES)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} hex HEX)
    string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
    file(RELATIVE_PATH path ${ARG_BASE} ${file})
    string(APPEND body "const unsigned char f${index}[] = {${bytes}0};\n")
    string(APPEND table "    {\"${path}\", {reinterpret_cast<const char*>(f${index}), sizeof(f${index}) - 1}},\n")
    math(EXPR index "${index} + 1")
  endforeach()
  set(declaration "#pragma once\n#include <span>\n#include \"base/embedded.h\"\nnamespace clvet {\nstd::span<const EmbeddedFile> ${symbol}();\n}\n")
  set(definition "#include \"${header}\"\nnamespace clvet {\nnamespace {\n${body}const EmbeddedFile kTable[] = {\n${table}    {\"\", \"\"}};\n}\nstd::span<const EmbeddedFile> ${symbol}() { return {kTable, ${index}}; }\n}\n")
  file(CONFIGURE OUTPUT ${out}/${header} CONTENT "${declaration}" @ONLY)
  file(CONFIGURE OUTPUT ${source} CONTENT "${definition}" @ONLY)
  target_sources(${target} PRIVATE ${source})
  # Alone in its object file, so that a program may bring a table of its own.
  set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
