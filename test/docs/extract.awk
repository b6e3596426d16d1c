# SPDX-License-Identifier: MIT
# What a page says that can be wrong: KIND, line and text, with tabs between.
#   command   of a block marked sh: one line each, continued lines joined, comments off
#   bare      a line of an unmarked block that looks like a command
#   span      `code` in the text
#   link      where a [link](there) goes, if it is a file, with its #anchor
#   heading   a heading's anchor, as GitHub and GitLab make them
function put( kind, text ) { printf "%s\t%d\t%s\n", kind, FNR, text }
/^ *```/ { fence = fence == "" ? substr( $0, index( $0, "```" ) + 3 ) "." : ""; next }
fence == "sh." {
    text = text == "" ? $0 : text " " $0
    if ( sub( /\\$/, "", text ) ) next
    sub( /^ *#.*/, "", text )
    sub( /[ \t]+#.*/, "", text )
    gsub( /[ \t]+/, " ", text )
    if ( text !~ /^ ?$/ ) put( "command", text )
    text = ""
    next
}
fence == "." && /^ *(make|\.\/run|cleave|build\/[a-z]+|cmake|ctest|npm|scripts\/[a-z-]+\.sh)( |$)/ { put( "bare", $0 ) }
fence != "" { next }
/^#+ / {
    anchor = tolower( $0 )
    sub( /^#+ +/, "", anchor )
    gsub( /`|\]\([^)]*\)|[][(){}<>.,:;!?"'*\/+=&%@|~^\\$]/, "", anchor )
    gsub( / /, "-", anchor )
    put( "heading", anchor )
}
{
    rest = $0
    while ( match( rest, /`[^`]+`/ ) ) {
        put( "span", substr( rest, RSTART + 1, RLENGTH - 2 ) )
        rest = substr( rest, 1, RSTART - 1 ) substr( rest, RSTART + RLENGTH )
    }
    while ( match( rest, /\]\([^)]+\)/ ) ) {
        target = substr( rest, RSTART + 2, RLENGTH - 3 )
        rest = substr( rest, RSTART + RLENGTH )
        if ( target !~ /^[a-z]+:/ ) put( "link", target )
    }
}
