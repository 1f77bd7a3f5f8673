import type { Failure } from "../../../../server/features/faults/domain/failures.ts";
import { startedAt } from "../../platform/faults/stored-faults.ts";

/** 24 hours: five occurrences in the hour before the last one, seven in the last one. */
const periods = Array.from({ length: 288 }, (_, at) => (at === 270 ? 5 : at === 287 ? 7 : 0));

/** A group of failed mails, as the store and the decisions describe it. */
export const sampleFailure: Failure = {
  id: "1-0123456789abcdef",
  key: {
    kind: "job",
    place: "mail",
    code: "smtp.refused",
    peer: "mail.example:25",
    status: 550,
    name: null,
    text: null,
    source: null,
  },
  firstMs: startedAt - 3_600_000,
  lastMs: startedAt,
  total: 1_234,
  periods,
  periodsFromMs: startedAt - 86_400_000,
  numPlayers: 12,
  numJobs: 41,
  jobsFromMs: null,
  state: "open",
  decision: {
    note: "ask the provider",
    noteBy: "olga",
    noteAt: new Date(startedAt),
  } as Failure["decision"],
  example: {
    atMs: startedAt,
    text: "no such mailbox",
    stack: "    at send (workers/mail.ts)",
    requestId: "req-1",
    playerId: 77,
    room: "lobby/ABCD",
    job: { queue: "mail", id: "j/1", attempt: 3 },
    process: "jobs 0 abc",
  },
};
