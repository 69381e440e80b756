/* Unknowns that other thread blocks wait for: words of 64 bits, half of one a mark, the sweep, and half of it a
 * number. A word arrives whole, so who sees the mark has the number with it and needs no fence and no second
 * load. A double takes two words. */
#ifndef CUDA_LCP_WORDS_CUH
#define CUDA_LCP_WORDS_CUH

#include "cuda_lcp.cuh"

template <typename T> struct lcp_words { static constexpr int count = sizeof(T) / 4; };

LCP_INLINE unsigned long long lcp_word(unsigned mark, unsigned bits) {
  return (unsigned long long)mark << 32 | bits;
}

LCP_INLINE void lcp_publish(unsigned long long *word, unsigned mark, float z) {
  asm volatile("st.volatile.global.u64 [%0], %1;" ::"l"(word), "l"(lcp_word(mark, __float_as_uint(z)))
               : "memory");
}

LCP_INLINE void lcp_publish(unsigned long long *words, unsigned mark, double z) {
  const unsigned high = (unsigned)__double2hiint(z), low = (unsigned)__double2loint(z);
  asm volatile("st.volatile.global.v2.u64 [%0], {%1, %2};" ::"l"(words), "l"(lcp_word(mark, high)),
               "l"(lcp_word(mark, low))
               : "memory");
}

/* The number that is there, and its mark. false: its two words are of different sweeps. */
LCP_INLINE bool lcp_look(const unsigned long long *word, unsigned *mark, float *z) {
  unsigned long long seen;
  asm volatile("ld.volatile.global.u64 %0, [%1];" : "=l"(seen) : "l"(word) : "memory");
  *mark = (unsigned)(seen >> 32);
  *z = __uint_as_float((unsigned)seen);
  return true;
}

LCP_INLINE bool lcp_look(const unsigned long long *words, unsigned *mark, double *z) {
  unsigned long long high, low;
  asm volatile("ld.volatile.global.v2.u64 {%0, %1}, [%2];" : "=l"(high), "=l"(low) : "l"(words) : "memory");
  *mark = (unsigned)(high >> 32);
  *z = __hiloint2double((int)(unsigned)high, (int)(unsigned)low);
  return *mark == (unsigned)(low >> 32);
}

/* Lets memory rest while an unknown is far away. */
LCP_INLINE void lcp_rest(void) {
#if __CUDA_ARCH__ >= 700
  __nanosleep(100);
#endif
}

#endif
