texsolve_test(test_matching host QUICK)
texsolve_test(test_csr_look host QUICK)
# Generated matrices of the benchmarks, because their formats were measured.
set(generators generate generate_box generate_cantilever generate_edges generate_graph generate_mesh generate_problem
  normal_equations)
list(TRANSFORM generators REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/bench/\\1.c")
texsolve_test(test_format host SOURCES ${generators})
if(TARGET test_format) # web/tests/native has other programs
  target_include_directories(test_format PRIVATE ${PROJECT_SOURCE_DIR}/bench)
endif()

texsolve_test(test_spmv every cuda-uncached parts ranks QUICK cpu cuda gl)
texsolve_test(test_diagonals every parts ranks QUICK cpu)
texsolve_test(test_spmv_rows every cuda-uncached parts ranks)
texsolve_test(test_pair_products every gl-current cuda-uncached parts ranks)
texsolve_test(test_triplets every parts ranks QUICK cpu)
texsolve_test(test_borrow every parts QUICK cpu)
texsolve_test(test_many_rows cpu every-cuda multi:cpu+cpu+cpu)
texsolve_test(test_transposed every cuda-uncached parts ranks)
texsolve_test(test_operator every parts ranks)
