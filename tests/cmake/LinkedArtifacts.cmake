# SPDX-License-Identifier: Apache-2.0
# halftone_add_test_artifact(NAME FILE [HALFTONEC_OPTION...] [TABLE variable] [ROW row] [REPLACE old new]): the model of
# that file, by this name and with that replaced in its text, compiled. Its object is appended to `objects`, its declaration to
# `declarations`, and a row (NAME) to the variable (`entries`): what tests/laws/artifacts.hpp.in makes a header of.
# HALFTONE_HALFTONEC_RUNS is the halftonec that HALFTONE_HALFTONEC runs, where that is a script (tests/sanitize).
# A model as it stands, without an option, is compiled once for all folders: for the CPU and every chip, with launches alike.
function(halftone_add_test_artifact name file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "TABLE;ROW" "REPLACE")
  cmake_path(NORMAL_PATH file) # one spelling of each, as ninja wants it
  cmake_path(GET file STEM stem)
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  if(arg_REPLACE OR NOT name STREQUAL stem)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(REPLACE "model \"${stem}\"" "model \"${name}\"" text "${text}")
    if(arg_REPLACE)
      list(POP_FRONT arg_REPLACE old)
      string(REPLACE "${old}" "${arg_REPLACE}" text "${text}")
    endif()
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}.halftone)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
  elseif(NOT arg_UNPARSED_ARGUMENTS)
    list(JOIN halftone_chips "," chips)
    set(arg_UNPARSED_ARGUMENTS --targets cpu,${chips} --alike)
    set(object ${PROJECT_BINARY_DIR}/tests/artifacts/${name}.o)
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/tests/artifacts)
  endif()
  get_property(known GLOBAL PROPERTY halftone_test_artifacts)
  if(NOT object IN_LIST known)
    set_property(GLOBAL APPEND PROPERTY halftone_test_artifacts ${object})
    halftone_cpu_architecture(architecture)
    add_custom_command(OUTPUT ${object}
      COMMAND halftone::halftonec ${file} --object ${object} ${architecture} ${arg_UNPARSED_ARGUMENTS}
      DEPENDS halftone::halftonec ${HALFTONE_HALFTONEC_RUNS} ${file} VERBATIM)
  endif()
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  if(NOT arg_ROW)
    set(arg_ROW ${name})
  endif()
  if(NOT arg_TABLE)
    set(arg_TABLE entries)
  endif()
  set(objects ${objects} ${object} PARENT_SCOPE)
  set(declarations "${declarations}extern \"C\" const halftone::manifest::ArtifactImage halftone_artifact_${name};\n" PARENT_SCOPE)
  set(${arg_TABLE} "${${arg_TABLE}}    {\"${arg_ROW}\", &halftone_artifact_${name}},\n" PARENT_SCOPE)
endfunction()
