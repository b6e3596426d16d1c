# SPDX-License-Identifier: MIT
# Flags every target of this repository shares.

function( cleave_compile_options target )
    if( CMAKE_C_COMPILER_ID MATCHES "GNU|Clang" )
        target_compile_options( ${target} PRIVATE
            -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
            # a * b + c must round twice everywhere, or the same seed would not give the same bytes
            -ffp-contract=off )
        if( CLEAVE_WERROR )
            target_compile_options( ${target} PRIVATE -Werror )
        endif()
        # Walk whole structures after every step, in debug builds only.
        target_compile_definitions( ${target} PRIVATE $<$<CONFIG:Debug>:CLV_VALIDATE_ENABLED> )
        if( CLEAVE_SANITIZE )
            target_compile_options( ${target} PRIVATE
                -fsanitize=${CLEAVE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g )
            target_link_options( ${target} PUBLIC -fsanitize=${CLEAVE_SANITIZE} )
        endif()
    endif()
endfunction()
