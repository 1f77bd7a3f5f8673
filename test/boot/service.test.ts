import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { commandOf, isAlive } from "../../server/local/orphans.ts";
import {
  failToStart,
  serviceEnv,
  startService,
  temporaryDataDir,
  type Service,
} from "../support/process.ts";

const waitLimitMs = 15_000;

/** Polls what cannot announce itself: the end of a process that is not our child. */
async function eventually(
  what: string,
  isTrue: () => Promise<boolean> | boolean,
  limitMs = waitLimitMs,
): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await isTrue())) {
    assert.ok(performance.now() < deadline, `never happened: ${what}`);
    await sleep(25);
  }
}

const isGone = (pid: number) => !isAlive(pid) || commandOf(pid) === "";

async function allPids(service: Service): Promise<number[]> {
  const stores = ["postgres/postmaster.pid", "redis/redis.pid"].map((file) =>
    Number.parseInt(readFileSync(join(service.dataDir, file), "utf8"), 10),
  );
  return [service.pid, ...(await service.processes()).map(({ pid }) => pid), ...stores];
}

describe("a running service", () => {
  let service: Service;
  before(async () => {
    service = await startService();
  });
  after(() => service.stop());

  it("answers the health check on the port it prints", async () => {
    const response = await fetch(`${service.url}/v1/health-check`);
    assert.equal(response.status, 200);
  });

  it("says ready on the operator listener once every process is", async () => {
    const response = await fetch(`${service.operatorUrl}/ready`);
    const answer = (await response.json()) as { body: Record<string, unknown> };
    assert.equal(response.status, 200);
    const expected = {
      status: "ok",
      num_processes: 3,
      num_waiting: 0,
      missing_stores: [],
      avatar_moderation: "idle",
    };
    assert.deepEqual(answer.body, expected);
  });

  it("refuses a second service on the same port, naming the port", async () => {
    const port = new URL(service.url).port;
    const dataDir = temporaryDataDir();
    const second = await failToStart(serviceEnv(dataDir, { PORT: port }));
    rmSync(dataDir, { recursive: true });
    assert.equal(second.code, 1);
    assert.match(second.output, new RegExp(`^PORT: 127\\.0\\.0\\.1:${port} is taken`, "m"));
  });

  it("refuses a second service on the same data folder, naming the process", async () => {
    const second = await failToStart(serviceEnv(service.dataDir));
    assert.equal(second.code, 1);
    assert.match(second.output, new RegExp(`in use by process ${service.pid}`));
  });

  it("starts a killed worker again", async () => {
    const [killed = 0] = await service.workerPids();
    process.kill(killed, "SIGKILL");
    await eventually("a new worker is ready", async () => {
      const worker = (await service.processes()).find(({ role }) => role === "http");
      return worker !== undefined && worker.is_ready && worker.pid !== killed;
    });
    assert.equal((await fetch(`${service.url}/v1/health-check`)).status, 200);
  });

  it("replaces a worker that is frozen", async () => {
    const [frozen = 0] = await service.workerPids();
    process.kill(frozen, "SIGSTOP");
    await eventually("the frozen process is gone", () => isGone(frozen), 30_000);
    await eventually("a new worker is ready", async () => {
      const worker = (await service.processes()).find(({ role }) => role === "http");
      return worker !== undefined && worker.is_ready && worker.pid !== frozen;
    });
  });

  it("sums the metrics of all processes", async () => {
    const text = await (await fetch(`${service.operatorUrl}/metrics`)).text();
    assert.match(text, /^process_cpu_user_seconds_total \d/m);
    assert.match(text, /^# TYPE http_requests_total counter$/m);
  });
});

describe("stopping and starting again", () => {
  const dataDir = temporaryDataDir();
  after(() => rmSync(dataDir, { recursive: true, force: true }));

  it("recovers after a SIGKILL of the primary, and SIGTERM then leaves no process", async () => {
    const first = await startService({ dataDir });
    const firstPids = await allPids(first);
    await first.kill();
    const second = await startService({ dataDir });
    const secondPids = await allPids(second);
    for (const pid of firstPids)
      await eventually(`process ${pid} of the killed service is gone`, () => isGone(pid));
    assert.equal(second.operatorToken, first.operatorToken);
    assert.equal(await second.stop("SIGTERM"), 0);
    assert.deepEqual(
      secondPids.filter((pid) => !isGone(pid)),
      [],
    );
  });

  it("stops in order when the whole process group gets the signal twice", async () => {
    const service = await startService({ dataDir });
    const pids = await allPids(service);
    for (const { pid } of await service.processes()) process.kill(pid, "SIGINT");
    assert.equal(await service.stop("SIGINT"), 0);
    assert.deepEqual(
      pids.filter((pid) => !isGone(pid)),
      [],
    );
  });
});

describe("an ill configuration", () => {
  it("is refused with every problem at once and exit code 1", async () => {
    const env = serviceEnv("/nowhere", { PORT: "http", JOB_WORKERS: "-1", APP_ENV: "live" });
    const { code, output } = await failToStart(env);
    assert.equal(code, 1);
    for (const name of ["PORT", "JOB_WORKERS", "APP_ENV"])
      assert.match(output, new RegExp(`- ${name}: must`));
  });

  it("is refused when the data folder cannot be written", async () => {
    const { code, output } = await failToStart(serviceEnv("/proc/emberline"));
    assert.equal(code, 1);
    assert.match(output, /^DATA_DIR \/proc\/emberline is not writable/m);
  });
});
