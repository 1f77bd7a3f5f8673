import assert from "node:assert/strict";
import type { LobbyReply } from "../../../actors/contract.ts";
import { defineActor } from "../../../actors/runtime/definition.ts";
import { lobbyRules } from "../../../actors/lobby/actor.ts";
import type { Lobby, LobbyCommand, Settings } from "../../../actors/lobby/types.ts";
import { actorOf, runBatch, type Actor } from "../../../actors/runtime/mailbox/actor.ts";
import type { Commit } from "../../../actors/runtime/storage/journal.ts";
import { loadActor, nothingStored, stampOf } from "../../../actors/runtime/storage/stored-state.ts";
import { by, context, createCommand, epoch, host, questions, seat } from "../lobby/game.ts";
import { noOrigin } from "../../../server/platform/origin.ts";

/** A lobby in the runtime, whose owner can be replaced by one that loads the stored state. */
export class Owned {
  now = epoch;
  readonly commits: Commit[] = [];
  readonly #rules = defineActor(lobbyRules(context, null, {}));
  #actor: Actor = actorOf(this.#rules, "ABCDEF", nothingStored(), epoch);
  #fields: Record<string, string> = {};
  #count = 0;

  /** `key`: sent again by its client; commands without one are never repeated. */
  ask(command: LobbyCommand, key?: string): LobbyReply {
    const id = key === undefined ? `${++this.#count}.w1` : `c.${command.type}.${key}`;
    const commitId = `${++this.#count}.w1`;
    const delivery = { command, id, origin: noOrigin };
    const { replies, commit } = runBatch(this.#rules, this.#actor, [delivery], this.now, commitId);
    if (commit) this.#store(commit);
    const [reply] = replies;
    assert.ok(reply);
    return reply;
  }

  get lobby(): Lobby {
    const { state } = this.#actor;
    assert.ok(state);
    return state as Lobby;
  }

  wait(ms: number): this {
    this.now += ms;
    return this;
  }

  async takeOver(): Promise<void> {
    const stored = await loadActor({ hgetall: async () => this.#fields }, "ABCDEF", this.#rules);
    this.#actor = actorOf(this.#rules, "ABCDEF", stored, this.now);
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
