/* Threads that sweep over one problem together and wait for each other's counters.
 *
 * The pool does not promise that all ranges of a job run at once: the calling thread works through those whose
 * worker has not begun. So threads join in the first moments; then the first one closes the list, the work is
 * dealt among those on it, and ranges that come later return at once. */
#ifndef CPU_LCP_TEAM_H
#define CPU_LCP_TEAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { CPU_LCP_MEMBERS = 63, CPU_LCP_LINE = 64 }; /* bits of the list but one; bytes of a cache line */

/* Only its owner's writes follow each other; a counter never falls. */
typedef struct cpu_lcp_counter {
  _Alignas(CPU_LCP_LINE) atomic_size_t value;
} cpu_lcp_counter;

typedef struct cpu_lcp_team {
  size_t asked;                              /* ranges that may join */
  double patience;                           /* seconds in which they may */
  double lost;                               /* seconds of long waits of the first one */
  atomic_uint_fast64_t joined;               /* a bit a range, and the one of a closed list */
  cpu_lcp_counter done;                      /* blocks or unknowns, over all sweeps */
  cpu_lcp_counter progress[CPU_LCP_MEMBERS]; /* of each member */
} cpu_lcp_team;

/* One on the list: the order is that of the ranges, so that a thread has the same rows every time. */
typedef struct cpu_lcp_member {
  cpu_lcp_team *team;
  size_t rank, members;
} cpu_lcp_member;

void cpu_lcp_team_init(cpu_lcp_team *team, size_t asked, double patience);
/* Of range `place`, which runs beside the others or, if not, is the only one. 0: it came too late. */
int cpu_lcp_join(cpu_lcp_team *team, size_t place, int beside, cpu_lcp_member *member);

static inline size_t cpu_lcp_read(const cpu_lcp_counter *counter) {
  return atomic_load_explicit(&counter->value, memory_order_acquire);
}
static inline void cpu_lcp_publish(cpu_lcp_counter *counter, size_t value) {
  atomic_store_explicit(&counter->value, value, memory_order_release);
}
/* Returns the counter's value once it is `least` or more. */
size_t cpu_lcp_wait(const cpu_lcp_member *member, const cpu_lcp_counter *counter, size_t least);
/* Waits until all members have published `value` or more as their progress. */
void cpu_lcp_meet(const cpu_lcp_member *member, size_t value);

#endif
