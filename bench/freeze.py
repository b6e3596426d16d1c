#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Hold a share of a scene's objects still: as they are in frame 0, to the bit.

usage: bench/freeze.py SCENE.aabbs PERMILLE OUT.aabbs

Which ones rest does not depend on where they are: object i does if i * 2654435761 mod 2^32 falls below the share. bench/kd.md
uses it to see from which share of resting objects on it pays to remember pairs.
"""
import struct
import sys

HEADER = 304
RECORD = 32


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    with open(sys.argv[1], "rb") as scene:
        data = bytearray(scene.read())
    count, frames = struct.unpack_from("<ii", data, 256)
    if len(data) != HEADER + RECORD * count * (frames + 1):
        sys.exit(f"freeze.py: {sys.argv[1]} is no .aabbs file of {count} objects and 1 + {frames} frames")
    limit = int(sys.argv[2]) * 2**32 // 1000
    size = RECORD * count
    for i in range(count):
        if i * 2654435761 % 2**32 < limit:
            at = HEADER + RECORD * i
            still = data[at : at + RECORD]
            for frame in range(1, frames + 1):
                data[at + size * frame : at + size * frame + RECORD] = still
    with open(sys.argv[3], "wb") as out:
        out.write(data)


main()
