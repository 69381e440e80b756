// Solves in a worker, on an OffscreenCanvas that the page hands over.
import { open } from '/package/texsolve.js'
import { poisson, residual, random } from './problems.js'

globalThis.onmessage = async ({ data: { canvas, backend } }) => {
  try {
    const ts = await open({ canvas, backend })
    const source = poisson(32)
    const b = random(1024)
    const r = await ts.matrix(source).solve(b, { preconditioner: 'amg', rtol: 1e-9 })
    globalThis.postMessage({ backend: ts.info.backend, residual: residual(source, r.x, b), converged: r.converged })
  } catch (error) {
    globalThis.postMessage({ error: `${error.code}: ${error.message}` })
  }
}
