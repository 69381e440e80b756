/* Joining a team, and waiting for the counters of its members. */
#define _GNU_SOURCE 1 /* sched_getcpu in thread.h */
#include "cpu_lcp_team.h"

#include "common/core/core.h"

#ifdef TEXSOLVE_HAVE_THREADS
#include "common/core/thread.h"
#endif

static const uint64_t closed = (uint64_t)1 << CPU_LCP_MEMBERS;

enum { spins = 128 };                   /* some microseconds: a diagonal block takes about one */
static const double long_wait = 200e-6; /* a longer wait means that a member has lost its core */

static void pause_or_yield(int spin) {
#ifdef TEXSOLVE_HAVE_THREADS
  if (spin < spins)
    tsi_thread_pause();
  else
    tsi_thread_yield();
#else
  (void)spin;
#endif
}

static size_t count(uint64_t bits) {
  size_t sum = 0;
  for (; bits; bits &= bits - 1) sum++;
  return sum;
}

void cpu_lcp_team_init(cpu_lcp_team *team, size_t asked, double patience) {
  team->asked = asked;
  team->patience = patience;
  team->lost = 0;
  atomic_init(&team->joined, 0);
  atomic_init(&team->done.value, 0);
  for (size_t k = 0; k < asked; k++) atomic_init(&team->progress[k].value, 0);
}

/* The calling thread, which always runs, has the first range and closes the list. */
static uint64_t close_list(cpu_lcp_team *team) {
  const uint64_t all = ((uint64_t)1 << team->asked) - 1;
  const double begun = tsi_seconds();
  while (atomic_load_explicit(&team->joined, memory_order_relaxed) != all &&
         tsi_seconds() - begun < team->patience)
    pause_or_yield(0);
  return atomic_fetch_or(&team->joined, closed);
}

static uint64_t await_list(const cpu_lcp_team *team) {
  for (int spin = 0;; spin += spin < spins) {
    const uint64_t list = atomic_load_explicit(&team->joined, memory_order_acquire);
    if (list & closed) return list & ~closed;
    pause_or_yield(spin);
  }
}

/* A closed list is never changed, because its members may not have read it yet. */
static int enter(cpu_lcp_team *team, uint64_t own) {
  uint_fast64_t list = atomic_load(&team->joined);
  while (!(list & closed))
    if (atomic_compare_exchange_weak(&team->joined, &list, list | own)) return 1;
  return 0;
}

int cpu_lcp_join(cpu_lcp_team *team, size_t place, int beside, cpu_lcp_member *member) {
  *member = (cpu_lcp_member){.team = team, .members = 1};
  if (!beside) return 1;
  const uint64_t own = (uint64_t)1 << place;
  if (!enter(team, own)) return 0;
  const uint64_t list = place == 0 ? close_list(team) : await_list(team);
  member->rank = count(list & (own - 1));
  member->members = count(list);
  return 1;
}

size_t cpu_lcp_wait(const cpu_lcp_member *member, const cpu_lcp_counter *counter, size_t least) {
  size_t value;
  double begun = 0;
  for (int spin = 0; (value = cpu_lcp_read(counter)) < least; spin += spin <= spins) {
    if (spin == spins) begun = tsi_seconds();
    pause_or_yield(spin);
  }
  const double waited = begun > 0 ? tsi_seconds() - begun : 0;
  if (member->rank == 0 && waited > long_wait) member->team->lost += waited;
  return value;
}

void cpu_lcp_meet(const cpu_lcp_member *member, size_t value) {
  cpu_lcp_publish(&member->team->progress[member->rank], value);
  for (size_t k = 0; k < member->members; k++) cpu_lcp_wait(member, &member->team->progress[k], value);
}
