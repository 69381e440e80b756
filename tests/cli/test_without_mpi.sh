# A command that was built without MPI, on a machine with a later MPI. It sees only the variables that mpirun
# sets.
small_system
export OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0
expect 1 solve spd.mtx --backend cpu
grep -q 'mpirun has started 2 processes, and this texsolve was built without MPI' ../log/err ||
  fail "the message does not say that MPI was not built in"
