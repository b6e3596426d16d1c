// SPDX-License-Identifier: MIT
// Which axis to sort by. Paper 003 takes the principal axis of the centres, since boxes that are spread
// widely overlap little along it; counting overlaps in a sample asks the question itself, and sees sizes too.
#include "gpu_state.h"

#include <math.h>

enum
{
    PAIRS = 16384, // of the sample
};

static bool overlap_on( const clv_aabb* a, const clv_aabb* b, uint32_t axis )
{
    return axis == 0 ? a->lower.x <= b->upper.x && b->lower.x <= a->upper.x
        : axis == 1  ? a->lower.y <= b->upper.y && b->lower.y <= a->upper.y
                     : a->lower.z <= b->upper.z && b->lower.z <= a->upper.z;
}

void clv_gpu_axes_by_sample( const clv_aabb* sample, uint32_t count, uint32_t axes[3] )
{
    uint32_t overlaps[3] = { 0, 0, 0 };
    uint32_t state = 1;
    for ( uint32_t k = 0; k < PAIRS && count > 1; ++k )
    {
        state = state * 1664525u + 1013904223u;
        uint32_t a = ( state >> 8 ) % count;
        state = state * 1664525u + 1013904223u;
        uint32_t b = ( state >> 8 ) % count;
        for ( uint32_t axis = 0; axis < 3 && a != b; ++axis )
        {
            overlaps[axis] += overlap_on( &sample[a], &sample[b], axis ) ? 1 : 0;
        }
    }
    axes[0] = 0;
    axes[1] = 1;
    axes[2] = 2;
    for ( int i = 0; i < 2; ++i ) // three numbers: two rounds of neighbours sort them
    {
        for ( int k = 0; k < 2; ++k )
        {
            if ( overlaps[axes[k + 1]] < overlaps[axes[k]] )
            {
                uint32_t kept = axes[k];
                axes[k] = axes[k + 1];
                axes[k + 1] = kept;
            }
        }
    }
}

// ---- the principal axis

// One rotation of Jacobi's method that makes m[p][q] zero; `v` collects the rotations.
static void rotate( double m[3][3], double v[3][3], int p, int q )
{
    if ( m[p][q] == 0 )
    {
        return;
    }
    double theta = ( m[q][q] - m[p][p] ) / ( 2 * m[p][q] );
    double t = ( theta >= 0 ? 1 : -1 ) / ( fabs( theta ) + sqrt( theta * theta + 1 ) );
    double c = 1 / sqrt( t * t + 1 );
    double s = t * c;
    for ( int k = 0; k < 3; ++k )
    {
        double a = m[k][p];
        double b = m[k][q];
        m[k][p] = c * a - s * b;
        m[k][q] = s * a + c * b;
    }
    for ( int k = 0; k < 3; ++k )
    {
        double a = m[p][k];
        double b = m[q][k];
        m[p][k] = c * a - s * b;
        m[q][k] = s * a + c * b;
        double x = v[k][p];
        double y = v[k][q];
        v[k][p] = c * x - s * y;
        v[k][q] = s * x + c * y;
    }
}

static int largest_of( double a, double b, double c )
{
    return a >= b && a >= c ? 0 : b >= c ? 1 : 2;
}

// The principal axis' number of the three that Jacobi's method leaves in `v`, one each column.
static int find_principal( const double sums[10], double v[3][3], double spreads[3] )
{
    double n = sums[9] > 0 ? sums[9] : 1;
    double mean[3] = { sums[0] / n, sums[1] / n, sums[2] / n };
    double xy = sums[6] / n - mean[0] * mean[1];
    double xz = sums[7] / n - mean[0] * mean[2];
    double yz = sums[8] / n - mean[1] * mean[2];
    double m[3][3] = { { sums[3] / n - mean[0] * mean[0], xy, xz },
        { xy, sums[4] / n - mean[1] * mean[1], yz }, { xz, yz, sums[5] / n - mean[2] * mean[2] } };
    for ( int i = 0; i < 9; ++i )
    {
        v[i / 3][i % 3] = i / 3 == i % 3 ? 1 : 0;
    }
    for ( int sweep = 0; sweep < 12; ++sweep )
    {
        rotate( m, v, 0, 1 );
        rotate( m, v, 0, 2 );
        rotate( m, v, 1, 2 );
    }
    for ( int i = 0; i < 3; ++i )
    {
        spreads[i] = m[i][i];
    }
    return largest_of( m[0][0], m[1][1], m[2][2] );
}

uint32_t clv_gpu_axis_by_moments( const double sums[10], float direction[3] )
{
    double v[3][3];
    double spreads[3];
    int principal = find_principal( sums, v, spreads );
    for ( int k = 0; k < 3; ++k )
    {
        direction[k] = (float)v[k][principal];
    }
    return (uint32_t)largest_of( fabs( v[0][principal] ), fabs( v[1][principal] ), fabs( v[2][principal] ) );
}

bool clv_gpu_direction_by_moments( const double sums[10], double direction[3] )
{
    double v[3][3];
    double spreads[3];
    int principal = find_principal( sums, v, spreads );
    for ( int i = 0; i < 3; ++i )
    {
        direction[i] = v[i][principal];
    }
    return sums[9] >= 2 && spreads[principal] > 0; // false for NaN too
}
