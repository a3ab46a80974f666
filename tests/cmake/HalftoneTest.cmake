# SPDX-License-Identifier: Apache-2.0
# The chips of tests that run on all; plan_test compares this list and nvrtc/chips.hpp with codegen's.
set(halftone_chips sm_75 sm_80 sm_86 sm_87 sm_89 sm_90a sm_100a sm_103a sm_110a sm_120a sm_121a)
# Open: models whose kernels were compiled and simulated while they were made, but of which limits.txt and traffic.txt have no figures
# yet, so that nvrtc_accepts_sampled_kernels and simulated_emitted leave them out. Recorded, they leave this list.
# Those of scaled, 8-bit and drawn values run in tests/simulated/scaled.
# Of resampled, windows, windows_bf16, softmax, adaptive, float8 and those of padding, of segments and of long convolutions no kernel was compiled or simulated either.
set(halftone_models_without_figures adaptive attention attention_cross attention_grouped attention_ordered decoder decoder_bf16 delayed factors float8
  grouped grouped_f16 joined joined_rows large_windows long_convolution long_convolution_bf16 long_convolution_products packed padded padded_f16 positions_bf16 resampled rotary_layer rotated row_losses row_losses_bf16 scaled scaled_blocks scaled_grids scaled_tiles sides sides_bf16 sides_padded segments segments_bf16 smoothed smoothed_bf16 softmax stochastic unet unet_bf16 vectors windows windows_bf16)

# The environment of tests that need compiled kernels, not their compilation: they share a folder, so that what changed no text
# compiles nothing (docs/cache.md).
set(halftone_kept_kernels HALFTONE_CACHE=rw HALFTONE_CACHE_DIR=${PROJECT_BINARY_DIR}/kept_kernels HALFTONE_CACHE_MAX=4GiB)
function(halftone_keep_kernels)
  foreach(test ${ARGN})
    get_test_property(${test} ENVIRONMENT environment)
    list(FILTER environment EXCLUDE REGEX "^HALFTONE_CACHE=|NOTFOUND")
    set_tests_properties(${test} PROPERTIES ENVIRONMENT "${environment};${halftone_kept_kernels}")
  endforeach()
endfunction()

# halftone_add_test(NAME SOURCES files... LINK targets... [LABEL folder] [OPTIMIZED]): one doctest executable, one CTest entry.
# OPTIMIZED where the test's own code, not what it tests, computes for seconds: others spend more time in the compiler.
find_path(DOCTEST_INCLUDE_DIR doctest/doctest.h REQUIRED)
add_library(halftone_test_main STATIC ${CMAKE_CURRENT_SOURCE_DIR}/support/doctest_main.cpp)
target_include_directories(halftone_test_main SYSTEM PUBLIC ${DOCTEST_INCLUDE_DIR})
target_include_directories(halftone_test_main PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/support)
target_compile_definitions(halftone_test_main PUBLIC HALFTONE_TEST_MODELS="${CMAKE_CURRENT_SOURCE_DIR}/support/models")
target_link_libraries(halftone_test_main PUBLIC halftone_flags)
target_compile_options(halftone_test_main PRIVATE -O0)
target_precompile_headers(halftone_test_main PRIVATE <doctest/doctest.h> <filesystem> <fstream> <random> ${halftone_precompiled})

function(halftone_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "OPTIMIZED" "LABEL" "SOURCES;LINK")
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE halftone_test_main ${arg_LINK})
  if(NOT arg_OPTIMIZED)
    target_compile_options(${name} PRIVATE -O0)
    target_precompile_headers(${name} REUSE_FROM halftone_test_main)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  if(NOT arg_LABEL)
    cmake_path(GET CMAKE_CURRENT_SOURCE_DIR FILENAME arg_LABEL)
  endif()
  # Tests leave the folder of the user's own kernels alone.
  set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL} ENVIRONMENT HALFTONE_CACHE=off)
endfunction()
