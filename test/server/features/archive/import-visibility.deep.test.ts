import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { createOrm } from "../../../../db/orm.ts";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { writeEnvelopeFile } from "../../../../importers/envelope/write-envelope.ts";
import { silentLogger } from "../../../../server/platform/log/logger.ts";
import { createQueues, type Queues } from "../../../../workers/producer.ts";
import { codexImport, projectionRebuild } from "../../../../workers/queues.ts";
import { envelope } from "../../../support/archive.ts";
import { freePorts } from "../../../support/free-port.ts";
import { startService, type Service } from "../../../support/process.ts";
import { builtProgram } from "../../../support/programs.ts";
import { made } from "../../../support/projected-game.ts";
import { noOrigin } from "../../../../server/platform/origin.ts";

const game = "seen";
const numWorkers = 2;
const readersOfWorker = 4;
const jobLimitMs = 60_000;

/** Every entity of the patch contains its number. */
const patch = (n: number) =>
  envelope({
    game,
    version: `1.${n}`,
    entities: ["a", "b", "c"].map((name) =>
      made("item", name, { name: "Item", gear_score: n, rarity_type: `Rarity.R${n}` }),
    ),
    locales: { en: { Item: `Item of ${n}` } },
  });

type Body = Record<string, unknown>;
type Rows = readonly Body[];

const itemScore = ({ rows }: Body) => Number((rows as Rows)[0]?.["gear_score"] ?? 0);

const minorOf = (shown: Body | undefined) =>
  Number(String(shown?.["version_raw"] ?? "1.0").slice(2));

/** Addresses that show the number of the present patch, and how; 0 for none. */
const views: readonly (readonly [path: string, numberIn: (body: Body) => number])[] = [
  [`/v1/codex/${game}/manifest`, ({ patch: shown }) => minorOf(shown as Body | undefined)],
  [
    `/v1/codex/${game}/id.item.a`,
    ({ data }) => Number((data as Body | undefined)?.["gear_score"] ?? 0),
  ],
  [`/v1/codex/${game}/patches`, ({ patches = [] }) => minorOf((patches as Rows)[0])],
  ["/v2/items", itemScore],
  ["/v2/item/id.item.b", ({ gear_score: score = 0 }) => Number(score)],
  [
    "/v2/facets",
    ({ rarity = {} }) => Number(Object.keys(rarity as Body)[0]?.replace(/^r_?/, "") ?? 0),
  ],
];

interface Answer {
  view: string;
  began: number;
  ended: number;
  shown: number;
}

describe("an import, a rebuild or a console command that reports that it is done", () => {
  let service: Service;
  let folder: string;
  let workers: string[];

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "ember-seen-"));
    const first = await freePorts(numWorkers);
    const env = {
      HTTP_WORKERS: String(numWorkers),
      WORKER_PORTS: String(first),
      RATE_LIMIT_FACTOR: "0",
      GAME_DATA_GAME: game,
      IMPORT_DIR: folder,
    };
    service = await startService({ env, sharesPostgres: true });
    workers = Array.from({ length: numWorkers }, (_, at) => `http://127.0.0.1:${first + at}`);
  });
  after(async () => {
    await service.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (program: string, ...args: string[]) => {
    const child = spawn(process.execPath, [...builtProgram(program), ...args], {
      env: {
        ...process.env,
        DATABASE_URL: service.databaseUrl,
        REDIS_URL: service.redisUrl,
        GAME_DATA_GAME: game,
        DATA_DIR: join(folder, "data"),
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const ended = once(child, "close");
    const [, problems, [code]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
    assert.equal(code, 0, problems);
  };

  /** The work with a producer of jobs of the service. */
  const withQueues = async (work: (queues: Queues) => Promise<boolean>) => {
    const queues = createQueues(service.redisUrl, silentLogger);
    try {
      assert.ok(await work(queues), "the job has failed");
    } finally {
      await queues.close();
    }
  };

  async function read(worker: string, [path, numberIn]: (typeof views)[number]): Promise<Answer> {
    const began = performance.now();
    const response = await fetch(worker + path);
    const answer = (await response.json()) as { body?: Body };
    assert.ok([200, 404].includes(response.status), `${path}: ${response.status}`);
    return { view: path, began, ended: performance.now(), shown: numberIn(answer.body ?? {}) };
  }

  /** Reads at each worker while the work is done, and once more right after its end: all of these show `expected`. */
  async function watch(work: () => Promise<unknown>, expected: number): Promise<void> {
    const answers: Answer[] = [];
    let isOver = false;
    const readers = workers.flatMap((worker) =>
      Array.from({ length: readersOfWorker }, async (_, at) => {
        for (let n = at; !isOver; n++) {
          const view = views[n % views.length];
          if (view !== undefined) answers.push(await read(worker, view));
        }
      }),
    );
    await work().finally(() => (isOver = true));
    const first = await Promise.all(
      workers.flatMap((worker) =>
        views.flatMap((view) => [read(worker, view), read(worker, view)]),
      ),
    );
    for (const { view, shown } of first) assert.equal(shown, expected, `${view} after the end`);
    await Promise.all(readers);
    for (const [view, of] of Map.groupBy(answers, (one) => one.view)) assertNeverBack(view, of);
  }

  it("by a command, is what every process answers with, never again what was before", async () => {
    for (const n of [1, 2, 3]) await writeEnvelopeFile(patch(n), join(folder, `first/${n}.json`));
    await watch(() => run("import", game, join(folder, "first")), 3);
    await writeEnvelopeFile(patch(4), join(folder, "next/4.json"));
    await watch(() => run("import", game, join(folder, "next")), 4);
  });

  it("by the console, which opens the service to the pages of a realm", async () => {
    const origin = "https://pages.example";
    const ofRealm = ["--slug", "default", "--frontend-url", origin];
    await run("console", "realm:branding", ...ofRealm);
    const allowed = workers.map(async (worker) => {
      const response = await fetch(`${worker}/v1/health-check`, { headers: { Origin: origin } });
      await response.arrayBuffer();
      return response.headers.get("access-control-allow-credentials");
    });
    assert.deepEqual(await Promise.all(allowed), ["true", "true"]);
  });

  it("by a job", async () => {
    const path = join(folder, "5.json");
    await writeEnvelopeFile(patch(5), path);
    const job = { game, envelope: path, stamp: 1 };
    await watch(
      () => withQueues((queues) => queues.enqueueAndWait(codexImport, job, noOrigin, jobLimitMs)),
      5,
    );
  });

  it("by a rebuild, from the console or as a job, and when it is taken back", async () => {
    const orm = await createOrm({ DATABASE_URL: service.databaseUrl, DATABASE_POOL: 1 });
    const age = sql`update projection_items set gear_score = 3, inputs_hash = 'old'`;
    await rowsOf(orm.em.fork(), age).finally(() => orm.close(true));
    const assertScore = async (expected: number) => {
      for (const worker of [...workers, ...workers])
        assert.equal((await read(worker, ["/v2/items?limit=9", itemScore])).shown, expected);
    };
    await assertScore(3);
    await run("console", "projection:rebuild");
    await assertScore(5);
    await run("console", "projection:rebuild", "--back");
    await assertScore(3);
    const job = { game, action: "apply", build: null, stamp: 2 } as const;
    await withQueues((queues) =>
      queues.enqueueAndWait(projectionRebuild, job, noOrigin, jobLimitMs),
    );
    await assertScore(5);
  });
});

/** No answer is older than one that had arrived before it was asked for, at whatever worker. */
function assertNeverBack(view: string, answers: readonly Answer[]): void {
  const byEnd = answers.toSorted((a, b) => a.ended - b.ended);
  let [at, newest] = [0, 0];
  for (const { began, shown } of answers.toSorted((a, b) => a.began - b.began)) {
    for (let one = byEnd[at]; one !== undefined && one.ended < began; one = byEnd[++at])
      newest = Math.max(newest, one.shown);
    assert.ok(shown >= newest, `${view} shows ${shown} after ${newest}`);
  }
}
