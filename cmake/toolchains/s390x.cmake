# SPDX-License-Identifier: MIT
# 64-bit and big-endian. Debian: gcc-s390x-linux-gnu, libc6-dev-s390x-cross, qemu-user
set( CMAKE_SYSTEM_NAME Linux )
set( CMAKE_SYSTEM_PROCESSOR s390x )
set( CMAKE_C_COMPILER s390x-linux-gnu-gcc )
set( CMAKE_CXX_COMPILER s390x-linux-gnu-g++ )
set( CMAKE_FIND_ROOT_PATH /usr/s390x-linux-gnu )
set( CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER )
set( CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY )
set( CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY )
set( CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY )
set( CMAKE_CROSSCOMPILING_EMULATOR qemu-s390x -L /usr/s390x-linux-gnu )
