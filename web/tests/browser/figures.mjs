// Figures of the page: node web/tests/browser/figures.mjs [SECONDS]
//
//   first picture   ms from the navigation to the first drawn frame of the fluid, with an empty and a filled cache
//   long tasks      of more than 200 ms in SECONDS (default 20) of fluid, after the first 3 s
//   contact         the same of the contact part, for as long
//   memory          of JavaScript, of the module and of the library's textures, and what all processes of the browser
//                   occupy, in MB: after a third and at the end
// As JSON on the last line. The machine's other work counts: compare runs on an idle machine.

import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { flags, serve } from './browser.mjs'

const seconds = Number(process.argv[2] ?? 20)
const START_MS = 3000, LONG_MS = 200

async function withBrowser(folder, use) {
  const context = await chromium.launchPersistentContext(folder, { executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    headless: true, args: [...flags, '--js-flags=--expose-gc'], viewport: { width: 1280, height: 800 }, serviceWorkers: 'block' })
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
  await tab.waitForFunction(() => performance.getEntriesByName('first picture').length, undefined, { timeout: 60000, polling: 50 })
  return tab.evaluate(() => Math.round(performance.getEntriesByName('first picture')[0].startTime))
}

/** The resident memory of the browser with this profile, all its processes, in MB. Shared pages count once per process. */
async function residentMB(folder) {
  const processes = new Map()
  for (const id of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const [command, status] = await Promise.all(['cmdline', 'status'].map((file) => readFile(`/proc/${id}/${file}`, 'utf8').catch(() => '')))
    const number = (name) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
    processes.set(Number(id), { parent: number('PPid'), kilobytes: number('VmRSS'), isOurs: command.includes(folder) })
  }
  const belongs = (one) => one && (one.isOurs || belongs(processes.get(one.parent)))
  return Math.round([...processes.values()].filter(belongs).reduce((sum, one) => sum + one.kilobytes, 0) / 1024)
}

const memory = async (tab) => ({ ...await tab.evaluate(() => {
  window.gc?.()
  return { heap: performance.memory.usedJSHeapSize, ...window.texsolvePage?.memory() }
}), residentMB: await residentMB(folder) })

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

/** Drags and throws bodies, adds balls, and changes the scene now and then, as a person would. */
async function throwBodies(tab, until) {
  let turn = 0
  while (Date.now() < until) {
    const angle = turn++ * 0.7
    await tab.mouse.move(450 + 200 * Math.cos(angle), 500 + 150 * Math.sin(1.3 * angle))
    await tab.mouse.down()
    await tab.mouse.move(450 + 250 * Math.cos(angle + 0.9), 350 + 150 * Math.sin(angle), { steps: 8 })
    await tab.mouse.up()
    if (turn % 40 === 0) await tab.keyboard.press('n')
    await tab.waitForTimeout(300)
  }
}

/** Long tasks and memory while `use` uses the part. */
async function watch(tab, use) {
  await tab.waitForTimeout(START_MS)
  const begin = await tab.evaluate(() => performance.now()), start = Date.now(), found = {}
  await use(tab, start + seconds * 1000 / 3)
  found.memoryThird = await memory(tab)
  await use(tab, start + seconds * 1000)
  found.memoryEnd = await memory(tab)
  const tasks = await tab.evaluate(() => window.longTasks)
  found.longTasksStart = tasks.filter((task) => task.startTime < begin).map((task) => Math.round(task.duration))
  found.longTasks = tasks.filter((task) => task.startTime >= begin && task.duration > LONG_MS).map((task) => Math.round(task.duration))
  return found
}

const server = await serve()
const folder = await mkdtemp(join(tmpdir(), 'texsolve-figures-'))
const figures = {}
try {
  figures.coldMs = await withBrowser(folder, (tab) => firstPicture(tab, server.url))
  await withBrowser(folder, async (tab) => {
    figures.warmMs = await firstPicture(tab, server.url)
    Object.assign(figures, await watch(tab, play))
    figures.quality = await tab.evaluate(() => window.texsolvePage.quality())
    figures.frameMs = await tab.evaluate(() => window.texsolvePage.frameMs())
  })
  await withBrowser(folder, async (tab) => {
    await tab.goto(server.url + '#contact')
    await tab.waitForSelector('.part-contact')
    figures.contact = await watch(tab, throwBodies)
  })
} finally {
  await rm(folder, { recursive: true, force: true })
  await server.close()
}
console.log(JSON.stringify(figures))
