import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { LocalGames } from "../../bench/local-games.ts";
import { Emberline } from "../../server/web/client/emberline.ts";
import { eventually } from "../support/eventually.ts";
import { freePorts } from "../support/free-port.ts";
import { startService, type Service } from "../support/process.ts";

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
  async function portOf(code: string): Promise<number> {
    const port = Number((await read(code)).headers.get(ownerPort));
    assert.ok(port > 0);
    return port;
  }

  const at = (port: number) => `http://127.0.0.1:${port}`;
  const [count, seats] = [4, 3];
  const game = { seats, questions: 3, timer: 60, thinkMs: [0, 50] } as const;

  it("reach every worker at its own port, which names only other owners", async () => {
    const host = await new Emberline({ url: service.url }).create({ hostName: "Host" });
    const named = async (port: number) => {
      const { status, headers } = await read(host.code, at(port));
      assert.equal(status, 200);
      return headers.get(ownerPort);
    };
    // A lobby may move once more right after the start.
    await eventually("the owner names none, and the other worker the owner", async () => {
      const [first, second] = [await named(firstPort), await named(firstPort + 1)];
      return first === null
        ? second === String(firstPort)
        : second === null && first === String(firstPort + 1);
    });
    await host.end();
  });

  it("play whole games without a hop between the workers", async () => {
    const games = new LocalGames(service.url);
    // Everybody has joined and knows the owner by then.
    const started = games.reached("start", count);
    const playing = games.play(count, { ...game, returns: false });
    await started;
    const before = await forwards();
    await playing;
    assert.equal(await forwards(), before);
    assert.deepEqual(await games.verify(service.databaseUrl), []);
  });

  it("lose nothing when the owner is killed; the worker in its place has its port", async () => {
    const games = new LocalGames(service.url);
    let port = 0;
    const killed = games.reached("answer", count * seats + 2).then(async () => {
      port = await portOf(games.codes()[0] ?? "");
      const victim = (await service.processes()).find(
        ({ role, index }) => role === "http" && firstPort + index === port,
      );
      assert.ok(victim);
      process.kill(victim.pid, "SIGKILL");
    });
    await games.play(count, game);
    await killed;
    assert.deepEqual(await games.verify(service.databaseUrl), []);
    await eventually("the port answers again", async () => {
      const answer = await fetch(`${at(port)}/v1/health-check`).catch(() => null);
      return answer?.status === 200;
    });
  });
});
