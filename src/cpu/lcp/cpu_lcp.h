/* Complementarity problems on the CPU: dense matrices row by row, in floats or in doubles. */
#ifndef CPU_LCP_H
#define CPU_LCP_H

#include "cpu/core/cpu.h"
#include "lcp/lcp.h"

enum { CPU_LCP_LANES = 16 }; /* a row's stride is a multiple of it */

typedef struct cpu_lcp {
  size_t stride; /* numbers from row to row; those behind the last column are 0 */
  void *matrix;  /* aligned; float or double as lcp->is_double */
  void *z, *q;   /* of one sweep or residual, in the matrix's type, `stride` numbers a problem */
  void *lower, *upper, *friction; /* per unknown and contact, in the matrix's type; never NULL but for those
                                     that the problem has not */
  void *block;                    /* all of it, as allocated */
  size_t bytes;
} cpu_lcp;

/* A run of sweeps over one problem. */
typedef struct cpu_lcp_run {
  const ts_lcp *lcp;
  size_t problem;
  ts_lcp_scheme scheme;
  int sweeps;
} cpu_lcp_run;

void cpu_lcp_sweep_float(const cpu_lcp_run *run);
void cpu_lcp_sweep_double(const cpu_lcp_run *run);
/* map = z - P(z - M z - q), of rows first .. last - 1 of a problem. */
void cpu_lcp_map_float(const ts_lcp *lcp, size_t problem, size_t first, size_t last, double *out);
void cpu_lcp_map_double(const ts_lcp *lcp, size_t problem, size_t first, size_t last, double *out);

#endif
