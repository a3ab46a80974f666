# SPDX-License-Identifier: Apache-2.0
# Every public header compiles alone, with its own target's include path and nothing else; by building, not by a test run.
# Order: a header is included twice, so that a missing guard shows too.
foreach(target halftone_encoding halftone_description halftone_dsl halftone_reference halftone_manifest halftone_runtime)
  get_target_property(headers ${target} HEADER_SET)
  get_target_property(folders ${target} HEADER_DIRS)
  set(sources "")
  foreach(header ${headers})
    foreach(folder ${folders})
      cmake_path(IS_PREFIX folder ${header} inside)
      if(inside)
        cmake_path(RELATIVE_PATH header BASE_DIRECTORY ${folder} OUTPUT_VARIABLE spelled)
      endif()
    endforeach()
    string(MAKE_C_IDENTIFIER ${spelled} name)
    set(source ${CMAKE_CURRENT_BINARY_DIR}/${target}/${name}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"@spelled@\"\n#include \"@spelled@\"\n" @ONLY)
    list(APPEND sources ${source})
  endforeach()
  add_library(${target}_headers_alone OBJECT ${sources})
  target_link_libraries(${target}_headers_alone PRIVATE ${target} halftone_flags)
endforeach()
# Of records.hpp; that no other needs it is a law of check_dependencies.
target_include_directories(halftone_runtime_headers_alone SYSTEM PRIVATE ${HALFTONE_BOOST_INCLUDE_DIR})
