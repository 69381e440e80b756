/* Functions used by the generated functions of examples.py. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <stdio.h>

#include <texsolve/texsolve.h>

#include "examples.h"

#ifdef __cplusplus
#define EXAMPLE(name) example_##name##_cxx
extern "C" {
#else
#define EXAMPLE(name) example_##name##_c
#endif

typedef void example_fn(ts_context *context, ts_matrix *A, ts_vector *b, ts_vector *x);

#define EXAMPLE_DECLARE(name) example_fn example_##name##_c, example_##name##_cxx;
EXAMPLES(EXAMPLE_DECLARE)

/* Ends the program unless the status is TS_OK, and returns it. */
ts_status example_must(ts_status status, const char *function);
/* Ends the program unless the number is within 1e-3 of the one in a comment. */
void example_number(double number, double expected);

#ifdef __cplusplus
}
#endif
#endif
