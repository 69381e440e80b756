/* The default number of threads of the CPU backend. */
#ifndef TSI_CORES_H
#define TSI_CORES_H

/* OMP_NUM_THREADS if it is set. Otherwise the number of cores available to this process, or the quotas of its
 * control groups in cores if that is lower. At least 1. */
int tsi_default_threads(void);

/* The quotas (cpu.max) of a control group and its ancestors in whole cores, at least 1; 0 without a quota.
 * `group` is a file such as /proc/self/cgroup, `root` is the mount point of the groups. */
int tsi_quota(const char *group, const char *root);

#endif
