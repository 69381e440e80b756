/* Compiler features beyond C11 for loops on the CPU, each with a fallback.
 *
 *   CPU_CLONES  before a function: compile it for AVX-512, AVX2 and the baseline, and choose when the program
 *               starts. A library built for every x86-64 machine then uses the widest vectors of this one.
 *               Results do not depend on the choice: sums use a fixed number of lanes.
 *   CPU_SIMD    before a loop: its iterations are independent, even if the arrays are the same.
 *   CPU_INLINE  a helper that must be compiled into each clone of its caller.
 *   CPU_LARGE   the same for a helper whose copies are large. WebAssembly has no clones and is downloaded, so
 *               there the compiler decides, and callers share one. */
#ifndef CPU_TARGET_H
#define CPU_TARGET_H

#ifdef __has_attribute
#if __has_attribute(target_clones)
#define CPU_HAS_TARGET_CLONES 1
#endif
#endif
#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define CPU_UNDER_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define CPU_UNDER_SANITIZER 1
#endif

/* Clones need the loader's indirect functions (glibc). Their resolvers run before a sanitizer is set up. */
#if defined(CPU_HAS_TARGET_CLONES) && !defined(CPU_UNDER_SANITIZER) && defined(__x86_64__) &&                  \
    defined(__gnu_linux__) && defined(__GLIBC__)
#define CPU_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#define CPU_IS_CLONED 1
#else
#define CPU_CLONES
#endif

#if defined(TEXSOLVE_OPENMP_SIMD)
#define CPU_SIMD _Pragma("omp simd")
#elif defined(__clang__)
#define CPU_SIMD _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define CPU_SIMD _Pragma("GCC ivdep")
#else
#define CPU_SIMD
#endif

#if defined(__GNUC__)
#define CPU_INLINE static inline __attribute__((always_inline))
#else
#define CPU_INLINE static inline
#endif
#ifdef __wasm__
#define CPU_LARGE static inline
#else
#define CPU_LARGE CPU_INLINE
#endif

#endif
