#include "cpu_cores.h"

#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_threads = 4096 };

static int quota_of(const char *directory) {
  char path[PATH_MAX + 16];
  snprintf(path, sizeof path, "%s/cpu.max", directory);
  FILE *file = fopen(path, "r");
  if (!file) return 0;
  double quota = 0, period = 0; /* "max 100000" without a quota */
  const int both = fscanf(file, "%lf %lf", &quota, &period) == 2 && period > 0;
  fclose(file);
  if (!both || quota >= most_threads * period) return 0;
  return quota < period ? 1 : (int)(quota / period);
}

int cpu_quota(const char *group, const char *root) {
  char line[PATH_MAX], directory[PATH_MAX];
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

static int usable_cores(void) {
#ifdef __linux__
  cpu_set_t cores;
  if (!sched_getaffinity(0, sizeof cores, &cores)) return CPU_COUNT(&cores);
#endif
  const long online = sysconf(_SC_NPROCESSORS_ONLN);
  return online < 1 ? 1 : online > most_threads ? most_threads : (int)online;
}

int cpu_default_threads(void) {
  const char *wanted = getenv("OMP_NUM_THREADS"); /* may be a list, for nested regions */
  const long threads = wanted ? strtol(wanted, NULL, 10) : 0;
  if (threads > 0) return threads > most_threads ? most_threads : (int)threads;
  const int cores = usable_cores(), quota = cpu_quota("/proc/self/cgroup", "/sys/fs/cgroup");
  return quota && quota < cores ? quota : cores;
}
