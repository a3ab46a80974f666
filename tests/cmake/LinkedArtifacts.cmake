# SPDX-License-Identifier: Apache-2.0
# halftone_add_test_artifact(NAME FILE HALFTONEC_OPTION... [TABLE variable] [ROW row] [REPLACE old new]): the model of that
# file, by this name and with that replaced in its text, compiled. Its object is appended to `objects`, its declaration to
# `declarations`, and a row (NAME) to the variable (`entries`): what tests/laws/artifacts.hpp.in makes a header of.
function(halftone_add_test_artifact name file)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "TABLE;ROW" "REPLACE")
  cmake_path(NORMAL_PATH file) # one spelling of each, as ninja wants it
  cmake_path(GET file STEM stem)
  if(arg_REPLACE OR NOT name STREQUAL stem)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} text)
    string(REPLACE "model \"${stem}\"" "model \"${name}\"" text "${text}")
    if(arg_REPLACE)
      string(REPLACE ${arg_REPLACE} text "${text}")
    endif()
    set(file ${CMAKE_CURRENT_BINARY_DIR}/${name}.halftone)
    file(CONFIGURE OUTPUT ${file} CONTENT "${text}" @ONLY)
  endif()
  set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.o)
  add_custom_command(OUTPUT ${object} COMMAND halftonec ${file} --object ${object} ${arg_UNPARSED_ARGUMENTS}
    DEPENDS halftonec ${file} VERBATIM)
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
