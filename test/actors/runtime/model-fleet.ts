import type { Lobbies, LobbyCommand, LobbyReply } from "../../../actors/index.ts";
import { eventStreamKey, ownerKey, shardOf } from "../../../actors/runtime/keys.ts";
import { createRouter, defaultAskTimings } from "../../../actors/runtime/router.ts";
import { defaultTimings } from "../../../actors/runtime/liveness.ts";
import { silentLogger } from "../../../server/core/logger.ts";
import { createMetrics } from "../../../server/core/metrics.ts";
import { chanceFrom } from "../../simulation/chance.ts";
import type { Network } from "../../simulation/link.ts";
import { ModelRedis } from "../../simulation/model-redis.ts";
import { publish, wire, type Wiring } from "../../simulation/network.ts";
import {
  by,
  codes,
  context,
  createCommand,
  newSeat,
  question,
  seatsOf,
  shards,
  startOfTime,
} from "../../simulation/openings.ts";
import { Timeline, timingOf, type Place } from "../../simulation/timeline.ts";

export const [code = ""] = codes;
export const [host = 0, guest = 0] = seatsOf(code);

export interface ModelMember {
  place: Place;
  wiring: Wiring;
  lobbies: Lobbies;
}

interface Message {
  seq: number;
  type: string;
  data: Record<string, unknown>;
}

const settled = () => new Promise<void>((done) => setImmediate(done));

/** Workers on the model of the store and in turned time, for tests that need one certain order of things. */
export class ModelFleet {
  readonly timeline = new Timeline();
  readonly redis = new ModelRedis(() => this.wall());
  readonly net: Network = {
    timeline: this.timeline,
    chance: chanceFrom(1),
    redis: this.redis,
    isUp: true,
    isInstant: false,
    messages: { lost: 0, doubled: 0, late: 0 },
    ears: new Map(),
    injected: 0,
  };
  readonly #members: ModelMember[] = [];

  constructor() {
    this.redis.publish = (channel, message) => publish(this.net, channel, message);
    this.redis.keepJournal(() => this.timeline.now);
  }

  wall(): number {
    return Math.floor(startOfTime + this.timeline.now);
  }

  async pass(ms: number): Promise<void> {
    const end = this.timeline.now + ms;
    await settled();
    while (this.timeline.step(end)) await settled();
    this.timeline.now = end;
  }

  /** Turns time until the promise resolves. */
  async until<T>(promise: Promise<T> | T): Promise<T> {
    let result: { value: T } | null = null;
    const arrival = Promise.resolve(promise).then((value) => void (result = { value }));
    while (result === null) await this.pass(0.5);
    await arrival;
    return await promise;
  }

  async join(name: string): Promise<ModelMember> {
    const place: Place = { name, isAlive: true, frozenUntil: 0 };
    const wiring = wire(this.net, place);
    let drawn = 0;
    const lobbies = await this.until(
      createRouter({
        incarnation: name,
        connections: wiring.connections,
        timing: timingOf(this.timeline, place),
        timings: { ...defaultTimings, ...defaultAskTimings },
        shards,
        log: silentLogger,
        clock: { now: () => this.wall() },
        metrics: createMetrics(),
        context,
        seatLimit: null,
        enqueueResult: async () => undefined,
        draw: async ({ count }) => Array.from({ length: count }, () => question(++drawn)),
      }),
    );
    await this.until(lobbies.join());
    const member = { place, wiring, lobbies };
    this.#members.push(member);
    return member;
  }

  ask({ lobbies }: ModelMember, command: LobbyCommand, id?: string): Promise<LobbyReply> {
    return this.until(lobbies.ask(code, command, id));
  }

  /** A lobby of two that waits for its start, at event number 2. */
  async open(member: ModelMember): Promise<void> {
    const opening = { mode: "coop", questions: 3, isStarted: false, version: 0 } as const;
    const lasting = { staleMs: 75_000, hostGraceMs: 60_000, minQuestionMs: 0 };
    await this.ask(member, {
      ...createCommand(code, opening, 4),
      timings: lasting,
    } as LobbyCommand);
    await this.ask(member, { type: "join", seat: newSeat(guest), ...by(guest) });
  }

  ownerFirst(members: ModelMember[]): ModelMember[] {
    const owner = this.redis.get(ownerKey(shardOf(code)))?.split("|")[0];
    return members.toSorted(
      (a, b) => Number(b.place.name === owner) - Number(a.place.name === owner),
    );
  }

  /** What is in the log of the lobby. */
  messages(): Message[] {
    return (this.redis.streams.get(eventStreamKey(code)) ?? []).map(
      ([, text]) => JSON.parse(text.slice(text.indexOf("\n"))) as Message,
    );
  }

  die({ place, wiring }: ModelMember): void {
    place.isAlive = false;
    wiring.end(true);
  }
}

export const setPrompt = (prompt: string): LobbyCommand => ({
  type: "settings",
  changes: { prompt },
  ...by(host),
});
