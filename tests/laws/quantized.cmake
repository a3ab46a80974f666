# SPDX-License-Identifier: Apache-2.0
# Weights that predictors hold as codes: a model of all ways in which weights are read, in either element, with scales by the maximum and
# by the least error, under formats of activations, and unfused; and models of many layers.
set(declarations "")
set(entries "")
set(objects "")
set(quantized ${CMAKE_CURRENT_SOURCE_DIR}/quantized.halftone)
set(options --targets cpu --variants ${tested_variant} --without-diagnosis)
set(more "\ninline constexpr LinkedArtifact kPredictedArtifacts[] = {\n")
halftone_add_test_artifact(quantized_i8 ${quantized} --targets cpu TABLE more ROW i8)
halftone_add_test_artifact(quantized_i8_unfused ${quantized} ${options} --unfused TABLE more ROW i8_unfused)
halftone_add_test_artifact(quantized_f8 ${quantized} --targets cpu --variants ${tested_variant} TABLE more ROW f8 REPLACE "store f32 compute f32\nrule where role weight : quantize i8"
  "store bf16 compute bf16\nrule where role weight : quantize f8e4m3 least_error")
halftone_add_test_artifact(quantized_some ${quantized} --targets cpu --variants ${tested_variant} TABLE more ROW some REPLACE "compute f32\nrule where role weight : quantize i8"
  "compute f16\nrule where role master : master bf16 remainder\nrule where role weight except layer \"head\" : quantize i8 least_error\nrule where layer \"embed\" role weight : quantize f32\nrule where layer \"stem\" role weight : quantize f8e4m3")
foreach(name autoencoder_bf16 decoder every_layer windows_bf16)
  halftone_add_test_artifact(${name}_quantized ${test_models}/${name}.halftone --targets cpu --variants ${tested_variant} TABLE more ROW ${name} REPLACE "optimizer"
    "rule where role weight : quantize i8\noptimizer")
endforeach()
halftone_add_test_artifact(quantized_halves ${quantized} --targets cpu --variants ${tested_variant} TABLE more ROW halves REPLACE "compute f32\nrule where role weight : quantize i8"
  "compute f32\nrule where role master : master bf16 remainder")
string(APPEND more "};\n")
set(entries "    {\"\", nullptr},\n")
configure_file(artifacts.hpp.in quantized/artifacts.hpp @ONLY)
halftone_add_test(laws_quantized OPTIMIZED SOURCES main.cpp quantized.cpp calibrated.cpp ${objects} LINK halftone::runtime halftone::manifest halftone::reference)
target_include_directories(laws_quantized PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/quantized ${CMAKE_CURRENT_SOURCE_DIR}/.. ${PROJECT_SOURCE_DIR}/dsl/reference)
