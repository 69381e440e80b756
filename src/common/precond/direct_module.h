/* The interface between the library and the module texsolve-direct, which factors matrices with SuiteSparse.
 * The library opens the module only to factor a matrix, so other uses do not require SuiteSparse.
 *
 * Both methods order the matrix (analyse), compute its factors (factor) and solve with them. The state of a
 * method is one object, `factors`, which `release` frees in any state. */
#ifndef TSI_DIRECT_MODULE_H
#define TSI_DIRECT_MODULE_H

#include <stddef.h>
#include <stdint.h>

/* A square matrix by rows; entries are unique. */
typedef struct tsi_direct_rows {
  int32_t n;
  int32_t *offsets, *columns;
  double *values;
} tsi_direct_rows;

/* The library's allocator. SuiteSparse allocates its own workspaces with malloc. */
typedef struct tsi_direct_memory {
  void *user;
  void *(*allocate)(void *user, size_t count, size_t size);
  void (*release)(void *user, void *block);
} tsi_direct_memory;

typedef enum tsi_direct_fault {
  TSI_DIRECT_NONE,
  TSI_DIRECT_NO_MEMORY,
  TSI_DIRECT_TOO_LARGE,    /* too many entries for 32-bit indices */
  TSI_DIRECT_NO_MATCHING,  /* no permutation has entries on the whole diagonal; `row` lacks one */
  TSI_DIRECT_ZERO_PIVOT,   /* `row` is a combination of other rows */
  TSI_DIRECT_NOT_POSITIVE, /* for the method that needs positive pivots */
  TSI_DIRECT_FAILED        /* SuiteSparse rejected its arguments */
} tsi_direct_fault;

/* Results of analyse and factor. */
typedef struct tsi_direct_finding {
  double entries; /* of the factors: predicted by analyse, counted by factor */
  double pivot;   /* the smallest magnitude of a pivot */
  int32_t row;    /* the row of that pivot, or of the fault */
} tsi_direct_finding;

typedef struct tsi_direct_method {
  const char *name; /* of the factorisation, for example "LDL^T" */
  double reads;     /* reads per entry of the factors in one solve */
  tsi_direct_fault (*analyse)(const tsi_direct_memory *memory, const tsi_direct_rows *A, void **factors,
                              tsi_direct_finding *found);
  /* Requires the A of analyse. */
  tsi_direct_fault (*factor)(void *factors, const tsi_direct_rows *A, tsi_direct_finding *found);
  /* x = A^-1 x. */
  void (*solve)(void *factors, double *x);
  void (*release)(void *factors);
} tsi_direct_method;

enum { TSI_DIRECT_VERSION = 1 };

typedef struct tsi_direct_module {
  int version;                       /* TSI_DIRECT_VERSION of the header that the module was compiled with */
  const char *libraries;             /* "KLU 1.3.8, LDL 2.2.6, AMD 2.4.6" */
  const tsi_direct_method *cholesky, /* for symmetric positive definite matrices */
      *lu;                           /* for all others */
} tsi_direct_module;

#define TSI_DIRECT_FILE "texsolve-direct.so"
#define TSI_DIRECT_SYMBOL "texsolve_direct"

#endif
