/* Replaces NVIDIA's driver, which the CUDA runtime loads by name. It has only the functions that are called
 * before a device is found. DRIVER_VERSION is 1000 for each major version plus 10 for each minor one.
 * DRIVER_ANSWER is the result of cuInit. */
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);

int cuInit(unsigned flags) {
  (void)flags;
  return DRIVER_ANSWER;
}

int cuDriverGetVersion(int *version) {
  *version = DRIVER_VERSION;
  return 0;
}
