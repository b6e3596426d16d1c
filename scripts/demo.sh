#!/bin/sh
# SPDX-License-Identifier: MIT
# The main job in a minute: bake a scene, check every method against brute force, then race them.
set -eu
cleave=${1:-build/cleave}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM

echo "== a scene: 8000 spinning cubes that fly about and change course, 60 frames"
"$cleave" gen brownian-free -n 8k --frames 60 -o "$folder/demo.aabbs"
"$cleave" info "$folder/demo.aabbs"
echo
echo "== every method and instruction set against brute force, frame by frame"
"$cleave" verify "$folder/demo.aabbs" --frames 10
echo
echo "== the race: same boxes, same pairs, milliseconds per frame"
"$cleave" bench "$folder/demo.aabbs"
