# SPDX-License-Identifier: MIT
# Flags every target of this repository shares.

function( cleave_compile_options target )
    if( CMAKE_C_COMPILER_ID MATCHES "GNU|Clang" )
        target_compile_options( ${target} PRIVATE
            -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
            # a * b + c must round twice everywhere, or the same seed would not give the same bytes
            -ffp-contract=off )
        if( CMAKE_SIZEOF_VOID_P EQUAL 4 AND CMAKE_SYSTEM_PROCESSOR MATCHES "86|AMD64" )
            # The old x87 registers keep 80 bits, so that every sum would depend on what the compiler keeps in them.
            target_compile_options( ${target} PRIVATE -msse2 -mfpmath=sse )
        endif()
        if( CLEAVE_WERROR )
            target_compile_options( ${target} PRIVATE -Werror )
        endif()
        # Walk whole structures after every step, in debug builds only.
        if( CLEAVE_VALIDATE )
            target_compile_definitions( ${target} PRIVATE $<$<CONFIG:Debug>:CLV_VALIDATE_ENABLED> )
        endif()
        if( CLEAVE_SANITIZE )
            target_compile_options( ${target} PRIVATE
                -fsanitize=${CLEAVE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g )
            target_link_options( ${target} PUBLIC -fsanitize=${CLEAVE_SANITIZE} )
        endif()
    endif()
endfunction()
