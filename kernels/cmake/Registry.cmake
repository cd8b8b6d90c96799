# registry(<target> <type> <function> <prefix> <header> FILES <file>...)
#
# Writes the table of definitions that a folder holds. Each file `<stem>.cpp` defines
#   extern const clvet::<type> clvet::<prefix>_<stem>::def;
# in a namespace of its own, so that all of them may name their parts alike, and
# `const std::vector<const clvet::<type>*>& clvet::<function>()`, declared in <header>, lists
# them in order of file name. Adding a file adds a row; nobody edits a list.
function(registry target type function prefix header)
  cmake_parse_arguments(ARG "" "" "FILES" ${ARGN})
  list(SORT ARG_FILES)
  set(externs "")
  set(rows "")
  foreach(file IN LISTS ARG_FILES)
    get_filename_component(stem ${file} NAME_WE)
    string(APPEND externs "namespace ${prefix}_${stem} {\nextern const ${type} def;\n}\n")
    string(APPEND rows "      &${prefix}_${stem}::def,\n")
  endforeach()
  set(text "#include \"${header}\"\n\n#include <vector>\n\nnamespace clvet {\n${externs}\nconst std::vector<const ${type}*>& ${function}() {\n  static const std::vector<const ${type}*> table = {\n${rows}  };\n  return table;\n}\n}  // namespace clvet\n")
  set(source ${CMAKE_BINARY_DIR}/generated/registry_${function}.cpp)
  file(CONFIGURE OUTPUT ${source} CONTENT "${text}" @ONLY)
  target_sources(${target} PRIVATE ${ARG_FILES} ${source})
endfunction()
