import Type, { type Static, type TObject } from "typebox";
import type { JobsOptions } from "bullmq";

/** One queue: what a job carries, how it is named, retried and run (ARCHITECTURE: a queue job). */
export interface QueueDefinition<P extends TObject = TObject> {
  name: string;
  payload: P;
  /** Same id = same work: a second add while the first is known does nothing. No ":" allowed. */
  jobId: (payload: Static<P>) => string;
  /** Same id = the same work while one such job waits or runs; once it is over, a new one is made. */
  mergeId?: (payload: Static<P>) => string;
  options: JobsOptions;
  /** Jobs run at once per worker process. */
  concurrency: number;
  /** Takes long enough that operators want to see how far it is, and to end it. */
  isWatched?: boolean;
}

/** How far a job is, as the queue board shows it. */
export interface JobProgress {
  phase: string;
  done: number;
  /** 0 while it is not known. */
  total: number;
  /** Percent of the phase. */
  progress: number;
}

/** The cancel signal of a running job, and its progress reports. */
export interface JobWatch {
  /** Aborted when it is not wanted any more. */
  signal: AbortSignal;
  report: (progress: JobProgress) => void;
}

/** What hands jobs to the queues takes from the dependencies. */
export interface WithEnqueue {
  /** Adds a job; the same job id twice is one job. */
  enqueue: <P extends TObject>(queue: QueueDefinition<P>, payload: Static<P>) => Promise<string>;
}

export interface WithEnqueueAndWait {
  /** Adds a job and waits for it: true when it completed within `timeoutMs`. */
  enqueueAndWait: <P extends TObject>(
    queue: QueueDefinition<P>,
    payload: Static<P>,
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
  // Names of models may have what an id may not.
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
    /** Never used before: tells one miss from the next of the same kind. */
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
  // For about as long as the sheet is kept: a database may be away for hours.
  options: retries(18, 1_000),
  concurrency: 4,
});

/** Sends one mail or text message; what it says waits, sealed, in its row (USR-10). */
export const mail = defineQueue({
  name: "mail",
  payload: Type.Object({
    messageId: Type.Integer(),
    /** 0, or when the clean-up found the message left behind: a bucket of time. */
    round: Type.Integer(),
  }),
  jobId: (p) => `message-${p.messageId}-${p.round}`,
  mergeId: (p) => `message-${p.messageId}`,
  options: retries(5, 10_000),
  concurrency: 8,
});

/** Has an uploaded picture judged (AV-05). */
export const avatarModeration = defineQueue({
  name: "avatar-moderation",
  payload: Type.Object({
    uploadId: Type.Integer(),
    /** 0, or when the clean-up found the upload left behind: a bucket of time. */
    round: Type.Integer(),
  }),
  jobId: (p) => `upload-${p.uploadId}-${p.round}`,
  mergeId: (p) => `upload-${p.uploadId}`,
  options: retries(5, 2_000),
  concurrency: 2,
});

/** Imports an envelope file that lies where the job workers run (IMP-03). */
export const codexImport = defineQueue({
  name: "codex-import",
  payload: Type.Object({
    game: Type.String(),
    /** Absolute path. */
    envelope: Type.String(),
    /** Distinguishes one wish to import the file from the next. */
    stamp: Type.Integer(),
    /** The patch may remove more than half of what its branch has. */
    allowShrink: Type.Optional(Type.Boolean()),
  }),
  jobId: (p) => `import-${p.game}-${hashText(p.envelope)}-${p.stamp}`,
  options: retries(5, 5_000),
  concurrency: 1,
  isWatched: true,
});

/** Makes the rows of the projection anew from the archive (IMP-05). */
export const projectionRebuild = defineQueue({
  name: "projection-rebuild",
  payload: Type.Object({
    game: Type.String(),
    action: Type.Union([Type.Literal("preview"), Type.Literal("apply"), Type.Literal("back")]),
    /** Preview to apply; null previews and applies in one go. */
    build: Type.Union([Type.Integer(), Type.Null()]),
    /** Distinguishes one request from the next. */
    stamp: Type.Integer(),
  }),
  jobId: (p) => `${p.action}-${p.game}-${p.build ?? "all"}-${p.stamp}`,
  options: retries(5, 5_000),
  concurrency: 1,
});

/** Imports the sample game unless the game has data (CFG-03); each start of the service asks for it. */
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

/** Finds out whether an address that asked for a code or a reset has an account, and writes to it (S1). */
export const credentialRequests = defineQueue({
  name: "credential-requests",
  payload: Type.Object({
    requestId: Type.Integer(),
    /** 0, or when the clean-up found the request left behind: a bucket of time. */
    round: Type.Integer(),
  }),
  jobId: (p) => `request-${p.requestId}-${p.round}`,
  mergeId: (p) => `request-${p.requestId}`,
  options: retries(5, 2_000),
  concurrency: 4,
});

/** Periodic upkeep by name: clean-up of ended sessions and the like. */
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
  maintenance,
];

function hashText(text: string): string {
  let hash = 2_166_136_261;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16_777_619);
  return (hash >>> 0).toString(36);
}
