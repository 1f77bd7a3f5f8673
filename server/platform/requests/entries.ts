/** What is kept by request id. */
export const entryKinds = ["request", "job", "fault"] as const;
export type EntryKind = (typeof entryKinds)[number];

/** One entry as it is written: its facts are a JSON array, which is shorter than an object. */
export interface RequestEntry {
  kind: EntryKind;
  /** Request id. */
  id: string;
  atMs: number;
  facts: readonly (string | number | null)[];
}

export interface KeptRequest {
  /** When it ended. */
  atMs: number;
  method: string;
  /** Pattern of the route. */
  route: string;
  status: number;
  /** Code of the refusal. */
  code: string | null;
  ms: number;
  playerId: number | null;
  room: string | null;
  /** Process role, index and instance id. */
  process: string;
}

export interface KeptJob {
  atMs: number;
  queue: string;
  id: string;
}

type RequestFacts = [
  method: string,
  route: string,
  status: number,
  code: string | null,
  ms: number,
  playerId: number | null,
  room: string | null,
  process: string,
];

/** `<digest of the request id> <milliseconds> <facts>`: the script reads the first two. */
export const entryText = (digest: string, { atMs, facts }: RequestEntry): string =>
  `${digest} ${atMs} ${JSON.stringify(facts)}`;

/** The time and facts of the entries of a request. Others share its list. */
export function entriesOf(digest: string, texts: readonly string[]) {
  const start = `${digest} `;
  return texts
    .filter((text) => text.startsWith(start))
    .map((text) => {
      const rest = text.slice(start.length);
      const at = rest.indexOf(" ");
      return { atMs: Number(rest.slice(0, at)), facts: JSON.parse(rest.slice(at + 1)) as unknown };
    });
}

type Entry = ReturnType<typeof entriesOf>[number];

export function keptRequest({ atMs, facts }: Entry): KeptRequest {
  const [method, route, status, code, ms, playerId, room, process] = facts as RequestFacts;
  return { atMs, method, route, status, code, ms, playerId, room, process };
}

export function keptJob({ atMs, facts }: Entry): KeptJob {
  const [queue, id] = facts as [queue: string, id: string];
  return { atMs, queue, id };
}

export const keptGroup = ({ facts }: Entry): string => (facts as [group: string])[0];
