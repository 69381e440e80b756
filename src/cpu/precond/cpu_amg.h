/* Sparse matrices of the set-up of algebraic multigrid by parts: operations of amg_part.h. */
#ifndef CPU_AMG_H
#define CPU_AMG_H

#include "common/precond/amg/amg_part.h"
#include "cpu/core/cpu.h"

TSI_AMG_PART_OPERATIONS(TSI_PROTOTYPE, cpu_amg_part_)

#endif
