import { evolve } from "../../actors/lobby/evolve.ts";
import { messageTypes } from "../../actors/lobby/messages.ts";
import type { Lobby, LobbyEvent } from "../../actors/lobby/types.ts";
import { countedEvents, eventOf } from "./commands.ts";
import type { StoredCommit } from "./model-redis.ts";

/** A violated invariant; its message begins with the invariant's name. */
export class Violation extends Error {}

export function ensure(holds: boolean, invariant: string, facts: () => string): void {
  if (!holds) throw new Violation(`${invariant}: ${facts()}`);
}

/** Maximum number of seats of every lobby. */
export const maxPlayers = 3;

/** Every secret contains this text, so that a leak is recognizable. */
export const secretOf = (questionId: number) => `secret-${questionId}-`;
const anySecret = /secret-(\d+)-/g;

/** Only the message of a gap contains this text. */
export const gapMark = '"lobby.gap"';

/** A cached answer to an answer command. */
const answerMemory = /^k:.*"id":"c\.answer\./;

/** The simulation's own record of one lobby: every commit, folded independently of the workers. */
export class Ledger {
  readonly code: string;
  state: Lobby | null;
  version: number;
  /** Command ids whose effect is stored -> version and seq of the commit. */
  readonly applied = new Map<string, { version: number; seq: number }>();
  /** Command ids that were refused permanently. */
  readonly refused = new Set<string>();
  /** Ids of `prepare` whose start was abandoned: they may be executed again. */
  readonly undone = new Set<string>();
  /** Ids whose effect was stored and then lost with the last second of Redis. */
  readonly lost = new Set<string>();
  /** Number -> message that Redis had stored and lost; any client may have received it. */
  readonly #gone = new Map<number, string>();
  /** Questions whose answer may be public. */
  readonly revealed = new Set<number>();
  /** `seat:question` of given answers: these seats know the correct one. */
  readonly answered = new Set<string>();
  readonly #origin: { state: string | null; version: number };
  #commits: StoredCommit[] = [];
  #owedPoints = new Map<number, number>();

  constructor(code: string, state: string | null, version: number) {
    this.code = code;
    this.#origin = { state, version };
    this.state = null;
    this.version = 0;
    this.#reset();
  }

  get seq(): number {
    return this.state?.seq ?? 0;
  }

  apply(commit: StoredCommit): void {
    ensure(
      commit.version === this.version + 1,
      "one order for all",
      () => `${this.code} went from version ${this.version} to ${commit.version}`,
    );
    const before = this.seq;
    const events = eventsOf(commit);
    this.version = commit.version;
    this.#commits.push(commit);
    this.#countIds(commit, events);
    if (events) this.#fold(events, commit.messages);
    else this.#adopt(commit);
    if (this.state?.status === "waiting" && this.state.preparingUntil === null)
      this.#undoPrepared();
    const numbers = commit.messages.map(([id]) => Number.parseInt(id, 10));
    ensure(
      isGap(commit) || numbers.every((number, n) => number === before + 1 + n),
      "seq gap-free",
      () => `${this.code}: messages ${numbers.join()} after ${before}`,
    );
    ensure(
      this.seq === (lastNumber(commit) ?? before),
      "seq gap-free",
      () => `${this.code}: ${before} to ${this.seq}, messages ${numbers.join()}`,
    );
    if (this.#gone.size > 0) this.#checkNumbers(commit.messages);
    this.#checkState();
  }

  /** Redis lost everything after this version. */
  rollBack(version: number): void {
    const kept = this.#commits.filter((commit) => commit.version <= version);
    const gone = [...this.applied].filter(([, at]) => at.version > version);
    if (kept.length === this.#commits.length) return;
    for (const { messages } of this.#commits.slice(kept.length))
      for (const [id, text] of messages) this.#gone.set(Number.parseInt(id, 10), text);
    this.#reset();
    this.#commits = [];
    for (const commit of kept) this.apply(commit);
    for (const [id] of gone) this.lost.add(id);
    // The whole lobby was lost: a create with the same code opens another lobby.
    if (this.state !== null) return;
    this.#gone.clear();
  }

  #checkNumbers(messages: StoredCommit["messages"]): void {
    for (const [id, text] of messages) {
      const gone = this.#gone.get(Number.parseInt(id, 10)) ?? text;
      ensure(
        gone === text,
        "no published number is reused",
        () => `${this.code}: ${id} was ${gone.slice(0, 120)} and is ${text.slice(0, 120)}`,
      );
    }
  }

  /** A text sent to `reader` (null: everybody) must not reveal a correct answer early. */
  checkSecrets(text: string, reader: number | null): void {
    if (!text.includes("secret-") && !text.includes('"correct_index"')) return;
    let found = 0;
    for (const [, id] of text.matchAll(anySecret)) {
      found += 1;
      const question = Number(id);
      const may = this.revealed.has(question) || this.answered.has(`${reader}:${question}`);
      ensure(
        may,
        "no answer visible before its reveal",
        () => `${this.code} revealed question ${question} to seat ${reader}: ${text.slice(0, 300)}`,
      );
    }
    ensure(found > 0, "no answer visible before its reveal", () => `${this.code}: ${text}`);
  }

  #reset(): void {
    const { state, version } = this.#origin;
    this.state = state === null ? null : (JSON.parse(state) as Lobby);
    this.version = version;
    this.applied.clear();
    this.refused.clear();
    this.undone.clear();
    this.#owedPoints = new Map();
    this.#learnPlayed();
  }

  #countIds(commit: StoredCommit, events: LobbyEvent[] | null): void {
    const counts = new Map<string, number>();
    for (const [name, value] of commit.fields) {
      if (!name.startsWith("k:")) continue;
      const { id, reply } = JSON.parse(value) as { id: string; reply: { ok: boolean } };
      // The slot of an evicted answer; a repeat of it may follow.
      if (id === "") {
        const isAbandoned = events?.some(({ type }) => type === "prepare_abandoned") ?? true;
        ensure(isAbandoned, "nothing applied twice", () => `${this.code}: ${name} was forgotten`);
        this.#undoPrepared();
        continue;
      }
      ensure(
        !this.applied.has(id) && !this.refused.has(id),
        "nothing applied twice",
        () =>
          `${this.code}: ${id} in versions ${this.applied.get(id)?.version} and ${commit.version}`,
      );
      if (!reply.ok) {
        this.refused.add(id);
        continue;
      }
      this.applied.set(id, { version: commit.version, seq: lastNumber(commit) ?? this.seq });
      const type = eventOf(id);
      if (type) counts.set(type, (counts.get(type) ?? 0) + 1);
    }
    if (!events) return;
    for (const { event, isExact } of countedEvents) {
      const happened = events.filter(({ type }) => type === event).length;
      const asked = counts.get(event) ?? 0;
      ensure(
        isExact ? happened === asked : happened <= asked,
        "nothing applied twice",
        () => `${this.code}: ${happened} events ${event} for ${asked} commands`,
      );
    }
  }

  #fold(events: LobbyEvent[], messages: StoredCommit["messages"]): void {
    let n = 0;
    for (const event of events) {
      const index = this.state?.round?.index ?? -1;
      if (event.type === "question_opened")
        ensure(
          event.index === index + 1,
          "nothing applied twice",
          () => `${this.code}: question ${event.index} follows ${index}`,
        );
      if (event.type === "question_closed") this.#owePoints(event);
      if (event.type === "removed" && event.reason === "away") this.#checkYield(event);
      this.state = evolve(this.state, event);
      if (event.type === "question_closed") this.#learnPlayed();
      if (event.type === "answered") this.#learnAnswer(event.choice.seatId);
      if (messageTypes[event.type] === null) continue;
      this.checkSecrets(messages[n]?.[1] ?? "", null);
      n += 1;
    }
  }

  #checkYield({ seatId, at }: Extract<LobbyEvent, { type: "removed" }>): void {
    const seat = this.state?.seats.find(({ id }) => id === seatId);
    const { staleMs = 0, hostGraceMs = 0 } = this.state?.timings ?? {};
    ensure(
      this.state?.status === "waiting" &&
        seat?.isHost === false &&
        at - seat.lastSeenAt >= staleMs + hostGraceMs,
      "only a silent seat yields",
      () => `${this.code} at ${at}: ${JSON.stringify(seat)}`,
    );
  }

  /** A commit that stores a snapshot has no events, so the state is taken over. */
  #adopt(commit: StoredCommit): void {
    const snapshot = commit.fields.find(([name]) => name === "s");
    const earlier = this.state;
    for (const [name, value] of commit.fields)
      if (answerMemory.test(name + value)) this.#learnAnswer(Number(name.split(":")[1]));
    this.state = JSON.parse(snapshot?.[1] ?? "null") as Lobby | null;
    const seats = (lobby: Lobby | null) => [...(lobby?.seats ?? []), ...(lobby?.formerSeats ?? [])];
    this.#learnPlayed();
    for (const choice of this.state?.round?.choices ?? []) this.#learnAnswer(choice.seatId);
    for (const [, text] of commit.messages) this.checkSecrets(text, null);
    const playedBefore = JSON.stringify(earlier?.played ?? []).slice(0, -1);
    ensure(
      JSON.stringify(this.state?.played ?? []).startsWith(playedBefore),
      "nothing acknowledged lost",
      () => `${this.code}: the snapshot of version ${commit.version} forgot a question`,
    );
    this.#owedPoints = new Map(seats(this.state).map((seat) => [seat.id, seat.score]));
  }

  /** An abandoned start: its first half may be repeated (LOB-24). */
  #undoPrepared(): void {
    for (const id of this.applied.keys()) {
      if (!id.startsWith("c.prepare.")) continue;
      this.applied.delete(id);
      this.undone.add(id);
    }
  }

  #owePoints(event: Extract<LobbyEvent, { type: "question_closed" }>): void {
    for (const { seatId, pointsEarned } of event.results)
      this.#owedPoints.set(seatId, (this.#owedPoints.get(seatId) ?? 0) + pointsEarned);
  }

  #learnPlayed(): void {
    for (const played of this.state?.played ?? []) this.revealed.add(played.questionId);
    if (this.#owedPoints.size > 0) return;
    for (const seat of this.state?.seats ?? []) this.#owedPoints.set(seat.id, seat.score);
  }

  #learnAnswer(seatId: number): void {
    const { state } = this;
    const question = state?.round && state.questions[state.round.index];
    if (question) this.answered.add(`${seatId}:${question.id}`);
  }

  #checkState(): void {
    const { state } = this;
    if (!state) return;
    ensure(
      state.seats.length <= maxPlayers,
      "at most max_players seats",
      () => `${this.code} has ${state.seats.length} of ${maxPlayers}`,
    );
    const ids = [...state.seats, ...state.formerSeats].map((seat) => seat.id);
    ensure(new Set(ids).size === ids.length, "nothing applied twice", () => `seats ${ids.join()}`);
    for (const seat of [...state.seats, ...state.formerSeats])
      ensure(
        seat.score === (this.#owedPoints.get(seat.id) ?? 0),
        "scores equal the sum of points",
        () => `${this.code} seat ${seat.id}: ${seat.score} for ${this.#owedPoints.get(seat.id)}`,
      );
    const { round } = state;
    const choosers = round?.choices.map((choice) => choice.seatId) ?? [];
    ensure(
      new Set(choosers).size === choosers.length,
      "nothing applied twice",
      () => `${this.code}: seats ${choosers.join()} answered question ${round?.index}`,
    );
  }
}

/** A Redis that lost writes: the owner leaves a gap on purpose, so that every client notices. */
export function isGap({ messages }: StoredCommit): boolean {
  return messages.length === 1 && (messages[0]?.[1].includes(gapMark) ?? false);
}

function lastNumber({ messages }: StoredCommit): number | null {
  const last = messages.at(-1);
  return last ? Number.parseInt(last[0], 10) : null;
}

function eventsOf(commit: StoredCommit): LobbyEvent[] | null {
  const delta = commit.fields.find(([name]) => name === `d:${commit.version}`);
  return delta ? (JSON.parse(delta[1]) as LobbyEvent[]) : null;
}
