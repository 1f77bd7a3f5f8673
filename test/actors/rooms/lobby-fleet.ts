import type { LobbyCommand, Reply } from "../../../actors/index.ts";
import { shardOf } from "../../../actors/log/keys.ts";
import { by, codes, createCommand, newSeat, seatsOf, shards } from "../../faults/openings.ts";
import { VirtualFleet, type VirtualWorker } from "./virtual-fleet.ts";
import { eventStreamKey, ownerKey } from "../../support/lobby-keys.ts";

export const [code = ""] = codes;
export const [host = 0, guest = 0] = seatsOf(code);

interface Message {
  seq: number;
  type: string;
  data: Record<string, unknown>;
}

/** Workers that share a lobby, with a Redis that can lose its latest writes. */
export class LobbyFleet extends VirtualFleet {
  constructor() {
    super(shards);
    this.redis.keepJournal(() => this.now);
  }

  async member(name: string, alter?: Parameters<VirtualFleet["start"]>[1]): Promise<VirtualWorker> {
    const worker = await this.start(name, alter);
    await this.join(worker);
    return worker;
  }

  ask({ lobbies }: VirtualWorker, command: LobbyCommand, id?: string): Promise<Reply> {
    return this.ended(Promise.resolve(lobbies.ask(code, command, id)));
  }

  /** A lobby of two that waits for its start, at event number 1. */
  async open(member: VirtualWorker): Promise<void> {
    const opening = { mode: "coop", questions: 3, isStarted: false, version: 0 } as const;
    const lasting = { staleMs: 75_000, hostGraceMs: 60_000, minQuestionMs: 0 };
    await this.ask(member, {
      ...createCommand(code, opening, 4),
      timings: lasting,
    } as LobbyCommand);
    await this.ask(member, { type: "join", seat: newSeat(guest), ...by(guest) });
  }

  ownerFirst(members: VirtualWorker[]): VirtualWorker[] {
    const owner = this.redis.get(ownerKey(shardOf(code)))?.split("|")[0];
    return members.toSorted((a, b) => Number(b.name === owner) - Number(a.name === owner));
  }

  /** The stream of the lobby. */
  messages(): Message[] {
    return (this.redis.streams.get(eventStreamKey(code)) ?? []).map(
      ([, text]) => JSON.parse(text.slice(text.indexOf("\n"))) as Message,
    );
  }
}

export const setPrompt = (prompt: string): LobbyCommand => ({
  type: "settings",
  changes: { prompt },
  ...by(host),
});
