#!/bin/sh
# SPDX-License-Identifier: MIT
# The six towers of the k-DOP paper on a device: scripts/device-towers.sh PROGRAM DEVICE FOLDER [FRAMES] writes into FOLDER one CSV per
# tower as `cleave sim tower` has it, towers.csv (a row per tower: tables 5.1 to 5.3 and the stages) and stages.csv (means of each 100
# frames: figures 5.6 to 5.23), and machine.txt, which names the device and the day. DEVICE "-": the CPU. A tower whose CSV is there
# already is not run again. The pages of the papers draw from these (scripts/papers/runs.mjs).
set -eu
usage='usage: device-towers.sh PROGRAM DEVICE FOLDER [FRAMES]'
program=${1:?$usage}
device=${2:?$usage}
folder=${3:?$usage}
frames=${4:-7000}
mkdir -p "$folder"
if [ "$device" != - ] && [ ! -s "$folder/machine.txt" ]; then
    name=$("$program" methods --json | awk -F'"' -v wanted="$device" '
        /"devices"/ { is_on = 1; count = -1 }
        is_on && $2 == "name" { name = $4; ++count }
        is_on && $2 == "driver" && (wanted == count "" || index(tolower(name), tolower(wanted))) { print name ", driver " $4; exit }')
    # One that is not there must not be in the file of the run after this one.
    [ -n "$name" ] || { echo "device-towers.sh: no device is called '$device'; \`cleave methods\` lists them" >&2; exit 2; }
    echo "$name; $(date -u +%Y-%m-%d)" >"$folder/machine.txt"
fi
# Columns of the CSV by name, so that new ones do no harm.
columns='function find(name, i) { for (i = 1; i <= NF; ++i) if ($i == name) return i; print "no column " name >"/dev/stderr"; exit 1 }
BEGIN { split("candidate_pairs false_positives floor_pairs volume_ms sweep_ms narrow_ms match_ms frame_ms axis_ms project_ms sort_ms prune_ms", names, " ") }
FNR == 1 { for (k = 1; k <= 12; ++k) at[k] = find(names[k]); next }'
{
    printf 'volume,scale,frames,pairs,pairs_most,pairs_and_floor,pairs_and_floor_most,false_positives,frame_ms,volume_ms,sweep_ms,narrow_ms,match_ms,axis_ms,project_ms,sort_ms,prune_ms\n'
    for scale in 1,1,1 1,3,1; do
        for volume in 18-dop aabb sphere; do
            name=$volume-$(echo "$scale" | tr , x)
            if [ ! -s "$folder/$name.csv" ]; then
                if [ "$device" = - ]; then set --; else set -- --device "$device"; fi
                "$program" sim tower "$@" -q --volume "$volume" --scale "$scale" --frames "$frames" --csv "$folder/$name.csv" >"$folder/$name.txt"
            fi
            awk -F, -v volume="$volume" -v scale="$(echo "$scale" | tr , x)" "$columns"'
                { n += 1; all = $at[1] + $at[3]; sum_all += all; if (all > most_all) most_all = all; if ($at[1] > most) most = $at[1]
                  for (k = 1; k <= 12; ++k) sum[k] += $at[k] }
                END { printf "%s,%s,%d,%.1f,%d,%.1f,%d,%.1f", volume, scale, n, sum[1] / n, most, sum_all / n, most_all, sum[2] / n
                      printf ",%.4f", sum[8] / n
                      for (k = 4; k <= 7; ++k) printf ",%.4f", sum[k] / n
                      for (k = 9; k <= 12; ++k) printf ",%.5f", sum[k] / n
                      printf "\n" }' "$folder/$name.csv"
        done
    done
} >"$folder/towers.csv.new"
mv "$folder/towers.csv.new" "$folder/towers.csv"
{
    printf 'volume,scale,frame,candidate_pairs,false_positives,floor_pairs,volume_ms,sweep_ms,narrow_ms,match_ms,frame_ms,axis_ms,project_ms,sort_ms,prune_ms\n'
    for name in "$folder"/*-1x?x1.csv; do
        base=$(basename "$name" .csv)
        awk -F, -v volume="${base%-*}" -v scale="${base##*-}" "$columns"'
            { n += 1; for (k = 1; k <= 12; ++k) sum[k] += $at[k] }
            n == 100 { printf "%s,%s,%d", volume, scale, $1; for (k = 1; k <= 12; ++k) { printf ",%.5g", sum[k] / n; sum[k] = 0 }; printf "\n"; n = 0 }' "$name"
    done
} >"$folder/stages.csv"
cat "$folder/towers.csv"
