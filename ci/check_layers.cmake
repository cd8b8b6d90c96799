# cmake [-DROOT=DIR] -P ci/check_layers.cmake
#
# Reads every #include of the C++ files and enforces:
#   - quoted includes are relative to the root and exist (generated embedded_*.h and *.pb.h aside)
#   - base < kernels < probe < runtime < reports < cli; a layer includes itself and lower ones only
#   - samples may include what lies up to runtime, and nothing but tests includes samples
#   - tests may include anything but cli, which nobody includes
#   - only probe/{cl,discover,checks,trial,worker} and runtime/{exec,tune} see OpenCL: CL/* or probe/cl/*
cmake_minimum_required(VERSION 3.22)
if(NOT ROOT)
  get_filename_component(ROOT ${CMAKE_CURRENT_LIST_DIR} DIRECTORY)
endif()

set(layers base kernels probe runtime reports cli)
set(opencl_folders "^(probe/(cl|discover|checks|trial|worker)|runtime/(exec|tune)|tests)/")
set(faults "")

macro(fault text)
  list(APPEND faults "${file}: ${text}")
endmacro()

# check_include(<delimiter> <path>): one include of the file in hand
macro(check_include delimiter path)
  string(REGEX REPLACE "/.*" "" target "${path}")
  list(FIND layers "${target}" target_rank)
  set(generated OFF)
  if("${path}" MATCHES "(^|/)embedded_[^/]*\\.h$|\\.pb\\.h$")
    set(generated ON)
  endif()

  if("${path}" MATCHES "^CL/" AND NOT file MATCHES "${opencl_folders}")
    fault("includes ${path}: OpenCL headers belong to probe/{cl,discover,checks,trial,worker} and runtime/{exec,tune}")
  elseif("${path}" MATCHES "^probe/cl/" AND NOT file MATCHES "${opencl_folders}")
    fault("includes ${path}: OpenCL belongs to probe/{cl,discover,checks,trial,worker} and runtime/{exec,tune}")
  endif()

  if("${delimiter}" STREQUAL "<")
    if(target_rank GREATER -1 AND EXISTS "${ROOT}/${path}")
      fault("includes <${path}>: write our own headers in quotes")
    endif()
  elseif("${path}" MATCHES "(^|/)\\.\\.?/")
    fault("includes \"${path}\": write it relative to the root")
  elseif(NOT generated AND NOT EXISTS "${ROOT}/${path}")
    fault("includes \"${path}\": not relative to the root, or not there")
  endif()

  if(target_rank GREATER -1)
    if("${target}" STREQUAL "cli" AND NOT layer STREQUAL "cli")
      fault("includes ${path}: nothing includes cli")
    elseif(NOT layer STREQUAL "tests" AND target_rank GREATER rank)
      fault("includes ${path}: ${layer} lies below ${target}")
    endif()
  elseif("${target}" STREQUAL "tests" AND NOT layer STREQUAL "tests")
    fault("includes ${path}: only tests include tests")
  elseif("${target}" STREQUAL "samples" AND NOT layer MATCHES "^(samples|tests)$")
    fault("includes ${path}: only tests include samples")
  endif()
endmacro()

set(count 0)
foreach(layer IN LISTS layers ITEMS samples tests)
  string(REPLACE "samples" "runtime" stands_for "${layer}")
  list(FIND layers "${stands_for}" rank)
  file(GLOB_RECURSE files RELATIVE ${ROOT} ${ROOT}/${layer}/*.h ${ROOT}/${layer}/*.hpp ${ROOT}/${layer}/*.inc
       ${ROOT}/${layer}/*.cpp ${ROOT}/${layer}/*.cc ${ROOT}/${layer}/*.c)
  foreach(file IN LISTS files)
    if(file MATCHES "^tests/ci/")
      continue()
    endif()
    math(EXPR count "${count} + 1")
    file(STRINGS ${ROOT}/${file} includes REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
    foreach(line IN LISTS includes)
      if("${line}" MATCHES "#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]")
        check_include("${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
      endif()
    endforeach()
  endforeach()
endforeach()

if(faults)
  list(LENGTH faults number)
  list(JOIN faults "\n" text)
  message("${text}")
  message(FATAL_ERROR "layers: ${number} fault(s) in ${count} files")
endif()
message(STATUS "layers: ${count} files in order")
