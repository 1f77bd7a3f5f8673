/**
 * The database layer keeps transactions in async context, whose older form makes every promise of the
 * process dearer. Node 22 has the newer form behind this flag; later versions have nothing else.
 */
const contextFlag = "--experimental-async-context-frame";

/** For the processes that serve, besides those of the primary. */
export const childFlags = [
  // Taking the types out of the client for browsers is one, of which nobody need be told.
  "--disable-warning=ExperimentalWarning",
  // Requests make much short-lived garbage: a larger nursery lets most of it die before it is copied.
  "--max-semi-space-size=32",
  ...(process.allowedNodeEnvironmentFlags.has(contextFlag) ? [contextFlag] : []),
];
