texsolve_test(test_partition host)
# METIS prints a warning if it has fewer vertices than parts, which must not happen.
set_tests_properties(test_partition.host PROPERTIES FAIL_REGULAR_EXPRESSION "[*][*][*]")
