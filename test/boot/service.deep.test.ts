import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual, promisify } from "node:util";
import { sql } from "kysely";
import { migrate } from "../../db/migrate.ts";
import { createOrm } from "../../db/orm.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { writeEnvelopeFile } from "../../importers/envelope/write-envelope.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { builtProgram } from "../support/programs.ts";
import { commandOf, isAlive } from "../../server/runtime/stores/orphans.ts";
import { createQueues } from "../../workers/producer.ts";
import { codexImport } from "../../workers/queues.ts";
import { archiveTraces, envelope } from "../support/archive.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { untilOneWaits } from "../support/locks.ts";
import { removeWithServers } from "../support/own-folder.ts";
import {
  failToStart,
  serviceEnv,
  sharedService,
  startService,
  stopWhileStarting,
  temporaryDataDir,
  type Service,
} from "../support/process.ts";
import { createRandom } from "../support/random.ts";
import { seed } from "../support/seed.ts";
import { testDatabase } from "../support/stores.ts";
import { made } from "../support/projected-game.ts";
import { noOrigin } from "../../server/platform/origin.ts";

const importLimitMs = 60_000;

const isGone = (pid: number) => !isAlive(pid) || commandOf(pid) === "";

const numItems = 1_500;
interface Shown {
  count: number;
  rows: { gear_score: number; icon: { bytes: number } | null }[];
}

/** A patch of the projected game; every item and picture is from it. */
const patchOf = (n: number) => {
  const icons = Array.from({ length: 20 }, (_, at) => `${at}.png`);
  return envelope({
    game: "gamedata",
    version: `${n}.0`,
    entities: Array.from({ length: numItems }, (_, at) =>
      made(
        "item",
        `n${at}`,
        { name: "Item", gear_score: n, description: `${n} `.repeat(200) },
        { icon: `${at % icons.length}.png` },
      ),
    ),
    assets: icons.map((path) => ({ path, media_type: "image/png", role: "icon" as const })),
    files: Object.fromEntries(icons.map((path, at) => [path, new Uint8Array(n).fill(at)])),
    locales: { en: { Item: `Item of ${n}` } },
  });
};

async function allPids(service: Service): Promise<number[]> {
  const stores = ["postgres/postmaster.pid", "redis/redis.pid"].map((file) =>
    Number.parseInt(readFileSync(join(service.dataDir, file), "utf8"), 10),
  );
  return [service.pid, ...(await service.processes()).map(({ pid }) => pid), ...stores];
}

describe("a running service", () => {
  let service: Service;
  before(async () => {
    service = await sharedService();
  });

  it("replaces a frozen worker, but not one that answers late", async () => {
    const [frozen = 0] = await service.workerPids();
    const jobs = (await service.processes()).find(({ role }) => role === "jobs");
    assert.ok(jobs);
    process.kill(frozen, "SIGSTOP");
    // Longer than the frozen process may be silent in total; the second in between suffices for a response
    // on any machine.
    for (let attempt = 0; attempt < 3; attempt++) {
      process.kill(jobs.pid, "SIGSTOP");
      await sleep(4_200);
      process.kill(jobs.pid, "SIGCONT");
      await sleep(1_000);
    }
    await eventually("the frozen process is gone", () => isGone(frozen));
    assert.ok((await service.processes()).some(({ pid }) => pid === jobs.pid));
    await eventually("a new worker is ready", async () => {
      const worker = (await service.processes()).find(({ role }) => role === "http");
      return worker !== undefined && worker.is_ready && worker.pid !== frozen;
    });
  });

  it("leaves no trace of an import whose job worker is killed, and still shows the patch before it", async () => {
    const queues = createQueues(service.redisUrl, silentLogger);
    const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 2 });
    const isImporting = async () => {
      const locks = sql`
        select pid from pg_locks where locktype = 'advisory' and classid = 7346202`;
      return (await rowsOf(orm.em.fork(), locks)).length > 0;
    };
    const job = (n: number) => {
      return { game: "gamedata", envelope: join(service.dataDir, `${n}/patch.json`), stamp: n };
    };
    /** The workers notice an import within a second. */
    const shows = (patch: number) =>
      eventually(`patch ${patch} is shown`, async () => {
        const answer = await fetch(`${service.url}/v2/items?limit=1`);
        const { body } = (await answer.json()) as { body: Shown };
        const [row] = body.rows;
        const facts = [body.count, row?.gear_score, row?.icon?.bytes];
        return isDeepStrictEqual(facts, [numItems, patch, patch]);
      });
    const killed = [2, 3, 4];
    const random = createRandom(seed);
    try {
      for (const n of [1, ...killed, 5]) await writeEnvelopeFile(patchOf(n), job(n).envelope);
      const first = queues.enqueueAndWait(codexImport, job(1), noOrigin, importLimitMs);
      await eventually("the first import runs", isImporting);
      const start = performance.now();
      assert.equal(await first, true);
      const duration = performance.now() - start;
      let [current, cut] = [1, 0];
      for (const n of killed) {
        const worker = (await service.processes()).find(({ role }) => role === "jobs");
        assert.ok(worker);
        const before = await archiveTraces(orm);
        await queues.enqueue(codexImport, job(n), noOrigin);
        await eventually("the import runs", isImporting);
        // The first kill is certainly early, the others at any time, perhaps too late.
        await sleep((n === killed[0] ? 0.1 : random()) * duration);
        process.kill(worker.pid, "SIGKILL");
        await eventually("the import is over", async () => !(await isImporting()));
        // Nobody must resume it.
        const queue = queues.all().find(({ name }) => name === codexImport.name);
        await queue?.obliterate({ force: true });
        // A kill after the last write leaves the whole patch; any other kill leaves nothing.
        if (isDeepStrictEqual(await archiveTraces(orm), before)) cut++;
        else current = n;
        await shows(current);
        await eventually("a new worker is ready", async () => {
          const next = (await service.processes()).find(({ role }) => role === "jobs");
          return next !== undefined && next.is_ready && next.pid !== worker.pid;
        });
      }
      assert.ok(cut > 0, "every import was over before its worker was killed");
      assert.equal(await queues.enqueueAndWait(codexImport, job(5), noOrigin, importLimitMs), true);
      await shows(5);
    } finally {
      await orm.close(true);
      await queues.close();
    }
  });
});

describe("stopping and starting again", () => {
  const dataDir = temporaryDataDir();
  after(() => rmSync(dataDir, { recursive: true, force: true }));
  const pidFiles = ["postgres/postmaster.pid", "redis/redis.pid"];
  const isThere = (file: string) => existsSync(join(dataDir, file));
  const remainingFiles = () => [...pidFiles, "primary.lock"].filter(isThere);
  const untilOneStarts = () =>
    eventually("a store has begun to start", () => pidFiles.some(isThere));

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

  it("stops what it started when the signal arrives while the stores start", async () => {
    assert.equal(await stopWhileStarting(serviceEnv(dataDir), untilOneStarts), 0);
    assert.deepEqual(remainingFiles(), []);
  });

  it("stops what a command started for itself when a signal ends the command", async () => {
    const list = [...builtProgram("console"), "operator:list"];
    const importCommand = [...builtProgram("import"), "--envelope", "missing.json"];
    for (const program of [list, importCommand])
      for (const signal of ["SIGTERM", "SIGHUP"] as const) {
        const how = { program, signal };
        const code = await stopWhileStarting(serviceEnv(dataDir), untilOneStarts, how);
        assert.deepEqual([code, remainingFiles()], [130, []], `${program.join(" ")} ${signal}`);
      }
  });

  it("stops with its stores when a run of tests ends without stopping it", async () => {
    const folder = temporaryDataDir();
    const pids = await allPids(await startService({ dataDir: join(folder, "data") }));
    await removeWithServers(folder);
    assert.deepEqual(
      pids.filter((pid) => !isGone(pid)),
      [],
    );
  });

  it("verifies all wallets while it is stopped, on stores started only for that", async () => {
    const service = await startService({ dataDir });
    const guest = await fetch(`${service.url}/v1/gateway/guest`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    const { body } = (await guest.json()) as { body: { player: { id: number } } };
    await service.stop();
    const command = async (...args: string[]) => {
      const program = [...builtProgram("console"), ...args, "--json"];
      const { stdout } = await promisify(execFile)(process.execPath, program, {
        env: serviceEnv(dataDir),
      });
      return JSON.parse(stdout) as Record<string, unknown>;
    };
    const before = await command("wallet:verify");
    await command("embers:grant", "--player", String(body.player.id), "--amount", "7");
    const after = await command("wallet:verify");
    assert.deepEqual(
      [after["is_proved"], after["num_wallets"], after["embers"]],
      [true, Number(before["num_wallets"]) + 1, Number(before["embers"]) + 7],
    );
    assert.deepEqual(remainingFiles(), []);
  });

  it("stops the stores of a command that is interrupted in the middle of its work", async () => {
    const database = await testDatabase();
    const orm = await createOrm({ DATABASE_URL: database.url, DATABASE_POOL: 2 });
    try {
      await migrate(orm);
      await orm.em.fork().transactional(async (em) => {
        await rowsOf(em, sql`lock table operators`);
        const env = serviceEnv(dataDir, { DATABASE_URL: database.url });
        const how = { program: [...builtProgram("console"), "operator:list"] };
        assert.equal(await stopWhileStarting(env, () => untilOneWaits(orm.em.fork()), how), 130);
      });
      assert.deepEqual(remainingFiles(), []);
    } finally {
      await orm.close(true);
      await database.drop();
    }
  });

  it("stops in order when the whole process group receives the signal twice", async () => {
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

describe("a service on an IPv6 address", () => {
  it("starts, and prints addresses that answer", async () => {
    const env = { HOST: "::1", OPERATOR_LISTEN: "[::1]:0" };
    const service = await startService({ env, sharesPostgres: true });
    const answers = await Promise.all([
      fetch(`${service.url}/v1/health-check`),
      fetch(`${service.operatorUrl}/live`),
    ]);
    const statuses = answers.map(({ status }) => status);
    assert.deepEqual([statuses, await service.stop()], [[200, 200], 0]);
  });
});

describe("an invalid configuration", () => {
  it("is refused when both listeners use the same port", async () => {
    const dataDir = temporaryDataDir();
    const port = String(await freePort());
    const both = { PORT: port, OPERATOR_LISTEN: `127.0.0.1:${port}` };
    const { code, output } = await failToStart(serviceEnv(dataDir, both));
    rmSync(dataDir, { recursive: true });
    const line = `OPERATOR_LISTEN: 127.0.0.1:${port} is PORT already; set OPERATOR_LISTEN to another one\n`;
    assert.deepEqual([code, output], [1, line]);
  });

  it("is refused with the name of the setting when a listener's address is not on this machine", async () => {
    const dataDir = temporaryDataDir();
    // An address reserved for documentation: no machine has it.
    const nowhere = "192.0.2.1";
    const wrong = [{ HOST: nowhere }, { OPERATOR_LISTEN: `${nowhere}:0` }];
    const lines = [];
    for (const env of wrong) lines.push((await failToStart(serviceEnv(dataDir, env))).output);
    rmSync(dataDir, { recursive: true });
    const line = (name: string) =>
      `${name}: ${nowhere} is not an address of this machine; set ${name} to another one\n`;
    assert.deepEqual(lines, ["HOST", "OPERATOR_LISTEN"].map(line));
  });

  it("is refused in one line when there is no folder for the sockets of the stores", async () => {
    const dataDir = temporaryDataDir();
    const env = serviceEnv(dataDir, { TMPDIR: "/proc/emberline" });
    const { code, output } = await failToStart(env);
    rmSync(dataDir, { recursive: true });
    assert.equal(code, 1);
    assert.match(output, /^no folder for sockets: .*; set TMPDIR to one that can be written\n$/);
  });

  it("is refused when the data folder is not writable", async () => {
    const { code, output } = await failToStart(serviceEnv("/proc/emberline"));
    assert.equal(code, 1);
    assert.match(output, /^DATA_DIR \/proc\/emberline is not writable/m);
  });

  it("is refused in one line when a probe has the path of an endpoint", async () => {
    const database = await testDatabase();
    const dataDir = temporaryDataDir();
    const env = { DATABASE_URL: database.url, PUBLIC_READY_PATH: "/v1/health-check" };
    const { code, output } = await failToStart(serviceEnv(dataDir, env));
    rmSync(dataDir, { recursive: true });
    await database.drop();
    const line =
      "PUBLIC_LIVE_PATH and PUBLIC_READY_PATH: /v1/health-check is an endpoint; set another path or off\n";
    assert.deepEqual([code, output], [1, line]);
  });

  it("is refused in one line that names the unreachable store", async () => {
    const database = await testDatabase();
    const wrong = [
      [{ DATABASE_URL: "postgres://a:b@127.0.0.1:1/c" }, /^the database \(DATABASE_URL\) .*\n$/],
      [{ DATABASE_URL: database.url, REDIS_URL: "redis://127.0.0.1:1" }, /^REDIS_URL .*\n$/],
    ] as const;
    for (const [env, problem] of wrong) {
      const dataDir = temporaryDataDir();
      const { code, output } = await failToStart(serviceEnv(dataDir, { LOG_LEVEL: "", ...env }));
      rmSync(dataDir, { recursive: true });
      assert.equal(code, 1);
      assert.match(output, problem);
    }
    await database.drop();
  });
});
