// Times the conformal map of a mesh of 50 k vertices: WebAssembly with SIMD against native code, both with one thread.
//   node web/bench/lscm.mjs BUILD [NATIVE_BUILD] [--runs N] [--cg]
// BUILD is that of scripts/web. NATIVE_BUILD has the program web-lscm: ninja -C NATIVE_BUILD web-lscm. The runs alternate. By default a factor
// of the matrix solves the system; with --cg the CPU backend iterates. Seconds of the processor count, also of a busy machine.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseArgs } from 'node:util'

const { values: { runs: runText, cg }, positionals: [build = 'build-web', native = 'build'] } = parseArgs({ allowPositionals: true,
  options: { runs: { type: 'string', default: '5' }, cg: { type: 'boolean' } } })
const runs = Number(runText)
const { open } = await import(pathToFileURL(path.resolve(build, 'package/node.js')))

/** A wavy patch of n x n vertices. */
function patch(n) {
  const positions = new Float64Array(3 * n * n), triangles = []
  for (let k = 0; k < n * n; k++) {
    const i = k % n, j = (k - i) / n
    const x = i / (n - 1) - 0.5, y = j / (n - 1) - 0.5
    positions.set([x, y, x * x - y * y + 0.02 * Math.sin(9 * x) * Math.cos(7 * y)], 3 * k)
    if (i < n - 1 && j < n - 1) triangles.push(k, k + 1, k + n, k + 1, k + n + 1, k + n)
  }
  return { positions, triangles: Int32Array.from(triangles) }
}

const mesh = patch(224)
const vertices = mesh.positions.length / 3
const directory = mkdtempSync(path.join(tmpdir(), 'texsolve-lscm-'))
try {
  const ts = await open({ backend: 'cpu' })
  const first = await ts.lscm(mesh) // also chooses the pins
  const file = path.join(directory, 'mesh')
  const pins = [...first.pins]
  const bytes = array => Buffer.from(array.buffer)
  writeFileSync(file, Buffer.concat([bytes(Int32Array.of(vertices, mesh.triangles.length / 3, pins.length, 0)), bytes(mesh.positions),
    bytes(Float64Array.from(pins.flatMap(([, uv]) => uv))), bytes(mesh.triangles), bytes(Int32Array.from(pins.map(([vertex]) => vertex)))]))
  const times = { native: [], wasm: [], call: [] }
  let iterations
  for (let run = 0; run < runs; run++) {
    const [, seconds, count] = execFileSync(path.resolve(native, 'bin/web-lscm'), [file, '1', ...cg ? ['cg'] : []], { encoding: 'utf8' }).split(' ')
    times.native.push(Number(seconds))
    const before = process.cpuUsage()
    const r = await ts.lscm({ ...mesh, pins: first.pins, ...cg ? { method: 'cg' } : {} })
    times.wasm.push(process.cpuUsage(before).user / 1e6)
    times.call.push(r.seconds)
    iterations = [Number(count), r.iterations]
  }
  const median = list => [...list].sort((a, b) => a - b)[list.length >> 1]
  const [n, w, c] = ['native', 'wasm', 'call'].map(name => median(times[name]))
  console.log(`conformal map by ${cg ? 'conjugate gradients' : 'a factor'}, ${vertices} vertices, one thread, medians of ${runs} alternating runs`)
  console.log(`  native             ${n.toFixed(3)} s, ${iterations[0]} iterations`)
  console.log(`  WebAssembly, SIMD  ${w.toFixed(3)} s, ${iterations[1]} iterations, ${(w / n).toFixed(2)} times native; ts.lscm() by the clock ${c.toFixed(3)} s`)
  ts.dispose()
} finally {
  rmSync(directory, { recursive: true, force: true })
}
