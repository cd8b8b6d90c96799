# Debian 12's compiler on Debian 11's C library: what ci/release.sh builds with. Both variables are its to set:
#   CLVET_TRIPLET  x86_64-linux-gnu | aarch64-linux-gnu
#   CLVET_SYSROOT  folder with the headers and libraries of that machine; old_glibc.o lies in it
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES CLVET_TRIPLET CLVET_SYSROOT)
set(CMAKE_SYSTEM_NAME Linux)
string(REGEX REPLACE "-.*" "" CMAKE_SYSTEM_PROCESSOR ${CLVET_TRIPLET})
set(CMAKE_C_COMPILER ${CLVET_TRIPLET}-gcc)
set(CMAKE_CXX_COMPILER ${CLVET_TRIPLET}-g++)
set(CMAKE_SYSROOT ${CLVET_SYSROOT})
set(CMAKE_FIND_ROOT_PATH ${CLVET_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()

# Every header by name: a cross compiler looks into its own C library before the one it is given.
execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=include OUTPUT_VARIABLE own OUTPUT_STRIP_TRAILING_WHITESPACE)
execute_process(COMMAND ${CMAKE_C_COMPILER} -dumpversion OUTPUT_VARIABLE version OUTPUT_STRIP_TRAILING_WHITESPACE)
set(include ${CLVET_SYSROOT}/usr/include)
set(c "-isystem ${own} -isystem ${include}/${CLVET_TRIPLET} -isystem ${include}")
set(cxx "-isystem ${include}/c++/${version} -isystem ${include}/${CLVET_TRIPLET}/c++/${version}")
set(lean "-ffunction-sections -fdata-sections -ffile-prefix-map=${CMAKE_SOURCE_DIR}=.")
set(CMAKE_C_FLAGS_INIT "-nostdinc ${c} ${lean}")
set(CMAKE_CXX_FLAGS_INIT "-nostdinc -nostdinc++ ${cxx} ${c} ${lean}")

# -B: and into its own folder of libraries. No symbol of ours is for a driver's library to find.
set(links "-B${CLVET_SYSROOT}/usr/lib/${CLVET_TRIPLET} -static-libstdc++ -static-libgcc \
-Wl,--gc-sections,--exclude-libs,ALL,-z,relro,-z,now")
if(EXISTS ${CLVET_SYSROOT}/old_glibc.o)
  string(APPEND links " ${CLVET_SYSROOT}/old_glibc.o")
endif()
set(CMAKE_EXE_LINKER_FLAGS_INIT "${links}")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "${links}")

# The program writes its own manual pages.
cmake_host_system_information(RESULT own_machine QUERY OS_PLATFORM)
if(NOT own_machine STREQUAL CMAKE_SYSTEM_PROCESSOR)
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${CMAKE_SYSTEM_PROCESSOR}-static -L ${CLVET_SYSROOT})
endif()
