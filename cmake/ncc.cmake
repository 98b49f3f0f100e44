# The only build helpers of the project: ncc_library, ncc_proto_library, ncc_tool, ncc_test.
# Every folder lists its sources explicitly and links the narrowest set of libraries: the link graph is the layering.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE OFF)

# Dev: quick to compile, still fast enough to simulate real models; assertions on.
set(CMAKE_CXX_FLAGS_DEV "-O1 -g1")
set(CMAKE_EXE_LINKER_FLAGS_DEV "")
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Dev)
endif()
set(NCC_SANITIZE "" CACHE STRING "sanitizers, e.g. address;undefined")

find_program(NCC_CCACHE ccache)
if(NCC_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${NCC_CCACHE})
endif()

# One interface target carries warnings, the instruction set and sanitizers.
# -ffp-contract=off: a fused multiply-add is written explicitly or not at all, so that results do not depend on the compiler.
# x86-64-v3 (AVX2, FMA, F16C) is the stated host requirement.
add_library(ncc_flags INTERFACE)
target_compile_options(ncc_flags INTERFACE -Wall -Wextra -Werror -Wno-missing-field-initializers -ffp-contract=off -march=x86-64-v3)
# GCC 12 at -O2 reports array bounds and uninitialised values inside inlined std::sort and std::vector code that is correct. Warnings
# are errors where the project is tested (Dev, with and without sanitizers); Release only shows them.
target_compile_options(ncc_flags INTERFACE "$<$<CONFIG:Release>:-Wno-error>")
target_include_directories(ncc_flags INTERFACE "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")
find_program(NCC_MOLD mold)
if(NCC_MOLD)
  target_link_options(ncc_flags INTERFACE -fuse-ld=mold)
endif()
foreach(sanitizer ${NCC_SANITIZE})
  target_compile_options(ncc_flags INTERFACE -fsanitize=${sanitizer} -fno-omit-frame-pointer)
  target_link_options(ncc_flags INTERFACE -fsanitize=${sanitizer})
endforeach()
if(NCC_SANITIZE)
  # GCC 12 sees uninitialised uses in instrumented library code that are not there.
  target_compile_options(ncc_flags INTERFACE -fno-sanitize-recover=all -Wno-maybe-uninitialized)
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(Protobuf REQUIRED)
find_package(PkgConfig REQUIRED)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

# ncc_library(name SOURCES a.cc ... [LINK lib ...])
function(ncc_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC ncc_flags fmt::fmt ${ARG_LINK})
  else()
    add_library(${name} INTERFACE)
    target_link_libraries(${name} INTERFACE ncc_flags fmt::fmt ${ARG_LINK})
  endif()
endfunction()

# ncc_proto_library(name PROTO x.proto): generated code under the build tree, included from the repository root's mirror.
function(ncc_proto_library name)
  cmake_parse_arguments(ARG "" "" "PROTO" ${ARGN})
  set(generated)
  foreach(proto ${ARG_PROTO})
    file(RELATIVE_PATH from_root "${CMAKE_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}/${proto}")
    string(REGEX REPLACE "\\.proto$" "" stem "${from_root}")
    add_custom_command(
      OUTPUT "${CMAKE_BINARY_DIR}/${stem}.pb.cc" "${CMAKE_BINARY_DIR}/${stem}.pb.h"
      COMMAND protobuf::protoc --proto_path=${CMAKE_SOURCE_DIR} --cpp_out=${CMAKE_BINARY_DIR} ${from_root}
      WORKING_DIRECTORY "${CMAKE_SOURCE_DIR}"
      DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/${proto}")
    list(APPEND generated "${CMAKE_BINARY_DIR}/${stem}.pb.cc")
  endforeach()
  add_library(${name} STATIC ${generated})
  target_link_libraries(${name} PUBLIC ncc_flags protobuf::libprotobuf)
  target_compile_options(${name} PRIVATE -w)
endfunction()

# ncc_tool(name SOURCES main.cc ... [LINK lib ...]): an executable in <build>/bin.
function(ncc_tool name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ncc_flags fmt::fmt ${ARG_LINK})
endfunction()

# ncc_test(name SOURCES a_test.cc ... [LINK lib ...]): one Catch2 binary, one ctest entry.
function(ncc_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ncc_flags fmt::fmt catch_main ${ARG_LINK})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name})
endfunction()
