// Chromium for the tests of the page. CHROMIUM: the browser's path, default /usr/bin/chromium. TEXSOLVE_PAGE: the assembled
// page, default build-web/page. TEXSOLVE_BROWSER_GL=swiftshader, or no display, selects SwiftShader.

import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { serve as serveFolders } from '../../serve.mjs'

export const page = process.env.TEXSOLVE_PAGE ?? fileURLToPath(new URL('../../../build-web/page', import.meta.url))

/** Serves the page on a free port of this machine. Returns { url, close }. */
export async function serve(root = page) {
  const { address: url, close } = await serveFolders({ '/': root })
  return { url, close }
}

const graphics = process.env.TEXSOLVE_BROWSER_GL === 'swiftshader' || !process.env.DISPLAY
  ? ['--use-angle=swiftshader', '--enable-unsafe-swiftshader'] : ['--use-angle=gl', '--ignore-gpu-blocklist']

export const flags = ['--no-sandbox', '--disable-gpu-sandbox', '--disable-quic', '--no-first-run',
  '--disable-background-networking', '--disable-component-update', '--disable-sync', '--enable-precise-memory-info', ...graphics]

export function launch(options = {}) {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', headless: true, ...options,
    args: [...flags, ...options.args ?? []] })
}

/** Opens the page with `hash` in a new context, at the lowest quality, which software rendering can follow. Warnings and
 * errors of the console are collected in `problems`, requests to other hosts in `foreign`. */
export async function openPage(browser, url, hash = '', options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, serviceWorkers: 'block', ...options })
  const tab = await context.newPage()
  const problems = [], foreign = []
  tab.on('console', (message) => {
    const text = message.text()
    if (['warning', 'error'].includes(message.type()) && !/Service Worker|will not work offline|GPU stall|performance warning/.test(text)) problems.push(text)
  })
  tab.on('pageerror', (error) => problems.push(error.message))
  tab.on('request', (request) => {
    if (!request.url().startsWith(url) && !/^(blob|data):/.test(request.url())) foreign.push(request.url())
  })
  await tab.goto(`${url}?quality=0${hash && '#' + hash}`)
  return { tab, context, problems, foreign }
}
