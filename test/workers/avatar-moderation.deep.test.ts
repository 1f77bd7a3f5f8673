import assert from "node:assert/strict";
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { sourceFlags } from "../support/programs.ts";
import { listForReview } from "../../db/queries/avatars/avatar-reviews.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { configToEnv } from "../../server/platform/config/config.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { maintain } from "../../workers/processors/maintenance.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import { avatarModeration } from "../../workers/queues.ts";
import { startApp, type App } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { registerAccount } from "../support/identity.ts";
import { formOf, scene, startTestModerator, type TestModerator } from "../support/pictures.ts";

const entry = fileURLToPath(new URL("./moderation-process.ts", import.meta.url));
let app: App;
let moderator: TestModerator;
let queues: Queues;
const workers: ChildProcess[] = [];

const startWorker = async () => {
  const worker = fork(entry, {
    execArgv: [...sourceFlags],
    env: { ...process.env, ...configToEnv(app.deps.config) },
  });
  workers.push(worker);
  await once(worker, "message");
  return worker;
};

const kill = async (worker: ChildProcess) => {
  const gone = once(worker, "exit");
  worker.kill("SIGKILL");
  await gone;
};

const killAll = async () => {
  for (const worker of workers.splice(0))
    if (worker.exitCode === null && worker.signalCode === null) await kill(worker);
};

/** Uploads a picture; resolves to the response. */
const send = async (seed: number) => {
  const { session } = await registerAccount(app);
  const bytes = await scene(seed).png().toBuffer();
  const answer = await app.client.post("/v1/users/@me/avatar/upload", {
    token: session.access_token,
    ...formOf([{ bytes }]),
  });
  assert.equal(answer.status, 200, answer.text);
  const { upload } = answer.body as { upload: { id: number; status: string } };
  return { ...upload, playerId: session.player.id };
};

/** An upload as operators see it. */
const waiting = async (id: number) => {
  const list = await listForReview(app.deps.em, { status: "queued", limit: 100, cursor: null });
  return list.find((upload) => upload.id === id);
};

const queue = () =>
  queues.all().find(({ name }) => name === avatarModeration.name) ?? assert.fail();

/** Runs the clean-up this much later. */
const cleanUp = (laterMs: number) => {
  const clock = { now: () => Date.now() + laterMs };
  return maintain({ task: "avatars" }, { ...app.deps, em: app.deps.orm.em.fork(), clock });
};

describe("avatar moderation", () => {
  before(async () => {
    moderator = await startTestModerator();
    const env = { AVATAR_MODERATION: "webhook", AVATAR_MODERATION_URL: moderator.url };
    app = await startApp({ hasJobs: false, env });
    queues = createQueues(app.stores.redisUrl, silentLogger);
  });
  after(async () => {
    await killAll();
    await queues.close();
    await app.stop();
    await moderator.stop();
  });

  describe("the moderation of an avatar when its job worker is killed", () => {
    it("is completed once by the next worker, without delaying the request", async () => {
      const first = await startWorker();
      moderator.answer = null;
      const asked = moderator.next();
      const sending = send(1);
      await asked;
      await kill(first);
      const upload = await sending;
      const id = upload.playerId;
      assert.equal(upload.status, "queued");
      moderator.answer = { status: 200, body: { verdict: "approved" } };
      await startWorker();
      const state = async () => {
        const rows = await rowsOf(
          app.deps.em,
          sql<{ status: string; v: number; shown: number | null }>`
          select u.status, p.avatar_v as v, p.avatar_upload_id as shown
          from avatar_uploads u join players p on p.id = u.player_id where p.id = ${id}`,
        );
        return rows[0];
      };
      await eventually("it is judged", async () => (await state())?.status !== "queued");
      assert.deepEqual(await state(), { status: "approved", v: 1, shown: upload.id });
      assert.deepEqual(moderator.asked, [upload.id, upload.id]);
      const drawn = await app.client.get(`/v1/players/${id}/avatar`);
      assert.ok(drawn.text.includes("data:image/webp"));
    });

    it("is left to a reviewer and not started again after one kill too many", async () => {
      await killAll();
      const worker = await startWorker();
      moderator.answer = null;
      const asked = moderator.next();
      const sending = send(2);
      await asked;
      const id = moderator.asked.at(-1) ?? assert.fail();
      await app.deps.redis.hset(`jobs:avatar-moderation:upload-${id}-0`, "stc", 5);
      await kill(worker);
      assert.equal((await sending).status, "queued");
      moderator.answer = { status: 200, body: { verdict: "approved" } };
      await startWorker();
      await eventually("it is left to a person", async () => (await waiting(id))?.judgedBy != null);
      assert.equal((await waiting(id))?.judgedBy, "unavailable");
      assert.equal(moderator.asked.filter((one) => one === id).length, 1);
      const [failed] = await queue().getFailed();
      assert.match(failed?.failedReason ?? "", /stalled/);
      await cleanUp(3 * 60_000);
      assert.deepEqual(await queue().getWaiting(), []);
    });
  });
});
