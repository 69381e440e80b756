/* Linked into sanitized programs only: drivers stay loaded until the process ends. LeakSanitizer can name the
 * module of a leak, which tests/lsan.supp goes by, only while the module is there, and its scan may crash on
 * thread-local storage of a module that is gone. */
__attribute__((visibility("default"))) int dlclose(void *handle);

int dlclose(void *handle) {
  (void)handle;
  return 0;
}
