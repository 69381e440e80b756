/* Copies of the host's arrays in CUDA memory, as an application has them that computes there. */
#ifndef BENCH_DEVICE_ARRAYS_H
#define BENCH_DEVICE_ARRAYS_H

#include <texsolve/texsolve.h>

/* Whether the backend takes such arrays. */
int device_arrays_are_known(const char *backend);
/* Each becomes its copy. Nonzero after a message; device_arrays_free follows in any case. */
int device_arrays_upload(ts_array *const arrays[], int count);
void device_arrays_free(ts_array *const arrays[], int count);

#endif
