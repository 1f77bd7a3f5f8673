import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-port.ts";
import { startService, type Service } from "../support/process.ts";
import { assertNothingLost, openTable, playOut, type Follower } from "./table.ts";

const ownerPort = "x-owner-port";

describe("clients that follow the owner", () => {
  let service: Service;
  let firstPort = 0;
  before(async () => {
    const env = {
      HTTP_WORKERS: "2",
      WORKER_PORTS: String((firstPort = await freePorts(2))),
      RATE_LIMIT_FACTOR: "0",
      LOBBY_MIN_QUESTION_MS: "0",
    };
    service = await startService({ env, sharesPostgres: true });
  });
  after(async () => {
    await service.stop();
  });

  /** Number of lobby commands that one worker has forwarded to another so far. */
  async function forwards(): Promise<number> {
    const text = await (await fetch(`${service.operatorUrl}/metrics`)).text();
    const counts = text.matchAll(/^lobby_forwards_total\{.*\} (\d+)$/gm);
    return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
  }

  const read = (code: string, url = service.url) => fetch(`${url}/v1/games/trivia/lobbies/${code}`);

  /** The port of the lobby's owner. */
  async function portOf({ seat }: Follower): Promise<number> {
    const port = Number((await read(seat.code)).headers.get(ownerPort));
    assert.ok(port > 0);
    return port;
  }

  const at = (port: number) => `http://127.0.0.1:${port}`;

  /** Reads each lobby until its clients know the owner's port, so that later requests are not forwarded. */
  async function follow(tables: Follower[][]): Promise<void> {
    const seats = tables.flat().map(({ seat }) => seat);
    await eventually("requests of every seat reach its owner directly", async () => {
      const before = await forwards();
      for (const seat of seats) await seat.read();
      return (await forwards()) === before;
    });
  }

  it("reach every worker at its own port, which names only other owners", async () => {
    const [host] = await openTable(service.url, 0);
    assert.ok(host);
    const owner = await portOf(host);
    for (const port of [firstPort, firstPort + 1]) {
      const { status, headers } = await read(host.seat.code, at(port));
      assert.equal(status, 200);
      assert.equal(headers.get(ownerPort), port === owner ? null : String(owner));
    }
    await host.seat.end();
  });

  it("play whole games without a hop between the workers", async () => {
    const tables = await Promise.all([1, 2, 3, 4].map((n) => openTable(service.url, n)));
    await follow(tables);
    const before = await forwards();
    await Promise.all(tables.map((followers) => playOut(followers, async () => undefined)));
    assert.equal(await forwards(), before);
    tables.forEach(assertNothingLost);
  });

  it("lose nothing when the owner is killed; the worker in its place has its port", async () => {
    const tables = await Promise.all([1, 2, 3, 4].map((n) => openTable(service.url, n)));
    await follow(tables);
    const host = tables[0]?.[0];
    assert.ok(host);
    const port = await portOf(host);
    const victim = (await service.processes()).find(
      ({ role, index }) => role === "http" && firstPort + index === port,
    );
    assert.ok(victim);
    let killed = false;
    await Promise.all(
      tables.map((followers) =>
        playOut(followers, async () => {
          if (!killed) process.kill(victim.pid, "SIGKILL");
          killed = true;
        }),
      ),
    );
    tables.forEach(assertNothingLost);
    await eventually("the port answers again", async () => {
      const answer = await fetch(`${at(port)}/v1/health-check`).catch(() => null);
      return answer?.status === 200;
    });
  });
});
