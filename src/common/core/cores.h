/* How many threads the CPU backend takes by default. */
#ifndef TSI_CORES_H
#define TSI_CORES_H

/* OMP_NUM_THREADS where it is set; else the cores that this process may run on, or those that the quotas of its
 * control groups are worth if they are fewer. At least 1. */
int tsi_default_threads(void);

/* The whole cores that the quotas (cpu.max) of a control group and of those above it are worth, at least 1; 0
 * without a quota. `group` is a file such as /proc/self/cgroup, `root` where the groups are mounted. */
int tsi_quota(const char *group, const char *root);

#endif
