/* Linked into sanitized programs only: keeps drivers loaded until the process ends. LeakSanitizer can name the
 * module of a leak, which tests/lsan.supp matches, only while the module is loaded. Its scan may also crash on
 * thread-local storage of an unloaded module. */
__attribute__((visibility("default"))) int dlclose(void *handle);

int dlclose(void *handle) {
  (void)handle;
  return 0;
}
