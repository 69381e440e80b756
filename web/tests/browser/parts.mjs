// Helpers of the tests of smooth and unwrap, contact, solve a file.

import assert from 'node:assert/strict'
import { test as nodeTest } from 'node:test'
import { openPage } from './browser.mjs'
import { difference, look } from './look.mjs'

/** A test that fails after three minutes, so that its browser is closed. */
export const test = (name, run) => nodeTest(name, { timeout: 180000 }, run)

/** Opens a part, calls use(tab, opened), and asserts that the console has no warnings but those that `allowed` matches. */
export async function withPart(browser, server, part, options, use) {
  const { allowed, ...rest } = options
  const opened = await openPage(browser, server.url, part, rest)
  try {
    await opened.tab.waitForSelector(`.part-${part}`)
    await use(opened.tab, opened)
    const problems = opened.problems.filter((text) => !allowed?.test(text))
    assert.deepEqual(problems, [], 'no warnings on the console')
    assert.deepEqual(opened.foreign, [], 'no requests to other hosts')
  } finally {
    await opened.context.close()
  }
}

/** Drops a file of text or bytes on the part. */
export function drop(tab, name, content) {
  const text = typeof content === 'string' ? content : undefined
  const base64 = text === undefined ? Buffer.from(content).toString('base64') : undefined
  return tab.evaluate(
    async ([name, text, base64]) => {
      const bytes =
        text ?? new Uint8Array(await (await fetch(`data:application/octet-stream;base64,${base64}`)).arrayBuffer())
      const dataTransfer = new DataTransfer()
      dataTransfer.items.add(new File([bytes], name))
      const view = document.querySelector('.part .view')
      for (const type of ['dragover', 'drop'])
        view.dispatchEvent(new DragEvent(type, { bubbles: true, cancelable: true, dataTransfer }))
    },
    [name, text, base64]
  )
}

/** Waits until the part has worked, and has been idle for a while. */
export async function idle(tab, timeout = 60000) {
  const end = performance.now() + timeout
  for (let quiet = 0; quiet < 4;) {
    await tab.waitForTimeout(60)
    const isBusy = await tab.evaluate(() => document.querySelector('.part').dataset.busy !== 'false')
    quiet = isBusy ? 0 : quiet + 1
    assert.ok(performance.now() < end, `the part still works after ${timeout / 1000} s`)
  }
}

/** The text of a readout or a row of facts with this name. */
export const reads = (tab, name) =>
  tab.evaluate((name) => {
    const one = [...document.querySelectorAll('.readout')].find((r) => r.querySelector('span').textContent === name)
    if (one) return one.querySelector('output').textContent
    return [...document.querySelectorAll('.facts tr')]
      .find((row) => row.querySelector('th').textContent === name)
      ?.querySelector('td').textContent
  }, name)

export const messages = (tab) => tab.locator('.message p').allTextContents()

/** Waits for a message that matches. */
export async function says(tab, pattern, timeout = 30000) {
  await tab.waitForFunction(
    (source) => [...document.querySelectorAll('.message p')].some((p) => new RegExp(source).test(p.textContent)),
    pattern.source,
    { timeout }
  )
}

/** Sets a slider, as a person who drags it and lets go. */
export async function slide(tab, label, value) {
  await tab
    .locator('.slider', { hasText: label })
    .locator('input')
    .first()
    .evaluate((input, value) => {
      input.value = value
      input.dispatchEvent(new Event('input', { bubbles: true }))
      input.dispatchEvent(new Event('change', { bubbles: true }))
    }, value)
}

/** Drags with one finger, by the browser's own touch events. */
export async function touchDrag(tab, from, to, steps = 10) {
  const session = await tab.context().newCDPSession(tab)
  const send = (type, x, y) =>
    session.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y }] })
  await send('touchStart', ...from)
  for (let k = 1; k <= steps; k++) {
    await send('touchMove', from[0] + ((to[0] - from[0]) * k) / steps, from[1] + ((to[1] - from[1]) * k) / steps)
    await tab.waitForTimeout(30)
  }
  await send('touchEnd')
}

/** Waits until check() is true. */
export async function until(tab, text, check, timeout = 30000) {
  const end = performance.now() + timeout
  while (!(await check())) {
    assert.ok(performance.now() < end, `${text}, for ${timeout / 1000} s`)
    await tab.waitForTimeout(100)
  }
}

/** Looks until check(picture) is true, and returns that picture. */
export async function sees(tab, text, clip, check) {
  let picture
  await until(tab, text, async () => check((picture = await look(tab, clip))))
  return picture
}

/** The picture once it does not change for half a second. */
export async function still(tab, clip) {
  let picture = await look(tab, clip)
  await until(tab, 'the picture changes', async () => {
    const before = picture
    await tab.waitForTimeout(500)
    picture = await look(tab, clip)
    return difference(before, picture) < 0.1
  })
  return picture
}

/** Stops the next work of the part by its button, as soon as that appears: later the work could have ended. Call it before the
 * work begins, and await the promise afterwards. */
export const stopWork = (tab) =>
  tab.evaluate(
    () =>
      new Promise((resolve) => {
        const box = document.querySelector('.work')
        const observer = new MutationObserver(() => {
          if (box.hidden) return
          observer.disconnect()
          box.querySelector('button').click()
          resolve()
        })
        observer.observe(box, { attributes: true, attributeFilter: ['hidden'] })
      })
  )

/** The text of a file that the page saves when `action` runs. */
export async function saved(tab, action) {
  const [download] = await Promise.all([tab.waitForEvent('download'), action()])
  const parts = []
  for await (const part of await download.createReadStream()) parts.push(part)
  return { name: download.suggestedFilename(), text: Buffer.concat(parts).toString('latin1') }
}

/** The longest time between two frames while `action` runs, in ms. */
export async function longestFrame(tab, action) {
  await tab.evaluate(() => {
    window.longest = 0
    window.isWatched = true
    let last = performance.now()
    const tick = () => {
      const now = performance.now()
      window.longest = Math.max(window.longest, now - last)
      last = now
      if (window.isWatched) requestAnimationFrame(tick)
    }
    requestAnimationFrame(tick)
  })
  await action()
  return tab.evaluate(() => {
    window.isWatched = false
    return window.longest
  })
}
