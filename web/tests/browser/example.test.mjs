// The example beside three.js: it draws, the mesh deforms, and the console stays empty.
import assert from 'node:assert/strict'
import path from 'node:path'
import { after, before, test } from 'node:test'
import { start, webPath } from './support.mjs'

let browser
before(async () => { browser = await start({ '/example/': path.join(webPath, 'examples/three') }) })
after(() => browser?.stop())

test('a mesh flows and three.js draws it from its texture', async () => {
  const page = await browser.newPage('example/')
  await page.setViewportSize({ width: 320, height: 240 })
  await page.waitForFunction(() => globalThis.example?.steps > 2)
  const first = await page.screenshot()
  if (process.env.TEXSOLVE_SCREENSHOTS) await page.screenshot({ path: path.join(process.env.TEXSOLVE_SCREENSHOTS, 'three.png') })
  await page.waitForFunction(() => globalThis.example.steps > 40, undefined, { timeout: 60000 })
  const second = await page.screenshot()
  assert.notDeepEqual(first, second)
  const { backend, extent } = await page.evaluate(() => {
    const { ts, mesh } = globalThis.example
    return { backend: ts.info.backend, extent: mesh.positions.reduce((most, value) => Math.max(most, Math.abs(value)), 0) }
  })
  assert.equal(backend, 'gl')
  assert.ok(extent > 0.8 && extent < 1.2)
  assert.deepEqual(browser.warnings, [])
})
