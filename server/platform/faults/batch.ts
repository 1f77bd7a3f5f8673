import { nameOfInstance, type Instance } from "../instance.ts";
import type { Origin } from "../origin.ts";
import { maskText } from "../text/masking.ts";
import {
  groupIdOf,
  groupKeyOf,
  shortStackOf,
  type GroupedError,
  type GroupKey,
} from "./grouping.ts";

/** Length of the periods in which occurrences are counted. */
export const periodMs = 300_000;

/** Something failed, or ended well only by a fallback. */
export interface Occurrence extends GroupedError {
  origin: Origin;
  job?: FailedJob;
}

export interface FailedJob {
  queue: string;
  id: string;
  attempt: number;
  /** True: no further attempt follows, the job is listed as failed. */
  isFinal: boolean;
}

export interface TimedOccurrence extends Occurrence {
  atMs: number;
}

/** One occurrence of a group as people see it, masked and bounded. */
export interface FaultExample {
  atMs: number;
  text: string;
  stack: string;
  requestId: string | null;
  playerId: number | null;
  room: string | null;
  job: { queue: string; id: string; attempt: number } | null;
  /** Process role, index and instance id. */
  process: string;
}

/** The occurrences of one group in a batch, in the form that the script of the store reads. */
export interface GroupedOccurrences {
  id: string;
  /** Of the facts of the group, as JSON text. */
  key: string;
  place: string;
  firstMs: number;
  lastMs: number;
  total: number;
  /** Number of occurrences by number of the period. */
  periods: [period: number, count: number][];
  players: number[];
  /** Jobs without a further attempt, and when they failed. */
  jobs: [id: string, failedAtMs: number][];
  /** Requests that the occurrences go back to; the store of groups does not read it. */
  requestIds: string[];
  /** The latest occurrence, as JSON text. */
  example: string;
}

const maxExampleText = 500;
const maxOriginText = 64;

/** Groups the occurrences of a batch. Of a job that failed several times, the last failure counts. */
export function groupOccurrences(
  occurrences: readonly TimedOccurrence[],
  instance: Instance,
): GroupedOccurrences[] {
  const groups = new Map<string, { key: GroupKey; members: TimedOccurrence[] }>();
  const lastOfJob = new Map<string, TimedOccurrence>();
  for (const given of occurrences) {
    const occurrence = readable(given);
    const key = groupKeyOf(occurrence);
    const id = groupIdOf(key);
    const group = groups.get(id) ?? { key, members: [] };
    group.members.push(occurrence);
    groups.set(id, group);
    const { job } = occurrence;
    if (job?.isFinal) lastOfJob.set(`${job.queue}/${job.id}`, occurrence);
  }
  const last = new Set(lastOfJob.values());
  return [...groups].map(([id, { key, members }]) => summarize(id, key, members, last, instance));
}

/** One error without readable words, of a library or of a careless throw, must not cost the batch. */
function readable(occurrence: TimedOccurrence): TimedOccurrence {
  try {
    groupKeyOf(occurrence);
    exampleTextOf(occurrence);
    return occurrence;
  } catch {
    return { ...occurrence, error: new Error("an error without readable words") };
  }
}

function summarize(
  id: string,
  key: GroupKey,
  members: readonly TimedOccurrence[],
  last: ReadonlySet<TimedOccurrence>,
  instance: Instance,
): GroupedOccurrences {
  const periods = new Map<number, number>();
  const players = new Set<number>();
  const requestIds = new Set<string>();
  const jobs: [string, number][] = [];
  let [firstMs, latest] = [Infinity, members[0]];
  for (const member of members) {
    const { atMs, origin, job } = member;
    const period = Math.floor(atMs / periodMs);
    periods.set(period, (periods.get(period) ?? 0) + 1);
    if (origin.playerId !== null) players.add(origin.playerId);
    if (origin.requestId !== null) requestIds.add(origin.requestId);
    if (job !== undefined && last.has(member)) jobs.push([job.id, atMs]);
    firstMs = Math.min(firstMs, atMs);
    if (latest === undefined || atMs >= latest.atMs) latest = member;
  }
  return {
    id,
    key: JSON.stringify(key),
    place: key.place,
    firstMs,
    lastMs: latest?.atMs ?? firstMs,
    total: members.length,
    periods: [...periods],
    players: [...players],
    requestIds: [...requestIds],
    jobs,
    example: latest === undefined ? "" : JSON.stringify(exampleOf(latest, instance)),
  };
}

function exampleOf(occurrence: TimedOccurrence, instance: Instance): FaultExample {
  const { atMs, error, origin, job } = occurrence;
  const { requestId, playerId, room } = origin;
  return {
    atMs,
    text: exampleTextOf(occurrence),
    stack: shortStackOf(error),
    requestId: requestId?.slice(0, maxOriginText) ?? null,
    playerId,
    room: room?.slice(0, maxOriginText) ?? null,
    job: job === undefined ? null : { queue: job.queue, id: job.id, attempt: job.attempt },
    process: nameOfInstance(instance),
  };
}

const exampleTextOf = ({ error }: TimedOccurrence) =>
  maskText(error instanceof Error ? textOf(error) : String(error), maxExampleText);

/** The error and what caused it, in one line. */
function textOf(error: Error): string {
  const { cause } = error;
  const isNew = cause instanceof Error && !error.message.includes(cause.message);
  return isNew ? `${error.message}: ${cause.message}` : error.message;
}
