// Examples that must compile, and mistakes that must not. Checked by tsc --strict.
import { open, readMatrixMarket, Texsolve, TexsolveError } from 'texsolve'
import type { Amg, Contacts, Fluid, Matrix, MatrixSource, Mesh, Region, Result, SolverOptions, System } from 'texsolve'
import { open as openSingle } from 'texsolve/single'
import { open as openCore } from 'texsolve/core'

declare const gl: WebGL2RenderingContext
declare const canvas: HTMLCanvasElement
declare const off: OffscreenCanvas

export async function solves(): Promise<void> {
  const ts: Texsolve = await open({ gl, backend: 'gl', log: (level, message) => console.log(level.length, message.length) })
  await open({ canvas })
  await open({ canvas: off, wasmURL: new URL('https://example.org/texsolve.wasm'), wasmBinary: new Uint8Array(1) })
  await openSingle()
  const core = await openCore({ backend: 'cpu' })
  console.log(core.info.device, core.matrix)
  // @ts-expect-error only in the full module
  core.fluid({ width: 8, height: 8 })
  const source: MatrixSource = { rowOffsets: new Int32Array(2), columnIndices: new Int32Array(1), values: new Float32Array(1), columns: 3 }
  const A: Matrix = ts.matrix(source)
  ts.matrix({ triplets: { rows: new Int32Array(1), columns: new Int32Array(1), values: new Float64Array(1) }, rows: 1, format: 'bcrs2' })
  const double: Result<Float64Array> = await A.solve(new Float64Array(3))
  const single = await A.solve(new Float32Array(3), { preconditioner: 'amg', rtol: 1e-8, signal: AbortSignal.timeout(100),
    onProgress: ({ iteration, residual, seconds }) => console.log(iteration + residual + seconds) })
  const x: Float32Array = single.x
  console.log(double.converged, double.history.length, x.length, A.multiply(new Float32Array(3)).length)
  const M: Amg = await ts.amg(A, { smoother: 'chebyshev', visits: 1 })
  console.log(M.levels[0]?.rows, (await M.solve(new Float64Array(3), { method: 'richardson' })).residual)
  const options: SolverOptions = { preconditioner: M, method: 'minres', maxIterations: 10 }
  const solver = ts.solver(A, options)
  await solver.solve(new Float64Array(3), { x0: new Float64Array(3) })
  const frame = A.frame(new Float32Array(3), { iterations: 8 })
  const region: Region = frame.region
  gl.bindTexture(gl.TEXTURE_2D, frame.texture)
  console.log(region.width, frame.read(), frame.read(Float64Array), frame.texels)
  solver.dispose()
  await ts.restore(gl)
  console.log(await ts.lost, ts.info.reason, ts.gl?.canvas)
}

export async function objects(ts: Texsolve): Promise<void> {
  const system: System = ts.system({ unknowns: 3, leastSquares: true })
  system.lock(0, 5).row([0, 1], [-1, 1], 1).row(new Int32Array([1, 2]), new Float64Array([-1, 1]), [1], 2)
  console.log((await system.solve({ normal: 'applied' })).x[0], ts.system(5).values)
  const contacts: Contacts = ts.contacts({ matrix: new Float64Array(4), friction: new Float64Array(1) })
  const forces: Float64Array = contacts.solveNow(new Float64Array(2), { sweeps: 10 }).x
  const r = await ts.lcp({ matrix: new Float64Array(4), q: new Float32Array(2), upper: 1 })
  const z: Float32Array = r.x
  const fluid: Fluid = ts.fluid({ width: 64, height: 64, left: { kind: 'wall', velocity: [1, 0] }, top: 'outlet', pressure: { preconditioner: 'jacobi', iterations: 20 } })
  fluid.write('dye', fluid.read('dye'))
  fluid.step(1 / 60, [{ x: 0.5, y: 0.5, halfWidth: 0.1, dye: [1, 1, 1] }])
  console.log(fluid.textures.velocity.texture, (await fluid.divergence()).rms, (await fluid.measure()).after, forces, z)
  const mesh: Mesh = ts.mesh({ positions: new Float32Array(9), triangles: new Uint32Array(3), boundary: 'flow' })
  console.log(await mesh.smooth({ timeStep: 0.1, steps: 2 }), mesh.step().iterations)
  const map = await ts.lscm({ positions: new Float64Array(9), triangles: new Int32Array(3), pins: { 0: [0, 0], 1: [1, 0] } })
  console.log(map.uv.length, (await ts.readMatrixMarket(new Blob([]))).matrix?.rows, (await readMatrixMarket('')).triplets?.values)
  try {
    await system.solve()
  } catch (error) {
    if (error instanceof TexsolveError && error.code === 'aborted') console.log(error.message)
  }
}

export async function mistakes(ts: Texsolve, A: Matrix): Promise<void> {
  // @ts-expect-error a plain array
  await A.solve([1, 2, 3])
  // @ts-expect-error an unknown method
  await A.solve(new Float64Array(3), { method: 'sor' })
  // @ts-expect-error an option that does not exist
  await A.solve(new Float64Array(3), { tolerance: 1 })
  // @ts-expect-error the type of x is that of b
  const x: Float32Array = (await A.solve(new Float64Array(3))).x
  // @ts-expect-error values are missing
  ts.matrix({ rowOffsets: new Int32Array(2), columnIndices: new Int32Array(1) })
  // @ts-expect-error indices are integers
  ts.matrix({ rowOffsets: new Int32Array(2), columnIndices: new Float64Array(1), values: new Float64Array(1) })
  // @ts-expect-error a backend that browsers lack
  await open({ backend: 'cuda' })
  // @ts-expect-error a solver has its options from its creation
  await ts.solver(A).solve(new Float64Array(3), { rtol: 1e-8 })
  // @ts-expect-error only open() makes one
  new Texsolve()
  // @ts-expect-error the height is missing
  ts.fluid({ width: 64 })
  // @ts-expect-error a boundary that does not exist
  ts.fluid({ width: 64, height: 64, left: 'door' })
  // @ts-expect-error a field that does not exist
  ts.fluid({ width: 64, height: 64 }).read('smoke')
  // @ts-expect-error a field that is not for writing
  ts.fluid({ width: 64, height: 64 }).write('walls', new Float32Array(1))
  // @ts-expect-error q is missing
  await ts.lcp({ matrix: new Float64Array(4) })
  // @ts-expect-error read-only
  A.rows = 3
  // @ts-expect-error a pin has two numbers
  await ts.lscm({ positions: new Float64Array(9), triangles: new Int32Array(3), pins: { 0: [0], 1: [1, 0] } })
  // @ts-expect-error no such code
  if (new TexsolveError('bad', '').code) console.log(x)
}
