/** A mistake in the configuration. The message names the source (flag, variable, file and key), and never contains a secret. */
export class ConfigurationError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigurationError'
  }
}
