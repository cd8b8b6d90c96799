# cmake -DPROGRAM= -DVERSION= -DOUT= -P pages.cmake: completion for three shells, and manual pages, as PROGRAM (a command, as a
# list) writes them in English. It has to be of VERSION.
cmake_minimum_required(VERSION 3.22)
function(clvet)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env LC_ALL=C.UTF-8 ASAN_OPTIONS=detect_leaks=0 ${PROGRAM} ${ARGN}
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT status EQUAL 0)
    list(JOIN PROGRAM " " program)
    message(FATAL_ERROR "'${program} ${ARGN}' failed (${status}): ${error}\nCompletion and manual pages are made by the program. "
                        "If it is for another machine, set CMAKE_CROSSCOMPILING_EMULATOR, or CLVET_HOST_PROGRAM to one of this.")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

clvet(--version)
if(NOT output STREQUAL "clvet ${VERSION}\n")
  message(FATAL_ERROR "${PROGRAM} is not clvet ${VERSION} but '${output}': take the program of this version")
endif()
file(REMOVE_RECURSE ${OUT})
foreach(row bash:clvet zsh:_clvet fish:clvet.fish)
  string(REGEX MATCH "^(.*):(.*)$" row ${row})
  set(file ${OUT}/${CMAKE_MATCH_1}/${CMAKE_MATCH_2})
  clvet(completion ${CMAKE_MATCH_1})
  file(WRITE ${file} "${output}")
endforeach()
clvet(manual ${OUT}/man1)
# Manual pages are kept compressed where that is possible; man reads both.
find_program(GZIP gzip)
if(GZIP)
  file(GLOB pages ${OUT}/man1/*.1)
  execute_process(COMMAND ${GZIP} -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
endif()
file(WRITE ${OUT}/made "")
