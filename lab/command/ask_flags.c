// SPDX-License-Identifier: MIT
#include "lab/command/ask_flags.h"

bool ask_flags_run_near( const ask_flags* flags, const args_table* table, const schedule_part* part,
    const text_list* scenes, bool verify, lab_status* status )
{
    if ( flags->near_cutoff < 0 )
    {
        *status = flags->periodic ? lab_fail( "%s: --periodic needs --near", table->command ) : LAB_DONE;
        return flags->periodic;
    }
    lab_error why;
    near_bench_def near = { .scenes = scenes,
        .sizes = &part->sizes,
        .threads = &part->wish.threads,
        .isas = &part->wish.isas,
        .cutoff = flags->near_cutoff,
        .is_periodic = flags->periodic,
        .verify = verify,
        .pass_count = part->terms.repeat,
        .seed = part->terms.seed };
    *status = near_flags_check( table, &why ) ? near_bench_run( &near ) : lab_error_print( &why );
    return true;
}
