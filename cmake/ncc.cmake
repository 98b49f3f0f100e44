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
option(NCC_FUZZ "libFuzzer targets (clang) instead of tests that replay kept inputs" OFF)

find_program(NCC_CCACHE ccache)
if(NCC_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${NCC_CCACHE})
endif()

# One interface target carries warnings, the instruction set and sanitizers.
# -ffp-contract=off: a fused multiply-add is written explicitly or not at all, so that results do not depend on the compiler.
# x86-64-v3 (AVX2, FMA, F16C) is the stated host requirement.
add_library(ncc_flags INTERFACE)
target_compile_options(ncc_flags INTERFACE -Wall -Wextra -Werror -Wno-missing-field-initializers -ffp-contract=off -march=x86-64-v3)
# GCC 12 at -O2 reports array bounds and uninitialised values inside inlined std::sort, std::string and std::vector code that is
# correct. These warnings are off in Release, and the others only shown there: they are errors where the project is tested (Dev).
target_compile_options(ncc_flags INTERFACE
  "$<$<CONFIG:Release>:-Wno-error;-Wno-array-bounds;-Wno-stringop-overflow;-Wno-maybe-uninitialized;-Wno-restrict>")
target_include_directories(ncc_flags INTERFACE "${CMAKE_SOURCE_DIR}" "${CMAKE_BINARY_DIR}")
find_program(NCC_MOLD mold)
if(NCC_MOLD)
  # mold 1.10 (Debian 12) may begin the read-only-after-relocation segment on a page that is not mapped: such a program does not
  # start ("cannot apply additional memory protection after relocation").
  target_link_options(ncc_flags INTERFACE -fuse-ld=mold -Wl,-z,norelro)
endif()
foreach(sanitizer ${NCC_SANITIZE})
  target_compile_options(ncc_flags INTERFACE -fsanitize=${sanitizer} -fno-omit-frame-pointer)
  target_link_options(ncc_flags INTERFACE -fsanitize=${sanitizer})
endforeach()
if(NCC_SANITIZE)
  # GCC 12 sees uninitialised uses in instrumented library code that are not there.
  target_compile_options(ncc_flags INTERFACE -fno-sanitize-recover=all $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>)
endif()
if(NCC_FUZZ)
  # Coverage for libFuzzer in every object; clang warns about other things than the compiler the project is kept clean for.
  target_compile_options(ncc_flags INTERFACE -fsanitize=fuzzer-no-link -Wno-error)
endif()

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(Protobuf REQUIRED)
find_package(PkgConfig REQUIRED)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

# Precompiled headers halve the time of a build from nothing. With ccache they are off: objects would be found again only in the same
# folder, and what ccache keeps is worth more.
if(NCC_CCACHE)
  option(NCC_PRECOMPILED_HEADERS "precompile the headers that most files include" OFF)
else()
  option(NCC_PRECOMPILED_HEADERS "precompile the headers that most files include" ON)
endif()
# ncc_precompile(name header ...): the headers of `name`, precompiled once for all targets that say ncc_use_precompiled(target name).
function(ncc_precompile name)
  if(NCC_PRECOMPILED_HEADERS)
    file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/precompiled/${name}.cc" CONTENT "")
    add_library(${name} OBJECT "${CMAKE_BINARY_DIR}/precompiled/${name}.cc")
    target_link_libraries(${name} PRIVATE ncc_flags fmt::fmt)
    target_precompile_headers(${name} PRIVATE ${ARGN})
  endif()
endfunction()
function(ncc_use_precompiled target name)
  if(NCC_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM ${name})
  endif()
endfunction()
# A file with options of its own (set_source_files_properties) reads the headers as text; that is no reason to warn.
set(CMAKE_PCH_WARN_INVALID OFF)
set(common_headers <algorithm> <array> <cmath> <cstdint> <cstring> <functional> <map> <memory> <numeric> <optional> <set> <span> <string>
    <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
ncc_precompile(ncc_library_headers ${common_headers})
ncc_precompile(ncc_tool_headers ${common_headers} <filesystem> <nlohmann/json.hpp> <CLI/CLI.hpp>)
ncc_precompile(ncc_test_headers ${common_headers} <filesystem> <fstream> <catch2/catch.hpp>)

# ncc_library(name SOURCES a.cc ... [LINK lib ...] [OPTIONS compiler option ...])
function(ncc_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK;OPTIONS" ${ARGN})
  if(ARG_SOURCES)
    add_library(${name} STATIC ${ARG_SOURCES})
    target_link_libraries(${name} PUBLIC ncc_flags fmt::fmt ${ARG_LINK})
    if(NOT ARG_OPTIONS)
      ncc_use_precompiled(${name} ncc_library_headers)
    else()
      target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
      if(NCC_PRECOMPILED_HEADERS)
        target_precompile_headers(${name} PRIVATE ${common_headers})
      endif()
    endif()
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
  ncc_use_precompiled(${name} ncc_tool_headers)
endfunction()

# ncc_test(name SOURCES a_test.cc ... [LINK lib ...]): one Catch2 binary, one ctest entry.
function(ncc_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ncc_flags fmt::fmt catch_main ${ARG_LINK})
  ncc_use_precompiled(${name} ncc_test_headers)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  add_test(NAME ${name} COMMAND ${name})
endfunction()
