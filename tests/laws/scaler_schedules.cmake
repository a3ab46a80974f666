# SPDX-License-Identifier: Apache-2.0
# The loss scale of generated code against recorded schedules, with artifacts of its own: the models of the other laws
# have settings that suit training.
set(scaler_support ${CMAKE_CURRENT_SOURCE_DIR}/../support/scaler)
file(GLOB models CONFIGURE_DEPENDS ${scaler_support}/models/*.halftone)
set(declarations "")
set(entries "")
set(objects "")
foreach(model ${models})
  cmake_path(GET model STEM name)
  halftone_add_test_artifact(${name} ${model} --targets cpu)
endforeach()
configure_file(artifacts.hpp.in scaler/artifacts.hpp @ONLY)
halftone_add_test(laws_scaler_schedules OPTIMIZED SOURCES main.cpp scaler_schedules.cpp ${objects} LINK halftone::runtime halftone::manifest halftone::reference)
target_include_directories(laws_scaler_schedules PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/scaler ${CMAKE_CURRENT_SOURCE_DIR}/..)
target_compile_definitions(laws_scaler_schedules PRIVATE HALFTONE_SCALER_TRACES="${scaler_support}")
