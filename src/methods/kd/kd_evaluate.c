// SPDX-License-Identifier: MIT
// Evaluate, equations 1-3: Cost says how close the expected tests are to the worst case, Balance how close
// the smaller branch is to all the rest. With binom(n, 2) tests among n objects, t_max - t_min is p^2 / 4.
#include "kd/kd_tree.h"

#include "base/assertion.h"

static double pairs_of( double count )
{
    return count * ( count - 1 ) / 2;
}

bool clv_kd_evaluate( kd_balance balance, uint32_t own_count, uint32_t left_count, uint32_t right_count )
{
    double own = own_count, left = left_count, right = right_count;
    double all = own + left + right;
    double fewer = left < right ? left : right;
    double more = left < right ? right : left;
    if ( fewer == 0 )
    {
        return false; // Cost is 1 and Balance 0, or there is nothing here at all
    }
    double tests = pairs_of( own ) + pairs_of( left ) + pairs_of( right ) + own * ( left + right );
    double least = 2 * pairs_of( all / 2 );
    double most = pairs_of( all );
    CLV_ASSERT( most > least );
    double cost = ( tests - least ) / ( most - least );
    if ( balance == KD_BALANCE_CHILDREN )
    {
        return fewer / more > cost;
    }
    return !( cost > fewer / ( own + more ) );
}
