// Solve a file, driven as a person would: node --test web/tests/browser/file.test.mjs

import { after, before } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtemp, open as openFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { launch, serve } from './browser.mjs'
import { drop, idle, reads, saved, says, stopWork, test, until, withPart } from './parts.mjs'

let server, browser, folder
before(async () => {
  server = await serve()
  browser = await launch()
  folder = await mkdtemp(join(tmpdir(), 'parts-'))
})
after(async () => {
  await browser?.close()
  await server?.close()
  await rm(folder, { recursive: true, force: true })
})

const withFile = (options, use) =>
  withPart(browser, server, 'file', options, async (tab, opened) => {
    await tab.waitForSelector('.verdict.is-good', { timeout: 60000 })
    await tab.waitForSelector('.level-table', { timeout: 60000 })
    await idle(tab)
    await use(tab, opened)
  })

/** A tridiagonal matrix with `above` and `below` next to a diagonal of 4. */
function tridiagonal(n, below = -1, above = -1) {
  const lines = []
  for (let i = 1; i <= n; i++) {
    if (i > 1) lines.push(`${i} ${i - 1} ${below}`)
    lines.push(`${i} ${i} 4`)
    if (i < n) lines.push(`${i} ${i + 1} ${above}`)
  }
  return `%%MatrixMarket matrix coordinate real general\n% a test\n${n} ${n} ${lines.length}\n${lines.join('\n')}\n`
}

const choose = (tab, label, value) => tab.locator('.select', { hasText: label }).locator('select').selectOption(value)
const solve = async (tab) => {
  await tab.getByRole('button', { name: 'Solve', exact: true }).click()
  await idle(tab)
}

test('the example: structure, solution, hierarchy, device', () =>
  withFile({}, async (tab) => {
    assert.equal(await reads(tab, 'size'), '65,536 × 65,536')
    assert.equal(await reads(tab, 'symmetric'), 'yes')
    assert.match(await tab.locator('.verdict').textContent(), /^Converged in \d+ iterations/)
    assert.ok((await tab.locator('.level-table tr').count()) > 3)
    assert.match(await reads(tab, 'backend'), /^(gl|cpu)$/)
    const ink = await tab.locator('.structure').evaluate((canvas) => {
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height)
      let count = 0
      for (let k = 0; k < data.length; k += 4) count += Math.abs(data[k] - data[4 * canvas.width - 4]) > 40 ? 1 : 0
      return count / canvas.width
    })
    assert.ok(ink > 0.9 && ink < 8, `${ink} squares in a row of the picture`)
  }))

test('the picture comes closer and goes back', () =>
  withFile({}, async (tab) => {
    const size = () => tab.locator('.structure').evaluate((canvas) => canvas.width)
    assert.equal(await size(), 512)
    for (let k = 0; k < 7; k++) await tab.keyboard.press('+')
    await until(tab, 'not closer', async () => (await size()) === 24)
    await tab.locator('.structure').hover({ position: { x: 5, y: 5 } })
    assert.match(await tab.locator('.under').textContent(), /^Rows 32,7\d\d, columns 32,7\d\d: 1$/)
    await tab.getByRole('button', { name: 'All' }).click()
    await until(tab, 'not the whole', async () => (await size()) === 512)
  }))

test('tablet: a tall picture has margins, and the pointer finds its place', () =>
  withFile({ viewport: { width: 820, height: 1180 } }, async (tab) => {
    const picture = tab.locator('.structure')
    const square = await picture.boundingBox()
    assert.ok(Math.abs(square.width - square.height) < 2, 'a square matrix has a square picture')
    const entries = Array.from({ length: 200 }, (_, k) => `${k + 1} ${k % 40 + 1} 1`)
    await drop(tab, 'tall.mtx', `%%MatrixMarket matrix coordinate real general\n200 40 200\n${entries.join('\n')}\n`)
    await idle(tab)
    const box = await picture.boundingBox()
    const [width, height] = await picture.evaluate((canvas) => [canvas.width, canvas.height])
    const scale = Math.min(box.width / width, box.height / height), centre = [box.width / 2, box.height / 2]
    for (const [side, column] of [[-0.49, '0'], [0.49, '39']]) {
      await picture.hover({ position: { x: centre[0] + side * scale * width, y: centre[1] - 0.498 * scale * height } })
      assert.match(await tab.locator('.under').textContent(), new RegExp(`^Rows 0, columns ${column}: `))
    }
  }))

test('a file is dropped and solved, the answer is saved and right', () =>
  withFile({}, async (tab) => {
    for (const [name, content] of [
      ['tri.mtx', tridiagonal(400, -1.5, -0.5)],
      ['tri.mtx.gz', gzipSync(tridiagonal(400, -1.5, -0.5))]
    ]) {
      await drop(tab, name, content)
      await idle(tab)
      assert.equal(await reads(tab, 'matrix'), 'tri.mtx')
      assert.equal(await reads(tab, 'entries'), '1,198, 3.0 in a row')
      assert.equal(await reads(tab, 'symmetric'), 'no')
      await solve(tab)
      assert.match(await tab.locator('.verdict').textContent(), /^Converged/)
    }
    const { name, text } = await saved(tab, () => tab.keyboard.press('s'))
    assert.equal(name, 'tri-x.mtx')
    const x = text.split('\n').slice(3, -1).map(Number)
    assert.equal(x.length, 400)
    const worst = Math.max(...x.map((value, i) => Math.abs(4 * value - 1.5 * (x[i - 1] ?? 0) - 0.5 * (x[i + 1] ?? 0) - 1)))
    assert.ok(worst < 1e-6, `a row is ${worst} away from 1`)
  }))

test('a file that is dropped while the example is solved takes its place', () =>
  withPart(browser, server, 'file', {}, async (tab) => {
    await tab.waitForSelector('.facts tr')
    await drop(tab, 'tri.mtx', tridiagonal(100))
    await until(tab, 'the file is not there', async () => (await reads(tab, 'matrix')) === 'tri.mtx')
    await idle(tab)
    await solve(tab)
    assert.match(await tab.locator('.verdict').textContent(), /^Converged/)
    assert.equal(await reads(tab, 'matrix'), 'tri.mtx')
  }))

test('bad files: an error with the line, and the matrix stays', () =>
  withFile({ allowed: /./ }, async (tab) => {
    const head = '%%MatrixMarket matrix coordinate real general\n'
    for (const [content, pattern] of [
      ['hello\n', /line 1: the file begins with/],
      [`${head}2 2 1\n3 1 1\n`, /line 3: the row is 3; it must be 1 to 2/],
      [`${head}2 2 2\n1 1 1\n`, /ends after 1 of 2 entries/],
      [`${head}2 2 1\n1 1 one\n`, /line 3: /],
      [`${head}2 2 1\n1 1 nan\n`, /not a finite number/],
      ['%%MatrixMarket matrix coordinate complex general\n', /complex/],
      ['', /is empty/],
      [Buffer.from([0x1f, 0x8b, 8, 0, 0, 0]), /damaged/]
    ]) {
      await drop(tab, 'bad.mtx', content)
      await says(tab, pattern)
      await idle(tab)
    }
    assert.equal(await reads(tab, 'size'), '65,536 × 65,536')
    await solve(tab)
    assert.match(await tab.locator('.verdict').textContent(), /^Converged/)
  }))

test('no convergence: the reason and advice', () =>
  withFile({}, async (tab) => {
    await choose(tab, 'Preconditioner', 'none')
    await choose(tab, 'Method', 'cg')
    await tab
      .locator('.slider', { hasText: 'Iterations' })
      .locator('input')
      .evaluate((input) => {
        input.value = input.min
        input.dispatchEvent(new Event('input'))
      })
    await solve(tab)
    assert.match(await tab.locator('.verdict').textContent(), /^Not converged: .*maximum.* Allow more iterations/)
    await drop(tab, 'indefinite.mtx', '%%MatrixMarket matrix coordinate real symmetric\n3 3 3\n1 1 1\n2 2 -2\n3 3 3\n')
    await idle(tab)
    await solve(tab)
    assert.match(await tab.locator('.verdict').textContent(), /^(Converged|Not converged: .*(minres|bicgstab))/)
  }))

test('a solve is stopped, and the next one works', () =>
  withFile({}, async (tab) => {
    await choose(tab, 'Preconditioner', 'jacobi')
    await choose(tab, 'Method', 'richardson')
    await tab
      .locator('.slider', { hasText: 'Iterations' })
      .locator('input')
      .evaluate((input) => {
        input.value = input.max
        input.dispatchEvent(new Event('input'))
      })
    const stopped = stopWork(tab)
    await tab.getByRole('button', { name: 'Solve', exact: true }).click()
    await stopped
    await says(tab, /Stopped/, 15000)
    await idle(tab)
    await choose(tab, 'Preconditioner', 'auto')
    await choose(tab, 'Method', 'auto')
    await solve(tab)
    assert.match(await tab.locator('.verdict').textContent(), /^Converged/)
  }))

test('a dropped vector is the right-hand side; a known answer gives the error', () =>
  withFile({ allowed: /b\.mtx|numbers/ }, async (tab) => {
    await drop(tab, 'tri.mtx', tridiagonal(50))
    await idle(tab)
    const vector = (n) =>
      `%%MatrixMarket matrix array real general\n${n} 1\n${Array.from({ length: n }, (_, k) => k).join('\n')}\n`
    await drop(tab, 'b.mtx', vector(49))
    await says(tab, /49 numbers; the matrix has 50 rows/)
    await idle(tab)
    await drop(tab, 'b.mtx', vector(50))
    await says(tab, /Right-hand side: b.mtx, 50 numbers/)
    await solve(tab)
    const { text } = await saved(tab, () => tab.keyboard.press('s'))
    const x = text.split('\n').slice(3, -1).map(Number)
    assert.ok(Math.abs(4 * x[9] - x[8] - x[10] - 9) < 1e-5)
    await choose(tab, 'Right-hand side', 'known')
    await solve(tab)
    assert.ok(Number(await reads(tab, 'error of x')) < 1e-6)
  }))

test('a file of 500 MB that is not a matrix is an error, and the page carries on', () =>
  withFile({ allowed: /big\.mtx/ }, async (tab) => {
    const path = join(folder, 'big.mtx'),
      handle = await openFile(path, 'w')
    await handle.truncate(500e6)
    await handle.close()
    await tab.locator('.part-file > .view > input[type=file]').setInputFiles(path)
    await says(tab, /big\.mtx: line 1/, 120000)
    await idle(tab)
    await drop(tab, 'tri.mtx', tridiagonal(30))
    await idle(tab)
    assert.equal(await reads(tab, 'matrix'), 'tri.mtx')
  }))

test('a big matrix is read while the page answers', () =>
  withFile({}, async (tab) => {
    const path = join(folder, 'large.mtx')
    await writeFile(path, tridiagonal(400000))
    await tab.locator('.part-file > .view > input[type=file]').setInputFiles(path)
    await tab.waitForTimeout(400)
    await tab.keyboard.press('t')
    await until(tab, 'not read', async () => (await reads(tab, 'size')) === '400,000 × 400,000', 120000)
  }))

test('phone: nothing is wider than the screen', () =>
  withFile({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }, async (tab) => {
    const wide = await tab.evaluate(() =>
      [...document.querySelectorAll('.part-file *')]
        .filter((e) => e.getBoundingClientRect().right > innerWidth + 1)
        .map((e) => e.className)
    )
    assert.deepEqual(wide, [])
  }))
