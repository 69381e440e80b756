/* hypre's BoomerAMG as the preconditioner of its conjugate gradients; called by every process. */
#ifndef BENCH_PEER_BOOMERAMG_H
#define BENCH_PEER_BOOMERAMG_H

/* The arguments behind --amg. Returns the program's status. */
int boomeramg_main(int argc, char **argv);

#endif
