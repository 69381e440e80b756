/* An OpenGL context of the application, for tests that pass their own context to the library. */
#ifndef APPLICATION_H
#define APPLICATION_H

/* Opens an OpenGL 3.3 core context, makes it current and loads its functions with GLEW. `window` selects a
 * hidden GLFW window, otherwise it uses EGL without a display. Returns NULL, or the reason if this is
 * impossible. */
const char *application_open(int window);
/* The same with a compatibility profile, by EGL. */
const char *application_open_compatibility(void);
void application_make_current(void);
void application_release_current(void); /* no context is current afterwards */
void application_close(void);

/* True if the current OpenGL context lists the extension, regardless of what a loader reports. */
int application_lists(const char *extension);

#endif
