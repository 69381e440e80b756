/* Reading device memory on the host ends the program, so this file asks the driver first. Without a driver in
 * the process there cannot be any device memory. */
#if defined(__linux__)
#define _GNU_SOURCE 1 /* dl_iterate_phdr */
#endif
#include "device_pointer.h"

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif
#if defined(__linux__) && !defined(__EMSCRIPTEN__)
#include <link.h>
#endif

/* cuPointerGetAttributes of the driver API, and its constants: CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
 * CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_MEMORYTYPE_DEVICE. For memory that CUDA does not know it succeeds with
 * zeros, whereas cuPointerGetAttribute returns an error, which tools report as one of the application. */
typedef int (*pointer_attributes_fn)(unsigned count, int *attributes, void **data, unsigned long long pointer);
enum { MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE_MEMORY = 2 };

static pointer_attributes_fn look_for_driver(void) {
  union {
    void *address;
    pointer_attributes_fn function;
  } found = {NULL};
#if defined(_WIN32)
  const HMODULE driver = GetModuleHandleA("nvcuda.dll");
  union {
    FARPROC procedure;
    pointer_attributes_fn function;
  } exported = {driver ? GetProcAddress(driver, "cuPointerGetAttributes") : NULL};
  found.function = exported.function;
#elif defined(RTLD_NOLOAD) && !defined(__EMSCRIPTEN__)
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver) {
    found.address = dlsym(driver, "cuPointerGetAttributes");
    dlclose(driver); /* the library that loaded it keeps it */
  }
#endif
  return found.function;
}

#if defined(__linux__) && !defined(__EMSCRIPTEN__)

/* How often libraries were loaded and unloaded in this process. */
typedef struct loads {
  unsigned long long added, removed;
} loads;

static int note_loads(struct dl_phdr_info *info, size_t size, void *user) {
  loads *l = user;
  const size_t needed = offsetof(struct dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs;
  if (size >= needed) *l = (loads){info->dlpi_adds, info->dlpi_subs};
  return 1; /* every library has the same numbers */
}

/* Without a driver the search reads directories, which takes 20 us for each array. So it is repeated only after
 * another library was loaded, which may be the driver. */
static pointer_attributes_fn find_driver(void) {
  static _Thread_local loads last;
  static _Thread_local pointer_attributes_fn found;
  loads now = {0};
  dl_iterate_phdr(note_loads, &now);
  if (now.added && now.added == last.added && now.removed == last.removed) return found;
  found = look_for_driver();
  last = now;
  return found;
}

#else

static pointer_attributes_fn find_driver(void) {
  return look_for_driver();
}

#endif

int tsi_is_device_pointer(const void *pointer) {
  const pointer_attributes_fn get = pointer ? find_driver() : NULL;
  int attributes[] = {MEMORY_TYPE, IS_MANAGED};
  unsigned type = 0, managed = 0;
  void *data[] = {&type, &managed};
  if (!get || get(2, attributes, data, (unsigned long long)(uintptr_t)pointer)) return 0;
  return type == DEVICE_MEMORY && !managed;
}
