if(NOT TEXSOLVE_GL)
  return()
endif()
texsolve_test(test_gl_interop every-gl platforms QUICK gl)
texsolve_test(test_gl_state gl-current gl-current-window SOURCES support/gl_snapshot.c QUICK gl-current)
texsolve_test(test_gl_objects gl-current gl-current-window QUICK gl-current)
texsolve_test(test_gl_states gl-current QUICK gl-current SOURCES support/gl_snapshot.c support/gl_states_core.c
  support/gl_states_objects.c support/gl_states_compatibility.c)
texsolve_test(test_gl_proof gl-current QUICK gl-current)
if(with_egl)
  target_link_libraries(test_gl_proof PRIVATE OpenGL::EGL)
endif()
texsolve_test(test_shader gl gl-plain gl-window gl-current
  DEFINE TEXSOLVE_TEST_SHADERS="${PROJECT_SOURCE_DIR}/shaders")
