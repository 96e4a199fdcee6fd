/**
 * SIGUSR1 opens no debugger here: whoever may send a signal could then run code in this process. Imported before everything else, for its effect.
 * Node has a flag for it, but only newer ones, and not where a script names its interpreter.
 */
process.on('SIGUSR1', () => {})
