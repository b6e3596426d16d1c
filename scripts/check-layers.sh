#!/bin/sh
# SPDX-License-Identifier: MIT
# Do includes point one way? Reads the order of the folders from src/LAYERS and fails where an #include "…" points against it,
# where a folder is not in it or it names one that is not there, and where src/README.md or lab/README.md shows another order.
# Usage: check-layers.sh [ROOT]
set -eu
cd "${1:-$(dirname "$0")/..}"
[ -r src/LAYERS ] || { echo "check-layers.sh: src/LAYERS: cannot be read" >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

find include src lab peers -name build -prune -o -type f \( -name '*.[ch]' -o -name '*.cpp' -o -name '*.def' -o -name '*.inc' \) -print |
    sort >"$work/files"
# FILE:LINE:PATH, for each include in quotation marks.
xargs grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' /dev/null <"$work/files" |
    sed -E 's/^([^:]*:[0-9]+:).*include[[:space:]]*"([^"]*)".*/\1\2/' >"$work/includes"

awk -v files="$work/files" -v includes="$work/includes" '
function wrong( text ) { print "check-layers.sh: " text; wrong_count += 1 }

# The folder a file lies in, as LIBRARY/FOLDER; LIBRARY/ for a file beside the folders; "" if it is of no library.
function home_of( file,    name, rest )
{
    if ( file ~ /^include\// )
        return "include/"
    for ( name in place )
    {
        if ( index( file, place[name] "/" ) == 1 )
        {
            rest = substr( file, length( place[name] ) + 2 )
            return name "/" ( rest ~ /\// ? substr( rest, 1, index( rest, "/" ) - 1 ) : "" )
        }
    }
    return ""
}

# The file that an include line means: as written below a folder that includes start from, or beside the including file.
function target_of( from, path,    i, beside, found )
{
    beside = from
    sub( /[^\/]*$/, "", beside )
    if ( ( beside path ) in is_file )
        return beside path
    found = path in is_file ? path : ""
    for ( i = 1; i <= start_count; ++i )
    {
        if ( ( starts[i] path ) in is_file )
        {
            if ( found != "" )
                wrong( path " may mean " found " or " starts[i] path "; give one of them another name" )
            found = starts[i] path
        }
    }
    return found
}

function library_of( home ) { return substr( home, 1, index( home, "/" ) - 1 ) }

function check( where, from, to,    a, b )
{
    a = library_of( from )
    b = library_of( to )
    if ( from == to || b == "include" )
        return
    if ( a == "include" )
        wrong( where ": a public header includes what is not public" )
    else if ( a == b ? ( rank[to] <= rank[from] || from == a "/" ) && to != b "/" : ( a, b ) in stands_on )
        return
    else if ( ( from, to ) in except )
        used[from, to] = 1
    else if ( a == b )
        wrong( where ": " from " may not include " to ", which comes after it in src/LAYERS" )
    else
        wrong( where ": " from " may not include " to ": " a " does not stand on " b )
}

# The order that a page shows: NAME/ at the margin of a block, its folders indented below.
function check_page( page, names,    line, library, shown, expected, i )
{
    library = ""
    shown = ""
    while ( ( getline line < page ) > 0 )
    {
        if ( line ~ /^[a-z]+\/$/ )
            library = substr( line, 1, length( line ) - 1 )
        else if ( line !~ /^ +[a-z_]+\/ / )
            library = line ~ /^ / ? library : ""
        else if ( library != "" )
        {
            sub( /^ +/, "", line )
            sub( /\/.*/, "", line )
            shown = shown " " library "/" line
        }
    }
    close( page )
    expected = ""
    for ( i = 1; i <= folder_count; ++i )
        if ( index( names, " " library_of( folders[i] ) " " ) > 0 )
            expected = expected " " folders[i]
    if ( shown != expected )
        wrong( page " shows another order than src/LAYERS:\n  page:  " shown "\n  LAYERS:" expected )
}

/^[ \t]*(#|$)/ { next }
$1 == "except" { except[$2, $3] = FNR; next }
/^[^ \t]/ {
    library = $1
    place[library] = $2
    sub( /:$/, "", place[library] )
    for ( i = 3; i <= NF; ++i )
    {
        if ( !( $i in place ) )
            wrong( "src/LAYERS:" FNR ": " library " stands on " $i ", which is not above it" )
        stands_on[library, $i] = 1
    }
    next
}
{
    folders[++folder_count] = library "/" $1
    rank[library "/" $1] = folder_count
}

END {
    starts[++start_count] = "include/"
    starts[++start_count] = "src/core/"
    starts[++start_count] = "src/methods/"
    starts[++start_count] = "src/physics/"
    starts[++start_count] = "src/gpu/"
    starts[++start_count] = "src/mpi/"
    starts[++start_count] = "src/kdop/"
    while ( ( getline file < files ) > 0 )
    {
        is_file[file] = 1
        home = home_of( file )
        if ( home == "" )
            wrong( file ": lies in no library of src/LAYERS" )
        else if ( home !~ /\/$/ && !( home in rank ) && !( home in is_told ) )
        {
            wrong( home ": this folder is not in src/LAYERS" )
            is_told[home] = 1
        }
        is_inhabited[home] = 1
    }
    for ( i = 1; i <= folder_count; ++i )
        if ( !( folders[i] in is_inhabited ) )
            wrong( "src/LAYERS names " folders[i] ", and there is no such folder" )

    while ( ( getline line < includes ) > 0 )
    {
        split( line, part, ":" )
        target = target_of( part[1], part[3] )
        include_count += 1
        if ( target != "" ) # others are made by the build or come with the system
            check( part[1] ":" part[2], home_of( part[1] ), home_of( target ) )
    }
    check_page( "src/README.md", " core methods physics " )
    check_page( "lab/README.md", " lab " )
    for ( pair in except )
        if ( !( pair in used ) )
        {
            split( pair, ends, SUBSEP )
            print "check-layers.sh: warning: src/LAYERS:" except[pair] ": " ends[1] " no longer includes " ends[2] "; delete the exception"
        }
    if ( wrong_count > 0 )
        exit 1
    print "check-layers.sh: " include_count " includes point one way through " folder_count " folders"
}' src/LAYERS >"$work/said" || { cat "$work/said" >&2; exit 1; }
cat "$work/said"
