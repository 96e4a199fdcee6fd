/** Accounts, users, keys and policies, as the admin API keeps them. */
import { adminPath, askAdmin } from './admin.ts'

export interface Account {
  id: string
  name: string
  enabled: boolean
}

export interface NamedPolicy {
  name: string
  document: string
}

export interface User {
  name: string
  id: string
  enabled: boolean
  created: string
  policies: string[]
  inlinePolicies: NamedPolicy[]
}

export interface Policy extends NamedPolicy {
  builtIn: boolean
  users: string[]
}

export interface Key {
  accessKeyId: string
  user?: string
  source: 'configuration' | 'run-time'
  enabled: boolean
  expires?: string
  policy?: string
  description?: string
  created?: string
}

export interface IssuedKey extends Key {
  secretAccessKey: string
}

export interface NewKey {
  user?: string
  expires?: string
  policy?: string
  description?: string
}

export const listAccounts = async (): Promise<Account[]> =>
  (await askAdmin<{ accounts: Account[] }>('GET', '/v1/accounts')).accounts

/** The identities of one account. */
export class AccountIdentities {
  readonly account: string

  constructor(account: string) {
    this.account = account
  }

  #path(...segments: readonly string[]): string {
    return adminPath('accounts', this.account, ...segments)
  }

  async users(): Promise<User[]> {
    return (await askAdmin<{ users: User[] }>('GET', this.#path('users'))).users
  }

  addUser = (name: string): Promise<User> => askAdmin('POST', this.#path('users'), { name })
  removeUser = (name: string): Promise<undefined> => askAdmin('DELETE', this.#path('users', name))
  enableUser = (name: string, enabled: boolean): Promise<User> =>
    askAdmin('PUT', this.#path('users', name, 'enabled'), { enabled })
  attach = (user: string, policy: string): Promise<User> =>
    askAdmin('PUT', this.#path('users', user, 'policies', policy))
  detach = (user: string, policy: string): Promise<User> =>
    askAdmin('DELETE', this.#path('users', user, 'policies', policy))

  putOwnPolicy = (user: string, name: string, document: string): Promise<User> =>
    askAdmin('PUT', this.#path('users', user, 'inline-policies', name), { document })
  removeOwnPolicy = (user: string, name: string): Promise<User> =>
    askAdmin('DELETE', this.#path('users', user, 'inline-policies', name))

  async policies(): Promise<Policy[]> {
    return (await askAdmin<{ policies: Policy[] }>('GET', this.#path('policies'))).policies
  }

  putPolicy = (name: string, document: string): Promise<Policy> =>
    askAdmin('PUT', this.#path('policies', name), { document })
  removePolicy = (name: string): Promise<undefined> => askAdmin('DELETE', this.#path('policies', name))

  async keys(): Promise<Key[]> {
    return (await askAdmin<{ keys: Key[] }>('GET', this.#path('keys'))).keys
  }

  addKey = (key: NewKey): Promise<IssuedKey> => askAdmin('POST', this.#path('keys'), key)
  removeKey = (id: string): Promise<undefined> => askAdmin('DELETE', this.#path('keys', id))
  enableKey = (id: string, enabled: boolean): Promise<Key> =>
    askAdmin('PUT', this.#path('keys', id, 'enabled'), { enabled })
  rotateKey = (id: string): Promise<IssuedKey> => askAdmin('POST', this.#path('keys', id, 'rotate'), {})
}
