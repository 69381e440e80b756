/* Parts that run one kernel together: what the host and the kernels of cuda_peers.cuh share. */
#ifndef CUDA_PEERS_H
#define CUDA_PEERS_H

enum {
  CUDA_MOST_PEERS = 16,   /* a lane of a warp each */
  CUDA_PEER_BLOCKS = 512, /* of a part, at most: room for their sums */
  CUDA_WAS_TOLD = -1      /* in cuda_parts.silent: another part has left */
};

#endif
