// texsolve in Node: the same package; the module is read from its file.
import './read-file.js'

export * from './texsolve.js'
