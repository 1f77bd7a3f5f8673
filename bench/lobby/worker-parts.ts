/** Kinds of work of an HTTP worker, in the order in which a command passes through them. */
export const parts = [
  "parse",
  "auth",
  "route and pipeline",
  "actor",
  "Redis write",
  "Redis read",
  "answer",
  "publish and delivery",
  "stream write",
  "log and metrics",
  "wake-ups",
  "collector",
  "other",
] as const;
export type Part = (typeof parts)[number];
type Rule = readonly [pattern: RegExp, part: Part];

/**
 * The part of each function, by "file:function" or, outside JavaScript, by name; the first matching pattern
 * counts. A function without a match counts towards its caller: JSON.parse, setting a timer, a socket
 * write.
 */
const rules: readonly Rule[] = [
  [/^\(garbage collector\)/, "collector"],
  // Outside all functions: native code between epoll and the callbacks.
  [/^\(program\)/, "wake-ups"],
  [
    /^node:.*:(listOnTimeout|processTimers|processImmediate|processTicksAndRejections)$/,
    "wake-ups",
  ],
  [/^server\/http\/uws\/|^server\/http\/pipeline\/body\./, "parse"],
  [/^server\/http\/auth\/|^server\/platform\/security\/|\/(jsonwebtoken|jws|jwa)\//, "auth"],
  [/^server\/http\/replies\//, "answer"],
  [
    /^server\/http\/pipeline\/request-record\.|^server\/platform\/(log|metrics)\//,
    "log and metrics",
  ],
  [/\/(pino|sonic-boom|prom-client)\//, "log and metrics"],
  [/^server\/sse\/stream\/(stream|writer|for-each-in-batches)\./, "stream write"],
  [/^server\/sse\/|^server\/features\/hub\//, "publish and delivery"],
  [/^server\/platform\/redis\/(sharded-)?channels\./, "publish and delivery"],
  [/^server\/(http|features)\//, "route and pipeline"],
  [/\/ioredis\/built\/DataHandler\.|\/redis-parser\//, "Redis read"],
  [/\/ioredis\/built\/.*:(sendCommand|toWritable|writeCommand|exec)$/, "Redis write"],
  [/^actors\/runtime\/storage\/|^server\/platform\/redis\//, "Redis write"],
  [/^actors\//, "actor"],
];

/** Rules for stacks in which no function matches: the end of a read or write, mostly on Redis sockets. */
const remaining: readonly Rule[] = [
  [/^node:internal\/stream_base_commons:onStreamRead$/, "Redis read"],
  [/^node:internal\/stream_base_commons:|\/ioredis\//, "Redis write"],
  [/^runMicrotasks$/, "wake-ups"],
];

/** The part of a stack, innermost function first; null while the process waits. */
export function partOf(names: readonly string[]): Part | null {
  if (names[0] === "(idle)") return null;
  return firstFit(names, rules) ?? firstFit(names, remaining) ?? "other";
}

function firstFit(names: readonly string[], table: readonly Rule[]): Part | null {
  for (const name of names)
    for (const [pattern, part] of table) if (pattern.test(name)) return part;
  return null;
}
