/* Random numbers that are identical on every machine: splitmix64 (Steele, Lea, Flood: Fast splittable
 * pseudorandom number generators, OOPSLA 2014) and distributions. Internal. */
#ifndef MESH_RANDOM_H
#define MESH_RANDOM_H

#include <math.h>
#include <stdint.h>

static inline uint64_t random_bits(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

/* In (0, 1). */
static inline double random_uniform(uint64_t *state) {
  return ((double)(random_bits(state) >> 12) + 0.5) * 0x1p-52;
}

/* Rounds a number of magnitude 1, because the last bits of functions such as sin differ between C libraries.
 * After rounding, one in several million of these differences remains. */
static inline double random_round(double x) {
  return floor(x * 0x1p30 + 0.5) * 0x1p-30;
}

/* Normally distributed with standard deviation 1 (Box and Muller). */
static inline double random_normal(uint64_t *state) {
  const double radius = sqrt(-2 * log(random_uniform(state)));
  return random_round(radius * cos(6.283185307179586477 * random_uniform(state)));
}

#endif
