// Smooth and unwrap, driven as a person would: node --test web/tests/browser/mesh.test.mjs

import { after, before } from 'node:test'
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launch, serve } from './browser.mjs'
import { difference, look } from './look.mjs'
import {
  drop, idle, longestFrame, messages, reads, saved, says, sees, slide, still, stopWork, test, touchDrag, until, withPart
} from './parts.mjs'

let server, browser, folder
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parts-'))
  server = await serve()
  browser = await launch()
})
after(async () => {
  await browser?.close()
  await server?.close()
  await rm(folder, { recursive: true, force: true })
})

const withMesh = (options, use) =>
  withPart(browser, server, 'mesh', options, async (tab, opened) => {
    await idle(tab)
    await use(tab, opened)
  })

/** The part of the screen that the mesh fills. */
const free = { x: 60, y: 110, width: 860, height: 560 }

/** A bumpy sheet of n x n vertices as OBJ. */
function sheet(n) {
  const lines = []
  for (let j = 0; j < n; j++)
    for (let i = 0; i < n; i++)
      lines.push(`v ${i / n} ${j / n} ${0.1 * Math.sin((9 * i) / n) + 0.01 * ((i * 7 + j * 3) % 5)}`)
  for (let j = 0; j + 1 < n; j++)
    for (let i = 0; i + 1 < n; i++) lines.push(`f ${[0, 1, n + 1, n].map((k) => j * n + i + k + 1).join(' ')}`)
  return `${lines.join('\n')}\n`
}

/** The same as binary PLY. */
function bigSheet(n) {
  const header = Buffer.from(
    `ply\nformat binary_little_endian 1.0\nelement vertex ${n * n}\nproperty float x\nproperty float y\nproperty float z\nelement face ${(n - 1) ** 2}\nproperty list uchar int vertex_indices\nend_header\n`
  )
  const bytes = Buffer.alloc(header.length + 12 * n * n + 17 * (n - 1) ** 2)
  let at = header.copy(bytes)
  for (let j = 0; j < n; j++)
    for (let i = 0; i < n; i++) for (const x of [i / n, j / n, 0.1 * Math.sin((9 * i) / n)]) at = bytes.writeFloatLE(x, at)
  for (let j = 0; j + 1 < n; j++)
    for (let i = 0; i + 1 < n; i++) {
      at = bytes.writeUInt8(4, at)
      for (const k of [0, 1, n + 1, n]) at = bytes.writeInt32LE(j * n + i + k, at)
    }
  return bytes
}

test('an example is there, turns by mouse and keys, and the picture comes back', () =>
  withMesh({}, async (tab) => {
    assert.match(await reads(tab, 'Mesh'), /^knot, closed/)
    const first = await look(tab, free)
    await tab.mouse.move(400, 400)
    await tab.mouse.down()
    await tab.mouse.move(560, 430, { steps: 6 })
    await tab.mouse.up()
    await sees(tab, 'not turned by the mouse', free, (now) => difference(first, now) > 2)
    for (let k = 0; k < 3; k++) await tab.keyboard.press('ArrowUp')
    await tab.keyboard.press('0')
    await sees(tab, 'not reset', free, (now) => difference(first, now) < 0.5)
  }))

test('a file is dropped; bad files are errors that name the line, and the mesh stays', () =>
  withMesh({ allowed: /^MeshFileError/ }, async (tab) => {
    await drop(tab, 'sheet.obj', sheet(30))
    await idle(tab)
    assert.match(await reads(tab, 'Mesh'), /^sheet, open/)
    assert.equal(await reads(tab, 'Vertices, triangles'), '900, 1,682')
    for (const [name, content, pattern] of [
      ['bad.obj', 'v 0 0 0\nv 1 0 zero\n', /line 2: z is "zero"/],
      ['bad.ply', 'ply\nformat ascii 1.0\nelement vertex 3\n', /header has no end_header/],
      [
        'bad.stl',
        'solid a\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nendloop\nendfacet\n',
        /line 5: the facet has 1 vertices/
      ],
      ['bad.off', 'OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 7\n', /line 6: the face has vertex 7/],
      ['note.txt', 'hello', /"note.txt" is not a mesh/],
      ['empty.obj', '', /"empty.obj" is empty/]
    ]) {
      await drop(tab, name, content)
      await says(tab, pattern)
      await idle(tab)
    }
    assert.match(await reads(tab, 'Mesh'), /^sheet, open/)
    await tab.keyboard.press('w')
    await idle(tab)
    assert.match(await reads(tab, 'Angle distortion, mean'), /^1\.\d+/, 'the old mesh still works')
  }))

test('the slider smooths, undo takes it back', () =>
  withMesh({}, async (tab) => {
    await drop(tab, 'sheet.obj', sheet(60))
    await idle(tab)
    const first = await look(tab, free)
    await slide(tab, 'Amount', 0.7)
    await idle(tab)
    await sees(tab, 'not smoothed', free, (now) => difference(first, now) > 0.8)
    await tab.keyboard.press('u')
    await idle(tab)
    await sees(tab, 'not undone', free, (now) => difference(first, now) < 0.2)
    assert.ok(await tab.getByRole('button', { name: 'Undo' }).isDisabled())
  }))

test('flow runs until it is stopped', () =>
  withMesh({}, async (tab) => {
    await drop(tab, 'sheet.obj', sheet(60))
    await idle(tab)
    const first = await look(tab, free)
    await tab.keyboard.press(' ')
    await sees(tab, 'it does not flow', free, (now) => difference(first, now) > 0.5)
    await tab.keyboard.press(' ')
    await idle(tab)
    await still(tab, free)
  }))

test('unwrap draws the map, and OBJ and PLY have it', () =>
  withMesh({}, async (tab) => {
    await drop(tab, 'sheet.obj', sheet(40))
    await idle(tab)
    const first = await look(tab, free)
    await tab.getByRole('button', { name: 'Unwrap' }).first().click()
    await idle(tab)
    await sees(tab, 'no checker and map', free, (now) => difference(first, now) > 3)
    assert.equal(await reads(tab, 'Charts, seam edges'), '1, 0')
    assert.ok(Number((await reads(tab, 'Angle distortion, mean')).split(',')[0]) < 1.3)
    await tab.keyboard.press('c')
    assert.ok(await tab.locator('.heat').isVisible(), 'the legend of angles')
    for (const [label, pattern] of [
      ['OBJ', /^v .*^vt .*^f \d+\/\d+/ms],
      ['PLY', /^ply.*property float s\nproperty float t/s]
    ]) {
      await tab.keyboard.press('s')
      const { name, text } = await saved(tab, () => tab.getByRole('button', { name: label, exact: true }).click())
      assert.equal(name, `sheet.${label.toLowerCase()}`)
      assert.match(text, pattern)
    }
    await tab.keyboard.press('u')
    await sees(tab, 'not undone', free, (now) => difference(first, now) < 0.3)
  }))

test('a big file keeps the page responsive; its unwrapping is stopped, and the page carries on', () =>
  withMesh({}, async (tab) => {
    const path = join(folder, 'big.ply')
    await writeFile(path, bigSheet(400))
    const longest = await longestFrame(tab, async () => {
      await tab.locator('.part-mesh .view input[type=file]').setInputFiles(path)
      await tab.waitForTimeout(300)
      await idle(tab, 120000)
    })
    assert.equal(await reads(tab, 'Vertices, triangles'), '160,000, 318,402')
    assert.ok(longest < 1500, `the longest frame took ${Math.round(longest)} ms`)
    await tab.keyboard.press('w')
    await tab.getByRole('button', { name: 'Stop' }).waitFor()
    await tab.waitForTimeout(1500)
    await tab.keyboard.press('Escape')
    await says(tab, /Stopped/, 15000)
    await idle(tab)
    await drop(tab, 'sheet.obj', sheet(20))
    await idle(tab)
    assert.match(await reads(tab, 'Mesh'), /^sheet/)
  }))

test('after a stop, the mesh that is shown still works', () =>
  withMesh({}, async (tab) => {
    await drop(tab, 'sheet.obj', sheet(250)) // unwrapping it takes seconds
    await idle(tab)
    const stopped = stopWork(tab)
    await tab.keyboard.press('w')
    await stopped
    await says(tab, /Stopped/, 15000)
    await idle(tab)
    const first = await look(tab, free)
    await slide(tab, 'Amount', 0.5)
    await idle(tab)
    await sees(tab, 'not smoothed', free, (now) => difference(first, now) > 0.5)
  }))

test('phone: one finger turns, the panel is a sheet, a resize is followed', () =>
  withMesh({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }, async (tab) => {
    const first = await look(tab)
    await touchDrag(tab, [120, 300], [260, 320])
    await sees(tab, 'not turned by a finger', undefined, (now) => difference(first, now) > 1)
    await tab.getByRole('button', { name: 'Controls' }).tap()
    await tab.locator('.panel').waitFor({ state: 'visible' })
    await tab.setViewportSize({ width: 844, height: 390 })
    const width = async () => Math.round((await tab.locator('.view canvas').boundingBox()).width)
    await until(tab, 'the canvas is not as wide as the window', async () => (await width()) === 844)
    assert.deepEqual(await messages(tab), [])
  }))

test('a lost context comes back with the same picture', () =>
  withMesh({ allowed: /context/i }, async (tab) => {
    const first = await look(tab, free)
    await tab.evaluate(async () => {
      const canvas = document.querySelector('.part-mesh canvas'),
        extension = canvas.getContext('webgl2').getExtension('WEBGL_lose_context')
      const happens = (name) => new Promise((resolve) => canvas.addEventListener(name, resolve, { once: true }))
      const lost = happens('webglcontextlost')
      extension.loseContext()
      await lost
      await new Promise((resolve) => setTimeout(resolve))
      const restored = happens('webglcontextrestored')
      extension.restoreContext()
      await restored
    })
    await sees(tab, 'another picture', free, (now) => difference(first, now) < 0.3)
  }))

test('light and dark, and the worker ends with the part', () =>
  withMesh({}, async (tab) => {
    const first = await look(tab, free)
    await tab.keyboard.press('t')
    await sees(tab, 'the same backdrop', free, (now) => difference(first, now) > 40)
    assert.equal(tab.workers().length, 1)
    await tab.evaluate(() => {
      location.hash = 'contact'
    })
    await tab.waitForSelector('.part-contact')
    await until(tab, 'the worker is still there', () => !tab.workers().some((worker) => worker.url().includes('/mesh/')))
  }))
