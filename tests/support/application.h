/* An application's own OpenGL context, for the tests that hand theirs to the library. */
#ifndef APPLICATION_H
#define APPLICATION_H

/* Opens an OpenGL 3.3 core context, makes it current and loads its functions with GLEW; `window` asks for a
 * hidden GLFW window, else EGL without a display. Returns NULL, or why there is none. */
const char *application_open(int window);
/* The same with the compatibility profile, by EGL. */
const char *application_open_compatibility(void);
void application_make_current(void);
void application_release_current(void); /* no context is current then */
void application_close(void);

/* Whether the OpenGL context that is current lists this extension itself, whatever a loader takes it for. */
int application_lists(const char *extension);

#endif
