/** What a person configured wrongly. The message names the place (flag, variable, file and key) and never holds a secret. */
export class ConfigurationError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ConfigurationError'
  }
}
