// The package in a browser: WebGL 2 and WebAssembly, textures, workers, three.js, a lost context.
import assert from 'node:assert/strict'
import { after, afterEach, before, test } from 'node:test'
import { start } from './support.mjs'

let browser
before(async () => { browser = await start() })
after(() => browser?.stop())
afterEach(() => {
  assert.deepEqual(browser.warnings.splice(0), [], 'the console has warnings')
})

/** Runs a function in a new page, with the package and the problems. */
async function inPage(work, argument) {
  const page = await browser.newPage()
  try {
    await page.waitForFunction(() => globalThis.problems)
    await page.evaluate(async () => { globalThis.texsolve = await import('/package/texsolve.js') })
    return await page.evaluate(work, argument)
  } finally {
    await page.close()
  }
}

test('gl: a call saves the state of the application\'s context once', async () => {
  const found = await inPage(async () => {
    const gl = document.createElement('canvas').getContext('webgl2')
    const ts = await texsolve.open({ gl })
    const getParameter = gl.getParameter.bind(gl), bound = gl.createVertexArray(), saved = {}
    let count = 0
    gl.getParameter = name => {
      if (name === gl.VERTEX_ARRAY_BINDING) count++
      return getParameter(name)
    }
    const counted = (name, action) => {
      count = 0
      const result = action()
      saved[name] = count
      if (getParameter(gl.VERTEX_ARRAY_BINDING) !== bound) saved[name] = 'another vertex array'
      return result
    }
    gl.bindVertexArray(bound)
    const fluid = counted('create', () => ts.fluid({ width: 32, height: 32, pressure: { method: 'cg', iterations: 4 } }))
    const splat = { x: 0.5, y: 0.5, radius: 0.1, velocity: [1, 0] }
    counted('splat', () => fluid.splat(splat, splat, splat))
    counted('step', () => fluid.step())
    const thrown = counted('error', () => { try { fluid.splat(splat, { x: NaN }) } catch (error) { return error.code } })
    counted('step after an error', () => fluid.step())
    counted('dispose', () => fluid.dispose())
    ts.dispose()
    return { saved, thrown }
  })
  assert.deepEqual(found.saved, { create: 1, splat: 1, step: 1, error: 1, 'step after an error': 1, dispose: 1 })
  assert.equal(found.thrown, 'invalid-argument')
})

for (const backend of ['gl', 'cpu']) {
  test(`${backend}: solves to 1e-10 with jacobi and amg`, async () => {
    const found = await inPage(async backend => {
      const { poisson, residual, random } = problems
      const ts = await texsolve.open({ backend })
      const source = poisson(64), b = random(4096)
      const A = ts.matrix(source)
      const results = []
      for (const preconditioner of ['jacobi', 'amg']) {
        const r = await A.solve(b, { method: 'cg', preconditioner, rtol: 1e-10 })
        results.push({ preconditioner, converged: r.converged, residual: residual(source, r.x, b), iterations: r.iterations, message: r.message })
      }
      const info = ts.info
      ts.dispose()
      return { results, info }
    }, backend)
    assert.equal(found.info.backend, backend)
    assert.equal(found.info.canPause, true)
    for (const r of found.results) assert.ok(r.converged && r.residual < 1.01e-10, JSON.stringify(r))
    assert.ok(found.results[1].iterations < 20)
  })

  test(`${backend}: systems, contacts, a fluid and a mesh`, async () => {
    const found = await inPage(async backend => {
      const ts = await texsolve.open({ backend })
      const system = ts.system({ unknowns: 3, leastSquares: true })
      system.lock(0, 5).row([0, 1], [-1, 1], 1).row([1, 2], [-1, 1], 1)
      const solved = await system.solve({ rtol: 1e-10 })
      const lcp = await ts.lcp({ matrix: new Float64Array([2, 1, 1, 2]), q: new Float64Array([-3, 1]), rtol: 1e-8 })
      const fluid = ts.fluid({ width: 64, height: 64, buoyancy: 3, sources: [{ x: 0.5, y: 0.1, halfWidth: 0.1, dye: [1, 1, 1], temperature: 1 }] })
      for (let k = 0; k < 20; k++) fluid.step(1 / 60)
      const measured = await fluid.measure()
      const now = await fluid.divergence()
      const mesh = ts.mesh({ positions: new Float32Array([1, 1, 1, -1, -1, 1, -1, 1, -1, 1, -1, -1]), triangles: new Int32Array([0, 1, 2, 0, 3, 1, 0, 2, 3, 1, 3, 2]) })
      const moved = await mesh.smooth({ timeStep: 0.01 })
      return { x: [...solved.x], z: [...lcp.x], measured, now, moved: moved[0], dye: Math.max(...fluid.read('dye')) }
    }, backend)
    found.x.forEach((value, k) => assert.ok(Math.abs(value - [5, 6, 7][k]) < 1e-6))
    found.z.forEach((value, k) => assert.ok(Math.abs(value - [1.5, 0][k]) < 1e-6))
    assert.ok(found.measured.after < 1e-3 * found.measured.before, JSON.stringify(found.measured))
    assert.ok(Math.abs(found.now.rms - found.measured.after) < 0.1 * found.measured.after + 1e-6)
    assert.ok(found.moved < 1 && found.moved > 0.98 && found.dye > 0.9)
  })

  test(`${backend}: a long solve yields to the page, and a timer aborts it`, async () => {
    const found = await inPage(async backend => {
      const { poisson, random } = problems
      const ts = await texsolve.open({ backend })
      const A = ts.matrix(poisson(180))
      const b = random(180 * 180)
      let ticks = 0, busy
      const timer = setInterval(() => {
        ticks++
        try { A.multiply(b) } catch (error) { busy = error.code }
      }, 5)
      const error = await A.solve(b, { method: 'cg', preconditioner: 'none', precision: 'double', rtol: 1e-13, atol: 0, maxIterations: 100000, signal: AbortSignal.timeout(400) }).catch(found => found)
      clearInterval(timer)
      const again = await A.solve(b, { rtol: 1e-6 })
      return { code: error.code, ticks, busy, converged: again.converged, done: error.iterations }
    }, backend)
    assert.ok(found.converged)
    if (found.done === undefined) assert.equal(found.code, 'aborted')
    assert.ok(found.ticks >= 2, `${found.ticks} ticks`)
    assert.equal(found.busy, 'busy')
  })
}

test('a frame is drawn from its texture, without a copy', async () => {
  const found = await inPage(async () => {
    const { poisson, residual, random, drawRegion } = problems
    const gl = document.querySelector('canvas').getContext('webgl2')
    const ts = await texsolve.open({ gl })
    const source = poisson(20), b = random(400, Float32Array)
    const frame = ts.matrix(source).frame(b, { iterations: 80 })
    const drawn = drawRegion(gl, frame.region)
    const x = frame.read(), { texels, region } = frame
    let worst = 0
    for (let i = 0; i < 400; i++) worst = Math.max(worst, Math.abs(drawn[4 * (texels[2 * i + 1] * region.width + texels[2 * i])] - x[i]))
    const fluid = ts.fluid({ width: 32, height: 16 })
    fluid.splat({ x: 1, y: 0.5, radius: 0.2, dye: [0.25, 0.5, 1] })
    const dye = fluid.read('dye'), picture = drawRegion(gl, fluid.textures.dye)
    return { worst, residual: residual(source, x, b), same: dye.every((value, k) => value === picture[k]), largest: Math.max(...dye),
      reason: ts.info.reason, isOurs: ts.gl === gl }
  })
  assert.equal(found.worst, 0)
  assert.ok(found.residual < 1e-4 && found.same && found.largest > 0.5 && found.isOurs)
  assert.match(found.reason, /given/)
})

test('the state of the caller is restored after each call and at each pause', async () => {
  const found = await inPage(async () => {
    const { poisson, random } = problems
    const gl = document.querySelector('canvas').getContext('webgl2')
    const ts = await texsolve.open({ gl })
    const texture = gl.createTexture(), buffer = gl.createBuffer(), framebuffer = gl.createFramebuffer(), array = gl.createVertexArray()
    gl.activeTexture(gl.TEXTURE3)
    gl.bindTexture(gl.TEXTURE_2D, texture)
    gl.bindVertexArray(array)
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer)
    gl.bindFramebuffer(gl.FRAMEBUFFER, framebuffer)
    gl.viewport(1, 2, 33, 44)
    gl.scissor(3, 4, 5, 6)
    for (const name of ['BLEND', 'DEPTH_TEST', 'CULL_FACE', 'SCISSOR_TEST', 'STENCIL_TEST']) gl.enable(gl[name])
    gl.blendFunc(gl.ONE, gl.SRC_ALPHA)
    gl.colorMask(true, false, true, false)
    gl.pixelStorei(gl.UNPACK_ALIGNMENT, 2)
    gl.pixelStorei(gl.UNPACK_FLIP_Y_WEBGL, true)
    gl.clearColor(0.25, 0.5, 0.75, 1)
    const names = ['ACTIVE_TEXTURE', 'TEXTURE_BINDING_2D', 'VERTEX_ARRAY_BINDING', 'ARRAY_BUFFER_BINDING', 'FRAMEBUFFER_BINDING', 'VIEWPORT', 'SCISSOR_BOX',
      'BLEND', 'DEPTH_TEST', 'CULL_FACE', 'SCISSOR_TEST', 'STENCIL_TEST', 'BLEND_SRC_RGB', 'BLEND_DST_RGB', 'COLOR_WRITEMASK', 'UNPACK_ALIGNMENT', 'UNPACK_FLIP_Y_WEBGL',
      'COLOR_CLEAR_VALUE', 'CURRENT_PROGRAM', 'PIXEL_PACK_BUFFER_BINDING', 'PIXEL_UNPACK_BUFFER_BINDING']
    const objects = new Map()
    const number = value => value && typeof value === 'object' && !ArrayBuffer.isView(value) && !Array.isArray(value)
      ? objects.get(value) ?? objects.set(value, objects.size).get(value) : [...[value].flat(), ...(ArrayBuffer.isView(value) ? value : [])].join()
    const state = () => names.map(name => `${name} ${number(gl.getParameter(gl[name]))}`).join('\n')
    const before = state()
    const differences = new Set()
    const compare = () => { if (state() !== before) differences.add(state()) }
    const A = ts.matrix(poisson(60))
    compare()
    const timer = setInterval(compare)
    const r = await A.solve(random(3600), { rtol: 1e-10 })
    await ts.amg(A)
    clearInterval(timer)
    compare()
    const fluid = ts.fluid({ width: 32, height: 32 })
    fluid.step()
    A.frame(new Float32Array(3600).fill(1))
    compare()
    return { before, differences: [...differences], converged: r.converged, error: gl.getError() }
  })
  assert.deepEqual(found.differences, [], found.before)
  assert.ok(found.converged)
  assert.equal(found.error, 0)
})

test('a program that the caller deleted while in use ends with the next call, without an error', async () => {
  const found = await inPage(async () => {
    const { poisson, random } = problems
    const gl = document.querySelector('canvas').getContext('webgl2')
    const ts = await texsolve.open({ gl })
    const program = gl.createProgram()
    for (const [type, text] of [[gl.VERTEX_SHADER, 'void main() { gl_Position = vec4(0); }'], [gl.FRAGMENT_SHADER, 'void main() {}']]) {
      const shader = gl.createShader(type)
      gl.shaderSource(shader, '#version 300 es\n' + text)
      gl.compileShader(shader)
      gl.attachShader(program, shader)
    }
    gl.linkProgram(program)
    gl.useProgram(program)
    gl.deleteProgram(program)
    const isCurrent = gl.getParameter(gl.CURRENT_PROGRAM) === program
    const r = await ts.matrix(poisson(20)).solve(random(400), { rtol: 1e-8 })
    return { isCurrent, after: gl.getParameter(gl.CURRENT_PROGRAM), converged: r.converged, error: gl.getError() }
  })
  assert.deepEqual(found, { isCurrent: true, after: null, converged: true, error: 0 })
})

test('three.js draws beside the library in one context', async () => {
  const found = await inPage(async () => {
    const THREE = await import('three')
    const canvas = document.createElement('canvas')
    canvas.width = canvas.height = 128
    const gl = canvas.getContext('webgl2', { preserveDrawingBuffer: true })
    const picture = () => {
      const pixels = new Uint8Array(4 * 128 * 128)
      gl.bindFramebuffer(gl.FRAMEBUFFER, null)
      gl.readPixels(0, 0, 128, 128, gl.RGBA, gl.UNSIGNED_BYTE, pixels)
      return pixels
    }
    const renderer = new THREE.WebGLRenderer({ canvas, context: gl })
    renderer.setSize(128, 128, false)
    const scene = new THREE.Scene()
    scene.background = new THREE.Color(0x204060)
    const geometry = new THREE.IcosahedronGeometry(1, 8)
    const mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ color: 0xffaa33 }))
    scene.add(mesh, new THREE.HemisphereLight(0xffffff, 0x222222, 3))
    const camera = new THREE.PerspectiveCamera(50, 1, 0.1, 10)
    camera.position.z = 3
    renderer.render(scene, camera)
    const first = picture()
    const ts = await texsolve.open({ gl })
    const { poisson, random } = problems
    const A = ts.matrix(poisson(32))
    const solve = A.solve(random(1024), { rtol: 1e-9 })
    for (let k = 0; k < 5; k++) {
      await new Promise(resolve => setTimeout(resolve, 5))
      renderer.render(scene, camera)
    }
    const r = await solve
    renderer.render(scene, camera)
    const second = picture()
    let worst = 0
    for (let k = 0; k < first.length; k++) worst = Math.max(worst, Math.abs(first[k] - second[k]))
    return { worst, converged: r.converged, centre: [...first.subarray(4 * (64 * 128 + 64), 4 * (64 * 128 + 64) + 3)], error: gl.getError() }
  })
  assert.equal(found.worst, 0)
  assert.ok(found.converged && found.centre[0] > 100)
  assert.equal(found.error, 0)
})

for (const backend of ['gl', 'cpu']) {
  test(`${backend}: a worker with an OffscreenCanvas`, async () => {
    const found = await inPage(backend => new Promise((resolve, reject) => {
      const worker = new Worker('/files/worker.js', { type: 'module' })
      worker.onmessage = ({ data }) => resolve(data)
      worker.onerror = event => reject(new Error(event.message))
      const canvas = document.querySelector('canvas').transferControlToOffscreen()
      worker.postMessage({ canvas, backend }, [canvas])
    }), backend)
    assert.equal(found.error, undefined)
    assert.equal(found.backend, backend)
    assert.ok(found.converged && found.residual < 1.01e-9)
  })
}

test('a context is lost in the middle of a solve, and everything is built again', async () => {
  const found = await inPage(async () => {
    const { poisson, residual, random } = problems
    const gl = document.querySelector('canvas').getContext('webgl2')
    document.querySelector('canvas').addEventListener('webglcontextlost', event => event.preventDefault())
    const lose = gl.getExtension('WEBGL_lose_context')
    const ts = await texsolve.open({ gl })
    const source = poisson(120), b = random(14400)
    const A = ts.matrix(source)
    const solver = ts.solver(A, { method: 'cg', preconditioner: 'none', rtol: 1e-12 })
    const amg = await ts.amg(A)
    const fluid = ts.fluid({ width: 32, height: 32 })
    fluid.splat({ x: 0.5, y: 0.5, radius: 0.2, velocity: [1, 0], dye: [1, 0.5, 0.25] })
    fluid.step()
    const kept = { velocity: fluid.read('velocity'), dye: fluid.read('dye') }
    const frame = A.frame(Float32Array.from(b))
    const running = solver.solve(b).catch(error => error.code)
    const waiting = A.solve(b).catch(error => error.code)
    await new Promise(resolve => setTimeout(resolve, 30))
    lose.loseContext()
    const codes = [await running, await waiting, await ts.amg(A).catch(error => error.code)]
    const reason = await ts.lost
    const thrown = ['multiply', 'step'].map((name, k) => { try { return k ? fluid.step() : A.multiply(b) } catch (error) { return error.code } })
    setTimeout(() => lose.restoreContext(), 20)
    await ts.restore()
    const r = await solver.solve(b)
    const atRest = fluid.read('velocity').every(value => value === 0)
    for (const name in kept) fluid.write(name, kept[name])
    const isSame = Object.keys(kept).every(name => fluid.read(name).every((value, k) => value === kept[name][k]))
    fluid.step()
    frame.step()
    const m = await amg.solve(b, { rtol: 1e-9 })
    return { codes, reason, thrown, residual: residual(source, r.x, b), amg: residual(source, m.x, b), frame: frame.read().every(Number.isFinite), backend: ts.info.backend,
      flow: { atRest, isSame, largest: Math.max(...kept.velocity) } }
  })
  assert.ok(found.flow.atRest && found.flow.isSame && found.flow.largest > 0.1, JSON.stringify(found.flow))
  assert.deepEqual(found.codes.slice(1), ['context-lost', 'context-lost'])
  assert.equal(found.codes[0], 'context-lost')
  assert.deepEqual(found.thrown, ['context-lost', 'context-lost'])
  assert.match(found.reason, /lost/)
  assert.ok(found.residual < 1e-11 && found.amg < 2e-9 && found.frame, JSON.stringify(found))
  assert.equal(found.backend, 'gl')
})

test('restore() in another context', async () => {
  const found = await inPage(async () => {
    const { poisson, random } = problems
    const make = () => document.createElement('canvas').getContext('webgl2')
    const ts = await texsolve.open({ gl: make() })
    const A = ts.matrix(poisson(16))
    const b = random(256)
    const one = await A.solve(b, { rtol: 1e-9 })
    ts.gl.getExtension('WEBGL_lose_context').loseContext()
    await ts.lost
    const gl = make()
    await ts.restore(gl)
    const two = await A.solve(b, { rtol: 1e-9 })
    return { worst: Math.max(...one.x.map((value, k) => Math.abs(value - two.x[k]))), isNew: ts.gl === gl }
  })
  assert.ok(found.worst < 1e-7 && found.isNew)
})

test('without WebGL the package says so and uses WebAssembly', async () => {
  const found = await inPage(async () => {
    const canvas = document.createElement('canvas')
    canvas.getContext('2d')
    const other = await texsolve.open({ canvas })
    const strict = await texsolve.open({ canvas, backend: 'gl' }).catch(error => error.code)
    HTMLCanvasElement.prototype.getContext = OffscreenCanvas.prototype.getContext = () => null
    const none = await texsolve.open()
    return { reasons: [other.info.reason, none.info.reason], backends: [other.info.backend, none.info.backend], strict }
  })
  assert.deepEqual(found.backends, ['cpu', 'cpu'])
  assert.equal(found.strict, 'unavailable')
  assert.match(found.reasons[0], /canvas/)
  assert.match(found.reasons[1], /WebGL 2/)
})

test('the single-file build, and a module that is missing', async () => {
  const found = await inPage(async () => {
    const missing = await texsolve.open({ wasmURL: '/nowhere.wasm' }).catch(error => `${error.code}: ${error.message}`)
    const { open } = await import('/package/single.js')
    return { missing, backend: (await open({ backend: 'cpu' })).info.backend }
  })
  assert.match(found.missing, /unavailable: .*nowhere.*404.*wasmURL/)
  assert.equal(found.backend, 'cpu')
  browser.warnings.splice(0) // the console reports the address that does not exist
})
