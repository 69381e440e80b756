// Figures of the page: node web/tests/browser/figures.mjs [SECONDS]
//
//   first picture   ms from the navigation to the first drawn frame of the fluid, with an empty and a filled cache
//   long tasks      of more than 200 ms in SECONDS (default 20) of fluid, after the first 3 s
//   memory          of JavaScript, of the module and of the library's textures, after a third and at the end
// As JSON on the last line. The machine's other work counts: compare runs on an idle machine.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { flags, serve } from './browser.mjs'

const seconds = Number(process.argv[2] ?? 20)
const START_MS = 3000, LONG_MS = 200

async function withBrowser(folder, use) {
  const context = await chromium.launchPersistentContext(folder, { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true, args: flags, viewport: { width: 1280, height: 800 }, serviceWorkers: 'block' })
  try {
    const tab = await context.newPage()
    await tab.addInitScript(() => {
      window.longTasks = []
      new PerformanceObserver((list) => {
        for (const { startTime, duration } of list.getEntries()) window.longTasks.push({ startTime, duration })
      }).observe({ type: 'longtask', buffered: true })
    })
    return await use(tab)
  } finally {
    await context.close()
  }
}

async function firstPicture(tab, url) {
  await tab.goto(url + '#fluid')
  await tab.waitForFunction(() => performance.getEntriesByName('first picture').length, { timeout: 60000, polling: 50 })
  return tab.evaluate(() => Math.round(performance.getEntriesByName('first picture')[0].startTime))
}

const memory = (tab) => tab.evaluate(() => {
  window.gc?.()
  return { heap: performance.memory.usedJSHeapSize, ...window.texsolvePage?.memory() }
})

/** Pushes the fluid and draws walls, as a person would. */
async function play(tab, until) {
  let turn = 0
  while (Date.now() < until) {
    const angle = turn++ * 0.7
    await tab.mouse.move(500 + 300 * Math.cos(angle), 400 + 200 * Math.sin(1.3 * angle))
    await tab.mouse.down({ button: turn % 8 ? 'left' : 'right' })
    await tab.mouse.move(500 + 300 * Math.cos(angle + 0.9), 400 + 200 * Math.sin(1.3 * angle + 1.1), { steps: 8 })
    await tab.mouse.up({ button: turn % 8 ? 'left' : 'right' })
    if (turn % 20 === 0) await tab.keyboard.press('c')
    await tab.waitForTimeout(200)
  }
}

const server = await serve()
const folder = await mkdtemp(join(tmpdir(), 'texsolve-figures-'))
const figures = {}
try {
  figures.coldMs = await withBrowser(folder, (tab) => firstPicture(tab, server.url))
  await withBrowser(folder, async (tab) => {
    figures.warmMs = await firstPicture(tab, server.url)
    await tab.waitForTimeout(START_MS)
    const begin = await tab.evaluate(() => performance.now()), start = Date.now()
    await play(tab, start + seconds * 1000 / 3)
    figures.memoryThird = await memory(tab)
    await play(tab, start + seconds * 1000)
    figures.memoryEnd = await memory(tab)
    const tasks = await tab.evaluate(() => window.longTasks)
    figures.longTasksStart = tasks.filter((task) => task.startTime < begin).map((task) => Math.round(task.duration))
    figures.longTasks = tasks.filter((task) => task.startTime >= begin && task.duration > LONG_MS).map((task) => Math.round(task.duration))
    figures.quality = await tab.evaluate(() => window.texsolvePage.quality())
    figures.frameMs = await tab.evaluate(() => window.texsolvePage.frameMs())
  })
} finally {
  await rm(folder, { recursive: true, force: true })
  await server.close()
}
console.log(JSON.stringify(figures))
