// Contact, driven as a person would: node --test web/tests/browser/contact.test.mjs

import { after, before } from 'node:test'
import assert from 'node:assert/strict'
import { launch, serve } from './browser.mjs'
import { difference, look } from './look.mjs'
import { reads, sees, slide, still, test, touchDrag, until, withPart } from './parts.mjs'

let server, browser
before(async () => {
  server = await serve()
  browser = await launch()
})
after(async () => {
  await browser?.close()
  await server?.close()
})

const free = { x: 20, y: 150, width: 900, height: 540 }

const withContact = (options, use) =>
  withPart(browser, server, 'contact', options, async (tab, opened) => {
    await tab.waitForFunction(() =>
      /\d/.test(
        [...document.querySelectorAll('.readout')].find((r) => /contacts/.test(r.textContent))?.querySelector('output')
          .textContent
      )
    )
    await use(tab, opened)
  })

/** The number of bodies, the floor among them. */
const bodies = async (tab) => Number((await reads(tab, 'Bodies, contacts')).split(',')[0])

/** Chooses another scene and lets it begin. */
async function scene(tab, name) {
  const before = await bodies(tab)
  await tab
    .locator('.choice label', { hasText: name })
    .first()
    .evaluate((label) => label.querySelector('input').click())
  await until(tab, 'the scene is the old one', async () => (await bodies(tab)) !== before)
  await tab.waitForTimeout(1000)
}

test('bodies fall; pause, one step, reset', () =>
  withContact({}, async (tab) => {
    await tab.keyboard.press(' ')
    await tab.keyboard.press('r')
    const first = await still(tab, free) // where the bodies begin
    await tab.keyboard.press(' ')
    await sees(tab, 'no body falls', free, (now) => difference(first, now) > 0.5)
    await tab.keyboard.press(' ')
    const paused = await still(tab, free)
    for (let k = 0; k < 15; k++) {
      await tab.keyboard.press('.')
      await tab.waitForTimeout(60)
    }
    await sees(tab, 'the picture after steps is the same', free, (now) => difference(paused, now) > 0.1)
    await tab.keyboard.press('r')
    await sees(tab, 'not reset', free, (now) => difference(first, now) < 0.1)
  }))

test('figures: residual below the tolerance, sweeps, times', () =>
  withContact({}, async (tab) => {
    await scene(tab, 'Arch')
    await until(tab, 'the residual is above the tolerance', async () => Number(await reads(tab, 'Residual')) <= 1e-4)
    assert.match(await reads(tab, 'Bodies, contacts'), /^16, 3\d$/)
    assert.match(await reads(tab, 'Solve'), /^[\d.]+ ms$/)
    assert.match(await reads(tab, 'Step'), /^[\d.]+ ms$/)
  }))

test('the arch stands, and falls without friction', () =>
  withContact({}, async (tab) => {
    await scene(tab, 'Arch')
    const first = await look(tab, free)
    await tab.waitForTimeout(1500)
    assert.ok(difference(first, await look(tab, free)) < 0.3, 'stands')
    await slide(tab, 'Friction', 0)
    await until(tab, 'the arch stands', async () => difference(first, await look(tab, free)) > 1)
  }))

test('a body is dragged and thrown by the mouse, empty space gives a ball', () =>
  withContact({}, async (tab) => {
    await scene(tab, 'Arch')
    const before = await bodies(tab),
      first = await look(tab, free)
    await tab.mouse.move(480, 260)
    await tab.mouse.down()
    await tab.waitForTimeout(400)
    await tab.mouse.move(470, 420, { steps: 8 })
    await tab.waitForTimeout(200)
    await tab.mouse.up()
    await tab.waitForTimeout(1500)
    await until(tab, 'no ball', async () => (await bodies(tab)) === before + 1)
    await until(tab, 'the arch is not hit', async () => difference(first, await look(tab, free)) > 0.5)
    await tab.keyboard.press('b')
    await until(tab, 'no ball by keyboard', async () => (await bodies(tab)) === before + 2)
  }))

test('phone: one finger drags', () =>
  withContact({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }, async (tab) => {
    await scene(tab, 'Wall')
    const first = await look(tab)
    await touchDrag(tab, [200, 430], [330, 200])
    await sees(tab, 'the wall is the same', undefined, (now) => difference(first, now) > 0.3)
    assert.deepEqual(await tab.locator('.message.error').count(), 0)
    const closed = await look(tab, { x: 0, y: 60, width: 390, height: 240 })
    await tab.getByRole('button', { name: 'Controls' }).tap()
    await sees(tab, 'the sheet hides the scene', { x: 0, y: 60, width: 390, height: 240 }, (now) => difference(closed, now) > 1)
  }))

test('a hidden tab waits and carries on; many scenes leave one worker', () =>
  withContact({}, async (tab) => {
    for (let k = 0; k < 8; k++) {
      await tab.keyboard.press('n')
      await tab.waitForTimeout(120)
    }
    await tab.waitForTimeout(800)
    assert.equal(tab.workers().length, 1)
    await tab.setViewportSize({ width: 700, height: 600 })
    await tab.waitForTimeout(400)
    const box = await tab.locator('.view canvas').boundingBox()
    assert.equal(Math.round(box.width), 700)
  }))
