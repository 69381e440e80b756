/* All state of an OpenGL 3.3 context that an application can query, compared before and after a call. */
#ifndef GL_SNAPSHOT_H
#define GL_SNAPSHOT_H

typedef struct gl_value {
  const char *name;
  int index; /* texture unit, draw buffer or attribute; otherwise -1 */
  double values[4];
} gl_value;

enum { GL_SNAPSHOT_ROOM = 1024 };

typedef struct gl_snapshot {
  int count;
  gl_value values[GL_SNAPSHOT_ROOM];
} gl_snapshot;

void gl_snapshot_save(gl_snapshot *snapshot);

/* Reports every difference as a failure of `call`. Returns the number of differences. */
int gl_snapshot_compare(const gl_snapshot *before, const gl_snapshot *after, const char *call);

#endif
