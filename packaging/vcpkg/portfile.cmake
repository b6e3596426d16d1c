# SPDX-License-Identifier: MIT
# Not tested: vcpkg needs a network, which the tests do not have. An overlay port:
#   vcpkg install cleave --overlay-ports=packaging/vcpkg
# The port builds the repository that it lies in; in a registry, vcpkg_from_github takes its place.
get_filename_component( SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE )

# One kind of library in one install, as vcpkg has it.
string( COMPARE EQUAL "${VCPKG_LIBRARY_LINKAGE}" dynamic CLEAVE_SHARED )
vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS -DCLEAVE_LAB=OFF -DCLEAVE_TESTS=OFF -DCLEAVE_FUZZ=OFF -DCLEAVE_PEERS=OFF -DCLEAVE_MPI=OFF -DCLEAVE_INSTALL=ON
        -DCLEAVE_SHARED=${CLEAVE_SHARED} )
vcpkg_cmake_install()
vcpkg_cmake_config_fixup( PACKAGE_NAME cleave CONFIG_PATH lib/cmake/cleave )
vcpkg_fixup_pkgconfig()
file( REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share" "${CURRENT_PACKAGES_DIR}/share/doc" )
vcpkg_install_copyright( FILE_LIST "${SOURCE_PATH}/LICENSE" )
