/* Unknowns that other thread blocks wait for, in words of 64 bits. Half of a word is a mark, the sweep, and
 * half is a number. A word arrives as a whole, so a reader that sees the mark also has the number, without a
 * fence or a second load. A double takes two words. */
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

/* Reads a number and its mark. Returns false if its two words are of different sweeps. */
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

/* The words of two consecutive unknowns. */
template <typename T> struct lcp_pair { unsigned long long word[2 * lcp_words<T>::count]; };

LCP_INLINE lcp_pair<float> lcp_pair_of(unsigned mark, const float (&z)[2]) {
  return {{lcp_word(mark, __float_as_uint(z[0])), lcp_word(mark, __float_as_uint(z[1]))}};
}

LCP_INLINE lcp_pair<double> lcp_pair_of(unsigned mark, const double (&z)[2]) {
  return {{lcp_word(mark, (unsigned)__double2hiint(z[0])), lcp_word(mark, (unsigned)__double2loint(z[0])),
           lcp_word(mark, (unsigned)__double2hiint(z[1])), lcp_word(mark, (unsigned)__double2loint(z[1]))}};
}

LCP_INLINE void lcp_numbers_of(const lcp_pair<float> &pair, float (&z)[2]) {
  for (int h = 0; h < 2; h++) z[h] = __uint_as_float((unsigned)pair.word[h]);
}

LCP_INLINE void lcp_numbers_of(const lcp_pair<double> &pair, double (&z)[2]) {
  for (int h = 0; h < 2; h++)
    z[h] = __hiloint2double((int)(unsigned)pair.word[2 * h], (int)(unsigned)pair.word[2 * h + 1]);
}

/* Whether all words have the mark. */
template <typename T> LCP_INLINE bool lcp_has_mark(const lcp_pair<T> &pair, unsigned mark) {
  bool has = true;
  for (unsigned long long word : pair.word) has &= (unsigned)(word >> 32) == mark;
  return has;
}

/* Whether both words of each number are of the same sweep. */
LCP_INLINE bool lcp_is_whole(const lcp_pair<float> &) {
  return true;
}
LCP_INLINE bool lcp_is_whole(const lcp_pair<double> &pair) {
  return pair.word[0] >> 32 == pair.word[1] >> 32 && pair.word[2] >> 32 == pair.word[3] >> 32;
}

/* Pauses the polling while an unknown is not due soon. */
LCP_INLINE void lcp_pause(void) {
#if __CUDA_ARCH__ >= 700
  __nanosleep(100);
#endif
}

#endif
