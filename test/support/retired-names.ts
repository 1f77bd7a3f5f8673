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
  { name: "Demand", instead: "AuthRequirement" },
  { name: "Dirty", instead: "Flushable" },
  {
    name: "Exchange",
    instead: "RequestContext",
    allowedIn: [
      "server/features/oauth/routes.ts",
      "server/features/sessions/routes.ts",
      "server/features/sessions/sso-routes.ts",
      "server/features/social/routes.ts",
    ],
  },
  { name: "JoinDeps", instead: "CatchUpDeps" },
  { name: "Joiner", instead: "SubscriptionCatchUp" },
  { name: "KeyRing", instead: "ApiKeyCache" },
  { name: "PlaceScripts", instead: "QuotaScripts" },
  { name: "RingBudget", instead: "ReplayBufferBudget" },
  { name: "StoredKeys", instead: "LruApiKeyCache" },
  { name: "UploadPlaces", instead: "UploadQuota" },
  { name: "allRingBytes", instead: "totalReplayBufferBytes" },
  { name: "allowSeconds", instead: "setStatementTimeout" },
  { name: "askRegularly", instead: "startHealthCheck" },
  { name: "askedOptions", instead: "healthCheckedOptions" },
  { name: "boardBuilds", instead: "leaderboardBuilds" },
  { name: "boardTurns", instead: "leaderboardProjections" },
  { name: "createBodyCache", instead: "createResponseCache" },
  { name: "createGate", instead: "createConcurrencyLimiter" },
  { name: "createIdBlocks", instead: "createHiLoAllocator" },
  { name: "createSizedCache", instead: "createByteLruCache" },
  { name: "drawAnew", instead: "withoutMemo" },
  { name: "hubBeat", instead: "hubRenewLease" },
  { name: "hubRingBytes", instead: "hubReplayBufferBytes" },
  { name: "hubTake", instead: "hubAcquire" },
  { name: "inTurns", instead: "forEachInBatches" },
  { name: "joinBy", instead: "catchUpBy" },
  { name: "listWritesAtOnce", instead: "listBatchSize" },
  { name: "loosePath", instead: "lenientPath" },
  { name: "looseQuery", instead: "lenientQuery" },
  { name: "loseMark", instead: "invalidateCursor" },
  { name: "lostCodes", instead: "rejectionCodes" },
  { name: "lostMark", instead: "lostCursor" },
  { name: "noticedInMs", instead: "detectionTimeoutMs" },
  { name: "onConcluded", instead: "onSubscriptionClosed" },
  { name: "onDirty", instead: "onFlushable" },
  { name: "onSettled", instead: "onComplete" },
  { name: "onTaken", instead: "onFirstWrite" },
  { name: "placeTtlMs", instead: "quotaTtlMs" },
  { name: "placeWaitMs", instead: "quotaTimeoutMs" },
  { name: "ringBytes", instead: "replayBufferBytes" },
  { name: "ringMessages", instead: "replayBufferMessages" },
  { name: "thinComplaints", instead: "sampleRepeatedLines" },
  { name: "unknownMark", instead: "unknownCursor" },
  { name: "unsaid", instead: "suppressed" },
  { name: "untilAborted", instead: "raceAbort" },
  { name: "withoutPassword", instead: "redactUrl" },
];

/** Names of files; sorted by name. */
export const retiredFiles: readonly RetiredName[] = [
  { name: "body-cache.ts", instead: "response-cache.ts" },
  {
    name: "draft.ts",
    instead: "idempotent-input.ts",
    allowedIn: ["server/features/questions/providers/question-bank/draft.ts"],
  },
  {
    name: "feed.ts",
    instead: "event-feed.ts",
    allowedIn: ["server/features/archive/feed.ts"],
  },
  { name: "gate.ts", instead: "concurrency-limiter.ts" },
  { name: "id-blocks.ts", instead: "hi-lo-allocator.ts" },
  { name: "in-turns.ts", instead: "for-each-in-batches.ts" },
  { name: "join.ts", instead: "catch-up.ts" },
  { name: "key-ring.ts", instead: "api-key-cache.ts" },
  { name: "link-check.ts", instead: "connection-health.ts" },
  { name: "ring.ts", instead: "replay-buffer.ts" },
  { name: "serial.ts", instead: "coalesced-task.ts" },
  { name: "sized-cache.ts", instead: "byte-lru-cache.ts" },
  { name: "thinned-log.ts", instead: "log-sampling.ts" },
  { name: "turns.ts", instead: "distributed-lock.ts" },
  { name: "upload-places.ts", instead: "upload-quota.ts" },
];
