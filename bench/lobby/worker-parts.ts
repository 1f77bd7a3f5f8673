/** The work of an HTTP worker by kind, in the order in which a command meets it. */
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
 * Which part a function belongs to, by "file:function" or, of what is no JavaScript, by its name; the first pattern
 * that fits counts. A function that fits none works for the one that called it: JSON.parse, a timer that is set, a write
 * to a socket.
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

/** The same for a stack of which no function fits a rule: the end of a read or write, of the sockets to Redis mostly. */
const remaining: readonly Rule[] = [
  [/^node:internal\/stream_base_commons:onStreamRead$/, "Redis read"],
  [/^node:internal\/stream_base_commons:|\/ioredis\//, "Redis write"],
  [/^runMicrotasks$/, "wake-ups"],
];

/** The part a stack belongs to, innermost function first; null while the process waits. */
export function partOf(names: readonly string[]): Part | null {
  if (names[0] === "(idle)") return null;
  return firstFit(names, rules) ?? firstFit(names, remaining) ?? "other";
}

function firstFit(names: readonly string[], table: readonly Rule[]): Part | null {
  for (const name of names)
    for (const [pattern, part] of table) if (pattern.test(name)) return part;
  return null;
}
