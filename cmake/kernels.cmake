# SPDX-License-Identifier: MIT
# Kernels as C arrays: cmake -DOUTPUT=FILE -DINPUTS=A;B;… -P kernels.cmake gives `static const char
# kernel_text_NAME[]` for each, to be included. Bytes, not string literals, which ISO C allows no
# longer than 4095 characters.
set( source "// Made from src/gpu/kernels and src/core/solid by cmake/kernels.cmake.\n" )
string( REPEAT "'....'," 20 line )
foreach( input IN LISTS INPUTS )
    get_filename_component( name ${input} NAME_WE )
    file( READ ${input} bytes HEX )
    string( REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}" )
    string( REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}" )
    string( APPEND source "static const char kernel_text_${name}[] = {\n${bytes}'\\0' };\n" )
endforeach()
file( WRITE ${OUTPUT} "${source}" )
