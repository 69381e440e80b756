#define _GNU_SOURCE 1 /* sched_getaffinity */
#include "cores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <sched.h>
#include <unistd.h>
#endif

enum { most_threads = 4096, path_size = 4096 };

static int quota_of(const char *directory) {
  char path[path_size + 16];
  snprintf(path, sizeof path, "%s/cpu.max", directory);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  double quota = 0, period = 0; /* "max 100000" without a quota */
  const int both = fscanf(file, "%lf %lf", &quota, &period) == 2 && period > 0;
  fclose(file);
  if (!both || quota >= most_threads * period) return 0;
  return quota < period ? 1 : (int)(quota / period);
}

int tsi_quota(const char *group, const char *root) {
  char line[path_size], directory[path_size];
  FILE *file = fopen(group, "r");
  if (!file) return 0;
  int found = 0;
  while (!found && fgets(line, sizeof line, file)) found = strncmp(line, "0::/", 4) == 0;
  fclose(file);
  if (!found) return 0;
  line[strcspn(line, "\n")] = '\0';
  const size_t top = strlen(root);
  if (snprintf(directory, sizeof directory, "%s%s", root, line + 3) >= (int)sizeof directory) return 0;
  int least = 0;
  for (char *end = directory + strlen(directory); end; end = strrchr(directory, '/')) {
    if (end < directory + top) break;
    *end = '\0';
    const int quota = quota_of(directory);
    if (quota && (!least || quota < least)) least = quota;
  }
  return least;
}

static long count_cores(void) {
#if defined(_WIN32)
  DWORD_PTR own = 0, all = 0; /* equal if the process may run on several groups of 64 cores */
  int count = 0;
  if (!GetProcessAffinityMask(GetCurrentProcess(), &own, &all) || own == all)
    return (long)GetActiveProcessorCount(ALL_PROCESSOR_GROUPS);
  for (; own; own &= own - 1) count++;
  return count;
#else
#ifdef __linux__
  cpu_set_t cores;
  if (!sched_getaffinity(0, sizeof cores, &cores)) return CPU_COUNT(&cores);
#endif
  return sysconf(_SC_NPROCESSORS_ONLN);
#endif
}

static int usable_cores(void) {
  const long online = count_cores();
  return online < 1 ? 1 : online > most_threads ? most_threads : (int)online;
}

int tsi_default_threads(void) {
  const char *wanted = getenv("OMP_NUM_THREADS"); /* may be a list, for nested regions */
  const long threads = wanted ? strtol(wanted, NULL, 10) : 0;
  if (threads > 0) return threads > most_threads ? most_threads : (int)threads;
  const int cores = usable_cores();
#ifdef __linux__
  const int quota = tsi_quota("/proc/self/cgroup", "/sys/fs/cgroup");
  return quota && quota < cores ? quota : cores;
#else
  return cores;
#endif
}
