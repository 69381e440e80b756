/* hypre's BoomerAMG as the preconditioner of its conjugate gradients. Every process calls it. */
#ifndef BENCH_PEER_BOOMERAMG_H
#define BENCH_PEER_BOOMERAMG_H

/* The arguments after --amg. Returns the program's status. */
int boomeramg_main(int argc, char **argv);

#endif
