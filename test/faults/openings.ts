import { erased } from "../../actors/create-rooms.ts";
import { defineRoom } from "../../actors/kind.ts";
import { lobbyRules } from "../../actors/lobby/actor.ts";
import { evolve } from "../../actors/lobby/evolve.ts";
import type {
  DrawnQuestion,
  Lobby,
  LobbyCommand,
  LobbyEvent,
  Mode,
  Settings,
} from "../../actors/lobby/types.ts";
import { RoomMemory } from "../../actors/memory.ts";
import { allShards, shardOf } from "../../actors/log/keys.ts";
import { nothingStored, stampOf } from "../../actors/log/stored-state.ts";
import { maxPlayers, secretOf } from "./ledger.ts";
import type { ModelRedis } from "./model-redis.ts";
import { noOrigin } from "../../server/platform/origin.ts";
import { dueKey, eventStreamKey, lobbyKey, ownerKey } from "../support/lobby-keys.ts";

export const context = { hubUrl: "/v1/hub", topicBase: "/t" };
/** Short lifetimes, so that a schedule of seconds reaches all of them. */
export const timings = { staleMs: 1_500, hostGraceMs: 1_000, minQuestionMs: 0 };
/** Wall clock at virtual time 0. */
export const startOfTime = Date.UTC(2026, 0, 31, 12, 0, 0);

/** Two lobbies of different shards; more lobbies would add no new cases. */
export const codes: readonly string[] = ["AAAAAA", "BBBBBB"];
export const shards: readonly number[] = codes.map(shardOf);
export const emptyShards: readonly number[] = allShards.filter((shard) => !shards.includes(shard));

/** Seats are numbered per lobby; the host's is the first. */
export const seatsOf = (code: string): number[] => {
  const first = 10 * (codes.indexOf(code) + 1);
  return [first, first + 1, first + 2, first + 3];
};

export function question(id: number): DrawnQuestion {
  return {
    id,
    category: "science",
    difficulty: id % 2 === 0 ? "easy" : "hard",
    text: `Question ${id}?`,
    choices: ["a", "b", "c", "d"],
    correctIndex: id % 4,
    explanation: secretOf(id),
    estimatedRate: 50,
    isCached: true,
    numServed: 0,
    numCorrect: 0,
  };
}

/** Progress of a lobby when a schedule begins. */
export interface Opening {
  mode: Mode;
  questions: number | null;
  isStarted: boolean;
  /** Commits already made; around the 32nd, the next ones store the whole lobby. */
  version: number;
  /** A third seat, which nobody holds any more, fills the lobby and may be taken (LOB-30). */
  isHaunted?: boolean;
}

export function settingsOf(opening: Pick<Opening, "mode" | "questions">): Settings {
  return {
    category: null,
    selected_categories: [],
    difficulty: null,
    prompt: null,
    blend: false,
    review: true,
    timer: 1,
    num_questions: opening.questions,
    visibility: "public",
    mode: opening.mode,
  };
}

export const newSeat = (id: number) => ({
  id,
  name: `P${id}`,
  accountId: id % 2 === 0 ? id : null,
  avatarUrl: null,
});
export const by = (seatId: number) => ({ by: { seatId, playerId: null } });

export function createCommand(code: string, opening: Opening, seatBound: number): LobbyCommand {
  const [host = 0] = seatsOf(code);
  return {
    type: "create",
    id: host,
    code,
    realm: "default",
    maxPlayers: seatBound,
    timings,
    settings: settingsOf(opening),
    host: newSeat(host),
  };
}

/** Fields of the stored lobby, its seq, its deadline and its state. */
export interface Prepared {
  fields: [string, string][];
  seq: number;
  due: number | null;
  version: number;
  state: string;
}

const prepared = new Map<string, Prepared>();

/** A lobby produced by the real rules and batches; created once per opening. */
export function prepare(code: string, opening: Opening): Prepared {
  const key = `${code} ${JSON.stringify(opening)}`;
  const known = prepared.get(key);
  if (known) return known;
  const made = play(code, opening);
  prepared.set(key, made);
  return made;
}

/** Age of a haunted lobby when the schedule begins. */
const hauntedMs = 4_000;

/** Further commands of a haunted lobby: its third seat is disconnected, and the grace period is over. */
function haunting(code: string): [LobbyCommand, number][] {
  const [host = 0, second = 0] = seatsOf(code);
  const ghost = host + 9;
  const signs = (at: number) =>
    [host, second].map((id): [LobbyCommand, number] => [{ type: "heartbeat", ...by(id) }, at]);
  return [
    [{ type: "join", seat: newSeat(ghost), ...by(ghost) }, -hauntedMs],
    ...signs(-2_600),
    [{ type: "tick" }, timings.staleMs - hauntedMs],
    ...signs(-700),
  ];
}

function play(code: string, opening: Opening): Prepared {
  const [host = 0, second = 0] = seatsOf(code);
  const start: LobbyCommand = {
    type: "start",
    revision: Math.max(0, opening.version - 3),
    questions: Array.from({ length: opening.questions ?? 4 }, (_, i) => question(host * 100 + i)),
    ...by(host),
  };
  const commands: LobbyCommand[] = [
    createCommand(code, opening, maxPlayers),
    { type: "join", seat: newSeat(second), ...by(second) },
    ...Array.from({ length: Math.max(0, opening.version - 3) }, (_, i) => ({
      type: "settings" as const,
      changes: { prompt: `p${i}` },
      ...by(host),
    })),
    ...(opening.isStarted ? [start] : []),
  ];
  const steps = commands.map((command): [LobbyCommand, number] => [
    command,
    opening.isHaunted ? -hauntedMs : 0,
  ]);
  if (opening.isHaunted) steps.push(...haunting(code));
  const rules = erased(defineRoom(lobbyRules(context, null, {})));
  const memory = new RoomMemory(rules, code, nothingStored(), startOfTime);
  const fields = new Map<string, string>();
  let state: Lobby | null = null;
  let due: number | null = null;
  let version = 0;
  steps.forEach(([command, ms], i) => {
    const one = [{ command, id: `c.${command.type}.opening${i}`, origin: noOrigin }];
    const { commit, events } = memory.decide(one, startOfTime + ms, `opening.${i}`);
    if (!commit) throw new Error(`opening ${command.type} was refused`);
    for (const event of events) state = evolve(state, event as LobbyEvent);
    for (const name of commit.removedFields) fields.delete(name);
    for (const [name, value] of commit.fields) fields.set(name, value);
    fields.set("v", stampOf(commit.version, commit.id));
    if (commit.due !== undefined) due = commit.due;
    version = commit.version;
  });
  return {
    fields: [...fields],
    seq: memory.state?.seq ?? 0,
    due,
    version,
    state: JSON.stringify(state),
  };
}

/** Stores a prepared lobby as its last owner would have left it. */
export function seed(redis: ModelRedis, code: string, lobby: Prepared): void {
  redis.hashes.set(lobbyKey(code), new Map(lobby.fields));
  if (lobby.seq > 0) redis.streams.set(eventStreamKey(code), [[lobby.seq, ""]]);
  if (lobby.due !== null && !redis.faults.forgetsDeadlines)
    redis.sorted.set(dueKey(shardOf(code)), new Map([[code, lobby.due]]));
  redis.strings.set(ownerKey(shardOf(code)), "");
}
