// The divergence that pressure solvers leave after equal time, in the browser: node web/tests/browser/divergence.mjs [SIZE]
//
// A fluid of SIZE x SIZE cells (default 512) is stirred by splats and makes one step from zero pressure: by 20 Jacobi
// iterations, and by cycles of multigrid. The time of an iteration and of a cycle is the slope over their number: medians
// of steps, each ended by a read-back. Equal time: the number of cycles that fit into the time of 20 Jacobi iterations,
// at least one; the ratio of times is printed.

import { launch, openPage, serve } from './browser.mjs'

const size = Number(process.argv[2] ?? 512)
const server = await serve()
const browser = await launch()
const { tab } = await openPage(browser, server.url, 'how')
const found = await tab.evaluate(async (cells) => {
  const { open } = await import('texsolve')
  const gl = new OffscreenCanvas(16, 16).getContext('webgl2')
  const ts = await open({ gl })
  const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1]
  const framebuffer = gl.createFramebuffer()

  function wait(fluid) {
    const { texture, x, y } = fluid.textures.velocity
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer)
    gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.COLOR_ATTACHMENT0, gl.TEXTURE_2D, texture, 0)
    gl.readPixels(x, y, 1, 1, gl.RGBA, gl.FLOAT, new Float32Array(4))
  }

  function stir(fluid) {
    let seed = 7
    const next = () => (seed = (16807 * seed) % 2147483647) / 2147483647
    for (let i = 0; i < 12; i++) {
      const angle = 6.28 * next()
      fluid.splat({ x: 0.1 + 0.8 * next(), y: 0.1 + 0.8 * next(), radius: 0.03 + 0.06 * next(),
        velocity: [1.5 * Math.cos(angle), 1.5 * Math.sin(angle)] })
    }
  }

  function measure(pressure) {
    const fluid = ts.fluid({ width: cells, height: cells, pressure })
    stir(fluid)
    const { before, after } = fluid.step(undefined, undefined, { measure: true })
    const times = []
    for (let i = 0; i < 9; i++) {
      wait(fluid)
      const start = performance.now()
      fluid.step()
      wait(fluid)
      times.push(performance.now() - start)
    }
    fluid.dispose()
    return { before, after, ms: median(times) }
  }

  const jacobi = { method: 'richardson', preconditioner: 'jacobi' }
  measure({ ...jacobi, iterations: 1 }) // compiles
  const results = { info: ts.info.device, jacobi: {}, multigrid: {} }
  for (const iterations of [20, 60]) results.jacobi[iterations] = measure({ ...jacobi, iterations })
  for (const iterations of [1, 2, 3, 4]) results.multigrid[iterations] = measure({ iterations })
  return results
}, size)
await browser.close()
await server.close()

const { jacobi, multigrid } = found
const iteration = (jacobi[60].ms - jacobi[20].ms) / 40, budget = 20 * iteration
console.log(`${size} x ${size} cells, ${found.info}; divergence before ${jacobi[20].before.toPrecision(3)} 1/s`)
console.log(`20 Jacobi iterations: ${budget.toFixed(1)} ms, divergence ${jacobi[20].after.toPrecision(3)} 1/s; step ${jacobi[20].ms.toFixed(1)} ms`)
const cycle = (multigrid[4].ms - multigrid[1].ms) / 3
const count = Math.min(4, Math.max(1, Math.floor(budget / cycle)))
for (const [number, { after, ms }] of Object.entries(multigrid))
  console.log(`${number} V-cycles: ${(number * cycle).toFixed(1)} ms, divergence ${after.toPrecision(3)} 1/s, `
    + `${(jacobi[20].after / after).toFixed(0)} times less; step ${ms.toFixed(1)} ms`)
console.log(`equal time: ${count} cycles take ${(count * cycle / budget).toFixed(2)} of the time of 20 Jacobi iterations and leave `
  + `${(jacobi[20].after / multigrid[count].after).toFixed(0)} times less`)
