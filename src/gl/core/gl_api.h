/* OpenGL 3.3 by GLEW, or in browsers WebGL 2, which is OpenGL ES 3.0. Where the two differ, a function is
 * defined in src/gl/desktop and in src/gl/webgl, and one of the directories is compiled. */
#ifndef TSI_GL_API_H
#define TSI_GL_API_H

#ifdef __EMSCRIPTEN__
#include <GLES3/gl3.h>

#define TSI_WEBGL 1
#define GLAPIENTRY
#define GL_STACK_OVERFLOW 0x0503
#define GL_STACK_UNDERFLOW 0x0504
#define GL_CONTEXT_LOST 0x9242
#define GL_COLOR_LOGIC_OP 0x0BF2 /* no row of WebGL has it */
#define GL_POINT_SIZE_RANGE GL_ALIASED_POINT_SIZE_RANGE
#else
#include <GL/glew.h>

#define TSI_WEBGL 0
#endif

#endif
