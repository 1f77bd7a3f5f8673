import assert from "node:assert/strict";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { writeEnvelopeFile } from "../../importers/write-envelope.ts";
import { silentLogger } from "../../server/core/logger.ts";
import { commandOf, isAlive } from "../../server/local/orphans.ts";
import { createQueues } from "../../workers/producer.ts";
import { codexImport } from "../../workers/queues.ts";
import { entity, envelope } from "../support/archive.ts";
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

  it("keeps no trace of an import whose job worker is killed, and shows the patch before it", async () => {
    const queues = createQueues(service.redisUrl, silentLogger);
    const database = new pg.Client({ connectionString: service.databaseUrl });
    await database.connect();
    const count = async (query: string) =>
      Number(
        (await database.query<{ n: string }>(`select count(*) as n from ${query}`)).rows[0]?.n,
      );
    const imports = "pg_locks where locktype = 'advisory' and classid = 7346202";
    const job = (name: string, stamp: number) => {
      return { game: "killed", envelope: join(service.dataDir, name), stamp };
    };
    const shown = async () => {
      const answer = await fetch(`${service.url}/v1/codex/killed/item?limit=1`);
      return ((await answer.json()) as { body?: { count: number } }).body?.count;
    };
    const write = (version: string, many: number) =>
      writeEnvelopeFile(
        envelope({
          game: "killed",
          version,
          entities: Array.from({ length: many }, (_, n) =>
            entity(`id.item.n${n}`, { data: { text: `${version} `.repeat(150) } }),
          ),
        }),
        join(service.dataDir, `${version}.json`),
      );
    try {
      await write("1.0", 3);
      await write("2.0", 6_000);
      assert.equal(await queues.enqueueAndWait(codexImport, job("1.0.json", 1), waitLimitMs), true);
      const documents = await count("codex_documents");
      for (const stamp of [2, 3]) {
        const worker = (await service.processes()).find(({ role }) => role === "jobs");
        assert.ok(worker);
        await queues.enqueue(codexImport, job("2.0.json", stamp));
        await eventually("the import runs", async () => (await count(imports)) === 1);
        await sleep(Math.random() * 100);
        process.kill(worker.pid, "SIGKILL");
        await eventually("the import is over", async () => (await count(imports)) === 0);
        assert.equal(await shown(), 3);
        assert.equal(await count("codex_documents"), documents);
        assert.equal(await count("codex_patches where version_raw = '2.0'"), 0);
        await eventually("a new worker is ready", async () => {
          const next = (await service.processes()).find(({ role }) => role === "jobs");
          return next !== undefined && next.is_ready && next.pid !== worker.pid;
        });
      }
      assert.equal(await queues.enqueueAndWait(codexImport, job("2.0.json", 4), waitLimitMs), true);
      assert.equal(await shown(), 6_000);
    } finally {
      await database.end();
      await queues.close();
    }
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
