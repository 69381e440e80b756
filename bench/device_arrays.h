/* Copies of host arrays in CUDA memory, like those of an application that computes there. */
#ifndef BENCH_DEVICE_ARRAYS_H
#define BENCH_DEVICE_ARRAYS_H

#include <texsolve/texsolve.h>

/* Whether the backend accepts such arrays. */
int device_arrays_are_known(const char *backend);
/* Replaces each array by its copy. Nonzero after a message; call device_arrays_free in any case. */
int device_arrays_upload(ts_array *const arrays[], int count);
/* Copies an array of CUDA memory to the host; others are there. Nonzero after a message. */
int device_arrays_download(const ts_array *array, void *host);
void device_arrays_free(ts_array *const arrays[], int count);

#endif
