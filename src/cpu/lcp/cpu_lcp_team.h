/* A team of threads that sweep over one problem and wait for each other's counters.
 *
 * The pool does not guarantee that all ranges of a job run at once: the calling thread processes ranges without
 * a free worker. So threads join within a short time, and then the first one closes the list. The work is
 * divided among the threads on the list. Ranges that start later return at once. */
#ifndef CPU_LCP_TEAM_H
#define CPU_LCP_TEAM_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

enum { CPU_LCP_MEMBERS = 63, CPU_LCP_LINE = 64 }; /* bits of the list except one; bytes per cache line */

/* Only the writes of its owner are ordered. A counter never decreases. */
typedef struct cpu_lcp_counter {
  _Alignas(CPU_LCP_LINE) atomic_size_t value;
} cpu_lcp_counter;

typedef struct cpu_lcp_team {
  size_t asked;                              /* number of ranges that may join */
  double patience;                           /* seconds in which they may join */
  double lost;                               /* seconds of long waits of the first member */
  atomic_uint_fast64_t joined;               /* one bit per range, and one for a closed list */
  cpu_lcp_counter done;                      /* blocks or unknowns, over all sweeps */
  cpu_lcp_counter progress[CPU_LCP_MEMBERS]; /* per member */
} cpu_lcp_team;

/* A member of the list. Members have the order of the ranges, so that a thread always has the same rows. */
typedef struct cpu_lcp_member {
  cpu_lcp_team *team;
  size_t rank, members;
} cpu_lcp_member;

void cpu_lcp_team_init(cpu_lcp_team *team, size_t asked, double patience);
/* Joins as range `place`. If `beside` is 0, the range does not run concurrently with others and is the only
 * member. Returns 0 if the list is already closed. */
int cpu_lcp_join(cpu_lcp_team *team, size_t place, int beside, cpu_lcp_member *member);

static inline size_t cpu_lcp_read(const cpu_lcp_counter *counter) {
  return atomic_load_explicit(&counter->value, memory_order_acquire);
}
static inline void cpu_lcp_publish(cpu_lcp_counter *counter, size_t value) {
  atomic_store_explicit(&counter->value, value, memory_order_release);
}
/* Waits until the counter is at least `least`, and returns its value. */
size_t cpu_lcp_wait(const cpu_lcp_member *member, const cpu_lcp_counter *counter, size_t least);
/* Waits until all members have published a progress of at least `value`. */
void cpu_lcp_meet(const cpu_lcp_member *member, size_t value);

#endif
