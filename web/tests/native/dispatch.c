/* native_tests PROGRAM [ARGUMENT...]: runs one of the test programs. */
#include <stdio.h>
#include <string.h>

#define PROGRAM(name) int name##_main(int argc, char **argv);
#include "programs.h"
#undef PROGRAM

static const struct {
  const char *name;
  int (*run)(int argc, char **argv);
} programs[] = {
#define PROGRAM(name) {#name, name##_main},
#include "programs.h"
#undef PROGRAM
};

int main(int argc, char **argv) {
  for (size_t i = 0; argc > 1 && i < sizeof programs / sizeof programs[0]; i++)
    if (!strcmp(argv[1], programs[i].name)) return programs[i].run(argc - 1, argv + 1);
  for (size_t i = 0; i < sizeof programs / sizeof programs[0]; i++) printf("%s\n", programs[i].name);
  return argc > 1;
}
