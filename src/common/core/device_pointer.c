/* Reading device memory on the host ends the program, so this file asks the driver first. Without a driver in
 * the process there cannot be any device memory. */
#include "device_pointer.h"

#include <stddef.h>
#include <stdint.h>

#if defined(_WIN32)
#include <windows.h>
#else
#include <dlfcn.h>
#endif

/* cuPointerGetAttributes of the driver API, and its constants: CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
 * CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_MEMORYTYPE_DEVICE. For memory that CUDA does not know it succeeds with
 * zeros, whereas cuPointerGetAttribute returns an error, which tools report as one of the application. */
typedef int (*pointer_attributes_fn)(unsigned count, int *attributes, void **data, unsigned long long pointer);
enum { MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE_MEMORY = 2 };

static pointer_attributes_fn find_driver(void) {
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

int tsi_is_device_pointer(const void *pointer) {
  const pointer_attributes_fn get = pointer ? find_driver() : NULL;
  int attributes[] = {MEMORY_TYPE, IS_MANAGED};
  unsigned type = 0, managed = 0;
  void *data[] = {&type, &managed};
  if (!get || get(2, attributes, data, (unsigned long long)(uintptr_t)pointer)) return 0;
  return type == DEVICE_MEMORY && !managed;
}
