/**
 * MikroORM keeps transactions in AsyncLocalStorage, whose older implementation slows every promise of the process.
 * Node 22 has the newer one behind this flag; later versions always use it.
 */
const contextFlag = "--experimental-async-context-frame";

/** Flags of serving processes, in addition to those of the primary. */
export const childFlags = [
  // Type stripping of the browser client is experimental; its warning is noise.
  "--disable-warning=ExperimentalWarning",
  // Requests make much short-lived garbage: in a larger young generation most of it dies before it is copied.
  "--max-semi-space-size=32",
  // One thread beside the main one: there are as many processes as processors, and each thread keeps memory of its own.
  "--v8-pool-size=1",
  // Lets the process release the memory of its start (server/runtime/boot/idle-collection.ts).
  "--expose-gc",
  ...(process.allowedNodeEnvironmentFlags.has(contextFlag) ? [contextFlag] : []),
];
