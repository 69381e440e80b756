/* Every OpenGL state that an application may have set when it calls the library, one by one. */
#ifndef GL_STATES_H
#define GL_STATES_H

#include <GL/glew.h>

typedef struct gl_state_case {
  const char *name;
  unsigned needs, lacks;  /* GL_HAS_... that the context must have, and must not have */
  GLenum enable;          /* enabled; 0: nothing */
  void (*change)(int on); /* sets further state, or restores the state of a new context; may be NULL */
  const char *refusal;    /* words of the error of calls that draw; NULL: they succeed */
  int (*holds)(void);     /* tests a state that the snapshot does not contain; may be NULL */
  int is_mute;            /* OpenGL must not be queried meanwhile */
} gl_state_case;

typedef struct gl_state_list {
  const gl_state_case *cases;
  int count;
} gl_state_list;

extern const gl_state_list gl_states_core, gl_states_objects, gl_states_compatibility;

void gl_state_case_set(const gl_state_case *state, int on);

#endif
