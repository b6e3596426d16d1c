# SPDX-License-Identifier: MIT
# Flags every target of this repository shares.
include( CheckCCompilerFlag )

# A project's -ffast-math is meant for its own code: here it made the default engine 12 times slower, since a
# comparison with infinity may then be left out, and bodies fall otherwise. Behind the user's flags these win;
# src/core/base/exact.h has the rest.
set( CLEAVE_EXACT_FLAGS -fno-fast-math -fno-unsafe-math-optimizations -fno-associative-math -fno-reciprocal-math
    -fno-finite-math-only -fsigned-zeros
    # a * b + c must round twice everywhere, or the same seed would not give the same bytes
    -ffp-contract=off )
if( CMAKE_C_COMPILER_ID MATCHES "Clang" )
    # Taking back unsafe optimisations turns trapping ones on, and then 1.0f / 60 is divided at run
    # time, in the caller's mode.
    list( APPEND CLEAVE_EXACT_FLAGS -fno-trapping-math )
    # That one flag takes back what another said is the point, and worth no warning; its
    # name has changed over time.
    list( APPEND CLEAVE_EXACT_FLAGS -Wno-unknown-warning-option -Wno-overriding-t-option -Wno-overriding-option )
endif()
# Of -Ofast: a store that the source does not have may overwrite what another worker wrote.
check_c_compiler_flag( -fno-allow-store-data-races CLEAVE_COMPILER_HAS_STORE_DATA_RACES )
if( CLEAVE_COMPILER_HAS_STORE_DATA_RACES )
    list( APPEND CLEAVE_EXACT_FLAGS -fno-allow-store-data-races )
endif()

# Functions and data in sections of their own: a program linked with -Wl,--gc-sections takes
# what it calls and no more.
check_c_compiler_flag( "-ffunction-sections -fdata-sections" CLEAVE_COMPILER_HAS_SECTIONS )

function( cleave_sanitize target )
    if( CLEAVE_SANITIZE )
        target_compile_options( ${target} PRIVATE
            -fsanitize=${CLEAVE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer -g )
        target_link_options( ${target} PUBLIC -fsanitize=${CLEAVE_SANITIZE} )
    endif()
endfunction()

function( cleave_compile_options target )
    if( CMAKE_C_COMPILER_ID MATCHES "GNU|Clang" )
        target_compile_options( ${target} PRIVATE
            -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
            ${CLEAVE_EXACT_FLAGS} )
        if( EMSCRIPTEN )
            # SIMD128, which every browser since 2021 has, through SSE2's names.
            if( NOT CLEAVE_SCALAR_ONLY )
                target_compile_options( ${target} PRIVATE -msimd128 -msse2 )
            endif()
        elseif( CMAKE_SIZEOF_VOID_P EQUAL 4 AND CMAKE_SYSTEM_PROCESSOR MATCHES "86|AMD64" )
            # The old x87 registers keep 80 bits, so that every sum would depend on what
            # the compiler keeps in them.
            target_compile_options( ${target} PRIVATE -msse2 -mfpmath=sse )
        endif()
        if( MINGW )
            # Its isnan and isfinite hand a double to a branch for floats that is never taken, and warn of it.
            target_compile_options( ${target} PRIVATE -Wno-float-conversion )
        endif()
        if( CLEAVE_WERROR )
            target_compile_options( ${target} PRIVATE -Werror )
        endif()
        # Walk whole structures after every step, in debug builds only.
        if( CLEAVE_VALIDATE )
            target_compile_definitions( ${target} PRIVATE $<$<CONFIG:Debug>:CLV_VALIDATE_ENABLED> )
        endif()
        cleave_sanitize( ${target} )
    endif()
endfunction()

# As a folder of a project without a build type the library would be compiled without optimisation and be
# eight times slower, which is never intended where the type was forgotten: it is then compiled as Release, as
# it is on its own. The type is the project's to set, so only our targets change; a level of its own (-O0 to
# step through our code) is left as it is.
get_directory_property( CLEAVE_DIRECTORY_OPTIONS COMPILE_OPTIONS )
set( CLEAVE_WHEN_RELEASE $<CONFIG:Release> )
if( NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND NOT "${CMAKE_C_FLAGS};${CLEAVE_DIRECTORY_OPTIONS}" MATCHES "(^|[ ;])-O" )
    set( CLEAVE_TYPE_IS_FORGOTTEN ON )
    set( CLEAVE_WHEN_RELEASE 1 )
endif()

# Unwind tables are for C++ exceptions, which may not pass through C: docs/use-it.md. Windows
# unwinds by them in C too.
set( CLEAVE_NO_UNWIND_FLAGS "" )
if( CMAKE_C_COMPILER_ID MATCHES "GNU|Clang" AND UNIX AND NOT APPLE AND NOT CLEAVE_SANITIZE )
    set( CLEAVE_NO_UNWIND_FLAGS -fno-asynchronous-unwind-tables -fno-unwind-tables )
endif()

function( cleave_optimise target )
    if( CLEAVE_TYPE_IS_FORGOTTEN )
        separate_arguments( flags UNIX_COMMAND "${CMAKE_C_FLAGS_RELEASE}" )
        target_compile_options( ${target} PRIVATE ${flags} )
        message( STATUS "${target}: CMAKE_BUILD_TYPE is empty, compiled as Release" )
    endif()
    target_compile_options( ${target} PRIVATE "$<${CLEAVE_WHEN_RELEASE}:${CLEAVE_NO_UNWIND_FLAGS}>" )
endfunction()

# In the core gcc's -O3 is for the loops over boxes and pairs, which are in the files that match
# CLEAVE_LOOP_SOURCES: kernels, questions, and those named. Elsewhere it makes the code a third larger and
# saves no instructions (make instructions), so there it is -O2, without padding between jumps; and -Os in the
# files of CLEAVE_ONCE_SOURCES, whose code runs once for a space, a call, a grid or a callback, and in those
# of a world at rest, where it saves 5 kB of 20 and costs 2 % of its instructions. On x86-64 the scalar
# kernels are the reference alone.
# cleave_spare_code( "SOURCES" TARGETS... )
set( CLEAVE_LOOP_SOURCES "core/(simd/kernels_|query/|match/)|/(store_boxes|count|place|margin|batch|take|far_map|space_query|record)\\.c" )
set( CLEAVE_ONCE_SOURCES "core/(base/memory|simd/dispatch|method/(brute|cleave|context|host|registry|settings)|engine/(block_grids|engine|cell_grid|cell_measure|cut|engine_memory|lay|flat|search|axis_scale|plan|slabs)|pair/(decisions|keys)|rest/(loose_grid|loose_plan|marginal|refit|rest_mode|rest_pairs|rest_world)|space/(columns|filter_classes|result|space|update|pair_data|test_box)|task/(gather|runner|scheduler))\\.c" )
if( CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$" )
    set( CLEAVE_ONCE_SOURCES "${CLEAVE_ONCE_SOURCES}|core/simd/kernels_scalar\\.c" )
endif()

function( cleave_spare_code sources )
    if( CMAKE_C_COMPILER_ID STREQUAL "GNU" AND "${CMAKE_C_FLAGS_RELEASE}" MATCHES "-O3" )
        set( alignments functions jumps loops labels )
        list( TRANSFORM alignments PREPEND -fno-align- OUTPUT_VARIABLE unaligned )
        list( TRANSFORM alignments PREPEND -falign- OUTPUT_VARIABLE aligned )
        foreach( target ${ARGN} )
            if( TARGET ${target} )
                target_compile_options( ${target} PRIVATE "$<${CLEAVE_WHEN_RELEASE}:-O2;${unaligned}>" )
            endif()
        endforeach()
        set( loops ${sources} )
        list( FILTER loops INCLUDE REGEX "${CLEAVE_LOOP_SOURCES}" )
        set_source_files_properties( ${loops} PROPERTIES COMPILE_OPTIONS "$<${CLEAVE_WHEN_RELEASE}:-O3;${aligned}>" )
        list( FILTER sources INCLUDE REGEX "${CLEAVE_ONCE_SOURCES}" )
        set_source_files_properties( ${sources} PROPERTIES COMPILE_OPTIONS "$<${CLEAVE_WHEN_RELEASE}:-Os>" )
    endif()
endfunction()
