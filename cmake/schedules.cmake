# SPDX-License-Identifier: MIT
# Turns schedules into a C file: cmake -DOUTPUT=FILE -DINPUTS=A;B;… -P schedules.cmake. Bytes, not string
# literals, which ISO C allows no longer than 4095 characters.
set( source "// Made from lab/schedules by cmake/schedules.cmake.\n#include \"lab/run/schedule_texts.h\"\n\n" )
set( rows "" )
set( count 0 )
foreach( input IN LISTS INPUTS )
    get_filename_component( name ${input} NAME_WE )
    file( READ ${input} bytes HEX )
    string( REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}" )
    string( APPEND source "static const char text_${count}[] = { ${bytes}'\\0' };\n" )
    string( APPEND rows "    { \"${name}\", text_${count} },\n" )
    math( EXPR count "${count} + 1" )
endforeach()
string( APPEND source "\nconst schedule_text schedule_texts[] = {\n${rows}};\n"
    "const uint32_t schedule_text_count = ${count};\n" )
file( WRITE ${OUTPUT} "${source}" )
