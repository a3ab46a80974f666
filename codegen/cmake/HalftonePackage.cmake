# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, so that find_package(Halftone) gives halftone::{dsl,description,encoding,manifest,runtime,
# simulator}, halftone::halftonec and halftone_add_model, and with COMPONENTS tokens also halftone::tokens.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/Halftone)

install(TARGETS halftone_encoding halftone_description halftone_dsl halftone_manifest halftone_runtime EXPORT HalftoneTargets FILE_SET HEADERS)
if(TARGET halftone_tokens)  # apart, since whoever links it needs ICU, too
  install(TARGETS halftone_tokens EXPORT HalftoneTokensTargets FILE_SET HEADERS)
  install(EXPORT HalftoneTokensTargets NAMESPACE halftone:: DESTINATION ${folder})
endif()
# In a folder of its own, which programs may search without finding anything else there.
install(TARGETS halftone_simulator EXPORT HalftoneTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/halftone)
set_target_properties(halftone PROPERTIES INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR}/halftone)
install(TARGETS halftone)
if(HALFTONE_BUILD_CODEGEN)
  # libMLIR lies in LLVM's own folder, which is not on the loader's path.
  set_target_properties(halftonec PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS halftonec EXPORT HalftoneTargets)
endif()
install(EXPORT HalftoneTargets NAMESPACE halftone:: DESTINATION ${folder})

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/HalftoneConfig.cmake.in
  ${PROJECT_BINARY_DIR}/HalftoneConfig.cmake INSTALL_DESTINATION ${folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/HalftoneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/HalftoneConfig.cmake ${PROJECT_BINARY_DIR}/HalftoneConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/HalftoneAddModel.cmake ${CMAKE_CURRENT_LIST_DIR}/describe.cpp.in
  ${PROJECT_SOURCE_DIR}/runtime/manifest/HalftoneZstd.cmake DESTINATION ${folder})
