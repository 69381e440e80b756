/* The window that a program draws in, with an OpenGL 3.3 context. */
#ifndef VIEW_WINDOW_H
#define VIEW_WINDOW_H

#include <stddef.h>

struct GLFWwindow;

/* Opens a window, not larger than the screen nor, later, smaller than `least`; its context is current from then
 * on and has its functions loaded. NULL with the reason in `why` where there is none. */
struct GLFWwindow *view_window_open(const char *title, int width, int height, const int least[2], char *why,
                                    size_t size);
/* NULL: nothing. */
void view_window_close(struct GLFWwindow *window);

/* Pixels for each pixel of an ordinary display; at least 1. */
float view_window_scale(struct GLFWwindow *window);

#endif
