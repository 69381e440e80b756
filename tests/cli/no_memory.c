/* Preloaded before the C library: argp fails to allocate memory. */
#include <errno.h>

struct argp;
int argp_parse(const struct argp *argp, int argc, char **argv, unsigned flags, int *index, void *input);

__attribute__((visibility("default"))) int argp_parse(const struct argp *argp, int argc, char **argv,
                                                      unsigned flags, int *index, void *input) {
  (void)argp, (void)argc, (void)argv, (void)flags, (void)index, (void)input;
  return ENOMEM;
}
