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
  const extent = () => page.evaluate(() => globalThis.example.mesh.positions.reduce((most, value) => Math.max(most, Math.abs(value)), 0))
  const first = { picture: await page.screenshot(), extent: await extent() }
  if (process.env.TEXSOLVE_SCREENSHOTS) await page.screenshot({ path: path.join(process.env.TEXSOLVE_SCREENSHOTS, 'three.png') })
  await page.waitForFunction(() => globalThis.example.steps > 40, undefined, { timeout: 60000 })
  assert.notDeepEqual(first.picture, await page.screenshot())
  const after = await extent()
  assert.ok(after < first.extent - 0.01 && after > 0.9, `${first.extent} to ${after}`)
  assert.equal(await page.evaluate(() => globalThis.example.ts.info.backend), 'gl')
  assert.deepEqual(browser.warnings, [])
})
