/** texsolve/core: matrices, solvers and preconditioners alone. */
import type { OpenOptions, Texsolve } from './texsolve.js'

export { TexsolveError, readMatrixMarket } from './texsolve.js'
export type { Amg, AmgOptions, ErrorCode, Frame, Info, Matrix, MatrixSource, OpenOptions, Preconditioner, PreconditionerOptions, Result,
  Solver, SolverOptions } from './texsolve.js'

export type Core = Pick<Texsolve, 'info' | 'gl' | 'lost' | 'matrix' | 'solver' | 'amg' | 'preconditioner' | 'readMatrixMarket' | 'restore' | 'dispose'>

/** Opens a device. */
export function open(options?: OpenOptions): Promise<Core>
