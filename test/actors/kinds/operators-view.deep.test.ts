import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ChildProcess } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { answerOf, callRouteOf } from "../../server/operator/call-route.ts";
import { roomRoutes, type RoomsDeps } from "../../../server/operator/rooms/routes.ts";
import type { RoomReport, RoomsReport, ToChild, ToPrimary } from "../../../server/runtime/ipc.ts";
import {
  Questions,
  type Question,
  type SubjectOf,
} from "../../../server/runtime/process-questions.ts";
import { openStream } from "../../support/event-stream.ts";
import { eventually } from "../../support/eventually.ts";
import { forked } from "../../support/forked.ts";
import { freePort } from "../../support/free-port.ts";
import { testStores, type TestStores } from "../../support/stores.ts";
import { target } from "./counter.ts";
import { kinds as served } from "./counter-rooms.ts";

/** A worker of the service with counters, and the questions of its primary. */
interface Member {
  child: ChildProcess;
  questions: Questions;
}

interface Kinds {
  kinds: { kind: string; num_owners: number; num_rooms: number; num_shards: number }[];
}

interface Owner {
  incarnation: string;
  pid: number;
}

interface Room {
  code: string;
  owner: string;
  status: string;
  last_seq: number;
  num_subscribers: number;
  num_commands: number | null;
}

const codes = ["CNTAAA", "CNTBBB", "CNTCCC", "CNTDDD"];
/** Two questions, one after the other, fit into the deadline of a request. */
const askLimitMs = 4_000;

describe("the view of operators on a second kind of room in two HTTP workers", () => {
  let stores: TestStores;
  let url = "";
  let dataDir = "";
  const members: Member[] = [];

  async function start(): Promise<void> {
    const { databaseUrl, redisUrl } = stores;
    const child = forked(new URL("counter-process.ts", import.meta.url), [], {
      ...{ APP_ENV: "test", DATABASE_URL: databaseUrl, REDIS_URL: redisUrl, DATA_DIR: dataDir },
      ...{ HOST: "127.0.0.1", PORT: new URL(url).port, RATE_LIMIT_FACTOR: "0" },
      ...{ LOG_LEVEL: "error" },
    });
    const questions = new Questions((message) => child.send(message), 16);
    members.push({ child, questions });
    const order: ToChild = { type: "start", prepares: false, index: 0 };
    child.send(order);
    await new Promise<void>((ready, fail) =>
      child.on("message", (message: ToPrimary) => {
        if (message.type === "answer") questions.receive(message);
        if (message.type === "failed") fail(new Error(message.reason));
        if (message.type === "ready") ready();
      }),
    );
  }

  before(async () => {
    stores = await testStores();
    url = `http://127.0.0.1:${await freePort()}`;
    dataDir = mkdtempSync(join(tmpdir(), "ember-view-"));
    await Promise.all([start(), start()]);
  });
  after(async () => {
    for (const { child } of members) child.kill("SIGKILL");
    await stores.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** As the primary asks its children. */
  async function askAll<Q extends Question>(question: Q, about?: SubjectOf<Q>): Promise<unknown[]> {
    const asked = members.map(({ questions }) => questions.ask(question, askLimitMs, about));
    return (await Promise.all(asked)).filter((value) => value !== null);
  }
  const sources: RoomsDeps = {
    lobbies: async () => [],
    rooms: async () =>
      ((await askAll("rooms")) as RoomsReport[]).map((report) => ({ host: "here", ...report })),
    room: async (about) => (await askAll("room", about)) as RoomReport[],
    subscribers: async (about) => (await askAll("subscribers", about)) as number[][],
  };
  const read = <Body>(path: string) =>
    callRouteOf<RoomsDeps, Body>(roomRoutes, sources, `/operator/rooms${path}`);

  const roomOrNull = async (code: string): Promise<Room | null> => {
    const answer = await answerOf<RoomsDeps, { room: Room }>(
      roomRoutes,
      sources,
      `/operator/rooms/counter/${code}`,
    );
    return answer.status === 200 ? answer.body.room : null;
  };

  const command = (code: string, type: string) =>
    fetch(`${url}/v1/counters/${code}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ type, by: 1 }),
    });

  it("counts the rooms and shards of both workers", async () => {
    await eventually("both workers own shards", async () => {
      const { kinds } = await read<Kinds>("");
      return kinds.every(({ num_owners, num_shards }) => num_owners === 2 && num_shards === 1024);
    });
    for (const code of codes) assert.equal((await command(code, "open")).status, 200);
    const { kinds } = await read<Kinds>("");
    assert.deepEqual(
      kinds.map(({ kind, num_rooms }) => [kind, num_rooms]),
      Object.values(served).map(({ kind }) => [kind, kind === "counter" ? codes.length : 0]),
    );
  });

  it("lists the rooms of the kind with their owners, and shows each one wherever it is owned", async () => {
    // A room that is being loaded again after a failed commit is missing for a moment.
    await eventually("the list has each room as its own page shows it", async () => {
      const list = await read<{ rooms: Room[]; owners: { incarnation: string }[] }>("/counter");
      const known = list.owners.map(({ incarnation }) => incarnation);
      const shown = await Promise.all(codes.map(roomOrNull));
      const seen = (rooms: (Room | null)[]) =>
        rooms.map((room) => room && [room.code, room.owner, room.status]);
      return (
        isDeepStrictEqual(seen(list.rooms).toSorted(), seen(shown)) &&
        shown.every((room) => known.includes(room?.owner ?? "") && room?.status === "running")
      );
    });
    await eventually("a short list has as many rooms as asked for", async () => {
      const few = await read<{ rooms: Room[] }>("/counter?limit=3");
      return few.rooms.length === 3;
    });
  });

  it("sums the subscribers of a room over the workers", async () => {
    const [code = ""] = codes;
    const streams = [1, 2, 3].map(() =>
      openStream(`${url}/v1/hub?topic=/rooms/counter/${code}`, { reconnect: false }),
    );
    for (const stream of streams)
      await stream.waitFor(({ event }) => event === "counter.snapshot", "a snapshot");
    const { room } = await read<{ room: Room }>(`/counter/${code}`);
    assert.equal(room.num_subscribers, streams.length);
    // A room that is being loaded again after a failed commit is missing for a moment.
    await eventually("the list has the same numbers", async () => {
      const { rooms } = await read<{ rooms: Room[] }>("/counter");
      const counted = rooms.map((one) => [one.code, one.num_subscribers]).toSorted();
      const expected = codes.map((one) => [one, one === code ? streams.length : 0]);
      return isDeepStrictEqual(counted, expected);
    });
    for (const stream of streams) stream.close();
  });

  it("counts the commands of a room, but no reads", async () => {
    const [code = ""] = codes;
    // In a finished room no turn ends, so no tick counts beside these commands.
    for (let n = 0; n < target; n++) await command(code, "count");
    await eventually("the room has finished", async () => {
      const { room } = await read<{ room: Room }>(`/counter/${code}`);
      return room.status === "finished";
    });
    const countOf = async () => (await read<{ room: Room }>(`/counter/${code}`)).room.num_commands;
    // The job that queues the result may send its command once more, which counts too.
    await eventually("five commands count, and five reads do not", async () => {
      const before = Number(await countOf());
      for (let n = 0; n < 5; n++) {
        assert.equal((await command(code, "read")).status, 200);
        // Refused, but a command all the same.
        await command(code, "count");
      }
      return (await countOf()) === before + 5;
    });
  });

  it("shows the rooms of either worker while the other one is frozen", async () => {
    const { owners, rooms } = await read<{ owners: Owner[]; rooms: Room[] }>("/counter");
    for (const { child } of members) {
      const others = owners.filter(({ pid }) => pid !== child.pid);
      const live = rooms.filter((room) => others.some((one) => one.incarnation === room.owner));
      child.kill("SIGSTOP");
      try {
        for (const { code } of live.slice(0, 1))
          assert.equal((await read<{ room: Room }>(`/counter/${code}`)).room.code, code);
      } finally {
        child.kill("SIGCONT");
      }
    }
  });
});
