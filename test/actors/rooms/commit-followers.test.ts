import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type LobbyCommand } from "../../../actors/index.ts";
import type { CommitFollower } from "../../../server/platform/room-source.ts";
import type { Connections } from "../../../actors/log/connection.ts";
import { bodyOf, by, createCommand } from "./fleet.ts";
import { VirtualFleet, type VirtualWorker } from "./virtual-fleet.ts";
import { eventStreamKey } from "../../support/lobby-keys.ts";

interface Recorder extends CommitFollower {
  readonly seqs: number[];
  readonly payloads: string[];
  /** The result of `follow`, and every later call of `onSource`. */
  readonly sources: boolean[];
}

function follow(worker: VirtualWorker, code: string): Recorder {
  const recorder: Recorder = {
    seqs: [],
    payloads: [],
    sources: [],
    onCommitted(seq, payload) {
      recorder.seqs.push(seq);
      recorder.payloads.push(payload);
    },
    onSource: (isHere) => recorder.sources.push(isHere),
  };
  recorder.sources.push(worker.lobbies.room.commits.follow(code, recorder));
  return recorder;
}

const joining = (id: number): LobbyCommand => ({
  type: "join",
  seat: { id, name: `P${id}`, accountId: null, avatarUrl: null },
  ...by(id),
});

async function ask(fleet: VirtualFleet, worker: VirtualWorker, code: string, what: LobbyCommand) {
  return bodyOf(await fleet.ended(Promise.resolve(worker.lobbies.ask(code, what))));
}

/** Numbers and texts of the stored messages. */
function stored({ redis }: VirtualFleet, code: string) {
  const entries = redis.streams.get(eventStreamKey(code)) ?? [];
  return entries.map(([id, message]) => [id, message.slice(message.indexOf("\n") + 1)]);
}

describe("a follower of the commits of its process", () => {
  it("receives each message of its lobby once, in order, as Redis stores it", async () => {
    const fleet = new VirtualFleet();
    const [first, second] = await fleet.calm("first", "second");
    assert.ok(first && second);
    const code = fleet.codeOf("first");
    const received = follow(first, code);
    await ask(fleet, first, code, createCommand(code, [1]));
    for (const id of [2, 3]) await ask(fleet, second, code, joining(id));
    const all = stored(fleet, code);
    assert.equal(all.length, received.seqs.length);
    assert.ok(all.length >= 2, "joins are published");
    assert.deepEqual(
      received.seqs.map((seq, i) => [seq, received.payloads[i]]),
      all,
    );
    assert.deepEqual(received.sources, [true]);
  });

  it("receives nothing of other lobbies, and nothing after it left", async () => {
    const fleet = new VirtualFleet();
    const [only] = await fleet.calm("only");
    assert.ok(only);
    const received = follow(only, "V1");
    await ask(fleet, only, "V1", createCommand("V1", [1]));
    await ask(fleet, only, "V2", createCommand("V2", [1]));
    await ask(fleet, only, "V2", joining(2));
    const before = received.seqs.length;
    only.lobbies.room.commits.unfollow("V1");
    await ask(fleet, only, "V1", joining(2));
    assert.equal(received.seqs.length, before);
  });

  it("is switched to Redis on a process that does not own the lobby, and back when ownership changes", async () => {
    const fleet = new VirtualFleet();
    const [first, second] = await fleet.calm("first", "second");
    assert.ok(first && second);
    const code = fleet.codeOf("first");
    const here = follow(first, code);
    const there = follow(second, code);
    await ask(fleet, first, code, createCommand(code, [1]));
    assert.deepEqual([here.sources, there.sources], [[true], [false]]);
    assert.deepEqual(there.seqs, []);
    await fleet.ended(first.lobbies.handOver());
    await fleet.until(() => there.sources.length === 2);
    assert.deepEqual(
      [here.sources, there.sources],
      [
        [true, false],
        [false, true],
      ],
    );
    await ask(fleet, second, code, joining(2));
    assert.deepEqual(there.seqs, [stored(fleet, code).at(-1)?.[0]]);
  });

  it("is switched to Redis while the outcome of a commit is unknown, until the next commit", async () => {
    const fleet = new VirtualFleet();
    let isAnswerLost = false;
    const losingReplies = (connections: Connections): Connections => {
      const { commits } = connections;
      const evalsha: typeof commits.evalsha = async (...args) => {
        const reply = await commits.evalsha(...args);
        if (!isAnswerLost) return reply;
        isAnswerLost = false;
        throw new Error("connection closed");
      };
      return { ...connections, commits: { ...commits, evalsha } };
    };
    const only = await fleet.start("only", losingReplies);
    await fleet.join(only);
    await fleet.run(8_000);
    const received = follow(only, "V1");
    await ask(fleet, only, "V1", createCommand("V1", [1]));
    const before = [...received.seqs];
    isAnswerLost = true;
    await ask(fleet, only, "V1", joining(2));
    assert.deepEqual(received.sources, [true, false]);
    assert.deepEqual(received.seqs, before, "only Redis knows whether it was committed");
    await ask(fleet, only, "V1", joining(3));
    assert.deepEqual(received.sources, [true, false, true]);
    assert.equal(received.seqs.at(-1), stored(fleet, "V1").at(-1)?.[0]);
  });

  it("is switched to Redis when Redis may have lost data", async () => {
    const fleet = new VirtualFleet();
    const [only] = await fleet.calm("only");
    assert.ok(only);
    const received = follow(only, "V1");
    await ask(fleet, only, "V1", createCommand("V1", [1]));
    only.wiring.cut(false);
    await fleet.until(() => received.sources.length > 1);
    assert.equal(received.sources.at(-1), true);
  });

  it("does not affect a commit when it fails", async () => {
    const fleet = new VirtualFleet();
    const [only] = await fleet.calm("only");
    assert.ok(only);
    const broken = () => {
      throw new Error("broken");
    };
    only.lobbies.room.commits.follow("V1", { onCommitted: broken, onSource: broken });
    await ask(fleet, only, "V1", createCommand("V1", [1]));
    await ask(fleet, only, "V1", joining(2));
    assert.equal(stored(fleet, "V1").length > 0, true);
  });
});
