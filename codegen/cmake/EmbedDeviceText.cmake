# SPDX-License-Identifier: Apache-2.0
# cmake -D OUTPUT=file.inc -D ROOT=folder -P EmbedDeviceText.cmake -- NAME...: every file ROOT/NAME as {"NAME", R"(text)"},
set(entries "")
set(names_begin FALSE)
foreach(index RANGE ${CMAKE_ARGC})
  set(argument "${CMAKE_ARGV${index}}")
  if(names_begin AND argument)
    file(READ ${ROOT}/${argument} text)
    string(APPEND entries "{\"${argument}\", R\"device(${text})device\"},\n")
  elseif(argument STREQUAL "--")
    set(names_begin TRUE)
  endif()
endforeach()
file(WRITE ${OUTPUT} "${entries}")
