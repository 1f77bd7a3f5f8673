/** A name that gave way to a field term. */
export interface RetiredName {
  name: string;
  /** The field term in its place. */
  instead: string;
  /** Files in which the word has another meaning. */
  allowedIn?: readonly string[];
}

/** Identifiers, as whole words; sorted by name. */
export const retiredIdentifiers: readonly RetiredName[] = [
  { name: "KeyRing", instead: "ApiKeyCache" },
  { name: "StoredKeys", instead: "LruApiKeyCache" },
  { name: "allowSeconds", instead: "setStatementTimeout" },
  { name: "askRegularly", instead: "startHealthCheck" },
  { name: "askedOptions", instead: "healthCheckedOptions" },
  { name: "createBodyCache", instead: "createResponseCache" },
  { name: "createGate", instead: "createConcurrencyLimiter" },
  { name: "createIdBlocks", instead: "createHiLoAllocator" },
  { name: "createSizedCache", instead: "createByteLruCache" },
  { name: "noticedInMs", instead: "detectionTimeoutMs" },
  { name: "thinComplaints", instead: "sampleRepeatedLines" },
  { name: "unsaid", instead: "suppressed" },
  { name: "untilAborted", instead: "raceAbort" },
  { name: "withoutPassword", instead: "redactUrl" },
];

/** Names of files; sorted by name. */
export const retiredFiles: readonly RetiredName[] = [
  { name: "body-cache.ts", instead: "response-cache.ts" },
  { name: "gate.ts", instead: "concurrency-limiter.ts" },
  { name: "id-blocks.ts", instead: "hi-lo-allocator.ts" },
  { name: "key-ring.ts", instead: "api-key-cache.ts" },
  { name: "link-check.ts", instead: "connection-health.ts" },
  { name: "serial.ts", instead: "coalesced-task.ts" },
  { name: "sized-cache.ts", instead: "byte-lru-cache.ts" },
  { name: "thinned-log.ts", instead: "log-sampling.ts" },
  { name: "turns.ts", instead: "distributed-lock.ts" },
];
