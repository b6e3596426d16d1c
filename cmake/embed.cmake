# SPDX-License-Identifier: MIT
# A file as a C array with a zero behind it: cmake -DFROM=page.html -DTO=report_page.c
# -DNAME=report_page -P embed.cmake
file( READ "${FROM}" bytes HEX )
string( REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}" )
# Lines of 32 bytes: some compilers refuse a line of a megabyte.
string( REPEAT "0x..," 32 line )
string( REGEX REPLACE "(${line})" "\\1\n" bytes "${bytes}" )
file( WRITE "${TO}" "// Made from a file by cmake/embed.cmake.\n#include <stddef.h>\n"
    "extern const unsigned char ${NAME}[];\nextern const size_t ${NAME}_size;\n"
    "const unsigned char ${NAME}[] = {\n${bytes}0x00 };\nconst size_t ${NAME}_size = sizeof( ${NAME} ) - 1;\n" )
