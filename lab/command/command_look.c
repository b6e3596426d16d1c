// SPDX-License-Identifier: MIT
// One look for a device, for the process that started this one: `cleave run` loads no driver itself. Not in the help, yet
// `cleave look --help` tells its flags.
#include "lab/base/args.h"
#include "lab/command/commands.h"
#include "lab/run/device_look.h"

static lab_status run( void* data, text_list* operands )
{
    const bool* answers = data;
    device_seen seen;
    device_look_here( operands->count > 0 ? operands->items[0] : "", &seen );
    return device_look_answer( &seen, *answers ) ? LAB_DONE
                                                 : lab_fail( "look: the answer cannot be written" );
}

lab_status command_look( int argc, char** argv )
{
    bool answers = false;
    const args_flag list[] = {
        { "--answer", 0, ARGS_SWITCH, &answers, NULL, "the answer goes to the parent, not to standard output",
            0, 0 },
    };
    const args_table table = {
        .command = "look",
        .usage = "[NAME|N] [--answer]",
        .about = "One device, the fastest if none is named, or why there is none; what `cleave run` starts.",
        .example = "  cleave look\n  cleave look 0",
        .flags = list,
        .flag_count = sizeof( list ) / sizeof( list[0] ),
        .operand_name = "a device",
        .operand_most = 1,
    };
    return args_run( &table, argc, argv, run, &answers );
}
