// The page, driven as a person would: node --test web/tests/browser/page.test.mjs

import { after, before, test } from 'node:test'
import assert from 'node:assert/strict'
import { launch, openPage, serve } from './browser.mjs'
import { colourAt, colourfulness, difference, look } from './look.mjs'
import { sees, still, until } from './parts.mjs'

let server, browser
before(async () => {
  server = await serve()
  browser = await launch()
})
after(async () => {
  await browser?.close()
  await server?.close()
})

/** A free part of the view: without the panel and the dock. */
const free = { x: 40, y: 90, width: 880, height: 560 }

async function withFluid(options, use) {
  const opened = await openPage(browser, server.url, 'fluid', options)
  try {
    await opened.tab.waitForSelector('.dock .bar button')
    await use(opened.tab, opened)
    assert.deepEqual(opened.problems, [], 'no warnings on the console')
    assert.deepEqual(opened.foreign, [], 'no requests to other hosts')
  } finally {
    await opened.context.close()
  }
}

const press = (tab, name) => tab.getByRole('button', { name }).click()

async function drag(tab, from, to, options = {}) {
  await tab.mouse.move(...from)
  await tab.mouse.down(options)
  await tab.mouse.move(...to, { steps: 12 })
  await tab.waitForTimeout(150)
  await tab.mouse.up(options)
}

/** Looks until the picture differs by more than `least`. */
const changes = (tab, first, least, text) => sees(tab, text, free, (now) => difference(first, now) > least)

/** Pauses, and returns the picture. */
async function paused(tab) {
  await press(tab, /Pause/)
  return still(tab, free)
}

/** Pauses soon after a restart. While it is paused, only the steps of a test move the fluid. */
async function pausedAfresh(tab) {
  await paused(tab)
  await tab.keyboard.press('r')
  return stepped(tab, 20)
}

/** The picture after some steps. */
async function stepped(tab, steps) {
  for (let i = 0; i < steps; i++) await tab.keyboard.press('s')
  return still(tab, free)
}

test('the fluid is in motion, in colour', () => withFluid({}, async (tab) => {
  const first = await sees(tab, 'no colours', free, (picture) => colourfulness(picture) > 8)
  await changes(tab, first, 1, 'no motion')
}))

test('on a slow device the page does not block for frames that the GPU has not drawn', () => withFluid({}, async (tab) => {
  await tab.evaluate(() => { // a slow page, and a GPU that does not finish until `finished`
    const request = window.requestAnimationFrame.bind(window)
    window.requestAnimationFrame = (draw) => request((now) => {
      const end = performance.now() + 60
      while (performance.now() < end);
      draw(now)
    })
    const { getSyncParameter, readPixels, drawArrays } = WebGL2RenderingContext.prototype
    Object.assign(window, { finished: false, asked: 0, reads: 0, draws: 0 })
    Object.assign(WebGL2RenderingContext.prototype, {
      getSyncParameter(...values) {
        if (window.finished) return getSyncParameter.apply(this, values)
        window.reads = window.draws = 0
        window.asked++
        return this.UNSIGNALED
      },
      readPixels(...values) {
        window.reads++
        return readPixels.apply(this, values)
      },
      drawArrays(...values) {
        window.draws++
        return drawArrays.apply(this, values)
      }
    })
  })
  await tab.waitForFunction(() => window.asked >= 5, undefined, { timeout: 20000 })
  assert.deepEqual(await tab.evaluate(() => [window.reads, window.draws]), [0, 0], 'no reads and no draws while it asks')
  await tab.evaluate(() => { window.finished = true })
  await tab.waitForFunction(() => window.reads > 0 && window.draws > 0, undefined, { timeout: 20000 })
}))

test('a fluid in motion makes no textures and asks the GPU nothing', () => withFluid({}, async (tab) => {
  await tab.waitForTimeout(2000)
  await tab.keyboard.press('h') // hides the comparison, which has to wait
  await tab.waitForTimeout(1500)
  const counts = await tab.evaluate(async () => {
    const gl = document.querySelector('.view canvas').getContext('webgl2')
    const counts = {}
    const watched = ['createTexture', 'createFramebuffer', 'checkFramebufferStatus', 'getError', 'readPixels', 'getBufferSubData',
      'getShaderParameter', 'getProgramParameter', 'finish']
    const originals = watched.map((name) => {
      const original = WebGL2RenderingContext.prototype[name]
      WebGL2RenderingContext.prototype[name] = function (...values) {
        const isKnown = values[1] === gl.DELETE_STATUS // browsers answer this without the GPU
        if (!isKnown) counts[name] = (counts[name] ?? 0) + 1
        return original.apply(this, values)
      }
      return original
    })
    await new Promise((resolve) => setTimeout(resolve, 2500))
    watched.forEach((name, i) => { WebGL2RenderingContext.prototype[name] = originals[i] })
    return { ...counts, isLost: gl.isContextLost() }
  })
  assert.deepEqual(counts, { isLost: false })
}))

test('pause, step and restart', () => withFluid({}, async (tab) => {
  await sees(tab, 'no colours', free, (picture) => colourfulness(picture) > 8)
  const first = await paused(tab)
  for (let i = 0; i < 20; i++) await tab.keyboard.press('s')
  await changes(tab, first, 0.3, 'steps do not move the fluid')
  const second = await still(tab, free)
  await tab.keyboard.press('r')
  await changes(tab, second, 2, 'the same picture after a restart')
  await tab.keyboard.press(' ')
  await changes(tab, await look(tab, free), 0.5, 'no motion')
}))

test('the mouse pushes dye', () => withFluid({}, async (tab) => {
  await pausedAfresh(tab)
  const first = await stepped(tab, 1)
  const second = await stepped(tab, 1)
  await drag(tab, [200, 500], [700, 300])
  const third = await stepped(tab, 1)
  const alone = difference(first, second), pushed = difference(second, third)
  assert.ok(pushed > 2 && pushed > 2 * alone, `${pushed} by the push, ${alone} by a step without it`)
}))

test('walls are drawn, keep dye out, and are erased', () => withFluid({ colorScheme: 'dark' }, async (tab) => {
  await tab.keyboard.press('w')
  await drag(tab, [300, 250], [300, 550])
  const at = [(300 - free.x) / free.width, (400 - free.y) / free.height]
  const isStone = (colour) => Math.max(...colour) - Math.min(...colour) < 40 && Math.max(...colour) > 15
  const wall = colourAt(await sees(tab, 'no stone', free, (picture) => isStone(colourAt(picture, ...at))), ...at)
  await tab.keyboard.press('e')
  await drag(tab, [300, 230], [300, 570])
  await tab.keyboard.press('p')
  await drag(tab, [150, 400], [500, 400])
  await sees(tab, `still a wall: ${wall}`, free, (picture) => {
    const dye = colourAt(picture, ...at)
    return Math.max(...dye) - Math.min(...dye) > 12 || difference(dye, wall) > 8
  })
}))

test('two fingers push at once', () => withFluid({ hasTouch: true, viewport: { width: 390, height: 844 } }, async (tab, { context }) => {
  const touch = await context.newCDPSession(tab)
  const points = (t) => [{ x: 80 + 60 * t, y: 250, id: 1 }, { x: 300 - 60 * t, y: 420, id: 2 }]
  await tab.keyboard.press(' ')
  await tab.keyboard.press('s')
  const first = await still(tab)
  await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: points(0) })
  for (let i = 1; i <= 10; i++) {
    await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: points(i / 10) })
    await tab.waitForTimeout(30)
  }
  await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] })
  for (let i = 0; i < 2; i++) await tab.keyboard.press('s')
  const second = await still(tab)
  for (const [x, y] of [[120, 250], [260, 420]]) {
    const [a, b] = [first, second].map((picture) => colourAt(picture, x / 390, y / 844))
    assert.ok(difference(a, b) > 4, `dye under the finger at ${x}, ${y}: ${a} to ${b}`)
  }
}))

test('the picture follows the size of the window', () => withFluid({}, async (tab) => {
  for (const [width, height] of [[500, 900], [1600, 500], [390, 844], [1280, 800]]) {
    await tab.setViewportSize({ width, height })
    await until(tab, `another shape at ${width} x ${height}`, () => tab.evaluate(([width, height]) => {
      const { width: across, height: down, clientWidth, clientHeight } = document.querySelector('.view canvas')
      return innerWidth === width && innerHeight === height && Math.abs(across / down / (clientWidth / clientHeight) - 1) < 0.02
    }, [width, height]))
  }
}))

test('a lost context returns and the fluid carries on', () => withFluid({}, async (tab, { problems }) => {
  await tab.waitForTimeout(500)
  await tab.evaluate(() => {
    const gl = document.querySelector('.view canvas').getContext('webgl2')
    window.loser = gl.getExtension('WEBGL_lose_context')
    window.loser.loseContext()
  })
  await tab.waitForFunction(() => /took the context back/.test(document.querySelector('.messages').textContent))
  await tab.evaluate(() => window.loser.restoreContext())
  await tab.waitForFunction(() => /is back/.test(document.querySelector('.messages').textContent), undefined, { timeout: 60000 })
  await tab.waitForTimeout(1000)
  await changes(tab, await look(tab, free), 0.5, 'no motion')
  for (let i = problems.length; i--;) if (/CONTEXT_LOST|context lost/i.test(problems[i])) problems.splice(i, 1)
}))

test('a tab in the background stops and continues', () => withFluid({}, async (tab, { context }) => {
  const session = await context.newCDPSession(tab)
  await tab.waitForTimeout(500)
  await session.send('Page.setWebLifecycleState', { state: 'frozen' })
  await new Promise((resolve) => setTimeout(resolve, 1500))
  await session.send('Page.setWebLifecycleState', { state: 'active' })
  await tab.waitForTimeout(500)
  await changes(tab, await look(tab, free), 0.5, 'no motion')
}))

test('keys change part and colours', () => withFluid({ colorScheme: 'dark' }, async (tab) => {
  await tab.keyboard.press('5')
  await tab.waitForSelector('.how')
  assert.equal(await tab.textContent('nav a[aria-current]'), 'How')
  const background = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor)
  const dark = await background()
  await tab.keyboard.press('t')
  assert.notEqual(await background(), dark)
  await tab.keyboard.press('?')
  assert.match(await tab.textContent('dialog'), /dark or light/)
  await tab.keyboard.press('Escape')
  await tab.keyboard.press('1')
  await tab.waitForSelector('.dock .bar button')
}))

test('how it works computes its figures', async () => {
  const { tab, context, problems } = await openPage(browser, server.url, 'how')
  await tab.waitForSelector('.cycle')
  await tab.locator('.panes.three').scrollIntoViewIfNeeded()
  await tab.waitForFunction(() => [...document.querySelectorAll('.words')].some((words) => /iteration \d\d/.test(words.textContent)), undefined, { timeout: 30000 })
  await tab.locator('.cycle').scrollIntoViewIfNeeded()
  await tab.waitForFunction(() => /Jacobi steps, the same work/.test(document.querySelector('.cycle').textContent), undefined, { timeout: 30000 })
  const parts = await tab.evaluate(() => {
    const words = [...document.querySelectorAll('.words')].at(-1).textContent
    return [words.match(/([\d.e-]+) % of the start/)[1], document.querySelector('.against').textContent.match(/: ([\d.e-]+) %/)[1]].map(Number)
  })
  assert.ok(parts[0] < 20 && parts[1] > 2 * parts[0], `multigrid leaves ${parts[0]} %, Jacobi ${parts[1]} %`)
  assert.deepEqual(problems, [])
  await context.close()
})

test('without WebGL the fluid runs on WebAssembly, and the page gives the reason', async () => {
  const { tab, context, problems } = await openPage(browser, server.url, 'how') // a part without a canvas
  await tab.addInitScript(() => {
    const original = HTMLCanvasElement.prototype.getContext
    HTMLCanvasElement.prototype.getContext = function (kind, ...rest) {
      return kind === 'webgl2' ? null : original.call(this, kind, ...rest)
    }
  })
  await tab.goto(server.url + '?plain#fluid')
  await tab.waitForSelector('.dock .bar button')
  assert.match(await tab.textContent('.messages'), /run on WebAssembly: .+/)
  const first = await sees(tab, 'no colours', free, (picture) => colourfulness(picture) > 8)
  await changes(tab, first, 0.5, 'no motion')
  assert.deepEqual(problems, [])
  await context.close()
})

test('works without a network after the first load', async () => {
  const { tab, context } = await openPage(browser, server.url, 'fluid', { serviceWorkers: 'allow' })
  await tab.evaluate(async () => { await navigator.serviceWorker.ready })
  await tab.waitForFunction(async () => (await caches.keys()).length > 0)
  await tab.waitForFunction(() => navigator.serviceWorker.controller)
  await context.setOffline(true)
  await tab.reload()
  await tab.waitForSelector('.dock .bar button')
  await tab.keyboard.press('5')
  await tab.waitForSelector('.how')
  await context.close()
})
