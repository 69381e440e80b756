/* Adds equations one by one with the system builder: Kirchhoff's law for a cube of twelve resistors of 1
 * ohm. One corner is grounded, so its unknown is locked, and 1 A enters at the opposite corner.
 * Build: cc resistors.c $(pkg-config --cflags --libs texsolve) -lm. Run: ./a.out gl
 * Prints the resistance between the two corners, which is 5/6 ohm. */
#include <math.h>
#include <stdio.h>
#include <texsolve/system.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

int main(int argc, char **argv) {
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  ts_system_desc cube = {.unknowns = 8}; // the voltages of the corners
  const double ground = 0, ampere = 1;
  double volts = 0;
  ts_context *context = NULL;
  ts_system *system = NULL;

  CHECK(ts_context_create(&device, &context));
  CHECK(ts_system_create(context, &cube, &system));
  CHECK(ts_system_set_value(system, 0, &ground));
  CHECK(ts_system_lock(system, 0));

  CHECK(ts_system_begin(system));
  for (int32_t i = 0; i < 8; i++)
    for (int bit = 1; bit < 8; bit *= 2) { // corners at the ends of an edge differ in one bit
      const int32_t j = i ^ bit;
      CHECK(ts_system_add(system, i, i, 1)); // the current from i to j is (v_i - v_j) / 1 ohm
      CHECK(ts_system_add(system, i, j, -1));
    }
  CHECK(ts_system_add_right_hand_side(system, 7, 0, ampere));
  CHECK(ts_system_end(system));

  CHECK(ts_system_solve(system, NULL, NULL));
  CHECK(ts_system_get_value(system, 7, &volts));
  printf("the cube has %.4f ohm\n", volts / ampere);
  ts_system_destroy(&system);
  ts_context_destroy(&context);
  return fabs(volts - 5.0 / 6) > 1e-4;
}
