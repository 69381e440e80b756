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

/* cuPointerGetAttribute of the driver API, and its constants: CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
 * CU_POINTER_ATTRIBUTE_IS_MANAGED, CU_MEMORYTYPE_DEVICE. */
typedef int (*pointer_attribute_fn)(void *data, int attribute, unsigned long long pointer);
enum { MEMORY_TYPE = 2, IS_MANAGED = 8, DEVICE_MEMORY = 2 };

static pointer_attribute_fn find_driver(void) {
  union {
    void *address;
    pointer_attribute_fn function;
  } found = {NULL};
#if defined(_WIN32)
  const HMODULE driver = GetModuleHandleA("nvcuda.dll");
  union {
    FARPROC procedure;
    pointer_attribute_fn function;
  } exported = {driver ? GetProcAddress(driver, "cuPointerGetAttribute") : NULL};
  found.function = exported.function;
#elif defined(RTLD_NOLOAD) && !defined(__EMSCRIPTEN__)
  void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  if (driver) {
    found.address = dlsym(driver, "cuPointerGetAttribute");
    dlclose(driver); /* the library that loaded it keeps it */
  }
#endif
  return found.function;
}

int tsi_is_device_pointer(const void *pointer) {
  const pointer_attribute_fn attribute = pointer ? find_driver() : NULL;
  unsigned type = 0, managed = 0;
  const unsigned long long address = (unsigned long long)(uintptr_t)pointer;
  if (!attribute || attribute(&type, MEMORY_TYPE, address) || type != DEVICE_MEMORY) return 0;
  return attribute(&managed, IS_MANAGED, address) || !managed;
}
