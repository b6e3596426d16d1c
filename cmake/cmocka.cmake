# SPDX-License-Identifier: MIT
# What tests need from outside.

# cleave_absent_test( PACKAGE NAME... ): tests that need that Debian package, which is missing:
# ctest lists them as skipped.
function( cleave_absent_test package )
    foreach( name ${ARGN} )
        add_test( NAME ${name} COMMAND ${CMAKE_COMMAND} -E echo "SKIPPED: ${package} is not installed" )
        set_tests_properties( ${name} PROPERTIES LABELS unit SKIP_REGULAR_EXPRESSION "SKIPPED: " )
    endforeach()
endfunction()

# What the tests are written with. Turns CLEAVE_TESTS=AUTO into OFF where it is missing; ON without it is an
# error.
if( CLEAVE_IS_ROOT )
    enable_testing() # without tests too, or ctest would go on running those of the last time
endif()
if( CLEAVE_TESTS )
    find_path( CMOCKA_INCLUDE cmocka.h )
    find_library( CMOCKA_LIBRARY NAMES cmocka )
    if( NOT CMOCKA_INCLUDE OR NOT CMOCKA_LIBRARY )
        if( CLEAVE_TESTS STREQUAL "AUTO" )
            message( STATUS "cmocka not found (Debian: libcmocka-dev): the tests are left out" )
            set( CLEAVE_TESTS OFF )
        else()
            message( FATAL_ERROR "The tests need cmocka 1.1 or later (Debian: libcmocka-dev). "
                "Install it, point CMAKE_PREFIX_PATH at it, or configure with -DCLEAVE_TESTS=OFF." )
        endif()
    endif()
endif()
