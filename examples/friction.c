/* Solves contacts with Coulomb friction: boxes of 1 kg on a floor are pushed by 4 N and by 6 N for 0.01 s.
 * The floor holds up to 4.905 N. The boxes are two independent problems, a batch.
 * Build: cc friction.c $(pkg-config --cflags --libs texsolve) -lm. Run: ./a.out gl
 * Prints the friction and the final speed of each box. */
#include <math.h>
#include <stdio.h>
#include <texsolve/lcp.h>

/* Ends the program with the library's message if a call fails. */
#define CHECK(call)                                                                                            \
  do {                                                                                                         \
    if ((call) != TS_OK) return fprintf(stderr, "%s\n", ts_last_error(context)), 1;                            \
  } while (0)

enum { BOXES = 2, NUMBERS = 2 * BOXES, ENTRIES = 4 * BOXES, NORMAL = 0, TANGENT = 1 };

int main(int argc, char **argv) {
  const double seconds = 0.01, gravity = 9.81, push[BOXES] = {4, 6}, mu[BOXES] = {0.5, 0.5};
  const double inverse_mass[BOXES][4] = {{1, 0, 0, 1}, {1, 0, 0, 1}};
  double velocity[BOXES][2], impulse[BOXES][2], speed[BOXES];
  ts_context_desc device = {.backend = argc > 1 ? argv[1] : "auto"};
  ts_lcp_desc desc = {.size = 2, .batch = BOXES, .dimension = 2};
  ts_context *context = NULL;
  ts_lcp *contacts = NULL;
  ts_vector *q = NULL, *z = NULL;

  for (int box = 0; box < BOXES; box++) { // without contact the box falls, and the push moves it
    velocity[box][NORMAL] = -gravity * seconds;
    velocity[box][TANGENT] = push[box] * seconds;
  }
  desc.matrix = ts_host(&inverse_mass[0][0], ENTRIES);
  desc.friction = ts_host(mu, BOXES);
  CHECK(ts_context_create(&device, &context));
  CHECK(ts_lcp_create(context, &desc, &contacts));
  CHECK(ts_vector_create(ts_lcp_get_space(contacts), NULL, &q));
  CHECK(ts_vector_create(ts_lcp_get_space(contacts), NULL, &z));
  CHECK(ts_vector_write(q, ts_host(&velocity[0][0], NUMBERS)));
  CHECK(ts_lcp_solve(contacts, q, z, NULL, NULL));
  CHECK(ts_vector_read(z, ts_host(&impulse[0][0], NUMBERS)));
  for (int box = 0; box < BOXES; box++) {
    speed[box] = velocity[box][TANGENT] + impulse[box][TANGENT];
    printf("%g N: friction %.2f N, %.2f cm/s\n", push[box], fabs(impulse[box][TANGENT]) / seconds,
           100 * fabs(speed[box]));
  }
  ts_vector_destroy(&z);
  ts_vector_destroy(&q);
  ts_lcp_destroy(&contacts);
  ts_context_destroy(&context);
  return fabs(speed[0]) > 1e-4 || fabs(speed[1] - (6 - 0.5 * gravity) * seconds) > 1e-4;
}
