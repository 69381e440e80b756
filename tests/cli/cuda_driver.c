/* A stand-in for NVIDIA's driver, which the CUDA runtime loads by name: as much of it as is asked before a
 * device is found, or none. DRIVER_VERSION: 1000 for each major version and 10 for each minor one;
 * DRIVER_ANSWER: what it says when it is started. */
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
