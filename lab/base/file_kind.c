// SPDX-License-Identifier: MIT
#include "lab/base/file_kind.h"

#include "lab/base/platform.h"
#include "lab/base/text.h"

#include <string.h>

typedef struct file_kind
{
    const char* ending;
    const char* is;
    const char* advice; ///< with the path for %s
} file_kind;

static const file_kind kinds[] = {
    { ".aabbs", "a baked scene", "`cleave bench %s`, verify and info take it" },
    { ".posrot", "a recording of positions and rotations",
        "`cleave bench %s`, verify, info and split take it" },
    { ".scene", "the recipe of a scene, not yet baked", "bake it first: cleave gen %s -o NAME.aabbs" },
    { ".schedule", "a schedule", "`cleave run %s` takes it" },
    { ".json", "JSON", "`cleave report %s -o NAME.html`, compare and floors take results" },
    { ".csv", "a table for other programs", "ours read what --json writes beside %s" },
    { ".journal", "of a run that was not finished", "the same `cleave run` with --resume goes on with %s" },
};

bool file_kind_check( const char* path, const char* wanted, lab_error* why )
{
    for ( size_t index = 0; index < sizeof( kinds ) / sizeof( kinds[0] ); ++index )
    {
        const file_kind* kind = &kinds[index];
        if ( !text_ends_with( path, kind->ending ) || strcmp( kind->ending, wanted ) == 0 ||
            platform_look( path ).kind != PLATFORM_FILE )
        {
            continue;
        }
        const char* place = strstr( kind->advice, "%s" );
        return lab_error_write( why, "%.300s: is %s; %.*s%.300s%s", path, kind->is,
            (int)( place - kind->advice ), kind->advice, path, place + 2 );
    }
    return true;
}
