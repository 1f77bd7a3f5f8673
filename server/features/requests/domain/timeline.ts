import type { EntityManager } from "@mikro-orm/postgresql";
import {
  listMessagesOfRequest,
  type MessageOfRequest,
} from "../../../../db/queries/delivery/outbox.ts";
import { AppError } from "../../../platform/errors.ts";
import type { FaultStore, StoredGroup } from "../../../platform/faults/store.ts";
import type { KeptJob, KeptRequest } from "../../../platform/requests/entries.ts";
import {
  maxOfRequest,
  type KeptRequests,
  type RequestStore,
} from "../../../platform/requests/store.ts";
import { timestamp } from "../../../platform/time/clock.ts";
import { pageSourceMs, withTimeout } from "../../../platform/time/deadline.ts";
import { listAuditedByRequest, type AuditedByRequest } from "./audited.ts";
import type { JobOfRequest } from "./job-reader.ts";

/** What is known of a request by its id (OPS-32). */
export interface RequestTimeline {
  id: string;
  /** Clients choose ids, so that several requests may have one. */
  requests: KeptRequest[];
  /** Those that it queued, and those that their work queued. */
  jobs: JobOfRequest[];
  failures: StoredGroup[];
  messages: MessageOfRequest[];
  audited: AuditedByRequest[];
  /** What ended before is no longer kept; null while Redis is away. */
  olderThanMs: number | null;
  /** Entries of all requests that were not kept. */
  numDropped: number;
  /** False: Redis does not respond, and requests, jobs and failures are unknown. */
  hasRequests: boolean;
  /** False: Postgres does not respond, and messages and changes are unknown. */
  hasMessages: boolean;
}

export interface TimelineDeps {
  requests: Pick<RequestStore, "find">;
  faults: Pick<FaultStore, "find" | "groupsOfJobs">;
  readJob: (job: KeptJob) => Promise<JobOfRequest>;
  /** Opens the database; it may be away. */
  em: () => Promise<EntityManager>;
}

/**
 * What belongs to the requests with this id. Throws `request:not_kept` if both stores know nothing. Parts of a store
 * that does not respond are left out.
 */
export async function findTimeline(deps: TimelineDeps, id: string): Promise<RequestTimeline> {
  const [inRedis, inPostgres] = await Promise.all([
    withTimeout(readRedis(deps, id), pageSourceMs).catch(() => null),
    withTimeout(readPostgres(deps, id), pageSourceMs).catch(() => null),
  ]);
  const { requests, jobs, failures } = inRedis ?? { requests: [], jobs: [], failures: [] };
  const { messages, audited } = inPostgres ?? { messages: [], audited: [] };
  const olderThanMs = inRedis?.olderThanMs ?? null;
  const parts = [requests, jobs, failures, messages, audited];
  if (olderThanMs !== null && inPostgres !== null && parts.every(({ length }) => length === 0))
    throw new AppError("request:not_kept", { params: { kept_since: timestamp(olderThanMs) } });
  return {
    ...{ id, requests, jobs, failures, messages, audited, olderThanMs },
    numDropped: inRedis?.numDropped ?? 0,
    hasRequests: inRedis !== null,
    hasMessages: inPostgres !== null,
  };
}

async function readRedis(deps: TimelineDeps, id: string) {
  const kept = await deps.requests.find(id);
  const keys = new Map(kept.jobs.map((job) => [`${job.queue}/${job.id}`, job]));
  const jobs = await Promise.all([...keys.values()].map((key) => deps.readJob(key)));
  const ids = new Set([...kept.groups, ...(await groupsOf(deps, id, jobs))]);
  const failures = await Promise.all(
    [...ids].slice(0, maxOfRequest).map((each) => deps.faults.find(each)),
  );
  return { ...kept, jobs, failures: failures.filter((group) => group !== null) };
}

/** Groups of the failures of jobs: of those that failed for good, and of those that another request queued first. */
async function groupsOf(
  { requests, faults }: TimelineDeps,
  id: string,
  jobs: readonly JobOfRequest[],
): Promise<string[]> {
  const first = new Set(jobs.map(({ origin }) => origin?.requestId ?? id));
  first.delete(id);
  const others: Promise<KeptRequests>[] = [...first].map((each) => requests.find(each));
  const found = await Promise.all(others);
  return [...(await faults.groupsOfJobs(jobs)), ...found.flatMap(({ groups }) => groups)];
}

async function readPostgres(deps: TimelineDeps, id: string) {
  const em = await deps.em();
  return {
    messages: await listMessagesOfRequest(em, id, maxOfRequest),
    audited: await listAuditedByRequest(em, id, maxOfRequest),
  };
}
