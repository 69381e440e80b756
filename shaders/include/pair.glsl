// Pairs: a number is high + low, with low at most half an ulp of high; about 48 bits. A pass over pairs writes both
// parts at once. An input without a second part (LOW0, ... undefined) is a plain number.
#include "include/exact.glsl"

#define PAIR_OF_NUMBERS Pair
#include "include/pair_functions.glsl"

#define FETCH_LOW0(i) (fetch_texel(low0, (i) + LOW0_ORIGIN) PICK)
#define FETCH_LOW1(i) (fetch_texel(low1, (i) + LOW1_ORIGIN) PICK)
#define FETCH_LOW2(i) (fetch_texel(low2, (i) + LOW2_ORIGIN) PICK)
#define LOW0_ORIGIN p[8].xy
#define LOW1_ORIGIN p[8].zw
#define LOW2_ORIGIN p[9].xy
#define LOW3_ORIGIN p[9].zw

// Input k at i: a Pair or a plain number.
#ifdef LOW0
uniform sampler2D low0;
#define FETCH_PAIR0(i) Pair(FETCH0(i), FETCH_LOW0(i))
#else
#define FETCH_PAIR0(i) FETCH0(i)
#endif
#ifdef LOW1
uniform sampler2D low1;
#define FETCH_PAIR1(i) Pair(FETCH1(i), FETCH_LOW1(i))
#else
#define FETCH_PAIR1(i) FETCH1(i)
#endif
#ifdef LOW2
uniform sampler2D low2;
#define FETCH_PAIR2(i) Pair(FETCH2(i), FETCH_LOW2(i))
#else
#define FETCH_PAIR2(i) FETCH2(i)
#endif
