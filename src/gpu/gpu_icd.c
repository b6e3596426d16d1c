// SPDX-License-Identifier: MIT
#include "base/exact.h" // asks the system's headers for what is needed below, so it comes first

#include "gpu_icd.h"

#ifdef _WIN32

uint32_t clv_gpu_icd_list( gpu_icd icds[GPU_ICD_MOST] )
{
    (void)icds;
    return 0;
}

bool clv_gpu_icd_is_loaded( const gpu_icd* icd )
{
    (void)icd;
    return false;
}

#else

#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FOLDER "/etc/OpenCL/vendors"

typedef struct icd_list
{
    gpu_icd* items;
    uint32_t count;
} icd_list;

static bool ends_with_icd( const char* name )
{
    size_t length = strlen( name );
    return length > 4 && strcmp( name + length - 4, ".icd" ) == 0;
}

static void add( icd_list* list, const char* file, const char* library )
{
    bool fits =
        strlen( file ) < sizeof( list->items->file ) && strlen( library ) < sizeof( list->items->library );
    for ( uint32_t i = 0; i < list->count; ++i )
    {
        fits = fits && strcmp( list->items[i].library, library ) != 0;
    }
    if ( library[0] == '\0' || list->count == GPU_ICD_MOST || !fits )
    {
        return;
    }
    gpu_icd* item = &list->items[list->count++];
    snprintf( item->file, sizeof( item->file ), "%s", file );
    snprintf( item->library, sizeof( item->library ), "%s", library );
}

// The library's name is the first line.
static bool add_file( icd_list* list, const char* path )
{
    char line[512] = "";
    FILE* file = fopen( path, "r" );
    if ( file == NULL )
    {
        return false;
    }
    if ( fgets( line, sizeof( line ), file ) != NULL )
    {
        line[strcspn( line, "\r\n" )] = '\0';
        add( list, path, line );
    }
    fclose( file );
    return true;
}

static bool add_folder( icd_list* list, const char* path )
{
    struct dirent** entries = NULL;
    struct stat kind;
    char file[512];
    int count =
        stat( path, &kind ) == 0 && S_ISDIR( kind.st_mode ) ? scandir( path, &entries, NULL, alphasort ) : -1;
    for ( int i = 0; i < count; ++i )
    {
        int length = snprintf( file, sizeof( file ), "%s/%s", path, entries[i]->d_name );
        if ( length > 0 && (size_t)length < sizeof( file ) && ends_with_icd( file ) )
        {
            add_file( list, file );
        }
        free( entries[i] );
    }
    free( entries );
    return count >= 0;
}

static const char* variable( const char* name )
{
    const char* value = getenv( name );
    return value != NULL && value[0] != '\0' ? value : NULL;
}

uint32_t clv_gpu_icd_list( gpu_icd icds[GPU_ICD_MOST] )
{
    icd_list list = { icds, 0 };
    char name[512];
    const char* path = variable( "OPENCL_VENDOR_PATH" );
    const char* folder = path != NULL ? path : FOLDER;
    const char* wish = variable( "OCL_ICD_VENDORS" );
    for ( const char* at = variable( "OCL_ICD_FILENAMES" ); at != NULL && *at != '\0'; )
    {
        size_t length = strcspn( at, ":" );
        snprintf( name, sizeof( name ), "%.*s", (int)( length < sizeof( name ) ? length : 0 ), at );
        add( &list, "", name );
        at += length + ( at[length] == ':' ? 1 : 0 );
    }
    if ( add_folder( &list, wish != NULL ? wish : folder ) || wish == NULL )
    {
        return list.count;
    }
    if ( !ends_with_icd( wish ) )
    {
        add( &list, "", wish );
        return list.count;
    }
    int length = snprintf( name, sizeof( name ), "%s/%s", folder, wish );
    bool is_there = strchr( wish, '/' ) == NULL && length > 0 && (size_t)length < sizeof( name ) &&
        add_file( &list, name );
    if ( !is_there )
    {
        add_file( &list, wish );
    }
    return list.count;
}

bool clv_gpu_icd_is_loaded( const gpu_icd* icd )
{
    void* library = dlopen( icd->library, RTLD_LAZY | RTLD_LOCAL | RTLD_NOLOAD );
    if ( library != NULL )
    {
        dlclose( library );
    }
    return library != NULL;
}

#endif
