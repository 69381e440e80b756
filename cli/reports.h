/* What the programs' reports and benchmarks share. */
#ifndef CLI_REPORTS_H
#define CLI_REPORTS_H

#include <jansson.h>

#include <texsolve/texsolve.h>

/* JSON has no NaN and no infinity: null stands for them. */
json_t *report_number(double value);
json_t *report_milliseconds(double seconds);
/* NULL: null */
json_t *report_text(const char *text);

/* How many iterations were done in each precision, by ts_precision: " (121 single, 82 mixed)", "" for none; and
 * {"single": 121, ...}. */
const char *report_precisions(const int iterations[4]);
json_t *report_precisions_object(const int iterations[4]);

/* Prints an object, which it releases, on standard output. `lost`: it is not complete, for want of memory.
 * Returns 0, or -1 after a message. */
int report_print(json_t *object, int lost);

/* "1 step" or "3 steps" on standard output. */
void report_plural(int count, const char *one, const char *more);

/* Of OpenGL a line on standard output: whether it runs on a GPU, and how long its driver compiled shaders. */
void report_opengl(const ts_context_info *context);

/* Sorts them. */
double report_median(double *values, int count);

#endif
