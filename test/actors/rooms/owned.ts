import assert from "node:assert/strict";
import type { Reply } from "../../../actors/contract.ts";
import { erased } from "../../../actors/create-rooms.ts";
import { defineRoom } from "../../../actors/kind.ts";
import { lobbyRules } from "../../../actors/lobby/actor.ts";
import type { Lobby, LobbyCommand, Settings } from "../../../actors/lobby/types.ts";
import { RoomMemory } from "../../../actors/memory.ts";
import type { Commit } from "../../../actors/log/journal.ts";
import { loadRoom, nothingStored, stampOf } from "../../../actors/log/stored-state.ts";
import { by, context, createCommand, epoch, host, questions, seat } from "../lobby/game.ts";
import { noOrigin } from "../../../server/platform/origin.ts";

/** A lobby in the runtime, whose owner can be replaced by one that loads the stored state. */
export class Owned {
  now = epoch;
  readonly commits: Commit[] = [];
  readonly #rules = erased(defineRoom(lobbyRules(context, null, {})));
  #memory = new RoomMemory(this.#rules, "ABCDEF", nothingStored(), epoch);
  #fields: Record<string, string> = {};
  #count = 0;

  /** `key`: sent again by its client; commands without one are never repeated. */
  ask(command: LobbyCommand, key?: string): Reply {
    const id = key === undefined ? `${++this.#count}.w1` : `c.${command.type}.${key}`;
    const commitId = `${++this.#count}.w1`;
    const delivery = { command, id, origin: noOrigin };
    const { replies, commit } = this.#memory.decide([delivery], this.now, commitId);
    if (commit) this.#store(commit);
    const [reply] = replies;
    assert.ok(reply);
    return reply;
  }

  get lobby(): Lobby {
    const { state } = this.#memory;
    assert.ok(state);
    return state as Lobby;
  }

  wait(ms: number): this {
    this.now += ms;
    return this;
  }

  async takeOver(): Promise<void> {
    const stored = await loadRoom({ hgetall: async () => this.#fields }, "ABCDEF", this.#rules);
    this.#memory = new RoomMemory(this.#rules, "ABCDEF", stored, this.now);
  }

  #store(commit: Commit): void {
    this.commits.push(commit);
    for (const name of commit.removedFields) delete this.#fields[name];
    for (const [name, value] of commit.fields) this.#fields[name] = value;
    this.#fields["v"] = stampOf(commit.version, commit.id);
  }
}

export function waiting(settings: Partial<Settings> = {}): Owned {
  const owned = new Owned();
  owned.ask(createCommand({ settings }));
  for (const id of [2, 3]) owned.ask({ type: "join", seat: seat(id), by: by(null) });
  return owned;
}

export function playing(settings: Partial<Settings>): Owned {
  const owned = waiting(settings);
  const { num_questions } = owned.lobby.settings;
  const drawn = questions(100, num_questions ?? 10);
  owned.ask({ type: "start", by: by(host), revision: 0, questions: drawn });
  return owned;
}
