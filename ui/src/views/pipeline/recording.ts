/** What records waits, queues and workers, for loaders of any framework. */
export const WATCH = 'with laptime.profile() as prof:\n    for batch in prof.watch(loader):\n        train(batch)\n        prof.step()'
