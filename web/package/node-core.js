// texsolve/core in Node.
import './read-file.js'

export * from './core.js'
