// SPDX-License-Identifier: MIT
// Schedules are read as written or refused with their line; they make the runs they mean, each once.
#define _POSIX_C_SOURCE 200809L
#include "cleave/gpu.h"
#include "lab/measure/plugin.h"
#include "lab/measure/run_spec.h"
#include "lab/run/run_child.h"
#include "lab/run/run_plan.h"
#include "support.h"

#include <stdlib.h>
#include <string.h>

// ---- ranges

static void check_range( const char* word, const char* expected )
{
    number_list list = { 0 };
    char what[128] = "";
    char text[512] = "";
    test_where.note = word;
    CHECK( range_add( &list, word, what, sizeof( what ) ) );
    for ( uint32_t index = 0; index < list.count; ++index )
    {
        size_t length = strlen( text );
        snprintf( text + length, sizeof( text ) - length, "%s%s", index > 0 ? " " : "",
            range_text( list.items[index] ).text );
    }
    CHECK_TEXT( text, expected );
    number_list_free( &list );
}

static void ranges_double_multiply_or_add( void )
{
    check_range( "64", "64" );
    check_range( "0.25", "0.25" );
    check_range( "32..256", "32 64 128 256" );
    check_range( "1k..9k", "1000 2000 4000 8000" );
    check_range( "10..1k:x10", "10 100 1000" );
    check_range( "0.1..0.5:+0.1", "0.1 0.2 0.3 0.4 0.5" );
    check_range( "5..5", "5" );
    check_range( "0..20:+10", "0 10 20" );
}

static void invalid_ranges_are_refused( void )
{
    static const char* const words[] = { "", "x", "1..", "..4", "8..4", "1..8:2", "1..8:x1", "1..8:x",
        "1..8:+0", "1..8:+-1", "0..8", "-4..8", "1..1m:+1", "nan", "inf", "1..inf", "1..8:xinf", "1 2" };
    for ( size_t index = 0; index < TEST_COUNT( words ); ++index )
    {
        number_list list = { 0 };
        char what[128] = "";
        test_where.note = words[index];
        CHECK( !range_add( &list, words[index], what, sizeof( what ) ) );
        CHECK( what[0] != '\0' );
        number_list_free( &list );
    }
}

static void cores_to_pin_to_are_read( void )
{
    pin_wish wish;
    CHECK( pin_parse( "no", &wish ) && !wish.is_on );
    CHECK( pin_parse( "yes", &wish ) && wish.is_on && !wish.is_chosen );
    CHECK( pin_parse( "0,2-4,70", &wish ) && wish.is_chosen );
    CHECK_EQUAL( wish.cores[0], 0x1d );
    CHECK_EQUAL( wish.cores[1], 1 << 6 );
    static const char* const words[] = { "", "maybe", "1,", ",1", "3-1", "1024", "1-", "99999999999999999999",
        "-1" };
    for ( size_t index = 0; index < TEST_COUNT( words ); ++index )
    {
        test_where.note = words[index];
        CHECK( !pin_parse( words[index], &wish ) );
    }
}

// ---- reading

static void every_word_is_read( void )
{
    schedule plan;
    lab_error why = { LAB_DONE, "" };
    bool good = schedule_parse( "folder/mine.schedule",
        "# a comment\r\n"
        "about  what it is # about\n"
        "sizes 1k..4k 6k\n"
        "methods sap kd\n"
        "part one   # the first\n"
        "scenes freefall brownian-free:2k:assorted@3+4\n"
        "scenes gravity\n"
        "types assorted\twindow\n",
        &plan, &why );
    CHECK( !good && strstr( why.text, "folder/mine.schedule:8: 'window'" ) != NULL );
    good = schedule_parse( "folder/mine.schedule",
        "about  what it is\r\nsizes 1k..4k 6k\nmethods sap kd\nrepeat 9\n"
        "part one\nscenes freefall\nscenes gravity\ntypes assorted\nwindow 5+6\nframes 7\nthreads 1..4\nisa all\n"
        "set kd.leaf=64\nsweep kd.static=0.1..0.3:+0.1\nfat yes\nwarmup 2\nrepeat 4\nrounds 5\nsorted yes\nevents yes\n"
        "changed yes\nthread-time yes\ntime-limit 1.5\nmemory-limit 300\nladder 0.25\nseed 8\npin 0-1\nwithout brute\nmethods kd\n"
        "part two\n",
        &plan, &why );
    CHECK_TEXT( why.text, good ? why.text : "" );
    CHECK_TEXT( plan.name, "mine" );
    CHECK_TEXT( plan.about, "what it is" );
    CHECK_EQUAL( plan.part_count, 2 );
    const schedule_part* one = &plan.parts[0];
    const run_terms* terms = &one->terms;
    CHECK_TEXT( one->name, "one" );
    CHECK_EQUAL( one->scenes.count, 2 );
    CHECK_EQUAL( one->sizes.count, 4 );
    CHECK_EQUAL( one->sizes.items[3], 6000 );
    CHECK( one->types.count == 1 && one->wish.threads.count == 3 && one->wish.isas.count == 1 );
    CHECK( one->wish.settings.count == 1 && one->wish.sweeps.count == 1 && one->wish.without.count == 1 );
    CHECK( one->wish.names.count == 1 && strcmp( one->wish.names.items[0], "kd" ) == 0 );
    CHECK_TEXT( one->window, "5+6" );
    CHECK( terms->frame_count == 7 && terms->warmup == 2 && terms->repeat == 4 && terms->rounds == 5 );
    CHECK( one->wish.fat && terms->switches.sorted && terms->switches.events && terms->switches.thread_time &&
        terms->switches.changed );
    CHECK( terms->time_limit_s == 1.5 && terms->memory_limit_mib == 300 && terms->ladder_s == 0.25 );
    CHECK( terms->seed == 8 && strcmp( terms->pin, "0-1" ) == 0 );
    // The second part has what stands above, and nothing of the first.
    const schedule_part* two = &plan.parts[1];
    CHECK( two->sizes.count == 4 && two->wish.names.count == 2 && two->terms.repeat == 9 );
    CHECK( two->scenes.count == 0 && two->terms.rounds == 1 && two->wish.sweeps.count == 0 &&
        two->window[0] == '\0' );
    schedule_free( &plan );
}

static void bad_lines_are_named( void )
{
    static const char* const rows[][2] = {
        { "scens freefall", ":1: 'scens': unknown word; did you mean scenes?" },
        { "\nscenes frefall", ":2: frefall: no such file, and no scene 'frefall'; did you mean freefall?" },
        { "scenes crosing", ":1: crosing: no such file, and no scene 'crosing'; did you mean crossing?" },
        { "scenes", ":1: values are missing" },
        { "sizes 0", ":1: 0 is out of range" },
        { "sizes 1.5", ":1: 1.5 is out of range" },
        { "sizes 8k..1k", ":1: '8k..1k': a range goes upwards" },
        { "sizes 3000m", ":1: 3000000000 is out of range" },
        { "threads 0", ":1: 0 is out of range" },
        { "types cubs", ":1: 'cubs': no type" },
        { "window 5-6", ":1: '5-6': no window" },
        { "frames 0", ":1: '0': a whole number from 1" },
        { "repeat 1 2", ":1: one whole number" },
        { "repeat 1\nrepeat 2", ":2: 'repeat': is said twice" },
        { "fat maybe", ":1: yes or no" },
        { "time-limit -1", ":1: '-1': a number of seconds" },
        { "ladder nan", ":1: 'nan': a number of seconds" },
        { "pin x", ":1: 'x': write yes, no or cores" },
        { "part", ":1: part needs one word" },
        { "part a\npart a", ":2: 'a': there is a part of this name" },
        { "part a b", ":1: part needs one word" },
    };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        schedule plan;
        lab_error why = { LAB_DONE, "" };
        test_where.note = rows[row][0];
        CHECK( !schedule_parse( "s", rows[row][0], &plan, &why ) );
        CHECK( strstr( why.text, rows[row][1] ) == why.text + 1 );
        CHECK( plan.part_count == 0 && why.status == LAB_BAD_INPUT );
    }
}

static void names_and_paths_are_found_or_told( void )
{
    schedule plan;
    lab_error why = { LAB_DONE, "" };
    CHECK( schedule_open( "quick", &plan, &why ) );
    CHECK_TEXT( plan.name, "quick" );
    schedule_free( &plan );
    CHECK( !schedule_open( "quik", &plan, &why ) && strstr( why.text, "did you mean quick?" ) != NULL );
    CHECK(
        !schedule_open( "no/such.schedule", &plan, &why ) && strstr( why.text, "no/such.schedule" ) != NULL );
    CHECK( !schedule_open( "./", &plan, &why ) );
}

// ---- plans

static void every_carried_schedule_makes_a_plan( void )
{
    for ( uint32_t index = 0; schedule_carried_name( index ) != NULL; ++index )
    {
        schedule wanted;
        run_plan plan = { 0 };
        lab_error why = { LAB_DONE, "" };
        test_where.note = schedule_carried_name( index );
        CHECK( schedule_open( schedule_carried_name( index ), &wanted, &why ) );
        CHECK( wanted.about[0] != '\0' );
        for ( uint32_t part = 0; part < wanted.part_count; ++part )
        {
            bool good = run_plan_add( &plan, &wanted.parts[part], &why );
            CHECK_TEXT( good ? "" : why.text, "" );
        }
        CHECK( plan.count > 0 );
        run_plan_free( &plan );
        schedule_free( &wanted );
    }
}

// A scene that hurts is measured by `make worst`, or the table of scenes has one more than the schedule.
static void the_worst_schedule_has_every_scene_that_hurts( void )
{
    schedule wanted;
    lab_error why = { LAB_DONE, "" };
    CHECK( schedule_open( "worst", &wanted, &why ) );
    for ( uint32_t index = 0; index < generator_count(); ++index )
    {
        const generator* scene = generator_at( index );
        bool is_there = scene->family != FAMILY_WORST && scene->family != FAMILY_ODD;
        for ( uint32_t part = 0; part < wanted.part_count; ++part )
        {
            const text_list* scenes = &wanted.parts[part].scenes;
            for ( uint32_t item = 0; item < scenes->count; ++item )
            {
                scene_spec spec;
                CHECK( scene_spec_parse( scenes->items[item], &spec, &why ) );
                is_there = is_there || spec.generator == scene;
                scene_spec_free( &spec );
            }
        }
        test_where.note = scene->name;
        CHECK( is_there );
    }
    schedule_free( &wanted );
}

static run_plan plan_of( const char* text )
{
    schedule wanted;
    run_plan plan = { 0 };
    lab_error why = { LAB_DONE, "" };
    bool good = schedule_parse( "s", text, &wanted, &why );
    for ( uint32_t part = 0; good && part < wanted.part_count; ++part )
    {
        good = run_plan_add( &plan, &wanted.parts[part], &why );
    }
    CHECK_TEXT( good ? "" : why.text, "" );
    schedule_free( &wanted );
    return plan;
}

static void a_plan_is_the_product( void )
{
    run_plan plan =
        plan_of( "scenes freefall gravity:3k:cubes@7+8\nsizes 4k 1k\ntypes cubes assorted\nwindow 5+6\n"
                 "methods sap brute@scalar kd\nthreads 1 2\nsweep kd.leaf=64,128\n" );
    // freefall: 2 types × 2 sizes; gravity names all, and comes once however many types: its key is the same.
    // sap on 1 and 2 threads, brute likewise, kd likewise for each of its leaves.
    CHECK_EQUAL( plan.count, ( 2 * 2 + 1 ) * ( 2 + 2 + 2 * 2 ) );
    CHECK_TEXT( plan.items[0].scene_text, "freefall:cubes@5+6" );
    CHECK_EQUAL( run_job_bodies( &plan.items[0] ), 1000 ); // upwards, whatever the order they are written in
    const run_job* last = &plan.items[plan.count - 1];
    CHECK_TEXT( last->scene_text, "gravity:3k:cubes@7+8" );
    CHECK_EQUAL( run_job_bodies( last ), 3000 );
    CHECK_TEXT( last->spec.settings, "kd.leaf=128" );
    CHECK_EQUAL( last->scene_index, 4 );
    CHECK( strcmp( plan.items[0].ladder, plan.items[8].ladder ) == 0 );  // the same at the next size
    CHECK( strcmp( plan.items[0].ladder, plan.items[1].ladder ) != 0 );  // another number of threads
    CHECK( strcmp( plan.items[0].ladder, plan.items[16].ladder ) != 0 ); // another type
    run_plan_free( &plan );
}

static void what_two_parts_ask_for_is_done_once( void )
{
    run_plan plan = plan_of( "sizes 1k\nmethods sap\npart a\nmethods sap brute\npart b\npart c\nrepeat 5\n" );
    CHECK_EQUAL( plan.count, 3 );
    CHECK_EQUAL( plan.items[0].parts.count, 2 );
    CHECK_TEXT( plan.items[0].parts.items[1], "b" );
    CHECK_EQUAL( plan.items[1].parts.count, 1 );
    CHECK_TEXT( plan.items[2].parts.items[0], "c" );
    CHECK_EQUAL( plan.items[2].scene_index, 0 ); // the same scene and frames: their hashes must agree
    run_plan_free( &plan );
}

static void plans_refuse_unknown_names( void )
{
    static const char* const rows[][2] = {
        { "methods sapp", "unknown method 'sapp'; did you mean sap?" },
        { "without sapp", "unknown method 'sapp'" },
        { "set kd.leave=3", "knows 'kd.leave'" },
        { "sweep kd.leave=3..4", "knows 'kd.leave'" },
        { "sweep kd.leaf", "'kd.leaf' is not name=values" },
        { "sweep kd.leaf=", "'kd.leaf='" },
        { "sweep kd.leaf=4..2", "a range goes upwards" },
        { "methods kd\nsweep kd.leaf=0..4:+1", "kd.leaf" },
        { "isa mmx", "unknown instruction set 'mmx'" },
        { "scenes ray-freefall\nsizes 1m", "more than the 400000 it can have" },
    };
    for ( size_t row = 0; row < TEST_COUNT( rows ); ++row )
    {
        schedule wanted;
        run_plan plan = { 0 };
        lab_error why = { LAB_DONE, "" };
        test_where.note = rows[row][0];
        CHECK( schedule_parse( "s", rows[row][0], &wanted, &why ) );
        CHECK( !run_plan_add( &plan, &wanted.parts[0], &why ) );
        CHECK( strstr( why.text, rows[row][1] ) != NULL );
        schedule_free( &wanted );
        run_plan_free( &plan );
    }
}

int main( int argc, char** argv )
{
    clv_methods_register();
    setenv( "CLEAVE_OPENCL", "none", 1 ); // their names are enough
    clv_gpu_register();
    peer_modules_load(); // schedules may name other people's methods, here or not
    const test_case cases[] = {
        TEST_CASE( ranges_double_multiply_or_add ),
        TEST_CASE( invalid_ranges_are_refused ),
        TEST_CASE( cores_to_pin_to_are_read ),
        TEST_CASE( every_word_is_read ),
        TEST_CASE( bad_lines_are_named ),
        TEST_CASE( names_and_paths_are_found_or_told ),
        TEST_CASE( every_carried_schedule_makes_a_plan ),
        TEST_CASE( the_worst_schedule_has_every_scene_that_hurts ),
        TEST_CASE( a_plan_is_the_product ),
        TEST_CASE( what_two_parts_ask_for_is_done_once ),
        TEST_CASE( plans_refuse_unknown_names ),
    };
    return test_run( "schedule", cases, TEST_COUNT( cases ), argc, argv );
}
