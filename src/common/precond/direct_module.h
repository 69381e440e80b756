/* The interface between the library and the module texsolve-direct, which factors matrices by SuiteSparse. The
 * library opens the module when a matrix is to be factored, so that nobody else needs SuiteSparse.
 *
 * Both methods order the matrix (analyse), compute its factors (factor) and solve with them. What a method
 * keeps is one object, `factors`, which `release` frees in any state. */
#ifndef TSI_DIRECT_MODULE_H
#define TSI_DIRECT_MODULE_H

#include <stddef.h>
#include <stdint.h>

/* A square matrix by rows; no entry is stored twice. */
typedef struct tsi_direct_rows {
  int32_t n;
  int32_t *offsets, *columns;
  double *values;
} tsi_direct_rows;

/* The library's allocator. SuiteSparse takes its own workspaces from malloc. */
typedef struct tsi_direct_memory {
  void *user;
  void *(*allocate)(void *user, size_t count, size_t size);
  void (*release)(void *user, void *block);
} tsi_direct_memory;

typedef enum tsi_direct_fault {
  TSI_DIRECT_NONE,
  TSI_DIRECT_NO_MEMORY,
  TSI_DIRECT_TOO_LARGE,    /* more entries than 32 bits count */
  TSI_DIRECT_NO_MATCHING,  /* no permutation has entries on the whole diagonal; `row` is one without */
  TSI_DIRECT_ZERO_PIVOT,   /* `row` is a combination of others */
  TSI_DIRECT_NOT_POSITIVE, /* of a method that needs positive pivots */
  TSI_DIRECT_FAILED        /* SuiteSparse has refused its arguments */
} tsi_direct_fault;

/* What analyse and factor find out. */
typedef struct tsi_direct_finding {
  double entries; /* of the factors: predicted by analyse, counted by factor */
  double pivot;   /* the smallest magnitude of a pivot */
  int32_t row;    /* the row of that pivot, or the one that a fault is about */
} tsi_direct_finding;

typedef struct tsi_direct_method {
  const char *name; /* of the factorisation, such as "LDL^T" */
  double reads;     /* how often a solve reads each entry of the factors */
  tsi_direct_fault (*analyse)(const tsi_direct_memory *memory, const tsi_direct_rows *A, void **factors,
                              tsi_direct_finding *found);
  /* The same A as in analyse. */
  tsi_direct_fault (*factor)(void *factors, const tsi_direct_rows *A, tsi_direct_finding *found);
  /* x becomes A^-1 x. */
  void (*solve)(void *factors, double *x);
  void (*release)(void *factors);
} tsi_direct_method;

enum { TSI_DIRECT_VERSION = 1 };

typedef struct tsi_direct_module {
  int version;                       /* TSI_DIRECT_VERSION of the header that it was compiled with */
  const char *libraries;             /* "KLU 1.3.8, LDL 2.2.6, AMD 2.4.6" */
  const tsi_direct_method *cholesky, /* of symmetric positive definite matrices */
      *lu;                           /* of others */
} tsi_direct_module;

#define TSI_DIRECT_FILE "texsolve-direct.so"
#define TSI_DIRECT_SYMBOL "texsolve_direct"

#endif
