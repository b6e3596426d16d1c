// SPDX-License-Identifier: MIT
// RFC 9112, as much of it as one page needs. Connections end with their first answer, so that bodies, trailers and pipelines do not matter.
#include "lab/base/http_head.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

// Some bytes of the head.
typedef struct span
{
    const char* at;
    size_t count;
} span;

static bool is_same( span text, const char* word )
{
    size_t length = strlen( word );
    bool same = text.count == length;
    for ( size_t i = 0; same && i < length; ++i )
    {
        char byte = text.at[i];
        byte = byte >= 'A' && byte <= 'Z' ? (char)( byte - 'A' + 'a' ) : byte;
        same = byte == word[i]; // which is in small letters
    }
    return same;
}

static bool is_method( span text, const char* word )
{
    return text.count == strlen( word ) && memcmp( text.at, word, text.count ) == 0;
}

size_t http_head_length( const char* bytes, size_t count )
{
    size_t start = 0; // of a line
    bool has_text = false;
    for ( size_t i = 0; i < count; ++i )
    {
        if ( bytes[i] == '\n' )
        {
            bool is_empty = i == start || ( i == start + 1 && bytes[start] == '\r' );
            if ( is_empty && has_text )
            {
                return i + 1;
            }
            has_text = has_text || !is_empty; // empty lines may come first
            start = i + 1;
        }
    }
    return 0;
}

// The next line without its end. False for one that does not end in CR LF.
static bool take_line( span* rest, span* line )
{
    const char* end = rest->count > 0 ? memchr( rest->at, '\n', rest->count ) : NULL;
    if ( end == NULL || end == rest->at || end[-1] != '\r' )
    {
        return false;
    }
    *line = ( span ){ rest->at, (size_t)( end - rest->at ) - 1 };
    rest->count -= (size_t)( end - rest->at ) + 1;
    rest->at = end + 1;
    return true;
}

static bool is_token_byte( char byte )
{
    return ( byte >= 'a' && byte <= 'z' ) || ( byte >= 'A' && byte <= 'Z' ) ||
        ( byte >= '0' && byte <= '9' ) || ( byte != '\0' && strchr( "!#$%&'*+-.^_`|~", byte ) != NULL );
}

// As many bytes of a name as there are.
static span take_token( span* rest )
{
    span token = { rest->at, 0 };
    while ( token.count < rest->count && is_token_byte( rest->at[token.count] ) )
    {
        token.count += 1;
    }
    rest->at += token.count;
    rest->count -= token.count;
    return token;
}

static bool take_byte( span* rest, char byte )
{
    bool is_there = rest->count > 0 && rest->at[0] == byte;
    rest->at += is_there ? 1 : 0;
    rest->count -= is_there ? 1 : 0;
    return is_there;
}

// Visible bytes up to a space.
static span take_target( span* rest )
{
    span target = { rest->at, 0 };
    while ( target.count < rest->count && rest->at[target.count] > ' ' && rest->at[target.count] < 127 )
    {
        target.count += 1;
    }
    rest->at += target.count;
    rest->count -= target.count;
    return target;
}

// Its name, and its value without blanks around; false for what is no field, or has control characters.
static bool read_field( span line, span* name, span* value )
{
    *name = take_token( &line );
    bool good = name->count > 0 && take_byte( &line, ':' );
    for ( size_t i = 0; good && i < line.count; ++i )
    {
        unsigned char byte = (unsigned char)line.at[i];
        good = byte == '\t' || ( byte >= ' ' && byte != 127 );
    }
    while ( take_byte( &line, ' ' ) || take_byte( &line, '\t' ) )
    {
    }
    while ( line.count > 0 && ( line.at[line.count - 1] == ' ' || line.at[line.count - 1] == '\t' ) )
    {
        line.count -= 1;
    }
    *value = line;
    return good;
}

// A name of this machine, with or without a port.
static bool is_ours( span authority )
{
    const char* colon = authority.count > 0 ? memchr( authority.at, ':', authority.count ) : NULL;
    span name = { authority.at, colon != NULL ? (size_t)( colon - authority.at ) : authority.count };
    bool good = is_same( name, "127.0.0.1" ) || is_same( name, "localhost" );
    for ( size_t i = name.count + 1; good && i < authority.count; ++i )
    {
        good = authority.at[i] >= '0' && authority.at[i] <= '9';
    }
    return good;
}

// "/?x" and "http://localhost/?x" are both told apart into name and path; the name in front is the one that counts.
static span take_path( span target, span* authority )
{
    static const char scheme[] = "http://";
    size_t length = strlen( scheme );
    if ( target.count > length && is_same( ( span ){ target.at, length }, scheme ) )
    {
        *authority = ( span ){ target.at + length, 0 };
        while ( length + authority->count < target.count &&
            strchr( "/?", target.at[length + authority->count] ) == NULL )
        {
            authority->count += 1;
        }
        target.at += length + authority->count;
        target.count -= length + authority->count;
    }
    const char* question = target.count > 0 ? memchr( target.at, '?', target.count ) : NULL;
    target.count = question != NULL ? (size_t)( question - target.at ) : target.count;
    return target.count > 0 ? target : ( span ){ "/", 1 };
}

// The fields, of which Host alone matters: there must be one.
static bool read_fields( span rest, span* host )
{
    span line, name, value;
    uint32_t host_count = 0;
    bool good = take_line( &rest, &line );
    while ( good && line.count > 0 )
    {
        good = read_field( line, &name, &value );
        if ( good && is_same( name, "host" ) )
        {
            *host = value;
            host_count += 1;
        }
        good = good && take_line( &rest, &line );
    }
    return good && host_count == 1;
}

http_status http_head_judge( const char* head, size_t length, bool* is_head )
{
    span rest = { head, length }, line = { head, 0 }, host = { head, 0 };
    bool good = take_line( &rest, &line );
    while ( good && line.count == 0 ) // in front of the request
    {
        good = take_line( &rest, &line );
    }
    span method = take_token( &line );
    *is_head = is_method( method, "HEAD" );
    good = good && method.count > 0 && take_byte( &line, ' ' );
    span target = take_target( &line );
    good = good && target.count > 0 && take_byte( &line, ' ' );
    good = good && line.count == 8 && memcmp( line.at, "HTTP/", 5 ) == 0 && line.at[6] == '.';
    if ( !good )
    {
        return HTTP_BAD_REQUEST;
    }
    if ( line.at[5] != '1' )
    {
        return HTTP_BAD_VERSION;
    }
    if ( !read_fields( rest, &host ) )
    {
        return HTTP_BAD_REQUEST;
    }
    span path = take_path( target, &host );
    return !is_ours( host )                        ? HTTP_FORBIDDEN
        : !*is_head && !is_method( method, "GET" ) ? HTTP_BAD_METHOD
        : !is_same( path, "/" )                    ? HTTP_NOT_FOUND
                                                   : HTTP_PAGE;
}

// ---- answers

typedef struct answer_row
{
    http_status status;
    const char* name;
    const char* advice;
} answer_row;

static const answer_row s_answers[] = {
    { HTTP_BAD_REQUEST, "Bad Request", "this is no request of HTTP/1.1 with one Host" },
    { HTTP_FORBIDDEN, "Forbidden", "this page is for this machine; ask for it as 127.0.0.1 or localhost" },
    { HTTP_NOT_FOUND, "Not Found", "there is one page, /" },
    { HTTP_BAD_METHOD, "Method Not Allowed", "only GET and HEAD are answered" },
    { HTTP_TIMEOUT, "Request Timeout", "the request did not come whole in time" },
    { HTTP_HEAD_TOO_LARGE, "Request Header Fields Too Large", "a request has at most 8192 bytes" },
    { HTTP_BAD_VERSION, "HTTP Version Not Supported", "only HTTP/1.0 and HTTP/1.1 are answered" },
};

size_t http_head_answer(
    char answer[HTTP_ANSWER_ROOM], http_status status, uint64_t page_bytes, bool is_head )
{
    if ( status == HTTP_PAGE )
    {
        return (size_t)snprintf( answer, HTTP_ANSWER_ROOM,
            "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %" PRIu64
            "\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n"
            "Cross-Origin-Resource-Policy: same-origin\r\nConnection: close\r\n\r\n",
            page_bytes );
    }
    const answer_row* row = s_answers;
    while ( row->status != status )
    {
        ++row;
    }
    char text[160];
    int length = snprintf( text, sizeof( text ), "%d %s: %s\n", (int)status, row->name, row->advice );
    return (size_t)snprintf( answer, HTTP_ANSWER_ROOM,
        "HTTP/1.1 %d %s\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: %d\r\n%sConnection: close\r\n\r\n%s",
        (int)status, row->name, length, status == HTTP_BAD_METHOD ? "Allow: GET, HEAD\r\n" : "",
        is_head ? "" : text );
}
