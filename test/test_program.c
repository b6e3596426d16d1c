// SPDX-License-Identifier: MIT
// The program as a new user meets it: odd flags, closed streams, narrow terminals, Ctrl-C. Whatever goes
// wrong is said in one line, and nothing that was done is lost.
#define _POSIX_C_SOURCE 200809L
#include "lab/base/terminal.h"
#include "lab/command/commands.h"
#include "lab/measure/machine.h"
#include "lab/result/results.h"
#include "lab/scene/generator.h"
#include "program.h"
#include "support.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define JSON "test_program.json"
#define CSV "test_program.csv"
#define SCENE "test_program.aabbs"
#define STEM "test_program"

static bool starts_with( const char* text, const char* start )
{
    return strncmp( text, start, strlen( start ) ) == 0;
}

// The file's first characters.
static const char* head_of( const char* path )
{
    static char text[256];
    FILE* file = fopen( path, "rb" );
    CHECK( file != NULL );
    text[fread( text, 1, sizeof( text ) - 1, file )] = '\0';
    fclose( file );
    return text;
}

static void check_said( const program_answer* answer, const char* text )
{
    if ( !program_said( answer, text ) )
    {
        CHECK_TEXT( answer->errors, text );
    }
}

static void check_one_line( const program_answer* answer )
{
    const char* end = strchr( answer->errors, '\n' );
    CHECK( end != NULL && end[1] == '\0' );
}

// The widest line, without what moves the cursor.
static size_t widest_line( const char* text )
{
    size_t widest = 0, width = 0;
    for ( const char* c = text; *c != '\0'; ++c )
    {
        if ( *c == '\033' )
        {
            c += strcspn( c, "AKJm" );
            continue;
        }
        width = *c == '\n' || *c == '\r' ? 0 : width + ( ( (unsigned char)*c & 0xC0 ) != 0x80 ? 1 : 0 );
        widest = width > widest ? width : widest;
    }
    return widest;
}

// A command for the shell; its standard output.
static const char* shell( const char* command, int* status )
{
    static char text[1 << 16];
    char line[1024];
    snprintf( line, sizeof( line ), "{ %s; } > test_program.out 2>&1", command );
    test_where.note = command;
    *status = system( line );
    FILE* file = fopen( "test_program.out", "rb" );
    CHECK( file != NULL );
    text[fread( text, 1, sizeof( text ) - 1, file )] = '\0';
    fclose( file );
    remove( "test_program.out" );
    return text;
}

// ---- standard streams

static void a_closed_output_takes_no_file( void )
{
    static const char* const closed[] = { ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-" };
    for ( size_t row = 0; row < TEST_COUNT( closed ); ++row )
    {
        char line[256];
        remove( JSON );
        snprintf( line, sizeof( line ), "bench -n 500 -m sap --frames 2 --json " JSON " %s", closed[row] );
        program_answer* answer = program_run( line );
        bool is_lost = strstr( closed[row], "1>&-" ) != NULL || strstr( closed[row], " >&-" ) != NULL ||
            starts_with( closed[row], ">&-" );
        CHECK_EQUAL( answer->status, is_lost ? 2 : 0 ); // the table has nowhere to go
        run_results results;
        lab_error why = { LAB_DONE, "" };
        CHECK( results_read_file( JSON, &results, &why ) );
        CHECK_EQUAL( results.count, 1 );
        run_results_free( &results );
        snprintf( line, sizeof( line ), "gen brownian-free -n 2k --frames 3 -o " SCENE " %s", closed[row] );
        program_run( line );
        CHECK_EQUAL( program_run( "info --check " SCENE )->status, 0 );
    }
    program_answer* answer = program_run( "bench -n 500 -m sap --frames 2 >&-" );
    check_said( answer, "standard output: cannot be written" );
}

static void a_full_output_is_noticed( void )
{
    if ( access( "/dev/full", W_OK ) != 0 )
    {
        return;
    }
    static const char* const rows[] = { "methods", "--help", "--version", "bench --help", "run --list",
        "bench -n 500 -m sap --frames 2", "bench -n 500 -m sap --frames 2 --json -",
        "verify -n 500 -m sap --frames 2", "info brownian-free:500" };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        char line[256];
        snprintf( line, sizeof( line ), "%s >/dev/full", rows[row] );
        program_answer* answer = program_run( line );
        CHECK_EQUAL( answer->status, 2 );
        check_said( answer, "standard output: cannot be written" );
    }
}

static void a_reader_that_leaves_costs_no_file( void )
{
    remove( JSON );
    program_run( "bench -n 500 -m sap --frames 2 --json " JSON " | true" );
    CHECK( starts_with( head_of( JSON ), "{" ) );
}

// ---- flags

static void each_kind_of_number_has_its_words( void )
{
    static const char* const rows[][2] = {
        { "bench --seed -5", "--seed '-5' is no seed; use 0 to 18446744073709551615" },
        { "gen brownian-free -o x --seed 1.5", "--seed '1.5' is no seed" },
        { "sim tower --faces 7", "--faces 7: triangles that close around a body are even in number" },
        { "sim tower --volume 12-dop",
            "--volume: there is no '12-dop'; did you mean 18-dop? use aabb, 18-dop" },
        { "sim tower --match cubic", "--match: there is no 'cubic'; use rigid, linear or quadratic" },
        { "sim tower --device none-such", "--device none-such: " },
        { "sim tower --device 0 --volume obb", "--volume obb: a device has aabb, 18-dop and sphere" },
        { "sim tower --device 0 --support climb", "--support climb: a device looks at every vertex" },
        { "sim tower --device 0 --match linear", "--match linear: bodies on a device are rigid" },
        { "sim tower --softness 1", "--softness: '1' is no number from 0 to 0.999" },
        { "bench --queries balls",
            "--queries: there is no 'balls'; use rays, boxes, spheres, nearest or casts" },
        { "bench --queries rays --changed", "--changed is for pairs; questions are put to one frame" },
        { "bench --near 1 --json " JSON, "bench: --json does not go with --near" },
        { "bench --near 1 --csv -", "bench: --csv does not go with --near" },
        { "bench --near 1 -m sap", "bench: --methods does not go with --near" },
        { "bench --near 1 --isa avx22", "did you mean avx2?" },
        { "verify --near 1 --judge sap", "verify: --judge does not go with --near" },
        { "verify --near 1 --queries rays", "verify: --queries does not go with --near" },
        { "bench --periodic", "bench: --periodic needs --near" },
        { "verify --periodic", "verify: --periodic needs --near" },
        { "verify brownian-free:100 --near 1e9 --periodic", "needs a world of at least twice the cutoff" },
        { "bench --pin x", "--pin 'x': write yes, no or cores" },
        { "bench --queries rays -m sap",
            "--queries: no method called 'sap' answers them; use cleave, brute" },
        { "verify --queries rays --query-count 0", "--query-count 0 is out of range; use 1 to" },
        { "verify -n 200 -m sap --judge clave", "--judge: unknown method 'clave'; did you mean cleave?" },
        { "verify --queries rays --judge sap",
            "--judge is for pairs; questions are held against brute force" },
        { "bench -n -5", "-n '-5' is no size; write 8000, 8k, 128k or 1m" },
        { "bench -n 0", "-n 0 is out of range; use 1 to" },
        { "verify freefall -n 2000m", "freefall: 2000000000 objects are more than the 10000000 it can have" },
        { "bench --frames x", "--frames 'x' is no number; use 1 to" },
        { "bench --frames -1", "--frames '-1' is no number; use 1 to" },
        { "bench --threads two", "--threads 'two' is no number; use 1 to" },
        { "bench --repeat 1.5", "--repeat '1.5' is no number; use 1 to" },
        { "bench --memory-limit x --isolate", "--memory-limit 'x' is no number; use 0 to" },
        { "bench --time-limit -1", "--time-limit '-1' is no number of seconds; use 0 to" },
        { "compare a b --bound x", "--bound 'x' is no number; use 0 to" },
        { "info x --frame -1", "--frame '-1' is no number" },
        { "sim tower --bodies x", "--bodies 'x' is no size" },
        { "bench -n 8k,,16k", "-n '8k,,16k' has an empty item" },
        { "sim", "needs an EXPERIMENT; usage: cleave sim" },
        { "gen", "needs a SCENE or a .scene FILE; usage: cleave gen" },
        { "info", "needs a FILE or a SCENE; usage: cleave info" },
        { "compare one.json", "needs two files of results, A.json and B.json; usage: cleave compare" },
        { "floors one.json", "needs a RESULTS.json and a FLOORS.csv; usage: cleave floors" },
        { "report", "needs a RESULTS.json; usage: cleave report" },
        { "tree", "needs a WHAT; usage: cleave tree" },
    };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        program_answer* answer = program_run( rows[row][0] );
        CHECK_EQUAL( answer->status, 2 );
        check_said( answer, rows[row][1] );
        check_one_line( answer );
        CHECK_TEXT( answer->out, "" ); // no table of nothing beside it
    }
}

// Wherever a name is looked up: what was meant is said, in one line, and nothing is done.
static void a_misspelt_name_is_guessed( void )
{
    static const char* const rows[][2] = {
        { "benhc", "unknown command 'benhc'; did you mean bench?" },
        { "help benhc", "unknown command 'benhc'; did you mean bench?" },
        { "--versoin", "unknown flag '--versoin'; did you mean --version?" },
        { "bench --frmes 3", "unknown flag --frmes; did you mean --frames?" },
        { "run quick --in-proces", "did you mean --in-process?" }, // the last of forty
        { "bench -n 100 -m sapp", "-m: unknown method 'sapp'; did you mean sap?" },
        { "run quick --without sapp", "--without: unknown method 'sapp'; did you mean sap?" },
        { "verify -n 100 --judge clave", "did you mean cleave?" },
        { "tree brownian-free:100 -m kdd -o x", "did you mean kd?" },
        { "view brownian-free:100 --tree kdd -o x.html", "did you mean kd?" },
        { "render brownian-free:100 --overlay tree --tree kdd -o x.png", "did you mean kd?" },
        { "bench -n 100 --set kd.leef=1", "chosen knows 'kd.leef'; did you mean kd.leaf?" },
        { "bench -n 100 -m kd --set kd.leef=1", "did you mean kd.leaf?" },
        { "bench -n 100 -m sap --set kd.leaf=1", "'kd.leaf' is a parameter of kd" },
        { "bench -n 100 --sweep kd.leef=1..4", "did you mean kd.leaf?" },
        { "run quick --set kd.leef=1", "did you mean kd.leaf?" },
        { "verify -n 100 --set grid.cel=1", "did you mean grid.cell?" },
        { "tree brownian-free:100 --set kd.leef=1 -o x", "did you mean kd.leaf?" },
        { "view brownian-free:100 --set kd.leef=1 -o x.html", "did you mean kd.leaf?" },
        { "bench -n 100 --isa avx22", "unknown instruction set 'avx22'; did you mean avx2?" },
        { "bench -n 100 -m sap@avx22", "-m: sap@avx22: unknown instruction set 'avx22'; did you mean avx2?" },
        { "bench -n 100 --queries rays --isa avx22", "did you mean avx2?" },
        { "bench brwnian-free", "no scene 'brwnian-free'; did you mean brownian-free?" },
        { "view brwnian-free -o x.html", "did you mean brownian-free?" },
        { "bench brownian-free:100:assortd", "'assortd' is no type of objects; did you mean assorted?" },
        { "scenes --family packd", "--family: there is no 'packd'; did you mean packed?" },
        { "gen frefall -o x", "gen: unknown scene 'frefall'; did you mean freefall?" },
        { "gen freefall --type assortd -o x", "--type: there is no 'assortd'; did you mean assorted?" },
        { "run quik", "no schedule 'quik'; did you mean quick?" },
        { "run --show quik", "no schedule 'quik'; did you mean quick?" },
        { "run quick --scenes frefall",
            "--scenes: no scene of what is to be run is called 'frefall'; did you mean freefall?" },
        { "run worst --only ordinery",
            "--only: no part of what is to be run is called 'ordinery'; did you mean ordinary?" },
        { "render brownian-free:100 --colour sped -o x.png",
            "--colour: there is no 'sped'; did you mean speed?" },
        { "render brownian-free:100 --overlay tree,pars -o x.png",
            "--overlay: there is no 'pars'; did you mean pairs?" },
        { "bench -n 100 --queries rays,boxs", "--queries: there is no 'boxs'; did you mean boxes?" },
        { "bench -n 100 --queries rays -m embre", "did you mean embree?" },
        { "completion bsh", "'bsh' is not a SHELL; did you mean bash? use bash, zsh or fish" },
        { "bench --plugin x.so", "bench: --plugin comes before the command: cleave --plugin FILE bench" },
        { "sim towr", "'towr' is not an EXPERIMENT; did you mean tower?" },
        { "sim tower --volume spere", "did you mean sphere?" },
        { "sim tower --integrator eular", "did you mean euler?" },
        { "sim tower --body octahedrn", "did you mean octahedron?" },
    };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        program_answer* answer = program_run( rows[row][0] );
        CHECK_EQUAL( answer->status, 2 );
        check_said( answer, rows[row][1] );
        check_one_line( answer );
        CHECK_TEXT( answer->out, "" );
    }
    CHECK( access( "x", F_OK ) != 0 && access( "x.png", F_OK ) != 0 && access( "x.html", F_OK ) != 0 );
    // Far from every name there is nothing to suggest.
    CHECK( !program_said( program_run( "bench -n 100 -m qqqqqqqq" ), "did you mean" ) );
    // Methods in a file of results.
    int status = 0;
    program_run( "bench -n 100 -m sap,kd --frames 2 -q --json " JSON );
    shell( "echo row,scene,type,objects,isa,rival,floor > " CSV, &status );
    check_said( program_run( "floors " JSON " " CSV " -m spa" ), "holds no run of spa; did you mean sap?" );
}

static void files_of_another_kind_are_recognised( void )
{
    static const char* const rows[][2] = {
        { "bench " STEM ".scene",
            "is the recipe of a scene, not yet baked; bake it first: cleave gen " STEM ".scene -o" },
        { "verify ./" STEM ".scene", "bake it first" },
        { "info " STEM ".scene", "bake it first" },
        { "run " STEM ".scene", "bake it first" },
        { "bench " STEM ".schedule", "is a schedule; `cleave run " STEM ".schedule` takes it" },
        { "bench " JSON, "is JSON; `cleave report " JSON },
        { "bench " CSV, "is a table for other programs; ours read what --json writes" },
        { "report " CSV " -o x.html", "is a table for other programs" },
        { "compare " CSV " " JSON, "is a table for other programs" },
        { "report " SCENE " -o x.html", "is a baked scene; `cleave bench " SCENE },
        { "gen " SCENE " -o x", "is a baked scene" },
        { "run " SCENE, "is a baked scene" },
        { "bench nosuch.scene", "no such file" },
        { "bench -n 100 -m sap --json same --csv same", "--json and --csv both name 'same'" },
        { "bench -n 100 -m sap --json - --csv -", "--json and --csv both name '-'" },
    };
    int status = 0;
    shell( "echo 'bodies 100' > " STEM ".scene; echo 'methods sap' > " STEM ".schedule", &status );
    program_run( "bench -n 100 -m sap --frames 2 --csv " CSV " --json " JSON );
    program_run( "gen brownian-free -n 100 --frames 4 -q -o " SCENE );
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        program_answer* answer = program_run( rows[row][0] );
        CHECK_EQUAL( answer->status, 2 );
        check_said( answer, rows[row][1] );
        check_one_line( answer );
    }
    shell( "rm -f " STEM ".scene " STEM ".schedule", &status );
}

static void a_default_is_told_once( void )
{
    static const char* const commands[] = { "methods", "scenes", "gen", "split", "info", "bench", "run",
        "compare", "floors", "verify", "report", "tree", "view", "render", "sim", "completion", "help",
        "worker" };
    for ( size_t row = 0; row < TEST_COUNT( commands ); ++row )
    {
        char line[64];
        snprintf( line, sizeof( line ), "%s --help", commands[row] );
        program_answer* answer = program_run( line );
        CHECK_EQUAL( answer->status, 0 );
        CHECK( program_said( answer, "Example:\n  cleave " ) );
        CHECK( strstr( answer->out, "aper 00" ) == NULL ); // papers have names
        for ( char* text = strtok( answer->out, "\n" ); text != NULL; text = strtok( NULL, "\n" ) )
        {
            const char* first = strstr( text, "(default" );
            test_where.note = text;
            CHECK( first == NULL || strstr( first + 1, "(default" ) == NULL );
        }
    }
}

static void every_scene_is_in_the_help( void )
{
    program_answer* answer = program_run( "gen --help" );
    for ( uint32_t index = 0; index < generator_count(); ++index )
    {
        test_where.note = generator_at( index )->about;
        CHECK( program_said( answer, generator_at( index )->about ) );
    }
}

// On a narrow terminal what a flag does is folded below it; no word is lost.
static void help_fits_the_terminal( void )
{
    char* wide = text_copy( program_run( "sim --help" )->out );
    program_answer* answer = program_run_on_terminal( "--ansi never sim --help", 80 );
    char* flags = strstr( answer->out, "Flags:" );
    CHECK( flags != NULL && strstr( flags, "\r\n\r\n" ) != NULL );
    *strstr( flags, "\r\n\r\n" ) = '\0';
    CHECK( widest_line( flags ) <= 80 && widest_line( wide ) > 120 );
    for ( const char* word = strtok( flags, " \r\n" ); word != NULL; word = strtok( NULL, " \r\n" ) )
    {
        test_where.note = word;
        CHECK( strstr( wide, word ) != NULL );
    }
    CHECK( strstr( wide, "quadratic (bent and twisted) (default rigid)\n" ) != NULL );
    free( wide );
}

static void check_words( const args_table* table, void* user )
{
    (void)user;
    for ( uint32_t index = 0; index < table->flag_count; ++index )
    {
        const args_flag* flag = &table->flags[index];
        const choice* choices = flag->choices;
        for ( ; choices != NULL && choices->word != NULL; ++choices )
        {
            test_where.note = choices->word;
            CHECK( strstr( flag->help, choices->word ) != NULL );
        }
        for ( uint32_t isa = 0; strcmp( flag->name, "--isa" ) == 0 && run_isa_name( isa ) != NULL; ++isa )
        {
            test_where.note = table->command;
            CHECK( strstr( flag->help, run_isa_name( isa ) ) != NULL );
        }
    }
}

static void every_word_of_a_flag_is_in_its_help( void )
{
    for ( uint32_t index = 0; command_at( index ) != NULL; ++index )
    {
        args_visit( command_at( index )->run, check_words, NULL );
    }
}

// ---- scenes

static const json_value* json_at( const json_value* list, uint32_t index )
{
    const json_value* item = json_first( list );
    for ( ; item != NULL && index > 0; --index )
    {
        item = json_next( item );
    }
    return item;
}

static void scenes_lists_every_scene( void )
{
    program_answer* answer = program_run( "scenes --json" );
    CHECK_EQUAL( answer->status, 0 );
    size_t offset = 0;
    json_value* root = json_parse( answer->out, strlen( answer->out ), &offset );
    const json_value* list = json_get( root, "scenes" );
    for ( uint32_t index = 0; index < generator_count(); ++index )
    {
        const generator* scene = generator_at( index );
        const json_value* row = json_at( list, index );
        test_where.note = scene->name;
        CHECK_TEXT( json_as_text( json_get( row, "name" ) ), scene->name );
        CHECK_TEXT( json_as_text( json_get( row, "about" ) ), scene->about );
        CHECK( json_as_number( json_get( row, "objects_most" ) ) == (double)scene->bodies_most );
        // Scenes with contacts report them; the tower's simulation has a report of another kind.
        bool has_contacts = scene->report != NULL || strcmp( scene->name, "tower" ) == 0;
        CHECK( json_as_bool( json_get( row, "contacts" ) ) == has_contacts );
    }
    CHECK( json_at( list, generator_count() ) == NULL );
    json_free( root );

    answer = program_run( "scenes" );
    CHECK_EQUAL( answer->status, 0 );
    uint32_t line_count = 0;
    for ( char* text = strtok( answer->out, "\n" ); text != NULL; text = strtok( NULL, "\n" ) )
    {
        test_where.note = text;
        CHECK( line_count == 0 || starts_with( text, generator_at( line_count - 1 )->name ) );
        line_count += 1;
    }
    CHECK_EQUAL( line_count, generator_count() + 1 );

    answer = program_run( "scenes --family packed,k-dop" );
    CHECK( program_said( answer, "jitter" ) && program_said( answer, "settling" ) &&
        program_said( answer, "tower" ) );
    CHECK( !program_said( answer, "freefall" ) );
}

// ---- other people's methods

static void a_method_named_that_cannot_run_is_refused( void )
{
    static const char* const rows[][2] = {
        { "bench -n 500 -m embree --json " JSON,
            "-m: embree cannot run here: no embree.so in /no/such/folder;" },
        { "bench -n 500 -m sap,embree", "-m: embree cannot run here" },
        { "verify -n 500 -m embree", "-m: embree cannot run here" },
        { "run quick -m embree", "-m: embree cannot run here" },
        { "tree brownian-free:500 -m embree -o x", "embree" },
#if defined( __x86_64__ )
        { "bench -n 500 -m sap@neon", "-m: sap@neon cannot run here: this build or CPU has no neon" },
        { "bench -n 500 -m sap --isa neon", "-m: sap@neon cannot run here" },
#endif
    };
    remove( JSON );
    setenv( "CLEAVE_PEERS", "/no/such/folder", 1 );
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        program_answer* answer = program_run( rows[row][0] );
        CHECK_EQUAL( answer->status, 2 );
        check_said( answer, rows[row][1] );
        check_one_line( answer );
    }
    CHECK( access( JSON, F_OK ) != 0 );
    // These were not asked for by name.
    CHECK_EQUAL( program_run( "bench -n 100 --frames 1 --repeat 1 -q" )->status, 0 );
    unsetenv( "CLEAVE_PEERS" );
}

static void a_moved_program_says_where_it_looked( void )
{
    int status = 0;
    shell( "rm -rf test_program_moved; mkdir -p test_program_moved/bin && cp " TEST_PROGRAM
           " test_program_moved/bin",
        &status );
    CHECK_EQUAL( status, 0 );
    const char* text = shell( "test_program_moved/bin/cleave methods", &status );
    CHECK( status == 0 && strstr( text, "test_program_moved/bin/peers or " ) != NULL );
    CHECK( strstr( text, "CLEAVE_PEERS" ) != NULL && strstr( text, "not built" ) == NULL );
    // As installed, anywhere.
    shell( "mkdir -p test_program_moved/bin/" TEST_PEERS_INSTALLED " && cp " TEST_BAD_PEERS
           "/ode.so test_program_moved/bin/" TEST_PEERS_INSTALLED,
        &status );
    CHECK_EQUAL( status, 0 );
    shell( "test_program_moved/bin/cleave bench -n 1 --frames 2 -m bad-opaque", &status );
    CHECK_EQUAL( status, 0 );
    shell( "rm -rf test_program_moved", &status );
}

// The columns of the paper's Table I, for every row of it that is our own code.
static void methods_tell_what_table_1_tells( void )
{
    static const char* const rows[] = { "brute", "sap", "grid", "grid-sap", "isap", "bvh-f", "bvh-d",
        "segment-tree", "tracy", "kd" };
    program_answer* answer = program_run( "methods --json" );
    CHECK_EQUAL( answer->status, 0 );
    size_t offset = 0;
    json_value* root = json_parse( answer->out, strlen( answer->out ), &offset );
    CHECK( root != NULL );
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        const json_value* one = json_first( json_get( root, "methods" ) );
        while ( one != NULL && strcmp( json_as_text( json_get( one, "name" ) ), rows[row] ) != 0 )
        {
            one = json_next( one );
        }
        test_where.note = rows[row];
        static const char* const keys[] = { "family", "remarks", "source", "time", "space" };
        for ( size_t key = 0; key < TEST_COUNT( keys ); ++key )
        {
            const char* text = json_as_text( json_get( one, keys[key] ) );
            CHECK( text != NULL && strlen( text ) > 1 );
        }
    }
    json_free( root );
    answer = program_run( "methods" );
    CHECK( strstr( answer->out, " space " ) != NULL && strstr( answer->out, " remarks " ) != NULL );
}

static void unknown_values_are_not_zero( void )
{
    static const char* const ways[] = { "", "--isolate --rounds 2" };
    setenv( "CLEAVE_PEERS", TEST_BAD_PEERS, 1 );
    for ( size_t way = 0; way < TEST_COUNT( ways ); ++way )
    {
        char line[256];
        snprintf( line, sizeof( line ), "bench -n 1 --frames 2 -m bad-opaque,sap -q --json " JSON " %s",
            ways[way] );
        program_answer* answer = program_run( line );
        CHECK_EQUAL( answer->status, 0 );
        CHECK( strstr( answer->out, "\xE2\x80\x93" ) != NULL );
        run_results results;
        lab_error why = { LAB_DONE, "" };
        CHECK( results_read_file( JSON, &results, &why ) );
        CHECK( results.count == 2 && results.items[0].is_opaque && !results.items[1].is_opaque );
        static const char* const keys[] = { "tests", "update_ms", "search_ms", "frame_update_ms",
            "frame_search_ms", "frame_clean_ms" };
        for ( size_t key = 0; key < TEST_COUNT( keys ); ++key )
        {
            CHECK( json_is_null( json_get( results.items[0].json, keys[key] ) ) );
            CHECK( !json_is_null( json_get( results.items[1].json, keys[key] ) ) );
        }
        const json_value* device = json_get( results.items[1].json, "device" );
        CHECK( device != NULL && json_is_null( device ) );
        CHECK_EQUAL( results.items[0].pass_count, way == 0 ? 3 : 6 );
        run_results_free( &results );
        snprintf( line, sizeof( line ), "bench -n 1 --frames 2 -m bad-opaque -q --csv - %s", ways[way] );
        answer = program_run( line );
        CHECK( strstr( answer->out, ",,,0,0x0000000000000000,," ) != NULL ); // stages and tests
    }
    unsetenv( "CLEAVE_PEERS" );
}

static void a_load_is_told_as_people_read_it( void )
{
    program_answer* answer = program_run( "bench -n 10 --frames 1 -m sap -q --json -" );
    const char* load = strstr( answer->out, "\"load\":" );
    CHECK( load != NULL );
    CHECK( strcspn( load, ",\n" ) < strlen( "\"load\": 12345.67" ) + 1 );
}

// ---- tables

static void tables_fit_the_terminal( void )
{
    const char* line = "bench -n 500 -m cleave,sap,kd-incremental --frames 2 -q";
    program_answer* answer = program_run( line );
    CHECK( widest_line( answer->out ) > 120 && strstr( answer->out, "left out" ) == NULL );
    for ( int columns = 70; columns <= 200; columns += 10 )
    {
        answer = program_run_on_terminal( line, columns );
        CHECK_EQUAL( answer->status, 0 );
        CHECK( widest_line( answer->out ) <= (size_t)columns || strstr( answer->out, "left out" ) != NULL );
        CHECK( strstr( answer->out, "median ms" ) != NULL && strstr( answer->out, "pairs" ) != NULL );
        CHECK( columns > 140 || strstr( answer->out, "left out for want of room: " ) != NULL );
    }
    answer = program_run_on_terminal( line, 80 );
    char* rest = strstr( answer->out, "left out" );
    CHECK( rest != NULL );
    *rest = '\0';
    CHECK( widest_line( answer->out ) <= 80 );
    static const char* const others[] = { "methods", "verify -n 500 -m cleave,kd-incremental --frames 2 -q",
        "compare " JSON " " JSON " --all" };
    program_run( "bench -n 500 -m cleave --frames 2 -q --json " JSON );
    for ( size_t row = 0; row < TEST_COUNT( others ); ++row )
    {
        answer = program_run_on_terminal( others[row], 80 );
        CHECK_EQUAL( answer->status, 0 );
        for ( char* text = strtok( answer->out, "\r\n" ); text != NULL; text = strtok( NULL, "\r\n" ) )
        {
            // Sentences may wrap; columns may not.
            bool is_sentence = strstr( text, ": " ) != NULL;
            test_where.note = text;
            CHECK( is_sentence || widest_line( text ) <= 80 );
        }
    }
}

static void a_last_column_is_folded_at_spaces( void )
{
    text_table table;
    text_table_begin( &table, "name|>a number|text" );
    text_table_leave_out( &table, "no such heading|a number" );
    text_table_add( &table, "x" );
    text_table_add( &table, "%d", 1 );
    text_table_add( &table, "one two three four five six seven eight" );
    FILE* file = fopen( CSV, "w+b" );
    CHECK( file != NULL );
    text_table_print_within( &table, file, 26 );
    char text[512] = "";
    rewind( file );
    text[fread( text, 1, sizeof( text ) - 1, file )] = '\0';
    fclose( file );
    CHECK_TEXT( text,
        "name  text\n"
        "x     one two three four\n"
        "      five six seven eight\n"
        "left out for want of room: a number (a wider window shows all, and so does | cat)\n" );
}

static void unavailable_methods_are_listed_once( void )
{
    setenv( "CLEAVE_PEERS", "/no/such/folder", 1 );
    program_answer* answer = program_run( "bench -n 50,100 --frames 1 --repeat 1 -q" );
    CHECK_EQUAL( answer->status, 0 );
    const char* first = strstr( answer->out, "bullet-dbvt-f" );
    CHECK( first != NULL && strstr( first + 1, "bullet-dbvt-f" ) == NULL );
    check_said( answer, "not available: bullet-dbvt-f, bullet-dbvt-d, bullet-axissweep: no bullet.so in" );
    unsetenv( "CLEAVE_PEERS" );
}

// ---- colours and signs

static bool has_colours( const char* text )
{
    return strstr( text, "\033[1m" ) != NULL || strstr( text, "\033[32m" ) != NULL ||
        strstr( text, "\033[1;31m" ) != NULL || strstr( text, "\033[0m" ) != NULL;
}

static void set_colours( const char* term, const char* no_color )
{
    CHECK( setenv( "TERM", term, 1 ) == 0 );
    CHECK( no_color != NULL ? setenv( "NO_COLOR", no_color, 1 ) == 0 : unsetenv( "NO_COLOR" ) == 0 );
}

static void colours_are_for_terminals( void )
{
    const char* line = "bench -n 300 -m cleave,brute@scalar --frames 2 -q";
    set_colours( "xterm", NULL );
    program_answer* answer = program_run_on_terminal( line, 200 );
    CHECK( strstr( answer->out, "\033[1mscene\033[0m" ) != NULL );   // headings
    CHECK( strstr( answer->out, "\033[32mcleave\033[0m" ) != NULL ); // the fastest row
    CHECK( strstr( answer->out, "\033[32mbrute" ) == NULL );
    CHECK( strstr( program_run_on_terminal( "bench -m spa", 80 )->out, "\033[1;31mcleave: \033[0m-m: " ) !=
        NULL );
    CHECK( strstr( program_run_on_terminal( "bench --help", 80 )->out, "\033[1mFlags:\033[0m" ) != NULL );
    answer = program_run_on_terminal( "verify -n 100 -m sap@scalar --frames 1 -q", 200 );
    CHECK( strstr( answer->out, "\033[32mAll agree\033[0m" ) != NULL );
    set_colours( "xterm", "" ); // empty counts as not set
    CHECK( has_colours( program_run_on_terminal( line, 200 )->out ) );
    CHECK( !has_colours( program_run_on_terminal( "--ansi never bench --help", 80 )->out ) );

    // Colours can be switched off.
    set_colours( "xterm", "1" );
    CHECK( !has_colours( program_run_on_terminal( line, 200 )->out ) );
    CHECK( !has_colours( program_run_on_terminal( "bench -m spa", 80 )->out ) );
    CHECK( has_colours( program_run_on_terminal( "--ansi=always bench --help", 80 )->out ) );
    set_colours( "dumb", NULL );
    CHECK( !has_colours( program_run_on_terminal( line, 200 )->out ) );
    set_colours( "xterm", NULL );
    CHECK( !has_colours( program_run( line )->out ) );
    CHECK( !has_colours( program_run( "bench -m spa" )->errors ) );
    CHECK( !has_colours( program_run( "--help" )->out ) );
    CHECK( has_colours( program_run( "--ansi always --help" )->out ) );

    // Colours take no room.
    answer = program_run_on_terminal( line, 80 );
    char* rest = strstr( answer->out, "left out" );
    CHECK( rest != NULL );
    *rest = '\0';
    CHECK( widest_line( answer->out ) <= 80 );

    answer = program_run( "--ansi nevr bench" );
    CHECK_EQUAL( answer->status, 2 );
    check_said( answer, "--ansi: there is no 'nevr'; did you mean never?" );
    answer = program_run( "bench --ansi never" );
    CHECK_EQUAL( answer->status, 2 );
    check_said( answer, "bench: --ansi comes before the command: cleave --ansi WHEN bench" );
}

// Every line of the first table as wide as its headings.
static void check_aligned( char* text )
{
    size_t width = text_width( strtok( text, "\n" ) );
    for ( char* line = strtok( NULL, "\n" ); line != NULL; line = strtok( NULL, "\n" ) )
    {
        test_where.note = line;
        CHECK_EQUAL( text_width( line ), width );
    }
}

static void repeats_show_their_spread( void )
{
    const char* line = "bench -n 300 -m cleave,sap --frames 3 --repeat 3 -q --json " JSON;
    program_answer* answer = program_run( line );
    CHECK( strstr( answer->out, "  spread  " ) != NULL && strstr( answer->out, "\xC2\xB1 0." ) != NULL );
    check_aligned( answer->out );
    run_results results;
    lab_error why = { LAB_DONE, "" };
    CHECK( results_read_file( JSON, &results, &why ) );
    CHECK( results.items[0].ms_spread >= 0 && results.items[0].ms_spread < 1000 );
    run_results_free( &results );
    answer = program_run( "bench -n 300 -m cleave,sap --frames 3 --rounds 2 --repeat 1 --isolate -q" );
    CHECK( strstr( answer->out, "\xC2\xB1 0." ) != NULL ); // passes of several processes too

    // Where the locale has no such signs, others.
    CHECK( setenv( "LC_ALL", "C", 1 ) == 0 );
    answer = program_run( line );
    CHECK( strstr( answer->out, "+- 0." ) != NULL && strstr( answer->out, "x slowest" ) != NULL );
    for ( const char* c = answer->out; *c != '\0'; ++c )
    {
        CHECK( (unsigned char)*c < 128 );
    }
    check_aligned( answer->out );
    CHECK( strstr( program_run( "bench --help" )->out, "[WHAT...]" ) != NULL );
    CHECK( setenv( "LC_ALL", "C.UTF-8", 1 ) == 0 );

    // One pass has none.
    answer = program_run( "bench -n 300 -m cleave,sap --frames 3 --repeat 1 -q --json " JSON );
    CHECK( strstr( answer->out, "spread" ) == NULL );
    CHECK( results_read_file( JSON, &results, &why ) );
    const json_value* spread = json_get( results.items[0].json, "ms_spread" );
    CHECK( spread != NULL && json_is_null( spread ) );
    run_results_free( &results );
}

static void a_spread_is_the_farthest_pass( void )
{
    const double passes[9] = { 1, 2, 9, 4, 3, 2, 5, 7, 6 }; // medians 2, 3 and 6
    double scratch[3];
    CHECK( run_spread( passes, 3, 3, 4, scratch ) == 2 );
    CHECK( run_spread( passes, 3, 3, 2.5, scratch ) == 3.5 );
    CHECK( run_spread( passes, 3, 2, 2.5, scratch ) == 0.5 );
    CHECK(
        isnan( run_spread( passes, 3, 1, 2, scratch ) ) && isnan( run_spread( passes, 0, 3, 2, scratch ) ) );
}

// ---- how long

static void long_work_shows_an_estimate( void )
{
    int status = 0;
    shell( "printf 'sizes 1k 2k\\nframes 3\\nmethods sap kd\\nscenes brownian-free\\n' > " STEM ".schedule",
        &status );
    program_answer* answer = program_run( "run " STEM ".schedule --dry-run --seed 77" );
    CHECK_EQUAL( answer->status, 0 );
    check_said( answer, "4 runs, under a second on one core, roughly, " );
    check_said( answer, " of scenes to bake first" );
    answer = program_run( "run full --dry-run | tail -n 1" );
    check_said( answer, "on one core, roughly" );
    answer = program_run( "verify -n 200 -m sap@scalar --frames 2" );
    check_said( answer, "1 runs judged by brute@scalar, frames 0 to 2 of 60, under a second, roughly" );
    shell( "rm -f " STEM ".schedule", &status );
}

// More boxes, frames and passes take longer, and brute force grows as it should.
static void an_estimate_grows_with_the_work( void )
{
    run_spec brute = { .row = clv_method_find( "brute" ), .isa = CLV_ISA_SCALAR, .thread_count = 1 };
    run_spec kd = { .row = clv_method_find( "kd" ), .isa = CLV_ISA_SCALAR, .thread_count = 1 };
    CHECK( estimate_frame_s( &brute, 20000 ) > 3.9 * estimate_frame_s( &brute, 10000 ) );
    CHECK( estimate_frame_s( &kd, 20000 ) > 1.9 * estimate_frame_s( &kd, 10000 ) );
    CHECK( estimate_frame_s( &brute, 100000 ) > 10 * estimate_frame_s( &kd, 100000 ) );
    CHECK_TEXT( estimate_text( 0.2 ).text, "under a second" );
    CHECK_TEXT( estimate_text( 20 ).text, "about 20 s" );
    CHECK_TEXT( estimate_text( 600 ).text, "about 10 min" );
}

// ---- Ctrl-C

// The lines on its standard error so far.
static uint32_t error_lines( void )
{
    uint32_t count = 0;
    FILE* file = fopen( program_error_file(), "rb" );
    for ( int c = file != NULL ? getc( file ) : EOF; c != EOF; c = getc( file ) )
    {
        count += c == '\n' ? 1 : 0;
    }
    if ( file != NULL )
    {
        fclose( file );
    }
    return count;
}

// Ends the program once it has reported that many runs.
static int end_after( const char* line, uint32_t runs, int signal_number )
{
    struct timespec moment = { 0, 1000000 };
    remove( program_error_file() );
    test_where.note = line;
    int process = program_start( line );
    for ( int wait = 0; wait < 60000 && error_lines() < runs; ++wait )
    {
        nanosleep( &moment, NULL );
    }
    return program_end( process, signal_number );
}

static void an_interrupted_bench_keeps_what_is_done( void )
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    setenv( "CLEAVE_PEERS", TEST_BAD_PEERS, 1 );
    for ( size_t row = 0; row < TEST_COUNT( signals ); ++row )
    {
        remove( JSON );
        remove( CSV );
        const char* line = // the third method never comes back
            "bench -n 500 -m sap,kd,bad-hang,grid --frames 3 --json " JSON " --csv " CSV " --isolate";
        CHECK_EQUAL( end_after( line, 2, signals[row] ), 1 );
        run_results results;
        lab_error why = { LAB_DONE, "" };
        CHECK( results_read_file( JSON, &results, &why ) );
        CHECK_EQUAL( results.count, 2 );
        CHECK( results.items[0].status == RUN_OK && results.items[1].status == RUN_OK );
        CHECK( strstr( results.items[0].method, "sap" ) != NULL );
        run_results_free( &results );
        CHECK( starts_with( head_of( CSV ), "scene,type," ) );
    }
    unsetenv( "CLEAVE_PEERS" );
}

static void an_interrupted_bench_in_one_process_too( void )
{
    setenv( "CLEAVE_PEERS", TEST_BAD_PEERS, 1 );
    remove( JSON );
    // Nothing tells from outside when sap is done. The hang lasts for ever, so a longer wait is all it takes
    // on a busy machine.
    char text[1024] = "";
    for ( int seconds = 1; seconds <= 32 && strstr( text, "1 of 2 runs were done" ) == NULL; seconds *= 2 )
    {
        struct timespec moment = { seconds, 0 };
        remove( program_error_file() );
        int process = program_start( "bench -n 500 -m sap,bad-hang --frames 3 --json " JSON );
        nanosleep( &moment, NULL );
        int status = program_end( process, SIGTERM );
        CHECK( status == 1 || status == 128 + SIGTERM ); // it had not come to its work
        FILE* file = fopen( program_error_file(), "rb" );
        size_t length = file != NULL ? fread( text, 1, sizeof( text ) - 1, file ) : 0;
        text[length] = '\0';
        if ( file != NULL )
        {
            fclose( file );
        }
    }
    CHECK( strstr( text, "interrupted: 1 of 2 runs were done and are kept" ) != NULL );
    CHECK( starts_with( head_of( JSON ), "{" ) );
    unsetenv( "CLEAVE_PEERS" );
}

static void an_interrupted_bench_without_results_leaves_the_old( void )
{
    setenv( "CLEAVE_PEERS", TEST_BAD_PEERS, 1 );
    FILE* file = fopen( JSON, "wb" );
    CHECK( file != NULL );
    fputs( "old", file );
    fclose( file );
    struct timespec moment = { 0, 300000000 };
    int process = program_start( "bench -n 500 -m bad-hang --frames 3 --json " JSON );
    nanosleep( &moment, NULL );
    int status = program_end( process, SIGTERM );
    CHECK( status == 1 || status == 128 + SIGTERM ); // before it had anything to say
    CHECK_TEXT( head_of( JSON ), "old" );
    unsetenv( "CLEAVE_PEERS" );
}

static void an_interrupted_verify_tells_what_it_compared( void )
{
    // The second scene takes minutes.
    const char* text = "";
    int status = 0;
    for ( int seconds = 2; seconds <= 32 && strstr( text, "All agree so far: " ) == NULL; seconds *= 2 )
    {
        char line[256];
        snprintf( line, sizeof( line ),
            "timeout -s INT --preserve-status %d " TEST_PROGRAM
            " verify brownian-free:500@0+5 brownian-free:32k -m brute@scalar --frames 60 -q",
            seconds );
        text = shell( line, &status );
    }
    CHECK_EQUAL( status, 1 << 8 );
    CHECK( strstr( text, "All agree so far: " ) != NULL && strstr( text, "interrupted" ) != NULL );
}

static void a_scene_that_fails_takes_no_results_along( void )
{
    static const unsigned char no_number[4] = { 0xFF, 0xFF, 0xFF, 0xFF };
    remove( JSON );
    program_run( "gen brownian-free -n 100 --frames 4 -q -o " SCENE );
    FILE* file = fopen( SCENE, "r+b" );
    CHECK( file != NULL && fseek( file, -4, SEEK_END ) == 0 && fwrite( no_number, 1, 4, file ) == 4 );
    fclose( file );
    program_answer* answer =
        program_run( "bench brownian-free:100 " SCENE " -m sap --frames 4 --json " JSON );
    CHECK_EQUAL( answer->status, 2 );
    check_said( answer, SCENE );
    run_results results;
    lab_error why = { LAB_DONE, "" };
    CHECK( results_read_file( JSON, &results, &why ) );
    CHECK_EQUAL( results.count, 1 );
    run_results_free( &results );
}

// All kinds on all instruction sets beside brute force, with a table, JSON and the answers as text.
static void queries_are_asked_and_judged( void )
{
    program_answer* answer =
        program_run( "verify brownian-free:600 --queries rays,boxes,spheres,nearest,casts --query-count 40" );
    CHECK_EQUAL( answer->status, 0 );
    check_said( answer, "casts" );
    answer = program_run(
        "bench brownian-free:300 --queries rays,nearest --query-count 30 --repeat 1 -m cleave,brute --answers " STEM
        ".answers --json " JSON );
    CHECK_EQUAL( answer->status, 0 );
    check_said( answer, "batched ns" );
    CHECK( starts_with( head_of( STEM ".answers" ), "# brownian-free:300:cubes, by cleave" ) );
    CHECK( starts_with( head_of( JSON ), "{" ) );
    remove( STEM ".answers" );
    remove( JSON );
    // A path that cannot be written is said before anything is asked.
    answer = program_run( "bench brownian-free:300 --queries rays --json no/such/one.json" );
    CHECK_EQUAL( answer->status, 2 );
    check_said( answer, "no/such/one.json: cannot be created" );
    CHECK( strstr( answer->out, "batched ns" ) == NULL );
}

// Every instruction set and number of workers asked for has a line.
static void near_points_are_timed_and_judged( void )
{
    program_answer* answer = program_run( "verify brownian-free:500 --near 2 --periodic --threads 1,3" );
    CHECK_EQUAL( answer->status, 0 );
    check_said( answer, "scalar     1" );
    check_said( answer, "scalar     3" );
    check_said( answer, "the same" );
    CHECK( strstr( answer->out, "differ" ) == NULL );
    answer = program_run( "bench brownian-free:500 --near 2 --isa scalar --threads 1,2 --repeat 1" );
    CHECK_EQUAL( answer->status, 0 );
    check_said( answer, "scalar     1" );
    check_said( answer, "scalar     2" );
    CHECK( strstr( answer->out, "avx" ) == NULL && strstr( answer->out, "neon" ) == NULL );
}

int main( int argc, char** argv )
{
    lab_error why;
    if ( !results_have_json( &why ) )
    {
        printf( "skipped: %s\n", why.text );
        return 77;
    }
    setenv( "CLEAVE_CACHE", "test_program_cache", 1 );
    setenv( "LC_ALL", "C.UTF-8", 1 );
    setenv( "TERM", "xterm", 1 );
    unsetenv( "NO_COLOR" );
    const test_case cases[] = {
        TEST_CASE( queries_are_asked_and_judged ),
        TEST_CASE( near_points_are_timed_and_judged ),
        TEST_CASE( a_closed_output_takes_no_file ),
        TEST_CASE( a_full_output_is_noticed ),
        TEST_CASE( a_reader_that_leaves_costs_no_file ),
        TEST_CASE( each_kind_of_number_has_its_words ),
        TEST_CASE( a_misspelt_name_is_guessed ),
        TEST_CASE( files_of_another_kind_are_recognised ),
        TEST_CASE( a_default_is_told_once ),
        TEST_CASE( every_scene_is_in_the_help ),
        TEST_CASE( help_fits_the_terminal ),
        TEST_CASE( every_word_of_a_flag_is_in_its_help ),
        TEST_CASE( scenes_lists_every_scene ),
        TEST_CASE( a_method_named_that_cannot_run_is_refused ),
        TEST_CASE( a_moved_program_says_where_it_looked ),
        TEST_CASE( methods_tell_what_table_1_tells ),
        TEST_CASE( unknown_values_are_not_zero ),
        TEST_CASE( a_load_is_told_as_people_read_it ),
        TEST_CASE( long_work_shows_an_estimate ),
        TEST_CASE( an_estimate_grows_with_the_work ),
        TEST_CASE( tables_fit_the_terminal ),
        TEST_CASE( a_last_column_is_folded_at_spaces ),
        TEST_CASE( unavailable_methods_are_listed_once ),
        TEST_CASE( colours_are_for_terminals ),
        TEST_CASE( repeats_show_their_spread ),
        TEST_CASE( a_spread_is_the_farthest_pass ),
        TEST_CASE( an_interrupted_bench_keeps_what_is_done ),
        TEST_CASE( an_interrupted_bench_in_one_process_too ),
        TEST_CASE( an_interrupted_bench_without_results_leaves_the_old ),
        TEST_CASE( an_interrupted_verify_tells_what_it_compared ),
        TEST_CASE( a_scene_that_fails_takes_no_results_along ),
    };
    int status = test_run( "program", cases, TEST_COUNT( cases ), argc, argv );
    remove( JSON );
    remove( CSV );
    remove( SCENE );
    remove( program_error_file() );
    return status;
}
