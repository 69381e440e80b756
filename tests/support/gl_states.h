/* Every state of OpenGL that an application may have set when it calls the library, one by one. */
#ifndef GL_STATES_H
#define GL_STATES_H

#include <GL/glew.h>

typedef struct gl_state_case {
  const char *name;
  unsigned needs, lacks;  /* GL_HAS_... that a context has, and has not, if the case is tried there */
  GLenum enable;          /* enabled; 0: nothing */
  void (*change)(int on); /* what else is set, or put back as in a new context; NULL: nothing */
  const char *refusal;    /* words of the error of calls that draw; NULL: they work */
  int (*holds)(void);     /* whether a state that is not in the snapshot is still set; NULL: all are */
  int is_mute;            /* OpenGL may not be asked meanwhile */
} gl_state_case;

typedef struct gl_state_list {
  const gl_state_case *cases;
  int count;
} gl_state_list;

extern const gl_state_list gl_states_core, gl_states_objects, gl_states_compatibility;

void gl_state_case_set(const gl_state_case *state, int on);

#endif
