# SPDX-License-Identifier: MIT
# What `make install` puts where: headers, libraries, the programs, docs with the licence, and two ways to
# find them (find_package, pkg-config). Both find each other relative to themselves, so the tree may be
# moved, or staged with DESTDIR.
include( GNUInstallDirs )
include( CMakePackageConfigHelpers )

set( CLEAVE_INSTALL_TARGETS cleave_static cleave_methods_static cleave_physics_static cleave_gpu_static )
if( CLEAVE_SHARED )
    list( APPEND CLEAVE_INSTALL_TARGETS cleave_shared cleave_methods_shared cleave_physics_shared cleave_gpu_shared )
    # Installed side by side: the others find the core where they lie.
    if( UNIX AND NOT APPLE )
        set_target_properties( cleave_methods_shared cleave_physics_shared cleave_gpu_shared PROPERTIES INSTALL_RPATH "$ORIGIN" )
    endif()
endif()
if( TARGET cleave_mpi_static )
    list( APPEND CLEAVE_INSTALL_TARGETS cleave_mpi_static )
    install( FILES include/cleave/mpi.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cleave )
    if( CLEAVE_SHARED )
        list( APPEND CLEAVE_INSTALL_TARGETS cleave_mpi_shared )
        if( UNIX AND NOT APPLE )
            set_target_properties( cleave_mpi_shared PROPERTIES INSTALL_RPATH "$ORIGIN" )
        endif()
    endif()
endif()
install( TARGETS ${CLEAVE_INSTALL_TARGETS} EXPORT cleave-targets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
    RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} )
install( FILES ${CLEAVE_HEADERS} ${CLEAVE_CPP_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/cleave )
foreach( program cleave cleave-mpi )
    if( TARGET ${program} )
        list( APPEND CLEAVE_INSTALL_TARGETS ${program} )
        install( TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} )
    endif()
endforeach()
# Builds what is installed and nothing else: `make install`.
add_custom_target( installed DEPENDS ${CLEAVE_INSTALL_TARGETS} )
install( CODE "set( CLEAVE_DOCS_FROM \"${PROJECT_SOURCE_DIR}\" )
set( CLEAVE_DOCS_WORK \"${PROJECT_BINARY_DIR}/docs\" )
set( CLEAVE_DOCS_TO \"${CMAKE_INSTALL_DOCDIR}\" )" )
install( SCRIPT cmake/install_docs.cmake )

set( CLEAVE_PACKAGE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/cleave )
install( EXPORT cleave-targets NAMESPACE cleave:: DESTINATION ${CLEAVE_PACKAGE_DIR} )
configure_package_config_file( cmake/cleave-config.cmake.in ${PROJECT_BINARY_DIR}/cleave-config.cmake
    INSTALL_DESTINATION ${CLEAVE_PACKAGE_DIR} )
# Until 1.0 every minor version may break what was built against the last one; docs/use-it.md.
write_basic_package_version_file( ${PROJECT_BINARY_DIR}/cleave-config-version.cmake COMPATIBILITY SameMinorVersion )
install( FILES ${PROJECT_BINARY_DIR}/cleave-config.cmake ${PROJECT_BINARY_DIR}/cleave-config-version.cmake
    DESTINATION ${CLEAVE_PACKAGE_DIR} )

file( RELATIVE_PATH CLEAVE_PC_UP ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX} )
string( REGEX REPLACE "/$" "" CLEAVE_PC_UP "${CLEAVE_PC_UP}" )
set( CLEAVE_PC_SYSTEM "-pthread" )
if( UNIX )
    string( PREPEND CLEAVE_PC_SYSTEM "-lm " )
endif()
set( CLEAVE_PC_LOADER "" )
if( CMAKE_DL_LIBS ) # old C libraries keep dlopen apart
    set( CLEAVE_PC_LOADER "-l${CMAKE_DL_LIBS}" )
endif()
set( CLEAVE_PC_CUTTER "" )
if( CLEAVE_HAS_ZOLTAN )
    set( CLEAVE_PC_CUTTER "${CLEAVE_ZOLTAN_LIBRARY}" )
endif()
# cleave_pkg_config( NAME DESCRIPTION NEEDS ): NEEDS are other people's libraries, beside those
# that come with the core.
function( cleave_pkg_config CLEAVE_PC_NAME CLEAVE_PC_DESCRIPTION CLEAVE_PC_NEEDS )
    set( CLEAVE_PC_REQUIRES "" )
    if( NOT CLEAVE_PC_NAME STREQUAL cleave )
        set( CLEAVE_PC_REQUIRES "cleave = ${PROJECT_VERSION}" )
    endif()
    set( CLEAVE_PC_LIBS "" )
    set( CLEAVE_PC_LIBS_PRIVATE "" )
    if( CLEAVE_SHARED ) # the shared library brings along what it needs, the static one cannot
        set( CLEAVE_PC_LIBS_PRIVATE "${CLEAVE_PC_NEEDS}" )
    elseif( CLEAVE_PC_NEEDS )
        set( CLEAVE_PC_LIBS " ${CLEAVE_PC_NEEDS}" )
    endif()
    configure_file( cmake/cleave.pc.in ${PROJECT_BINARY_DIR}/${CLEAVE_PC_NAME}.pc @ONLY )
    install( FILES ${PROJECT_BINARY_DIR}/${CLEAVE_PC_NAME}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig )
endfunction()

cleave_pkg_config( cleave "Broad-phase collision detection: boxes in, every overlapping pair out" "${CLEAVE_PC_SYSTEM}" )
cleave_pkg_config( cleave-methods "Algorithms of the papers behind Cleave's interface, by name" "" )
cleave_pkg_config( cleave-physics "Narrow phase, bounding volumes and two small simulations on top of Cleave" "" )
cleave_pkg_config( cleave-gpu "Broad phases on graphics cards by OpenCL, behind Cleave's interface and on their own"
    "${CLEAVE_PC_LOADER}" )
if( TARGET cleave_mpi_static )
    cleave_pkg_config( cleave-mpi "One space over many processes, by MPI; compile with mpicc" "${CLEAVE_PC_CUTTER}" )
endif()

# ---- man pages and completion, made at build time (lab/CMakeLists.txt); there are none where the program was
# built for another machine.
if( TARGET cleave_share )
    install( DIRECTORY ${PROJECT_BINARY_DIR}/share/man/man1 DESTINATION ${CMAKE_INSTALL_MANDIR} OPTIONAL )
    install( DIRECTORY ${PROJECT_BINARY_DIR}/share/bash-completion ${PROJECT_BINARY_DIR}/share/zsh
        ${PROJECT_BINARY_DIR}/share/fish DESTINATION ${CMAKE_INSTALL_DATADIR} OPTIONAL )
endif()
