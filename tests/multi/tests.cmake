texsolve_test(test_multi multi:cpu multi:cuda multi:cuda+cuda+cuda parts ranks)
texsolve_test(test_multi_amg multi:cpu parts)

# Several processes.
set(set_few mpi:cpu*1 mpi:cpu*2 mpi:cpu*3)
set(set_many ${set_few} mpi:cpu*5 mpi:cpu+cpu*2)
texsolve_test(test_ranks many mpi:cuda*2)
texsolve_test(test_ranks_moved many)
texsolve_test(test_ranks_values many mpi:cuda*2)
texsolve_test(test_ranks_amg many mpi:cuda*2)
texsolve_test(test_ranks_memory few mpi:cpu+cpu*2)
texsolve_test(test_ranks_interior few mpi:cuda*2)
texsolve_test(test_channel few)
# Each case ends MPI, so it needs its own run.
texsolve_test(test_ranks_leave mpi:cpu*2 mpi:cpu*3 mpi:cpu*5 CASES with_its_context without_its_context)
