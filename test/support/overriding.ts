/** An object that does some things otherwise than the real one, which does the rest. */
export function overriding<T extends object>(real: T, otherwise: Partial<T>): T {
  return new Proxy(real, {
    get(target, name) {
      const found: unknown = Reflect.get(Reflect.has(otherwise, name) ? otherwise : target, name)
      return typeof found === 'function' ? found.bind(target) : found
    },
  })
}
