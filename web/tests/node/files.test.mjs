// Matrix Market files: what is read, and errors that name the line.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { fails, open, texsolve } from './support.mjs'

const { readMatrixMarket } = texsolve
const ts = await open()
after(() => ts.dispose())
const head = '%%MatrixMarket matrix coordinate real'

test('the kinds of files', async () => {
  const general = await ts.readMatrixMarket(`${head} general\n% a comment\n%another\n\n2 3 3\n1 1 1.5\n2 3 -2.5e0\n\n 1\t2  +.5 \n`)
  assert.deepEqual([general.rows, general.columns, general.entries], [2, 3, 3])
  assert.deepEqual(general.comments, ['a comment', 'another'])
  assert.deepEqual([...general.matrix.multiply(new Float64Array([1, 10, 100]))], [6.5, -250])
  const symmetric = await ts.readMatrixMarket(`${head} symmetric\r\n2 2 2\r\n1 1 2\r\n2 1 -1`)
  assert.deepEqual([...symmetric.matrix.multiply(new Float64Array([1, 10]))], [-8, -1])
  const skew = await ts.readMatrixMarket(`${head} skew-symmetric\n2 2 1\n2 1 3\n`)
  assert.deepEqual([...skew.matrix.multiply(new Float64Array([1, 10]))], [-30, 3])
  const pattern = await readMatrixMarket('%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n')
  assert.deepEqual([...pattern.triplets.values], [1, 1])
  const dense = await readMatrixMarket('%%MatrixMarket matrix array real general\n2 3\n1\n2\n3\n4\n5\n6\n')
  assert.deepEqual([...dense.array], [1, 3, 5, 2, 4, 6])
})

test('numbers are those of Number()', async () => {
  const texts = ['0.1', '1e-300', '123456789012345678901234567890', '3.141592653589793238462643', '5e-324', '1.7976931348623157e308', '-0', '1.', '.5', '9007199254740993',
    '2.2250738585072011e-308', '0.1e1', '1E5', '12345.678901234567']
  const { triplets } = await readMatrixMarket(`${head} general\n1 1 ${texts.length}\n${texts.map(text => `1 1 ${text}\n`).join('')}`)
  assert.deepEqual([...triplets.values], texts.map(Number))
})

for (const [text, message] of [['', /line 1: the file is empty/], ['hello\n', /line 1: .*"hello".*%%MatrixMarket/],
  ['%%MatrixMarket matrix coordinate complex general\n', /line 1: the field is "complex"/],
  ['%%MatrixMarket matrix coordinate real hermitian\n', /line 1: the symmetry/],
  [`${head} general\n`, /the file ends before its sizes/], [`${head} general\n2 2\n`, /line 2: expected 3 sizes/], [`${head} general\n0 2 1\n`, /line 2: .*0 x 2/],
  [`${head} general\n3000000000 3000000000 1\n1 1 1\n`, /line 2: .*at most/], [`${head} symmetric\n2 3 1\n`, /line 2: .*square/],
  [`${head} general\n% c\n2 2 1\n3 1 5\n`, /line 4: the row is 3; it must be 1 to 2/], [`${head} general\n2 2 1\n1 0 5\n`, /line 3: the column is 0/],
  [`${head} general\n2 2 1\n1 1 abc\n`, /line 3: the value/], [`${head} general\n2 2 1\n1 1 nan\n`, /line 3: the value/], [`${head} general\n2 2 1\n1 1\n`, /line 3: the value/],
  [`${head} general\n2 2 1\n1 1 1 1\n`, /line 3: .*more than/], [`${head} general\n2 2 1\n1.5 1 1\n`, /line 3: expected a row/],
  [`${head} general\n2 2 2\n1 1 1\n`, /ends after 1 of 2/], [`${head} general\n2 2 1\n1 1 1\n2 2 1\n`, /line 4: .*more than the 1 entries/],
  [`${head} general\n2 2 1\n${'1'.repeat(3000000)}`, /line 3: /]]) {
  test(`a bad file: ${text.slice(0, 70).replaceAll('\n', '|')}`, async () => {
    await assert.rejects(readMatrixMarket(text), fails('invalid-file', message))
    await assert.rejects(readMatrixMarket(new TextEncoder().encode(text)), fails('invalid-file', message))
  })
}

test('sources: bytes, Blob, Response, stream, and none of them', async () => {
  const text = `${head} general\n2 2 2\n1 1 1\n2 2 1\n`
  for (const source of [text, new TextEncoder().encode(text), new TextEncoder().encode(text).buffer, new Blob([text]), new Response(text), new Blob([text]).stream()])
    assert.equal((await readMatrixMarket(source)).entries, 2)
  for (const source of [undefined, 5, {}]) await assert.rejects(readMatrixMarket(source), fails('invalid-argument', /source/))
})

/** A stream that makes a file as it is read, `pieces` lines short of what it announces. */
function endless(entries, written) {
  const encoder = new TextEncoder()
  let line = 0
  return new ReadableStream({
    pull(controller) {
      let text = line ? '' : `${head} general\n1000000 1000000 ${entries}\n`
      for (let k = 0; k < 20000 && line < written; k++, line++) text += `${line % 1000000 + 1} ${(7 * line) % 1000000 + 1} ${line % 17}.25\n`
      controller.enqueue(encoder.encode(text))
      if (line >= written) controller.close()
    }
  })
}

test('a file that announces more than memory holds', async () => {
  await assert.rejects(readMatrixMarket(endless(1e12, 100000)), fails('invalid-file', /ends after 100000 of/))
})

test('a large file is read, and the reading can be aborted', async () => {
  const seen = []
  const { triplets } = await readMatrixMarket(endless(3e6, 3e6), { onProgress: state => seen.push(state) })
  assert.equal(triplets.values.length, 3e6)
  assert.ok(seen.length > 10 && seen.at(-1).bytes > 3e7)
  const controller = new AbortController()
  await assert.rejects(readMatrixMarket(endless(1e8, 1e8), { signal: controller.signal, onProgress: ({ entries }) => { if (entries > 1e5) controller.abort() } }), fails('aborted'))
})
