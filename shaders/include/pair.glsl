// Pairs: a number is high + low, with low at most half an ulp of high; about 48 bits. A pass over pairs writes both
// parts at once. An input without a second part (LOW0, ... undefined) is a plain number.
#include "include/exact.glsl"

#define PAIR_OF_NUMBERS Pair
#include "include/pair_functions.glsl"

#define FETCH_LOW(k, i) (fetch_texel(low##k, (i) + LOW##k##_ORIGIN) PICK)
#define LOW0_ORIGIN p[8].xy
#define LOW1_ORIGIN p[8].zw
#define LOW2_ORIGIN p[9].xy
#define LOW3_ORIGIN p[9].zw

#ifdef LOW0
uniform sampler2D low0;
#define FETCH_PAIR0(i) Pair(FETCH(0, i), FETCH_LOW(0, i))
#else
#define FETCH_PAIR0(i) FETCH(0, i)
#endif
#ifdef LOW1
uniform sampler2D low1;
#define FETCH_PAIR1(i) Pair(FETCH(1, i), FETCH_LOW(1, i))
#else
#define FETCH_PAIR1(i) FETCH(1, i)
#endif
#ifdef LOW2
uniform sampler2D low2;
#define FETCH_PAIR2(i) Pair(FETCH(2, i), FETCH_LOW(2, i))
#else
#define FETCH_PAIR2(i) FETCH(2, i)
#endif
// Input k at i: a Pair or a plain number.
#define FETCH_PAIR(k, i) FETCH_PAIR##k(i)
