import asyncHooks from "node:async_hooks";

const { AsyncResource, createHook } = asyncHooks;

/**
 * Runs test files one after another in this process, each as a suite, so that what one has started is
 * stopped before the next. All are loaded first.
 *
 * node:test follows every promise to the suite it came from. Only `describe` and `it` ask for that; after
 * them it costs a tenth of the time, and tells no more than which test an unhandled rejection came from,
 * which one file alone still learns.
 */
export async function runFiles(urls: Record<string, string>): Promise<void> {
  let hook: asyncHooks.AsyncHook | null = null;
  asyncHooks.createHook = (callbacks) => (hook = createHook(callbacks));
  const { after, describe } = await import("node:test");
  const { endShared } = await import("./shared.ts");
  after(endShared);
  asyncHooks.createHook = createHook;
  // One by one: a package that requires what another file imports just then could not be loaded.
  let loading = Promise.resolve();
  for (const [name, url] of Object.entries(urls))
    describe(name, () => {
      const suite = new AsyncResource("suite");
      const loaded = loading.then(() => suite.runInAsyncScope(() => import(url)));
      loading = loaded.then(ignore, ignore);
      return loaded;
    });
  if (Object.keys(urls).length > 1) void loading.then(() => hook?.disable());
}

const ignore = () => undefined;
