/**
 * SIGUSR1 must not open a debugger: whoever may send a signal could then run code in this process. Imported before everything else, for its effect.
 * Node has a flag for it, but only newer versions have it, and a script that names its interpreter can't pass it.
 */
process.on('SIGUSR1', () => {})
