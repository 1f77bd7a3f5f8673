import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { workerCommands } from "../../server/console/workers.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { eventually } from "../support/eventually.ts";
import { createLobby, newPlayer } from "../support/player.ts";
import { startService, type Process, type Service } from "../support/process.ts";

interface Room {
  owner: string | null;
  owners: { at: string; cause: string; process: string; incarnation: string }[];
}

interface Events {
  events: { kind: string; pid: number }[];
}

describe("an HTTP worker of two", () => {
  let service: Service;
  let lines = "";

  before(async () => {
    const env = { HTTP_WORKERS: "2", LOG_LEVEL: "warn" };
    service = await startService({ sharesPostgres: true, env });
    service.stdout.on("data", (bytes) => (lines += String(bytes)));
  });
  after(() => service.stop());

  const get = (path: string, accept: string) =>
    fetch(`${service.operatorUrl}${path}`, {
      headers: { accept, authorization: `Bearer ${service.operatorToken}` },
    });
  const page = async (path: string) => (await get(path, "text/html")).text();
  const read = async <Body>(path: string): Promise<Body | null> => {
    const response = await get(path, "application/json");
    if (response.status !== 200) return null;
    return ((await response.json()) as { body: Body }).body;
  };

  const areReady = async () =>
    (await service.processes()).every(({ is_ready, role }) => is_ready || role === "operator");

  it("leaves a trail when it is drained by the console", async () => {
    const player = await newPlayer(service.url, "Eve");
    const code = await createLobby(player, { category: "science" });
    const [command] = workerCommands;
    const operator = { OPERATOR_TOKEN: service.operatorToken };
    const address = { OPERATOR_LISTEN: new URL(service.operatorUrl).host };
    const config = { ...parseConfig({}), ...operator, ...address };
    const owner = async () => {
      const room = (await read<{ room: Room }>(`/operator/rooms/lobby/${code}`))?.room;
      return (await service.processes()).find(({ incarnation }) => incarnation === room?.owner);
    };
    await eventually("its owner is known", async () => (await owner()) !== undefined);
    const drained = await owner();
    assert.ok(drained);
    await eventually("the other worker is ready", areReady);
    await command?.run(config, { index: String(drained.index), reason: "it grew" });
    await eventually("it is drained, and its successor has started", async () => {
      const events = (await read<Events>("/operator/workers/events"))?.events ?? [];
      const kinds = events.filter(({ pid }) => pid === drained.pid).map(({ kind }) => kind);
      return ["started", "drain_started", "drained"].every((kind) => kinds.includes(kind));
    });
    const path = `/operator/rooms/lobby/${code}`;
    const causes = (await read<{ room: Room }>(path))?.room.owners.map(({ cause }) => cause);
    assert.ok(causes?.includes("drained"), causes?.join());
  });

  it("leaves a trail when it freezes, from the player's page to the cause", async () => {
    const player = await newPlayer(service.url, "Ada");
    const code = await createLobby(player, { category: "science" });
    const playerPath = `/operator/players/${player.accountId}`;
    const roomPath = `/operator/rooms/lobby/${code}`;
    const roomNow = async () => (await read<{ room: Room }>(roomPath))?.room;
    let frozen: Process | undefined;
    // A worker that joins after the freeze cannot tell a frozen process from one that ended.
    await eventually("the owner of the room is known", async () => {
      const owner = (await roomNow())?.owner;
      frozen = (await service.processes()).find(({ incarnation }) => incarnation === owner);
      return frozen !== undefined && (await areReady());
    });
    assert.ok(frozen);
    const { pid, index, incarnation } = frozen;
    process.kill(pid, "SIGSTOP");

    // Its successor may own the shard soon after.
    let owners: Room["owners"] = [];
    await eventually("the room is taken over", async () => {
      owners = (await roomNow())?.owners ?? owners;
      return owners.some(({ cause }) => cause === "frozen");
    }).catch((error: unknown) => assert.fail(`${String(error)}: ${JSON.stringify(owners)}`));
    const takenOver = owners.find(({ cause }) => cause === "frozen");
    assert.notEqual(takenOver?.incarnation, incarnation);
    // One click from the player, one from the room.
    assert.ok((await page(playerPath)).includes(`href="${roomPath}"`));
    const shown = await page(roomPath);
    assert.match(shown, /takeover: its process was frozen/);
    const events = /href="(\/operator\/workers\/events\?[^"]+)"/.exec(shown)?.[1];
    assert.ok(events);
    const eventsPath = events.replaceAll("&#38;", "&");
    const name = new RegExp(
      `took over \\d+ shards, \\d+ lobby rooms? of http-${index}@\\w+: frozen`,
    );
    await eventually("the takeover is stored", async () => name.test(await page(eventsPath)));
    const takeover = lines
      .split("\n")
      .find((line) => line.includes('"shards_taken_over"') && line.includes(code));
    assert.ok(takeover?.includes('"cause":"frozen"'), "a log line names the room and the cause");
    // The primary notices it later, and its successor takes a share again.
    await eventually("the frozen process is replaced", async () => {
      const kinds = (await read<Events>(eventsPath))?.events
        .filter((event) => event.pid === pid)
        .map(({ kind }) => kind);
      return ["frozen", "exited"].every((kind) => kinds?.includes(kind));
    });
  });
});
