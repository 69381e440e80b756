/** texsolve: sparse linear systems on WebGL 2 and WebAssembly. */

/** Numbers that go in and come out: the type of the answer is that of the question. */
export type Floats = Float32Array | Float64Array

export interface OpenOptions {
  /** Your WebGL 2 context. The library draws in it, and restores its state after each call. */
  gl?: WebGL2RenderingContext
  /** A canvas on which the library creates a context. Default: an off-screen canvas. */
  canvas?: HTMLCanvasElement | OffscreenCanvas
  /** 'auto', the default: WebGL 2 if a GPU has it, otherwise WebAssembly; ts.info.reason says why. */
  backend?: 'auto' | 'gl' | 'cpu'
  /** The bytes of texsolve.wasm, or the compiled module. */
  wasmBinary?: BufferSource | WebAssembly.Module
  /** The address of texsolve.wasm. Default: beside the JavaScript. */
  wasmURL?: string | URL
  /** Receives what the library reports. */
  log?: (level: 'warning' | 'info' | 'debug', message: string) => void
}

/** Opens a device. */
export function open(options?: OpenOptions): Promise<Texsolve>

export type ErrorCode = 'invalid-argument' | 'invalid-file' | 'unsupported' | 'unavailable' | 'limit' | 'incompatible' | 'out-of-memory' |
  'shader' | 'device' | 'context-lost' | 'aborted' | 'disposed' | 'busy' | 'not-converged' | 'internal'

export class TexsolveError extends Error {
  constructor(code: ErrorCode, message: string, options?: { cause?: unknown })
  readonly code: ErrorCode
}

/** A long call can be watched and aborted. */
export interface CallOptions<Progress = SolveProgress> {
  /** Rejects the promise with code 'aborted'. Without JSPI (ts.info.canPause) only abort() within onProgress does so in time. */
  signal?: AbortSignal
  onProgress?: (progress: Progress) => void
}

export interface SolveProgress {
  iteration: number
  /** Relative, from the recurrence of the method; NaN if the method does not compute it. */
  residual: number
  seconds: number
}

export type Method = 'auto' | 'cg' | 'bicgstab' | 'gmres' | 'cgls' | 'richardson' | 'minres' | 'lsmr' | 'idr'
export type PreconditionerKind = 'auto' | 'none' | 'jacobi' | 'block-jacobi' | 'chebyshev' | 'isai' | 'amg' | 'multigrid' | 'ilu' | 'ic'
export type Precision = 'auto' | 'single' | 'mixed' | 'double'

export interface SolverOptions {
  method?: Method
  /** A name, or an object of ts.amg() or ts.preconditioner(). */
  preconditioner?: PreconditionerKind | Preconditioner
  precision?: Precision
  /** The solve ends when the residual is below rtol ||b|| or atol. Default: 1e-5 and 0. */
  rtol?: number
  atol?: number
  maxIterations?: number
  /** An exact number of iterations, without a test. */
  iterations?: number
  /** Iterations between two tests. */
  checkInterval?: number
  stop?: 'residual' | 'delta'
  /** gmres: the length of a cycle. */
  restart?: number
  /** Vectors that a symmetric matrix maps to 0, row by row. */
  nullSpace?: Floats
}

export interface StartOptions {
  /** The start. Default: 0. */
  x0?: Floats
}

export interface Result<X extends Floats = Floats> {
  x: X
  converged: boolean
  /** Why the solve ended, such as 'converged' or 'the maximum number of iterations was reached'. */
  reason: string
  message: string
  /** ||b - A x|| / ||b||, computed from x. */
  residual: number
  iterations: number
  seconds: number
  method: Method
  preconditioner: PreconditionerKind
  precision: Precision
  /** The residual after each iteration, from the recurrence. */
  history: Float64Array
  restarts: number
  attainableResidual: number
  roundedResidual: number
  incompatible: number
  synchronisations: number
}

interface Disposable_ {
  readonly isDisposed: boolean
  /** Frees the memory now. An object that is not disposed of is freed when it is collected. */
  dispose(): void
}

export interface MatrixArrays {
  /** rows + 1 offsets, ascending from 0. */
  rowOffsets: Int32Array
  columnIndices: Int32Array
  values: Floats
}

export interface MatrixTriplets {
  triplets: { rows: Int32Array, columns: Int32Array, values: Floats }
}

export type MatrixSource = (MatrixArrays | MatrixTriplets) & {
  rows?: number
  columns?: number
  format?: 'auto' | 'jagged' | 'segments' | 'csr' | 'bcrs2' | 'bcrs4'
  precision?: Precision
  /** Components of the vectors to multiply, 1 to 4. */
  components?: number
  /** Flags of rows without an equation. */
  constrained?: Uint8Array
}

export interface MatrixInfo {
  rows: number
  columns: number
  entries: number
  duplicates: number
  format: string
  choice: string
  symmetric: boolean
  longestRow: number
  zeroDiagonalRow: number
  unsymmetricRow: number
  unsymmetricColumn: number
  negativeDiagonal: boolean
  constrainedRows: number
  bytes: number
  rectangles: number
  secondsLayout: number
  secondsUpload: number
}

export interface Matrix extends Disposable_ {
  readonly rows: number
  readonly columns: number
  readonly entries: number
  readonly info: MatrixInfo
  /** A x. Waits for the device. */
  multiply<X extends Floats>(x: X): X
  /** Replaces the values; the pattern stays. */
  update(values: Floats): void
  /** Copies of the arrays that the matrix was made from. */
  arrays(): MatrixArrays | MatrixTriplets
  /** The texel of each row in a vector's texture: x and y in turn. Only on WebGL. */
  texels(): Int32Array
  /** Solves A x = b. */
  solve<X extends Floats>(b: X, options?: SolverOptions & StartOptions & CallOptions): Promise<Result<X>>
  /** A fixed number of iterations for each frame, without a read-back. */
  frame(b: Floats, options?: SolverOptions): Frame
}

export interface Solver extends Disposable_ {
  readonly matrix: Matrix
  solve<X extends Floats>(b: X, options?: StartOptions & CallOptions): Promise<Result<X>>
}

/** A part of a texture: texels (x, y) to (x + width - 1, y + height - 1). */
export interface Region {
  texture: WebGLTexture
  internalFormat: number
  x: number
  y: number
  width: number
  height: number
}

export interface Frame extends Disposable_ {
  readonly matrix: Matrix
  readonly components: number
  /** x on the device. Read-only: the library owns it. */
  readonly texture: WebGLTexture
  readonly region: Region
  /** The texel of each unknown, relative to the region: x and y in turn. */
  readonly texels: Int32Array
  /** Replaces b, and iterates from the present x. */
  update(b: Floats): void
  step(): void
  reset(): void
  /** x on the host. Waits for the device. */
  read(): Float32Array
  read(Type: Float64ArrayConstructor): Float64Array
}

export interface PreconditionerOptions {
  kind?: PreconditionerKind
  blockSize?: number
  degree?: number
  levels?: number
  fill?: number
  dropTolerance?: number
  scaling?: 'auto' | 'none' | 'matching'
  sweeps?: number
}

export interface PreconditionerInfo {
  kind: PreconditionerKind
  choice: string
  products: number
  symmetric: boolean
  secondsSetup: number
  bytes: number
}

export interface Preconditioner extends Disposable_ {
  readonly matrix: Matrix
  readonly isPreconditioner: true
  readonly info: PreconditionerInfo
  /** Computes it again, after matrix.update(). */
  update(): Promise<void>
  /** M^-1 r. Waits for the device. */
  apply<X extends Floats>(r: X): X
}

export interface AmgOptions {
  strength?: number
  smoother?: 'auto' | 'chebyshev' | 'chebyshev4' | 'jacobi' | 'l1-jacobi'
  sweeps?: number
  /** 1: V-cycles; 2, the default: W-cycles below the second level. */
  visits?: 1 | 2
  maxLevels?: number
  coarsest?: number
  /** Unknowns of each node, in consecutive rows. */
  unknowns?: number
  /** Vectors that the matrix almost maps to 0, row by row. */
  nearNull?: Floats
  /** Coordinates of the nodes; the near-null vectors are then those of rigid-body motions. */
  coordinates?: Floats
  dimensions?: 2 | 3
}

export interface Amg extends Preconditioner {
  readonly levels: { rows: number, entries: number, eigenvalue: number }[]
  readonly operatorComplexity: number
  readonly gridComplexity: number
  solve<X extends Floats>(b: X, options?: Omit<SolverOptions, 'preconditioner'> & StartOptions & CallOptions): Promise<Result<X>>
}

export interface SystemOptions {
  unknowns: number
  /** Components of each unknown and each right-hand side, 1 to 4. */
  components?: number
  leastSquares?: boolean
  symmetric?: boolean
  allowSingular?: boolean
}

type Numbers = ArrayLike<number>

export interface SystemResult {
  x: Float64Array
  converged: boolean
  reason: string
  message: string
  residual: number
  normalResidual: number
  iterations: number
  seconds: number
  method: Method
  rows: number
  unknowns: number
  entries: number
  choice: string
  history: Float64Array
}

export interface System extends Disposable_ {
  readonly unknowns: number
  readonly components: number
  readonly rows: number
  /** The values of all unknowns: component k of unknown i is values[i * components + k]. */
  values: Float64Array
  /** Adds sum coefficients[k] x[unknowns[k]] = rightHandSide. */
  row(unknowns: Numbers, coefficients: Numbers, rightHandSide?: number | Numbers, weight?: number): this
  add(i: number, j: number, a: number): this
  addRightHandSide(i: number, b: number, component?: number): this
  set(unknown: number, value: number | Numbers): this
  lock(unknown: number, value?: number | Numbers): this
  unlock(unknown: number): this
  /** Discards the equations. */
  clear(): void
  solve(options?: SolverOptions & CallOptions & { normal?: 'auto' | 'formed' | 'applied', order?: 'auto' | 'natural' | 'rcm' }): Promise<SystemResult>
}

export interface Rows {
  rowOffsets: Int32Array
  columnIndices: Int32Array
  values: Floats
}

export interface ContactsSource {
  /** M: n * n numbers row by row, or its rows. */
  matrix?: Floats | Rows
  /** H and M_0^-1, for M = H M_0^-1 H^T. */
  jacobian?: Rows & { columns: number }
  /** Diagonal blocks of M_0^-1, one after the other, row by row. */
  inverseMass?: Floats
  /** Rows of a block: a body's unknowns. Default: 1. */
  massBlock?: number
  /** A coefficient for each contact, which has 2 or 3 unknowns, the normal one first. */
  friction?: Floats
  /** Bounds without friction. Default: 0 and infinity. */
  lower?: Floats | number
  upper?: Floats | number
  storage?: 'auto' | 'dense' | 'sparse'
  precision?: Precision
}

export interface ContactsOptions {
  scheme?: 'auto' | 'row' | 'column' | 'block' | 'graph' | 'graph-2' | 'relaxed' | 'colour'
  local?: 'auto' | 'projection' | 'exact'
  acceleration?: 'auto' | 'none' | 'momentum'
  rtol?: number
  atol?: number
  maxIterations?: number
  /** An exact number of sweeps, without a test. */
  sweeps?: number
  checkInterval?: number
  /** The start. Default: the last solution. */
  x0?: Floats
}

export interface ContactsResult<X extends Floats = Floats> {
  x: X
  converged: boolean
  reason: string
  message: string
  /** Relative to ||q||. NaN after an exact number of sweeps. */
  residual: number
  absoluteResidual: number
  /** Sweeps. */
  iterations: number
  seconds: number
  scheme: string
  storage: string
  history: Float64Array
}

export interface Contacts extends Disposable_ {
  readonly size: number
  /** Finds x with w = M x + q, x within its bounds or cones, and w complementary to x. */
  solve<X extends Floats>(q: X, options?: ContactsOptions & CallOptions): Promise<ContactsResult<X>>
  /** The same at once, inside a frame. */
  solveNow<X extends Floats>(q: X, options?: ContactsOptions): ContactsResult<X>
  setMatrix(source: Pick<ContactsSource, 'matrix' | 'jacobian' | 'inverseMass' | 'massBlock'>): void
  setBounds(lower?: Floats | number, upper?: Floats | number): void
  setFriction(friction: Floats): void
  reset(): void
}

export type BoundaryKind = 'wall' | 'slip' | 'outlet' | 'periodic'
export type Boundary = BoundaryKind | { kind: BoundaryKind, velocity?: readonly [number, number] }

export interface FluidParameters {
  /** Seconds. Default: 1/60. */
  timeStep?: number
  viscosity?: number
  buoyancy?: number
  smokeWeight?: number
  gravity?: readonly [number, number]
  /** Vorticity confinement, 1/s. */
  vorticity?: number
  /** 1/s: exp(-decay t) remains after time t. */
  dyeDecay?: number
  temperatureDecay?: number
  advection?: 'semi-lagrangian' | 'maccormack'
  /** The solver of the pressure. Default: two cycles of multigrid. */
  pressure?: SolverOptions
  multigrid?: { smoother?: 'auto' | 'jacobi' | 'chebyshev' | 'red-black' | 'four-colour', cycle?: 'auto' | 'V' | 'W' | 'F',
                pre?: number, post?: number, maxLevels?: number }
}

export interface FluidSource {
  /** Metres; without halfHeight a disc. */
  x: number
  y: number
  halfWidth: number
  halfHeight?: number
  dye?: readonly [number, number, number]
  temperature?: number
  velocity?: readonly [number, number]
}

export interface FluidOptions extends FluidParameters {
  width: number
  height: number
  /** Metres. Default: 1 / height. */
  cellSize?: number
  layout?: 'staggered' | 'collocated'
  left?: Boundary
  right?: Boundary
  bottom?: Boundary
  top?: Boundary
  /** Flags of solid cells, row 0 at the bottom. */
  solid?: Uint8Array | Uint8ClampedArray
  solidVelocity?: Float32Array
  sources?: readonly FluidSource[]
}

export interface FluidResult {
  time: number
  steps: number
  iterations: number
  /** Root mean squares and largest magnitudes of the divergence before and after the projection, 1/s. NaN unless measured. */
  before: number
  after: number
  largestBefore: number
  largestAfter: number
  largestSpeed: number
}

export type FluidField = 'velocity' | 'pressure' | 'divergence' | 'dye' | 'walls' | 'particles'

export interface Fluid extends Disposable_ {
  readonly width: number
  readonly height: number
  readonly time: number
  readonly steps: number
  readonly info: { width: number, height: number, cellSize: number, fluidCells: number, levels: number, closed: number,
                   outletClosed: boolean, inflow: number, incompatible: number, bytes: number }
  /** Where the fields are. Each access is valid until the next step. */
  readonly textures: { readonly [Name in FluidField]: Region }
  texture(name: FluidField): Region | undefined
  /** One step, inside a frame. */
  step(dt?: number, sources?: readonly FluidSource[], options?: { measure?: boolean }): FluidResult
  /** One step with measurements of the divergence. */
  measure(dt?: number, sources?: readonly FluidSource[], options?: { signal?: AbortSignal }): Promise<FluidResult>
  /** The divergence of the present velocity. */
  divergence(options?: { signal?: AbortSignal }): Promise<{ rms: number, largest: number }>
  setParameters(parameters: FluidParameters): void
  setWalls(solid: Uint8Array | Uint8ClampedArray | null, velocity?: Float32Array): void
  setBoundaries(boundaries: { left?: Boundary, right?: Boundary, bottom?: Boundary, top?: Boundary }): void
  setSources(sources: readonly FluidSource[]): void
  setParticles(width: number, height: number, lifetime?: number): void
  /** Adds Gaussians. One call with several costs less than a call for each. */
  splat(...splats: readonly { x: number, y: number, radius: number, velocity?: readonly [number, number],
                              dye?: readonly [number, number, number], temperature?: number }[]): void
  /** A field on the host. Waits for the device. */
  read(name: FluidField): Float32Array
  /** Replaces a field by values as read() returns them. */
  write(name: 'velocity' | 'dye', values: Floats): void
  reset(): void
}

export interface MeshSource {
  /** x, y, z of each vertex. */
  positions: Floats
  /** Three vertices of each triangle. */
  triangles: Int32Array | Uint32Array | Uint16Array
}

export interface MeshOptions extends MeshSource, SolverOptions {
  /** Flags of vertices that do not move. */
  constrained?: Uint8Array
  boundary?: 'fixed' | 'flow'
  speed?: number
}

export interface Mesh extends Disposable_ {
  readonly vertices: number
  readonly triangles: number
  /** The positions on the host. */
  get positions(): Floats
  set positions(positions: Floats)
  readonly defaultTimeStep: number
  readonly info: { vertices: number, triangles: number, boundaryVertices: number, constrainedVertices: number, bytes: number }
  readonly region: Region
  readonly texture: WebGLTexture
  readonly texels: Int32Array
  /** Mean-curvature flow: `steps` steps of `timeStep`, in squared units of the positions. */
  smooth(options?: { timeStep?: number, steps?: number } & CallOptions): Promise<Floats>
  /** One step inside a frame, without a read-back of the positions. */
  step(timeStep?: number): { converged: boolean, iterations: number, substeps: number, message: string, residual: number }
}

export interface LscmOptions extends MeshSource, SolverOptions, CallOptions {
  /** At least two vertices with their coordinates. Default: two vertices of each part of the mesh that are far apart. */
  pins?: Map<number, readonly [number, number]> | { [vertex: number]: readonly [number, number] }
}

export interface LscmResult extends Omit<Result, 'x' | 'preconditioner'> {
  /** u and v of each vertex; NaN for vertices without triangles. */
  uv: Floats
  secondsSolve: number
  pins: Map<number, readonly [number, number]>
  /** Parts of the mesh, and those without a boundary. Without `pins` only. */
  parts?: number
  closed?: number
}

export interface MatrixMarket {
  rows: number
  columns: number
  /** Entries in the file. */
  entries: number
  field: 'real' | 'double' | 'integer' | 'pattern'
  symmetry: 'general' | 'symmetric' | 'skew-symmetric'
  comments: string[]
  /** A dense file, row by row. */
  array?: Float64Array
}

export type FileSource = string | BufferSource | Blob | Response | ReadableStream<Uint8Array>
export type FileOptions = CallOptions<{ bytes: number, entries: number, expected: number }>

/** Reads a Matrix Market file. Errors have the code 'invalid-file' and name the line. */
export function readMatrixMarket(source: FileSource, options?: FileOptions):
  Promise<MatrixMarket & { triplets?: MatrixTriplets['triplets'] }>

export interface Info {
  version: string
  backend: 'gl' | 'cpu'
  device: string
  driver: string
  /** Why this backend was taken. */
  reason: string
  isHardware: boolean
  /** Whether a solve yields to the page: the engine has JSPI. */
  canPause: boolean
  /** How sums keep their rounding errors; 'none': single precision only. */
  exactSums: string
  maxTextureSize: number
  bytesDevice: number
  bytesMemory: number
  synchronisations: number
  secondsShaders: number
}

export class Texsolve {
  private constructor()
  readonly info: Info
  /** The context on WebGL. */
  readonly gl: WebGL2RenderingContext | undefined
  /** Resolves to the reason when the WebGL context is lost. Promises then reject with code 'context-lost'. */
  readonly lost: Promise<string>
  matrix(source: MatrixSource): Matrix
  solver(matrix: Matrix, options?: SolverOptions): Solver
  amg(matrix: Matrix, options?: AmgOptions): Promise<Amg>
  preconditioner(matrix: Matrix, options?: PreconditionerOptions): Promise<Preconditioner>
  system(unknowns: number | SystemOptions): System
  contacts(source: ContactsSource): Contacts
  /** One solve of a complementarity problem. */
  lcp<X extends Floats>(problem: ContactsSource & ContactsOptions & CallOptions & { q: X }): Promise<ContactsResult<X>>
  fluid(options: FluidOptions): Fluid
  mesh(options: MeshOptions): Mesh
  /** Texture coordinates that preserve angles as well as possible. */
  lscm(options: LscmOptions): Promise<LscmResult>
  readMatrixMarket(source: FileSource, options?: FileOptions): Promise<MatrixMarket & { matrix?: Matrix }>
  /** Builds everything again from copies on the host. Fluids keep walls, sources and parameters, and start again at rest
   * without dye and particles: copies of their fields would have to be read from the device in each step. Where a flow
   * must survive, read() its fields now and then, and write() them after restore(). */
  restore(gl?: WebGL2RenderingContext): Promise<void>
  /** Frees all objects and the device. */
  dispose(): void
}
