import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Agent } from "node:http";
import { join } from "node:path";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isAlive } from "../../server/runtime/stores/orphans.ts";
import { eventually } from "../support/eventually.ts";
import { awaitSuccessor, startService, type Service } from "../support/process.ts";
import { askRepeatedly } from "../support/repeated-requests.ts";

const probe = async (base: string, name: string) => {
  const answer = await fetch(`${base}/${name}`, { headers: { connection: "close" } });
  return `${answer.status} ${await answer.text()}`;
};

const workersOf = async (service: Service) =>
  (await service.processes()).filter(({ role }) => role === "http");

describe("a service that receives SIGTERM", () => {
  it("is not ready at once, and serves everything until the delay has passed", async () => {
    const env = { SHUTDOWN_DELAY_SECONDS: "10", SHUTDOWN_TIMEOUT_SECONDS: "35", HTTP_WORKERS: "2" };
    const service = await startService({ sharesPostgres: true, env });
    const health = `${service.url}/v1/health-check`;
    await eventually(
      "it is ready",
      async () => (await probe(service.url, "ready")) === "200 ready",
    );
    const clients = [
      askRepeatedly(health, new Agent({ keepAlive: true, maxSockets: 1 })),
      askRepeatedly(health),
    ];
    // Workers receive the signal of a process group too, and first.
    for (const { pid } of await service.processes()) process.kill(pid, "SIGTERM");
    const startedAt = performance.now();
    let hasEnded = false;
    const stopped = service.stop().finally(() => (hasEnded = true));
    for (const listener of [service.url, service.operatorUrl])
      await eventually(
        "it is not ready",
        async () => (await probe(listener, "ready")) === "503 stopping",
      );
    const seconds = (performance.now() - startedAt) / 1_000;
    const stream = await fetch(`${service.url}/v1/hub?topic=/games/trivia/lobbies`);
    assert.equal(stream.status, 200, "a new stream is served");
    assert.equal(await probe(service.operatorUrl, "live"), "200 live");
    const pids = (await workersOf(service)).map(({ pid }) => pid);
    await sleep(1_500);
    assert.deepEqual(
      (await workersOf(service)).map(({ pid }) => pid),
      pids,
      "no worker drains",
    );
    const answers = await Promise.all(clients.map((client) => client.end()));
    assert.equal(hasEnded, false);
    for (const answer of answers) assert.deepEqual([...answer.keys()], ["200"]);
    await stream.text();
    assert.equal(await stopped, 0);
    assert.ok(seconds < 5, `readiness failed after ${seconds} s`);
    assert.ok(performance.now() - startedAt < 35_000);
  });

  it("ends at once when it receives a second one", async () => {
    const env = { SHUTDOWN_DELAY_SECONDS: "60", SHUTDOWN_TIMEOUT_SECONDS: "90" };
    const service = await startService({ sharesPostgres: true, env });
    const startedAt = performance.now();
    let code: number | null | undefined;
    void service.stop().then((ended) => (code = ended));
    await eventually("it has ended", () => {
      if (code === undefined && isAlive(service.pid)) process.kill(service.pid, "SIGTERM");
      return code !== undefined;
    });
    assert.equal(code, 0);
    assert.ok(performance.now() - startedAt < 50_000);
  });

  it("ends within the timeout when its stores are frozen", async () => {
    const service = await startService({ env: { SHUTDOWN_TIMEOUT_SECONDS: "6" } });
    for (const file of ["postgres/postmaster.pid", "redis/redis.pid"]) {
      const pid = Number.parseInt(readFileSync(join(service.dataDir, file), "utf8"), 10);
      process.kill(pid, "SIGSTOP");
    }
    const startedAt = performance.now();
    assert.equal(await service.stop(), 0);
    const seconds = (performance.now() - startedAt) / 1_000;
    // Without the common limit each step would take its own 10 to 20 s.
    assert.ok(seconds < 10, `it took ${seconds} s`);
  });
});

describe("an HTTP worker that receives SIGTERM", () => {
  it("is replaced, while the service stays ready and no request fails", async () => {
    const service = await startService({ sharesPostgres: true, env: { HTTP_WORKERS: "2" } });
    const clients = [
      askRepeatedly(
        `${service.url}/v1/health-check`,
        new Agent({ keepAlive: true, maxSockets: 1 }),
      ),
      askRepeatedly(`${service.operatorUrl}/ready`),
    ];
    const [old, other] = await workersOf(service);
    assert.ok(old && other);
    process.kill(old.pid, "SIGTERM");
    await awaitSuccessor(service, old);
    for (const client of clients) assert.deepEqual([...(await client.end()).keys()], ["200"]);
    const after = await workersOf(service);
    assert.ok(after.some(({ pid }) => pid === other.pid));
    for (const { num_restarts: restarts } of after) assert.equal(restarts, 0);
    assert.equal(await service.stop(), 0);
  });

  it("goes on when it is the only one, which the log says", async () => {
    const service = await startService({ sharesPostgres: true, env: { LOG_LEVEL: "warn" } });
    let output = "";
    service.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
    const [worker] = await workersOf(service);
    assert.ok(worker);
    process.kill(worker.pid, "SIGTERM");
    await eventually("it is refused", () =>
      /"event":"worker_drain_refused".*"reason":"last"/.test(output),
    );
    assert.equal((await workersOf(service))[0]?.pid, worker.pid);
    assert.equal(await service.stop(), 0);
  });
});

describe("the probes of a service", () => {
  it("fail when all HTTP workers are frozen, liveness last, and pass again", async () => {
    const service = await startService({ sharesPostgres: true, env: { HTTP_WORKERS: "2" } });
    const seen = new Set<string>();
    const frozen = new Set<number>();
    const freeze = async () => {
      for (const { pid } of await workersOf(service))
        if (pid !== 0 && !frozen.has(pid)) {
          frozen.add(pid);
          process.kill(pid, "SIGSTOP");
        }
    };
    // Their successors are frozen too, while they start.
    await eventually("it is not alive", async () => {
      await freeze();
      const [live, ready] = [
        await probe(service.operatorUrl, "live"),
        await probe(service.operatorUrl, "ready"),
      ];
      seen.add(`${live}, ${ready}`);
      return live === "503 stalled";
    });
    assert.deepEqual(
      [...seen],
      ["200 live, 200 ready", "200 live, 503 no-worker", "503 stalled, 503 no-worker"],
    );
    for (const { pid } of await workersOf(service)) if (pid !== 0) process.kill(pid, "SIGKILL");
    for (const name of ["live", "ready"])
      await eventually(`${name} passes`, async () =>
        (await probe(service.url, name).catch(() => "")).startsWith("200 "),
      );
    assert.equal(await service.stop(), 0);
  });

  it("fail for a store that is away only after READY_STORE_SECONDS", async () => {
    const service = await startService({ sharesPostgres: true, env: { READY_STORE_SECONDS: "8" } });
    const pidFile = join(service.dataDir, "redis/redis.pid");
    const redis = Number.parseInt(readFileSync(pidFile, "utf8"), 10);
    const ready = () => probe(service.operatorUrl, "ready");
    await eventually("it is ready", async () => (await ready()) === "200 ready");
    process.kill(redis, "SIGSTOP");
    const stoppedAt = performance.now();
    await eventually("it is not ready", async () => (await ready()) === "503 no-redis");
    const seconds = (performance.now() - stoppedAt) / 1_000;
    // It was last reached up to two seconds before.
    assert.ok(seconds > 5.9, `after ${seconds} s`);
    const health = await fetch(`${service.operatorUrl}/health`);
    const { body } = (await health.json()) as { body: { degraded: string[] } };
    assert.equal(health.status, 503);
    assert.ok(body.degraded.includes("redis does not respond"), body.degraded.join());
    assert.equal(await probe(service.url, "ready"), "503 no-redis");
    assert.equal(await probe(service.url, "live"), "200 live");
    process.kill(redis, "SIGCONT");
    await eventually("it is ready again", async () => (await ready()) === "200 ready");
    assert.equal(await service.stop(), 0);
  });
});
