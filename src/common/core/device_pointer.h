/* Whether a pointer that an application passes as host memory belongs to a CUDA device. */
#ifndef TSI_DEVICE_POINTER_H
#define TSI_DEVICE_POINTER_H

/* 1 if the host cannot read the memory. Asks the CUDA driver if the process has loaded it, but never loads
 * it. */
int tsi_is_device_pointer(const void *pointer);

#endif
