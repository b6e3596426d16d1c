// SPDX-License-Identifier: MIT
// What fragments of code on the pages take for given: names of the reader's own program. The check
// `snippets` puts it before each.
#pragma once

#ifdef __cplusplus
#include <btBulletDynamicsCommon.h>
extern btCollisionDispatcher dispatcher;
extern btSequentialImpulseConstraintSolver solver;
extern btDefaultCollisionConfiguration configuration;
#else
#include <cleave/cleave.h>
#include <cleave/gpu.h>
#include <stdio.h>

extern clv_space* space;
extern clv_recorder* recorder;
extern clv_gpu* gpu;
extern clv_space_def def;
extern clv_id ids[], gone[], fresh_ids[], id;
extern clv_aabb boxes[], fresh[], box;
extern int count, gone_count, fresh_count, box_count, i;
extern struct body* body_of_slot[];
extern struct body *bodies[], *body;
extern void* points;
void log_line( const char* text );
void compare( clv_pair_view a, clv_pair_view b );
#endif
