# SPDX-License-Identifier: Apache-2.0
# Models of bf16 with AMX, the processor's or emulated; some of them once more in order (P21).
set(declarations "")
set(entries "")
set(more "\ninline constexpr LinkedArtifact kOrderedArtifacts[] = {\n")
set(objects "")
foreach(name digits_bf16 matmul_bf16 mixed_rules bf16_matmul_then_add embedding_bf16 every_layer unet_bf16 windows_bf16)
  halftone_add_test_artifact(${name} ${test_models}/${name}.halftone)
endforeach()
foreach(name digits_bf16 mixed_rules long_convolution_products)
  halftone_add_test_artifact(${name}_ordered ${test_models}/${name}.halftone --targets cpu --without-diagnosis TABLE more ROW ${name}
    REPLACE "optimizer" "rule everywhere : accumulate ordered\noptimizer")
endforeach()
string(APPEND more "};\n")
configure_file(artifacts.hpp.in tiles/artifacts.hpp @ONLY)
halftone_add_amx_test(laws_with_amx SOURCES packed.cpp tiles.cpp threads.cpp ${objects} LINK halftone::manifest halftone::reference)
target_include_directories(laws_with_amx PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/tiles ${CMAKE_CURRENT_SOURCE_DIR}/..)
target_compile_definitions(laws_with_amx PRIVATE HALFTONE_TESTED_VARIANT="x86-64-v4-amx")
