/* Whether a pointer that an application calls host memory is a CUDA device's. */
#ifndef TSI_DEVICE_POINTER_H
#define TSI_DEVICE_POINTER_H

/* 1: it is memory that the host cannot read. Asks the CUDA driver if the process has loaded it, and never loads
 * it. */
int tsi_is_device_pointer(const void *pointer);

#endif
