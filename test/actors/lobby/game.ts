import assert from "node:assert/strict";
import { answerBody } from "../../../actors/lobby/answers.ts";
import { nextDeadline } from "../../../actors/lobby/decide-tick.ts";
import { decide } from "../../../actors/lobby/decide.ts";
import { evolve } from "../../../actors/lobby/evolve.ts";
import {
  messageData,
  messageTypes,
  type LobbyMessageType,
} from "../../../actors/lobby/messages.ts";
import { lobbySnapshot } from "../../../actors/lobby/snapshot.ts";
import type {
  LobbyCaller,
  DrawnQuestion,
  Lobby,
  LobbyCommand,
  LobbyEvent,
  NewSeat,
  Settings,
  Timings,
} from "../../../actors/lobby/types.ts";
import { hashAnswer } from "../../../server/features/questions/seal.ts";

export const context = { hubUrl: "https://play.example/v1/hub", topicBase: "/games/trivia" };
export const epoch = Date.UTC(2026, 0, 31, 12, 0, 0);
export const timings: Timings = { staleMs: 75_000, hostGraceMs: 60_000, minQuestionMs: 3_000 };

/** Words that occur in no question text: found anywhere before a reveal they are a leak. */
export const secretOf = (id: number) => `secret-of-${id}`;

/** Salts that the draw would generate randomly; like the other secrets they occur in no question text. */
export const saltOf = (id: number) => `salt-of-${id}`;

export function question(id: number, change: Partial<DrawnQuestion> = {}): DrawnQuestion {
  const choices = ["a", "b", "c", "d"];
  const correctIndex = id % 4;
  return {
    id,
    category: "science",
    difficulty: "medium",
    text: `Question ${id}?`,
    choices,
    correctIndex,
    explanation: secretOf(id),
    estimatedRate: 55,
    isCached: true,
    numServed: 8,
    numCorrect: 6,
    answerSalt: saltOf(id),
    answerHash: hashAnswer(saltOf(id), { id, correctIndex, choices }),
    ...change,
  };
}

export const questions = (from: number, count: number) =>
  Array.from({ length: count }, (_, i) => question(from + i));

export const seat = (id: number, accountId: number | null = null): NewSeat => ({
  id,
  name: `Player ${id}`,
  accountId,
  avatarUrl: null,
});

export const by = (seatId: number | null, playerId: number | null = null): LobbyCaller => ({
  seatId,
  playerId,
});

export const defaults: Settings = {
  category: null,
  selected_categories: [],
  difficulty: null,
  prompt: null,
  blend: false,
  review: false,
  timer: 30,
  num_questions: 3,
  visibility: "public",
  mode: "versus",
};

export const host = 1;
/** More ticks than any game needs between two commands. */
const maxTicks = 1_000;
const hostAccount = 901;

type Create = Extract<LobbyCommand, { type: "create" }>;

export interface GameOptions {
  settings?: Partial<Settings>;
  timings?: Partial<Timings>;
  maxPlayers?: number;
  /** Seats besides the host, which is seat 1 of player 901. */
  guests?: number[];
}

/** A lobby with a manual clock; every command goes through decide and evolve as in the runtime. */
export class Game {
  lobby: Lobby | null = null;
  now = epoch;
  /** Everything committed so far. */
  readonly events: LobbyEvent[] = [];
  readonly messages: { type: LobbyMessageType; data: Record<string, unknown> }[] = [];

  /** Events of an accepted command; fails if it is refused. */
  do(command: LobbyCommand): LobbyEvent[] {
    const outcome = this.run(command);
    assert.ok(outcome.ok, `${command.type} was refused: ${JSON.stringify(outcome)}`);
    return outcome.events;
  }

  /** The body of an accepted command. */
  body(command: LobbyCommand): ReturnType<typeof JSON.parse> {
    const outcome = this.run(command);
    assert.ok(outcome.ok, `${command.type} was refused: ${JSON.stringify(outcome)}`);
    return outcome.body === null ? null : JSON.parse(outcome.body);
  }

  /** The code of a refused command; fails if it is accepted. */
  refused(command: LobbyCommand): string {
    const before = JSON.stringify(this.lobby);
    const outcome = this.run(command);
    assert.ok(!outcome.ok, `${command.type} was accepted`);
    assert.equal(JSON.stringify(this.lobby), before, "a refusal changes nothing");
    return outcome.code;
  }

  run(command: LobbyCommand) {
    const decision = decide(this.lobby, command, this.now);
    if (!decision.ok) return { ok: false as const, ...decision.rejection };
    for (const event of decision.events) this.#fold(freeze(event));
    const body = this.lobby && answerBody(this.lobby, decision.answer, this.now, context);
    return { ok: true as const, events: decision.events, body, answer: decision.answer };
  }

  #fold(event: LobbyEvent): void {
    this.lobby = freeze(evolve(this.lobby, event));
    this.events.push(event);
    const type = messageTypes[event.type];
    if (type) this.messages.push({ type, data: messageData(this.lobby, event, context) });
  }

  get state(): Lobby {
    assert.ok(this.lobby);
    return this.lobby;
  }

  snapshot(): ReturnType<typeof JSON.parse> {
    return JSON.parse(JSON.stringify(lobbySnapshot(this.state, this.now, context)));
  }

  /** Data of the newest message of a type. */
  last(type: LobbyMessageType): ReturnType<typeof JSON.parse> {
    return this.messages.findLast((message) => message.type === type)?.data;
  }

  wait(ms: number): this {
    this.now += ms;
    return this;
  }

  /** Advances the clock like the ticker, with a tick at every deadline on the way. */
  pass(ms: number): LobbyEvent[] {
    const until = this.now + ms;
    const events: LobbyEvent[] = [];
    for (let ticks = 0; ; ticks++) {
      assert.ok(ticks < maxTicks, "a deadline is never served");
      const due = nextDeadline(this.state);
      if (due === null || due > until || this.state.status === "finished") break;
      this.now = Math.max(this.now, due);
      events.push(...this.do({ type: "tick" }));
    }
    this.now = until;
    return events;
  }
}

/** Events are frozen, so an evolve that mutates one throws. */
function freeze<T>(value: T): T {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value;
  Object.freeze(value);
  Object.values(value).forEach(freeze);
  return value;
}

export function createCommand(options: GameOptions = {}): Create {
  return {
    type: "create",
    id: 77,
    code: "ABCDEF",
    realm: "main",
    settings: { ...defaults, ...options.settings },
    maxPlayers: options.maxPlayers ?? 8,
    timings: { ...timings, ...options.timings },
    host: seat(host, hostAccount),
  };
}

export function waiting(options: GameOptions = {}): Game {
  const game = new Game();
  game.do(createCommand(options));
  for (const id of options.guests ?? [2]) game.do({ type: "join", seat: seat(id), by: by(null) });
  return game;
}

/** A started game; its questions have the ids 100, 101, ... and the correct choice `id % 4`. */
export function playing(options: GameOptions = {}): Game {
  const game = waiting(options);
  const count = game.state.settings.num_questions ?? 10;
  game.do({ type: "prepare", by: by(host) });
  game.do({
    type: "start",
    by: by(host),
    revision: game.state.settingsRevision,
    questions: questions(100, count),
  });
  return game;
}

export const answer = (
  seatId: number,
  selectedIndex: number,
  claimedMs = 0,
  index: number | null = null,
): LobbyCommand => ({ type: "answer", by: by(seatId), selectedIndex, claimedMs, index });

export const pick = (
  seatId: number,
  selectedIndex: number,
  index: number | null = null,
): LobbyCommand => ({ type: "pick", by: by(seatId), selectedIndex, index });

export const next = (seatId = host, index: number | null = null): LobbyCommand => ({
  type: "next",
  by: by(seatId),
  index,
});

export const lock = (seatId = host, index: number | null = null): LobbyCommand => ({
  type: "lock",
  by: by(seatId),
  index,
});

export const types = (events: readonly { type: string }[]) => events.map((event) => event.type);
