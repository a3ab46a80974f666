# SPDX-License-Identifier: Apache-2.0
# halftone_add_model(NAME SOURCE spec.hpp [TARGETS cpu sm_80 ...] [ASSUME batch=64 ...] [AOT sm_80 compute_80 ...] [DECODE])
#
# Makes the library NAME from the HALFTONE_MODEL in spec.hpp: its object, and its typed API as <NAME.hpp>. Link it:
#   halftone_add_model(gpt SOURCE gpt.hpp TARGETS cpu sm_80 sm_90a)
#   target_link_libraries(app PRIVATE gpt)
# The road: spec.hpp -> a small program that prints the Description -> NAME.halftone -> halftonec -> NAME.o, NAME.hpp.
# NAME.halftone is written only when it changes, so a new comment in a spec runs no generator (with Ninja).
# TARGETS is cpu unless given. ASSUME: sizes of symbols that GPU kernels are planned for, 256 unless given; any size runs.
# AOT: kernels are compiled for these of the targets when the artifact is made (sm_80: cubins; compute_80: PTX, which later chips
# run too), so that a program starts without NVRTC. This machine needs it then: NVRTC_HOME, the loader's path or CUDA_HOME.
# DECODE: the program that decodes, for a Generator (docs/generation.md), in place of those that train and predict; a second target
# of the same SOURCE.
# A build with a toolchain file for another architecture gets CPU code for that one, CMAKE_SYSTEM_PROCESSOR, and runs the small program
# under CMAKE_CROSSCOMPILING_EMULATOR. Its Halftone has no halftonec that runs here: HALFTONE_HALFTONEC names one that does.
if(HALFTONE_HALFTONEC AND NOT HALFTONE_BUILD_CODEGEN AND NOT TARGET halftone::halftonec)
  add_executable(halftone::halftonec IMPORTED GLOBAL)
  set_target_properties(halftone::halftonec PROPERTIES IMPORTED_LOCATION ${HALFTONE_HALFTONEC})
endif()

# halftone_cpu_architecture(VARIABLE): halftonec's option for what this build is for; empty where that is what halftonec runs on.
function(halftone_cpu_architecture variable)
  set(${variable} "" PARENT_SCOPE)
  if(CMAKE_CROSSCOMPILING)
    set(${variable} --cpu-architecture ${CMAKE_SYSTEM_PROCESSOR} PARENT_SCOPE)
  endif()
endfunction()

function(halftone_add_model name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "DECODE" "SOURCE" "TARGETS;ASSUME;AOT")
  if(NOT name MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
    message(FATAL_ERROR "halftone_add_model: \"${name}\" is no C++ identifier; the model's target and header get this name")
  elseif(NOT arg_SOURCE)
    message(FATAL_ERROR "halftone_add_model(${name}): SOURCE is missing; name the header that has HALFTONE_MODEL(...)")
  elseif(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "halftone_add_model(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}; it takes SOURCE, TARGETS, ASSUME, AOT and DECODE")
  elseif(NOT TARGET halftone::halftonec)
    message(FATAL_ERROR "halftone_add_model(${name}): there is no halftonec; install halftone-generator, configure Halftone with HALFTONE_BUILD_CODEGEN=ON, or name one with HALFTONE_HALFTONEC")
  elseif(CMAKE_CROSSCOMPILING AND NOT CMAKE_CROSSCOMPILING_EMULATOR)
    message(FATAL_ERROR "halftone_add_model(${name}): a program for ${CMAKE_SYSTEM_PROCESSOR} describes the model while this builds, and nothing here runs it; set CMAKE_CROSSCOMPILING_EMULATOR in the toolchain file, to qemu-${CMAKE_SYSTEM_PROCESSOR} say")
  elseif(TARGET ${name})
    message(FATAL_ERROR "halftone_add_model(${name}): there is a target of that name already; choose another")
  endif()
  cmake_path(ABSOLUTE_PATH arg_SOURCE OUTPUT_VARIABLE spec)
  if(NOT EXISTS ${spec})
    message(FATAL_ERROR "halftone_add_model(${name}): there is no ${spec}; SOURCE is relative to ${CMAKE_CURRENT_SOURCE_DIR}")
  endif()
  if(NOT arg_TARGETS)
    set(arg_TARGETS cpu)
  endif()
  list(JOIN arg_TARGETS "," targets)
  list(JOIN arg_ASSUME "," assume)
  if(assume)
    set(assume --assume ${assume})
  endif()
  halftone_cpu_architecture(architecture)
  set(decode "")
  if(arg_DECODE)
    set(decode --decode)
  endif()
  set(aot "")
  set(kernel_compiler "")
  if(arg_AOT)
    list(JOIN arg_AOT "," aot)
    set(aot --aot ${aot})
    if(TARGET halftone)  # otherwise it is installed beside halftonec
      list(APPEND aot --kernel-compiler $<TARGET_FILE:halftone>)
      set(kernel_compiler halftone)
    endif()
  endif()

  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${name}.model)
  set(description ${folder}/${name}.halftone)
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/describe.cpp.in ${folder}/describe.cpp @ONLY)
  add_executable(${name}_describe EXCLUDE_FROM_ALL ${folder}/describe.cpp)
  target_link_libraries(${name}_describe PRIVATE halftone::dsl halftone::description)
  target_compile_options(${name}_describe PRIVATE -O0)  # it runs once, for milliseconds
  add_custom_command(OUTPUT ${folder}/described BYPRODUCTS ${description}
    COMMAND ${name}_describe ${description}
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/described
    DEPENDS ${name}_describe COMMENT "Describing model ${name}" VERBATIM)

  set(object ${folder}/${name}${CMAKE_CXX_OUTPUT_EXTENSION})
  set(header ${folder}/include/${name}.hpp)
  # Ninja sees that an output did not change. Make knows no rule for a byproduct, so there the stamp stands for the
  # description, and an object that halftonec left as it was must look new.
  if(CMAKE_GENERATOR MATCHES "Ninja")
    set(described ${description})
    set(touch_object "")
  else()
    set(described ${folder}/described)
    set(touch_object COMMAND ${CMAKE_COMMAND} -E touch_nocreate ${object})
  endif()
  file(MAKE_DIRECTORY ${folder}/include)
  add_custom_command(OUTPUT ${object} ${header}
    COMMAND halftone::halftonec ${description} --object ${object} --header ${header} --cuda-text ${folder}/cuda
            --targets ${targets} ${assume} ${aot} ${decode} ${architecture}
    ${touch_object}
    DEPENDS ${described} halftone::halftonec ${kernel_compiler} COMMENT "Generating kernels of model ${name} for ${targets}" VERBATIM)

  add_library(${name} STATIC ${object} ${header} ${folder}/described)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE CXX)
  set_source_files_properties(${object} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
  target_include_directories(${name} INTERFACE ${folder}/include)
  target_link_libraries(${name} INTERFACE halftone::runtime)
endfunction()
