// The page's own work on matrices: archives, compressed rows, the picture of the structure.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { File } from 'node:buffer'
import { gzipSync } from 'node:zlib'
import { EXAMPLES } from '../../page/file/examples.js'
import {
  countSquares,
  describe,
  multiply,
  residualOf,
  toRows,
  wholeOf,
  writeVector,
  zoomed
} from '../../page/file/structure.js'
import { unpack } from '../../page/file/unpack.js'

const text = '%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n'
const bytes = new TextEncoder().encode(text)
const named = (parts, name) => new File(parts, name)

function tar(files) {
  return Buffer.concat([
    ...files.flatMap(([name, content]) => {
      const head = Buffer.alloc(512)
      head.write(name, 0)
      head.write(content.length.toString(8).padStart(11, '0'), 124)
      head.write('0', 156)
      head.write('ustar', 257)
      return [head, content, Buffer.alloc((512 - (content.length % 512)) % 512)]
    }),
    Buffer.alloc(1024)
  ])
}

test('plain, gzip, tar.gz: the matrix, not its right-hand side', async () => {
  const packed = tar([
    ['a/a_b.mtx', Buffer.from('b')],
    ['a/README', Buffer.from('no')],
    ['a/a.mtx', Buffer.from(text)]
  ])
  for (const file of [
    named([bytes], 'a.mtx'),
    named([gzipSync(bytes)], 'a.mtx.gz'),
    named([gzipSync(packed)], 'a.tar.gz'),
    named([packed], 'a.tar')
  ]) {
    const found = await unpack(file)
    assert.equal(found.name, 'a.mtx', file.name)
    assert.equal(await new Response(found.source).text(), text)
  }
})

test('damaged archives are errors', async () => {
  const fails = (file, message) => assert.rejects(unpack(file), message)
  await fails(named([], 'a.mtx'), /"a.mtx" is empty/)
  await fails(named([gzipSync(bytes).subarray(0, 30)], 'a.gz'), /compressed file is damaged/)
  await fails(named([gzipSync(Buffer.alloc(0))], 'a.gz'), /"a.gz" is empty/)
  await fails(named([tar([['a.txt', Buffer.from('x')]])], 'a.tar'), /no file with the end .mtx/)
  await fails(named([tar([['a.mtx', Buffer.alloc(2000)]]).subarray(0, 1500)], 'a.tar'), /ends within a file/)
  await fails({ name: 'a.mtx', size: 5e9 }, /has 5.0 GB; this page reads up to/)
})

test('triplets become rows, sorted, with repeated entries added', () => {
  const triplets = {
    rows: Int32Array.of(3, 0, 0, 3, 0),
    columns: Int32Array.of(1, 2, 0, 1, 2),
    values: Float64Array.of(1, 2, 3, 4, 5)
  }
  const found = toRows({ rows: 5, columns: 3, triplets })
  assert.deepEqual([...found.rowOffsets], [0, 2, 2, 2, 3, 3])
  assert.deepEqual([...found.columnIndices], [0, 2, 1])
  assert.deepEqual([...found.values], [3, 7, 5])
})

test('figures, squares, product and residual', () => {
  const matrix = toRows({
    rows: 2,
    columns: 2,
    triplets: { rows: Int32Array.of(0, 1, 1), columns: Int32Array.of(0, 0, 1), values: Float64Array.of(2, -1, 4) }
  })
  assert.deepEqual(describe(matrix), { shortest: 1, longest: 2, bandwidth: 1, least: 1, most: 4 })
  const { counts, signs } = countSquares(matrix, wholeOf(matrix))
  assert.deepEqual([...counts], [1, 0, 1, 1])
  assert.deepEqual([...signs], [1, 0, -1, 1])
  assert.deepEqual([...countSquares(matrix, { top: 1, left: 0, height: 1, width: 2 }).counts], [1, 1])
  assert.deepEqual([...multiply(matrix, Float64Array.of(1, 2))], [2, 7])
  assert.equal(residualOf(matrix, Float64Array.of(2, 7), Float64Array.of(1, 2)), 0)
  assert.equal(residualOf(matrix, Float64Array.of(3, 4), Float64Array.of(0, 0)), 1)
})

test('windows stay within the matrix', () => {
  const matrix = { rows: 1000, columns: 100 },
    all = wholeOf(matrix),
    close = zoomed(matrix, all, 0.25, 1, 1)
  assert.deepEqual(close, { top: 750, left: 75, height: 250, width: 25 })
  assert.deepEqual(zoomed(matrix, close, 100, 0, 0), all)
  assert.deepEqual(zoomed({ rows: 5, columns: 5 }, wholeOf({ rows: 5, columns: 5 }), 0.25, 0.5, 0.5), {
    top: 0,
    left: 0,
    height: 5,
    width: 5
  })
})

test('the examples: symmetric or not, as they say, with an entry in every square of the diagonal', () => {
  for (const [name, { make }] of Object.entries(EXAMPLES)) {
    const matrix = make(),
      { rows, rowOffsets, columnIndices, values } = matrix,
      at = new Map()
    for (let i = 0; i < rows; i++)
      for (let e = rowOffsets[i]; e < rowOffsets[i + 1]; e++) {
        assert.ok(e === rowOffsets[i] || columnIndices[e] > columnIndices[e - 1], `${name}: row ${i}`)
        at.set(i * rows + columnIndices[e], values[e])
      }
    let isSymmetric = true
    for (const [key, value] of at)
      isSymmetric &&= Math.abs((at.get((key % rows) * rows + Math.floor(key / rows)) ?? NaN) - value) < 1e-12
    assert.equal(isSymmetric, name !== 'convection', name)
    const { width, counts } = countSquares(matrix, wholeOf(matrix))
    for (let k = 0; k < width; k++) assert.ok(counts[k * width + k] > 0)
  }
})

test('an answer is written as a Matrix Market array', async () => {
  assert.equal(
    await writeVector(Float64Array.of(0.1, -2), ' x').text(),
    '%%MatrixMarket matrix array real general\n% x\n2 1\n0.1\n-2\n'
  )
})
