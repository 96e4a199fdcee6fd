/**
 * The library for `require`: the joined file, as for `import`. Node itself loads the module: a test runner with a module system of its own, such as jest, hands out its own `require` and
 * `process`, and can't load modules without flags. What runs in Node's own context gets Node's.
 */
import type * as library from './index.ts' with { 'resolution-mode': 'import' }

const { runInThisContext } = require('node:vm') as typeof import('node:vm')

const { getBuiltinModule }: NodeJS.Process = runInThisContext('process')

module.exports = getBuiltinModule('node:module').createRequire(__filename)('../joined/index.js')

// Each value by its name, because TypeScript takes no values from a module of the other kind.
export declare const startServer: typeof library.startServer
export declare const supportTable: typeof library.supportTable
export type * from './index.ts' with { 'resolution-mode': 'import' }
