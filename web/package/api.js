// The object that open() returns.
import { Contacts, lcp } from './contacts.js'
import { Core } from './core-api.js'
import { Fluid } from './fluid.js'
import { Mesh, lscm } from './mesh.js'
import { System } from './system.js'

export class Texsolve extends Core {
  system(given) {
    return new System(this.runtime, given)
  }

  contacts(given) {
    return new Contacts(this.runtime, given)
  }

  async lcp(given) {
    return lcp(this.runtime, given)
  }

  fluid(given) {
    return new Fluid(this.runtime, given)
  }

  mesh(given) {
    return new Mesh(this.runtime, given)
  }

  async lscm(given) {
    return lscm(this.runtime, given)
  }
}
