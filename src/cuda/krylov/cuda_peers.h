/* Parts that run one kernel together: constants shared by the host and the kernels of cuda_peers.cuh. */
#ifndef CUDA_PEERS_H
#define CUDA_PEERS_H

enum {
  CUDA_MOST_PEERS = 16,   /* one lane of a warp each */
  CUDA_PEER_BLOCKS = 512, /* maximum per part: the room for their sums */
  CUDA_WAS_STOPPED = -1   /* in cuda_parts.silent: another part has left the run */
};

#endif
