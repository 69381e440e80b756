// Keeps the page's files for use offline. The build writes files.js: the list of files and a hash of their contents.
// A new hash is a new cache, so that files of two versions are never mixed.

importScripts('files.js')
const { version, files } = self.texsolveFiles
const name = 'texsolve-' + version

self.addEventListener('install', (event) => {
  event.waitUntil((async () => {
    const cache = await caches.open(name)
    await cache.addAll(files.map((file) => new Request(file, { cache: 'reload' })))
    await self.skipWaiting()
  })())
})

self.addEventListener('activate', (event) => {
  event.waitUntil((async () => {
    const old = (await caches.keys()).filter((key) => key.startsWith('texsolve-') && key !== name)
    await Promise.all(old.map((key) => caches.delete(key)))
    await self.clients.claim()
  })())
})

self.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url)
  if (event.request.method !== 'GET' || url.origin !== location.origin) return
  event.respondWith((async () => {
    const cache = await caches.open(name)
    return (await cache.match(event.request, { ignoreSearch: true })) ?? fetch(event.request)
  })())
})
