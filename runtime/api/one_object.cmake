# cmake -DCOMPILER= -DNM= -DOBJCOPY= -DLIBRARY= -DOBJECTS= -DARCHIVES= -DOUT= -P one_object.cmake
#
# Joins OBJECTS and what they need of ARCHIVES into one object file, OUT. Global in it are the names that the shared LIBRARY shows;
# all others are local, so that they meet none of the program that links it.
cmake_minimum_required(VERSION 3.22)
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE error)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "the static library cannot be made: ${ARGV0} failed (${status}):\n${error}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

run(${NM} -D --defined-only ${LIBRARY})
string(REGEX MATCHALL "[^ \n]+\n" names "${output}")
list(TRANSFORM names REPLACE "(@.*)?\n" "")
list(REMOVE_ITEM names CLVET_1)
list(JOIN names "\n" names)
file(WRITE ${OUT}.names "${names}\n")

# Groups are what a linker keeps once of several; their names would be local and still be compared. GNU ld dissolves them.
run(${COMPILER} -r -nostdlib -fuse-ld=bfd -Wl,--force-group-allocation -o ${OUT}.joined ${OBJECTS} -Wl,--start-group ${ARCHIVES}
    -Wl,--end-group)
run(${OBJCOPY} --keep-global-symbols=${OUT}.names --strip-unneeded --remove-section=.llvm_addrsig ${OUT}.joined ${OUT})
file(REMOVE ${OUT}.joined)
