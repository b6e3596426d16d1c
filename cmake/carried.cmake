# SPDX-License-Identifier: MIT
# Files as one C file, for carried_find of lab/base/text.h: cmake -DROOT=FOLDER "-DINPUTS=A;B;…" -DOUTPUT=FILE
# -P carried.cmake. Bytes, not string literals, which ISO C allows no longer than 4095 characters.
set( source "// Made by cmake/carried.cmake.\n#include \"lab/base/text.h\"\n\n" )
set( rows "" )
set( count 0 )
string( REPEAT "0x..," 32 line )
foreach( input IN LISTS INPUTS )
    file( READ "${ROOT}/${input}" bytes HEX )
    string( REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}" )
    # Lines of 32 bytes: some compilers refuse a line of a megabyte.
    string( REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}" )
    string( APPEND source "static const unsigned char bytes_${count}[] = {\n${bytes}0x00 };\n" )
    get_filename_component( word "${input}" NAME_WE )
    string( APPEND rows "    { \"${input}\", \"${word}\", (const char*)bytes_${count}, sizeof( bytes_${count} ) - 1 },\n" )
    math( EXPR count "${count} + 1" )
endforeach()
file( WRITE "${OUTPUT}" "${source}\nconst carried_file carried_files[] = {\n${rows}    { NULL, NULL, NULL, 0 } };\n" )
