// The readers of mesh files, and what the page writes.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readMesh } from '../../page/mesh/formats/read.js'
import { writeObj, writePly } from '../../page/mesh/formats/write.js'

const bytes = (text) => new TextEncoder().encode(text)
const read = (text, name) => readMesh(bytes(text), name)
const fails = (text, name, message) => assert.throws(() => read(text, name), { name: 'MeshFileError', message })

const CUBE_TRIANGLES = 12
const corners = [
  [0, 0, 0],
  [1, 0, 0],
  [1, 1, 0],
  [0, 1, 0],
  [0, 0, 1],
  [1, 0, 1],
  [1, 1, 1],
  [0, 1, 1]
]
const quads = [
  [3, 2, 1, 0],
  [4, 5, 6, 7],
  [0, 1, 5, 4],
  [1, 2, 6, 5],
  [2, 3, 7, 6],
  [3, 0, 4, 7]
]
const facets = quads.flatMap(([a, b, c, d]) => [
  [a, b, c],
  [a, c, d]
])

function volume({ positions: p, triangles: t }) {
  let sum = 0
  for (let k = 0; k < t.length; k += 3) {
    const [a, b, c] = [0, 1, 2].map((i) => p.subarray(3 * t[k + i], 3 * t[k + i] + 3))
    sum += a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])
  }
  return sum / 6
}

function isCube(mesh) {
  assert.equal(mesh.positions.length, 24)
  assert.equal(mesh.triangles.length, 3 * CUBE_TRIANGLES)
  assert.ok(Math.abs(volume(mesh) - 1) < 1e-6)
}

const obj = `# cube\nmtllib a.mtl\n${corners.map((p) => `v ${p.join(' ')}`).join('\n')}\nvn 0 0 1\nvt 0 0\n${quads
  .map((q) => `f ${q.map((v) => v + 1).join(' ')}`)
  .join('\n')}\n`

test('OBJ: polygons, references and negative indices', () => {
  isCube(read(obj, 'cube.obj'))
  isCube(
    read(
      obj.replace(/^f .*$/gm, (f) => f.replace(/ (\d)/g, ' $1/1/1')),
      'cube.OBJ'
    )
  )
  isCube(
    read(
      obj.replace(/^f .*$/gm, (f) => f.replace(/ (\d)/g, (_, v) => ` ${v - 9}//1`)),
      'cube'
    )
  )
  isCube(read(obj.replaceAll('\n', '\r\n'), 'cube.obj'))
  isCube(read(obj.replaceAll('\n', ' # end\n  '), 'cube.obj'))
})

test('OBJ: errors name the line', () => {
  fails('v 0 0 0\nv 1 0 0\nv 0 one 0\nf 1 2 3\n', 'a.obj', /^line 3: y is "one"/)
  fails('v 0 0 0\nv 1 0\n', 'a.obj', /^line 2: z is missing/)
  fails('v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n', 'a.obj', /^line 4: the face has vertex 4, but 3 vertices/)
  fails('v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2\n', 'a.obj', /^line 4: the face has 2 corners/)
  fails('v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n', 'a.obj', /^line 4: "0" is not a corner/)
  fails('v 0 0 0\nv 1 0 nan\n', 'a.obj', /^line 2: z is "nan"/)
  fails('v 0 0 0\n', 'a.obj', /without a face/)
})

test('numbers are those of JavaScript, to the last bit', () => {
  const numbers = [
    '1',
    '-0.1',
    '+.5',
    '1e3',
    '1.25E-7',
    '123456789012345678',
    '0.1234567890123456789',
    '-3.',
    '3.14159265358979'
  ]
  for (const x of numbers) {
    const mesh = read(`v ${x} 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n`, 'a.obj')
    assert.equal(mesh.positions[0], Number(x), x)
  }
})

const off = `OFF\n# a comment\n8 6 12\n${corners.map((p) => p.join(' ')).join('\n')}\n${quads.map((q) => `4 ${q.join(' ')} 255 0 0`).join('\n')}\n`

test('OFF', () => {
  isCube(read(off, 'cube.off'))
  isCube(read(`\n${off}`, 'cube.txt'))
  fails(off.slice(0, 60), 'a.off', /^line \d+: /)
  fails(off.replace('4 3 2 1 0', '4 3 2 1 8'), 'a.off', /^line 12: the face has vertex 8, expected 0 to 7/)
  fails('OFF\n1000000 1000000 0\n', 'a.off', /^line 2: .* do not fit/)
  fails('OFF\n', 'a.off', /counts/)
  fails('OOF\n', 'a.off', /expected OFF/)
})

const stlText = `solid cube\n${facets.map((t) => `facet normal 0 0 0\nouter loop\n${t.map((v) => `vertex ${corners[v].join(' ')}`).join('\n')}\nendloop\nendfacet`).join('\n')}\nendsolid cube\n`

function stlBinary(title = 'cube') {
  const view = new DataView(new ArrayBuffer(84 + 50 * facets.length))
  bytes(title).forEach((c, k) => view.setUint8(k, c))
  view.setUint32(80, facets.length, true)
  facets.forEach((t, f) =>
    t.forEach((v, c) => corners[v].forEach((x, k) => view.setFloat32(84 + 50 * f + 12 + 12 * c + 4 * k, x, true)))
  )
  return new Uint8Array(view.buffer)
}

test('STL: text and binary, with equal corners joined', () => {
  isCube(read(stlText, 'cube.stl'))
  isCube(readMesh(stlBinary(), 'cube.stl'))
  isCube(readMesh(stlBinary('solid cube'), 'cube.stl'))
  fails(stlText.replace('endloop', 'vertex 0 0 0\nendloop'), 'a.stl', /^line 7: a facet has more than 3/)
  fails(stlText.replace('vertex', 'vortex'), 'a.stl', /^line 4: "vortex" is not a word of STL/)
  assert.throws(() => readMesh(stlBinary().subarray(0, 300), 'a.stl'), /the file ends after 4 of 12 facets/)
})

const plyHeader = (format, count = 8) =>
  `ply\nformat ${format} 1.0\ncomment a cube\nelement vertex ${count}\nproperty float x\nproperty double y\nproperty float z\nproperty uchar red\nelement face 6\nproperty list uchar int vertex_indices\nproperty short label\nelement edge 1\nproperty int a\nend_header\n`
const plyText = `${plyHeader('ascii')}${corners.map((p) => `${p.join(' ')} 200`).join('\n')}\n${quads.map((q) => `4 ${q.join(' ')} 3`).join('\n')}\n0\n`

function plyBinary(isLittle) {
  const header = bytes(plyHeader(isLittle ? 'binary_little_endian' : 'binary_big_endian'))
  const view = new DataView(new ArrayBuffer(header.length + 8 * 17 + 6 * 19 + 4))
  new Uint8Array(view.buffer).set(header)
  let at = header.length
  for (const [x, y, z] of corners) {
    view.setFloat32(at, x, isLittle)
    view.setFloat64(at + 4, y, isLittle)
    view.setFloat32(at + 12, z, isLittle)
    at += 17
  }
  for (const q of quads) {
    view.setUint8(at, 4)
    q.forEach((v, k) => view.setInt32(at + 1 + 4 * k, v, isLittle))
    at += 19
  }
  return new Uint8Array(view.buffer)
}

test('PLY: text, little-endian, big-endian', () => {
  isCube(read(plyText, 'cube.ply'))
  isCube(read(plyText.replaceAll('\n', '\r\n'), 'cube.ply'))
  isCube(readMesh(plyBinary(true), 'cube.ply'))
  isCube(readMesh(plyBinary(false), 'cube.ply'))
})

test('PLY: errors', () => {
  fails(plyText.replace('1.0\n', '1.0\nproperty float x\n'), 'a.ply', /^line 3: a property precedes/)
  fails(plyText.replace('float x', 'half x'), 'a.ply', /^line 5: "half" is not a type/)
  fails(plyText.replace('property float z\n', ''), 'a.ply', /lack x, y or z/)
  fails(plyText.replace('4 3 2 1 0 3', '4 3 2 1 9 3'), 'a.ply', /^line 23: face 0 has vertex 9/)
  fails(plyText.replace('0 0 0 200', '0 0 up 200'), 'a.ply', /^line 15: z is "up"/)
  fails(plyHeader('ascii', 1e9), 'a.ply', /do not fit the file/)
  fails('ply\nformat ascii 1.0\n', 'a.ply', /end_header/)
  assert.throws(() => readMesh(plyBinary(true).subarray(0, 400), 'a.ply'), /^MeshFileError: byte \d+: the file ends within/)
})

test('a file of another kind, an empty file', () => {
  fails('hello world', 'a.doc', /"a.doc" is not a mesh/)
  fails('', 'a.obj', /is empty/)
})

test('OBJ and PLY are read back, with and without a map', async () => {
  const mesh = read(obj, 'cube.obj')
  const flat = {
    triangles: mesh.triangles,
    origin: Int32Array.from({ length: 8 }, (_, k) => k),
    uv: new Float64Array(16).fill(0.25)
  }
  for (const write of [writeObj, writePly])
    for (const given of [mesh, { ...mesh, flat }]) {
      const again = readMesh(new Uint8Array(await write(given).arrayBuffer()), write === writeObj ? 'a.obj' : 'a.ply')
      isCube(again)
      assert.deepEqual(again.triangles, mesh.triangles)
    }
})
