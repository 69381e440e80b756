/* A window with an OpenGL 3.3 context. */
#ifndef VIEW_WINDOW_H
#define VIEW_WINDOW_H

#include <stddef.h>

struct GLFWwindow;

/* Opens a window that is not larger than the screen. The user cannot make it smaller than `least`. Its context
 * is current, with its functions loaded. Returns NULL with the reason in `why` on failure. */
struct GLFWwindow *view_window_open(const char *title, int width, int height, const int least[2], char *why,
                                    size_t size);
/* NULL is allowed. */
void view_window_close(struct GLFWwindow *window);

/* Scale of the display: 1 on an ordinary one, more if its pixels are small. */
float view_window_scale(struct GLFWwindow *window);

#endif
