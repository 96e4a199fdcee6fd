/**
 * Keeps SIGUSR1 from opening a debugger, with which anyone allowed to send a signal could run code in this process. Imported first, for its effect.
 * Node's own flag for this exists only in newer versions, and a script's interpreter line can't pass it.
 */
process.on('SIGUSR1', () => {})
