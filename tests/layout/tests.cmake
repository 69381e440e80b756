texsolve_test(test_layout host)
texsolve_test(test_layout_jagged host)
