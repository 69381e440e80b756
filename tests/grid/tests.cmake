texsolve_test(test_stencil every QUICK cpu gl)
texsolve_test(test_stencil_parts host)
texsolve_test(test_grid_errors)
texsolve_test(test_poisson cpu check:cpu every-cuda every-gl)
