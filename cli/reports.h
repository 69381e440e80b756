/* Shared code of the programs' reports and benchmarks. */
#ifndef CLI_REPORTS_H
#define CLI_REPORTS_H

#include <jansson.h>

#include <texsolve/texsolve.h>

/* null for NaN and infinity, which JSON lacks. */
json_t *report_number(double value);
json_t *report_milliseconds(double seconds);
/* NULL becomes null. */
json_t *report_text(const char *text);

/* Iteration counts by ts_precision: " (121 single, 82 mixed)" or "" if all are 0; and {"single": 121, ...}. */
const char *report_precisions(const int iterations[4]);
json_t *report_precisions_object(const int iterations[4]);

/* Prints an object on standard output and releases it. `lost`: the object is incomplete because memory was
 * exhausted. Returns 0, or -1 after a message. */
int report_print(json_t *object, int lost);

/* Prints "1 step" or "3 steps" on standard output. */
void report_plural(int count, const char *one, const char *more);

/* For OpenGL prints a line on standard output: whether it runs on a GPU, and the time its driver took to
 * compile shaders. */
void report_opengl(const ts_context_info *context);

/* Sorts the values. */
double report_median(double *values, int count);

#endif
