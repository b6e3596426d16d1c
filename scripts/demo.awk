# SPDX-License-Identifier: MIT
# The demo's table from the CSV of `cleave run demo`, for 80 columns: a method per line, of each scene the largest size.
# A method that was too slow for it has a dash; what could not run at all is one line per library, below.
{ gsub( /"/, "" ) } # no text of ours has a comma but the reason, which is last
FNR == 1 { for ( i = 1; i <= NF; ++i ) at[$i] = i; next }
{
    scene = $at["scene"]; size = $at["objects"] + 0; method = $at["method"]; status = $at["status"]
    if ( !( scene in seen ) ) { seen[scene] = 1; scenes[++scene_count] = scene }
    if ( status == "ok" ) {
        if ( !( method in ran ) ) { ran[method] = 1; methods[++method_count] = method }
        ms[scene, size, method] = $at["ms_median"]
        if ( size > largest[scene] ) largest[scene] = size
        next
    }
    reason = $at["reason"]
    for ( i = at["reason"] + 1; i <= NF; ++i ) reason = reason "," $i
    if ( status != "unavailable" ) { print "  " status ": " method " on " size " of " scene ": " reason; next }
    if ( !( reason in whom ) ) { reasons[++reason_count] = reason; whom[reason] = "" }
    if ( !( ( reason, method ) in named ) ) { named[reason, method] = 1; whom[reason] = whom[reason] ( whom[reason] == "" ? "" : ", " ) method }
}
function cell( value, base ) {
    if ( value == "" ) return sprintf( "%10s %7s", "-", "" )
    return sprintf( "%10.3f %6.1fx", value, base > 0 ? value / base : 0 )
}
END {
    printf "  %-17s", "ms per frame"
    for ( s = 1; s <= scene_count; ++s ) printf " %18s", scenes[s] ":" largest[scenes[s]] / 1000 "k"
    print ""
    for ( m = 1; m <= method_count; ++m ) {
        printf "  %-17s", methods[m]
        for ( s = 1; s <= scene_count; ++s ) {
            value = ms[scenes[s], largest[scenes[s]], methods[m]]
            printf " %s", cell( value, ms[scenes[s], largest[scenes[s]], methods[1]] )
        }
        print ""
    }
    if ( reason_count > 0 ) print "\nOther people's, not here; `./run demo PEERS=yes` installs and shows them:"
    for ( r = 1; r <= reason_count; ++r ) {
        package = reasons[r]
        if ( !sub( /.*Debian.s /, "", package ) ) package = reasons[r]
        sub( /[ );,].*/, "", package )
        printf "  %-14s %s\n", package, whom[reasons[r]]
    }
}
