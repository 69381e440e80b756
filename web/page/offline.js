// Offline after the first load, by a service worker: sw.js.

export async function registerOffline(messages) {
  if (!('serviceWorker' in navigator) || location.protocol === 'file:') return
  try {
    const hadController = !!navigator.serviceWorker.controller
    const registration = await navigator.serviceWorker.register('sw.js')
    registration.addEventListener('updatefound', () => {
      const worker = registration.installing
      worker?.addEventListener('statechange', () => {
        if (worker.state === 'activated' && hadController) {
          messages.say('A new version of this page is ready: reload to use it.', 'info', 'version')
        }
      })
    })
  } catch (error) {
    console.warn('This page will not work offline:', error.message)
  }
}
