import Type, { type Static, type TObject } from "typebox";
import type { JobsOptions } from "bullmq";
import type { Redis } from "ioredis";
import type { Origin } from "../server/platform/origin.ts";
import { asCluster } from "../server/platform/redis/redis.ts";

/** Prefix of every BullMQ key; in a cluster its scripts need all keys in one slot. */
export const queuePrefixOf = (redis: Redis): string => (asCluster(redis) ? "{jobs}" : "jobs");

/** Key of the failed jobs of a queue by the time of their failure. */
export const failedJobsKeyOf = (redis: Redis, queue: string): string =>
  `${queuePrefixOf(redis)}:${queue}:failed`;

/** Stacks kept of a job, those of its last failures. */
const stackTraceLimit = 2;
/** Lines kept in the log of a job, one per failed attempt. */
export const maxJobLogLines = 10;

/** A queue: the payload of its jobs, their ids, retries and concurrency. */
export interface QueueDefinition<P extends TObject = TObject> {
  name: string;
  payload: P;
  /** Deduplication id: adding a job whose id is known does nothing. Must not contain ":". */
  jobId: (payload: Static<P>) => string;
  /** Deduplication id while such a job waits or runs; once it is finished, a new job is added. */
  mergeId?: (payload: Static<P>) => string;
  options: JobsOptions;
  /** Concurrent jobs per worker process. */
  concurrency: number;
  /** Concurrent jobs over all worker processes. */
  globalConcurrency?: number;
  /** True for long jobs whose progress operators watch and may cancel. */
  isWatched?: boolean;
}

/** Progress of a job, as the queue dashboard shows it. */
export interface JobProgress {
  phase: string;
  done: number;
  /** 0 while unknown. */
  total: number;
  /** Percent of the phase. */
  progress: number;
}

/** The cancel signal of a running job, and its progress reports. */
export interface JobWatch {
  /** Aborted when the job is cancelled. */
  signal: AbortSignal;
  /** Aborted when the process stops: a job that can be resumed throws `JobYielded`, and another process runs it. */
  stopping: AbortSignal;
  report: (progress: JobProgress) => void;
}

/** Thrown by a watched job of a process that stops: the job waits for another process, and no attempt is counted. */
export class JobYielded extends Error {}

/** The dependency through which features enqueue jobs. */
export interface WithEnqueue {
  /** Adds a job; a second job with the same id is ignored, and the first keeps its origin. */
  enqueue: <P extends TObject>(
    queue: QueueDefinition<P>,
    payload: Static<P>,
    origin: Origin,
  ) => Promise<string>;
}

export interface WithEnqueueAndWait {
  /** Adds a job and waits for it: true if it completed within `timeoutMs`. */
  enqueueAndWait: <P extends TObject>(
    queue: QueueDefinition<P>,
    payload: Static<P>,
    origin: Origin,
    timeoutMs: number,
  ) => Promise<boolean>;
}

export type PayloadOf<Q> = Q extends QueueDefinition<infer P> ? Static<P> : never;

export function defineQueue<P extends TObject>(definition: QueueDefinition<P>): QueueDefinition<P> {
  return definition;
}

const retries = (attempts: number, delay: number): JobsOptions => ({
  attempts,
  backoff: { type: "exponential", delay, jitter: 0.5 },
  removeOnComplete: { age: 86_400, count: 1_000 },
  removeOnFail: { age: 14 * 86_400, count: 10_000 },
  stackTraceLimit,
  keepLogs: maxJobLogLines,
});

interface Generation {
  category: string;
  difficulty: string;
  pool: string;
  model: string | null;
  prompt: string | null;
}

/** Identical requests in flight are merged (TRV-03). */
function generationKind({ category, difficulty, pool, model, prompt }: Generation): string {
  // Model names may contain characters that a job id may not.
  const criteria = hashText(JSON.stringify([model, prompt]));
  return `generate-${category}-${difficulty}-${pool}-${criteria}`;
}

/** Fills the stored questions of one category, difficulty and prompt (TRV-03). */
export const questionGeneration = defineQueue({
  name: "question-generation",
  payload: Type.Object({
    category: Type.String(),
    difficulty: Type.String(),
    pool: Type.Union([Type.Literal("public"), Type.Literal("competition"), Type.Literal("both")]),
    prompt: Type.Union([Type.String(), Type.Null()]),
    model: Type.Union([Type.String(), Type.Null()]),
    count: Type.Integer(),
    /** Unique per request: distinguishes one cache miss from the next for the same criteria. */
    request: Type.String(),
  }),
  jobId: (p) => `${generationKind(p)}-${p.request}`,
  mergeId: generationKind,
  options: retries(3, 500),
  concurrency: 4,
});

/** Writes a finished lobby's result sheet, answers and player statistics to Postgres (LOB-27). */
export const lobbyResults = defineQueue({
  name: "lobby-results",
  payload: Type.Object({
    code: Type.String(),
    lobbyId: Type.Integer(),
    seq: Type.Integer(),
    /** Redis hash that holds the result sheet in field `r`. */
    key: Type.String(),
  }),
  jobId: (p) => `lobby-${p.code}-${p.lobbyId}-${p.seq}`,
  // Retries for about as long as the sheet is kept, since Postgres may be down for hours.
  options: retries(18, 1_000),
  concurrency: 4,
});

/** Sends one mail or text message; its content is sealed in its row (USR-10). */
export const mail = defineQueue({
  name: "mail",
  payload: Type.Object({
    messageId: Type.Integer(),
    /** 0, or a time bucket if the clean-up queued the message again. */
    round: Type.Integer(),
  }),
  jobId: (p) => `message-${p.messageId}-${p.round}`,
  mergeId: (p) => `message-${p.messageId}`,
  options: retries(5, 10_000),
  concurrency: 8,
});

/** Moderates an uploaded picture (AV-05). */
export const avatarModeration = defineQueue({
  name: "avatar-moderation",
  payload: Type.Object({
    uploadId: Type.Integer(),
    /** 0, or a time bucket if the clean-up queued the upload again. */
    round: Type.Integer(),
  }),
  jobId: (p) => `upload-${p.uploadId}-${p.round}`,
  mergeId: (p) => `upload-${p.uploadId}`,
  options: retries(5, 2_000),
  concurrency: 2,
});

/** Imports an envelope file on the machine of the job workers (IMP-03). */
export const codexImport = defineQueue({
  name: "codex-import",
  payload: Type.Object({
    game: Type.String(),
    /** Absolute path. */
    envelope: Type.String(),
    /** Distinguishes repeated requests to import the same file. */
    stamp: Type.Integer(),
    /** True: the patch may remove more than half of its branch. */
    allowShrink: Type.Optional(Type.Boolean()),
  }),
  jobId: (p) => `import-${p.game}-${hashText(p.envelope)}-${p.stamp}`,
  options: retries(5, 5_000),
  concurrency: 1,
  isWatched: true,
});

/** Projects all rows from the archive again (IMP-05). */
export const projectionRebuild = defineQueue({
  name: "projection-rebuild",
  payload: Type.Object({
    game: Type.String(),
    action: Type.Union([Type.Literal("preview"), Type.Literal("apply"), Type.Literal("back")]),
    /** The preview to apply; null previews and applies in one step. */
    build: Type.Union([Type.Integer(), Type.Null()]),
    /** Distinguishes one request from the next. */
    stamp: Type.Integer(),
  }),
  jobId: (p) => `${p.action}-${p.game}-${p.build ?? "all"}-${p.stamp}`,
  options: retries(5, 5_000),
  concurrency: 1,
});

/** Imports the sample game unless the game has data (CFG-03); queued at each start of the service. */
export const sampleData = defineQueue({
  name: "sample-data",
  payload: Type.Object({
    game: Type.String(),
    /** Distinguishes one start from the next. */
    stamp: Type.Integer(),
  }),
  jobId: (p) => `sample-${p.game}-${p.stamp}`,
  mergeId: (p) => `sample-${p.game}`,
  options: retries(3, 5_000),
  concurrency: 1,
});

/** Checks whether the address of a credential request has an account, and sends the code or link (S1). */
export const credentialRequests = defineQueue({
  name: "credential-requests",
  payload: Type.Object({
    requestId: Type.Integer(),
    /** 0, or a time bucket if the clean-up queued the request again. */
    round: Type.Integer(),
  }),
  jobId: (p) => `request-${p.requestId}-${p.round}`,
  mergeId: (p) => `request-${p.requestId}`,
  options: retries(5, 2_000),
  concurrency: 4,
});

/** Retries or removes the failed jobs of one group of faults (OPS-50); its row in Postgres says which. */
export const groupActions = defineQueue({
  name: "group-actions",
  payload: Type.Object({ action: Type.Integer() }),
  jobId: (p) => `action-${p.action}`,
  options: retries(8, 5_000),
  concurrency: 1,
  globalConcurrency: 1,
  isWatched: true,
});

/** Periodic maintenance tasks by name, such as the clean-up of ended sessions. */
export const maintenance = defineQueue({
  name: "maintenance",
  payload: Type.Object({ task: Type.String() }),
  jobId: (p) => `maintenance-${p.task}`,
  options: retries(3, 5_000),
  concurrency: 1,
});

export const allQueues: readonly QueueDefinition[] = [
  questionGeneration,
  lobbyResults,
  avatarModeration,
  codexImport,
  projectionRebuild,
  mail,
  credentialRequests,
  sampleData,
  groupActions,
  maintenance,
];

function hashText(text: string): string {
  let hash = 2_166_136_261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16_777_619);
  return (hash >>> 0).toString(36);
}
