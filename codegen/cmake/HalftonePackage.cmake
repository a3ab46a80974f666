# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` puts where, in three components, each with the CMake file of what it brings, so that find_package(Halftone)
# gives what is installed (docs/packaging.md):
#   development   headers, static libraries, halftone_add_model, pkg-config files
#   runtime       the tool `halftone` and the simulator
#   generator     halftonec
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(folder ${CMAKE_INSTALL_LIBDIR}/cmake/Halftone)

install(TARGETS halftone_encoding halftone_description halftone_dsl halftone_manifest halftone_runtime EXPORT HalftoneTargets
  ARCHIVE COMPONENT development FILE_SET HEADERS COMPONENT development)
install(EXPORT HalftoneTargets NAMESPACE halftone:: DESTINATION ${folder} COMPONENT development)
set(pkgconfig halftone halftone-dsl)
if(TARGET halftone_tokens)  # apart, since whoever links it needs ICU, too
  install(TARGETS halftone_tokens EXPORT HalftoneTokensTargets ARCHIVE COMPONENT development FILE_SET HEADERS COMPONENT development)
  install(EXPORT HalftoneTokensTargets NAMESPACE halftone:: DESTINATION ${folder} COMPONENT development)
  list(APPEND pkgconfig halftone-tokens)
endif()
# In a folder of its own, which programs may search without finding anything else there.
install(TARGETS halftone_simulator EXPORT HalftoneSimulatorTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/halftone COMPONENT runtime)
install(EXPORT HalftoneSimulatorTargets NAMESPACE halftone:: DESTINATION ${folder} COMPONENT runtime)
set_target_properties(halftone PROPERTIES INSTALL_RPATH $ORIGIN/../${CMAKE_INSTALL_LIBDIR}/halftone)
install(TARGETS halftone RUNTIME COMPONENT runtime)
if(HALFTONE_BUILD_CODEGEN)
  # libMLIR lies in LLVM's own folder, which is not on the loader's path.
  set_target_properties(halftonec PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
  install(TARGETS halftonec EXPORT HalftoneGeneratorTargets RUNTIME COMPONENT generator)
  install(EXPORT HalftoneGeneratorTargets NAMESPACE halftone:: DESTINATION ${folder} COMPONENT generator)
endif()

configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/HalftoneConfig.cmake.in
  ${PROJECT_BINARY_DIR}/HalftoneConfig.cmake INSTALL_DESTINATION ${folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/HalftoneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/HalftoneConfig.cmake ${PROJECT_BINARY_DIR}/HalftoneConfigVersion.cmake
  ${CMAKE_CURRENT_LIST_DIR}/HalftoneAddModel.cmake ${CMAKE_CURRENT_LIST_DIR}/describe.cpp.in
  ${PROJECT_SOURCE_DIR}/runtime/manifest/HalftoneZstd.cmake DESTINATION ${folder} COMPONENT development)

# pkg-config says where it lies by where its file does, so that the package may move.
set(pkgconfig_folder ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH prefix_of_pkgconfig /prefix/${pkgconfig_folder} /prefix)
string(REGEX REPLACE "/$" "" prefix_of_pkgconfig ${prefix_of_pkgconfig})
foreach(name IN LISTS pkgconfig)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/${name}.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc DESTINATION ${pkgconfig_folder} COMPONENT development)
endforeach()
include(${CMAKE_CURRENT_LIST_DIR}/HalftoneDebian.cmake)
