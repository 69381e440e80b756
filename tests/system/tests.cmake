texsolve_test(test_system every parts ranks QUICK cpu)
texsolve_test(test_system_changes every parts ranks)
texsolve_test(test_system_errors every parts ranks)
texsolve_test(test_reorder host)
