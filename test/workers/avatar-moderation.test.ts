import assert from "node:assert/strict";
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { sourceFlags } from "../support/programs.ts";
import { listForReview } from "../../db/queries/avatars/avatar-reviews.ts";
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
    // No upload waits for a decision, which no worker makes.
    const { enqueueAndWait } = app.deps;
    app.deps.enqueueAndWait = (definition, payload, origin) =>
      enqueueAndWait(definition, payload, origin, 1);
    queues = createQueues(app.stores.redisUrl, silentLogger);
  });
  after(async () => {
    await killAll();
    await queues.close();
    await app.stop();
    await moderator.stop();
  });
  describe("the moderation of an avatar that cannot be classified", () => {
    it("is left to a reviewer when its last attempt fails", async () => {
      await killAll();
      const { id } = await send(3);
      const [waits] = await queue().getWaiting();
      assert.equal(waits?.data["uploadId"], id);
      await waits?.remove();
      const file = (await waiting(id))?.file ?? assert.fail();
      await app.deps.pictureStore.remove(file);
      await queue().add(avatarModeration.name, { uploadId: id, round: 1 }, { attempts: 1 });
      await startWorker();
      await eventually("it is left to a person", async () => (await waiting(id))?.judgedBy != null);
      assert.equal((await waiting(id))?.judgedBy, "unavailable");
    });

    it("is queued once, however long no worker is running", async () => {
      await killAll();
      const { id } = await send(4);
      for (const minutes of [5, 10, 20]) await cleanUp(minutes * 60_000);
      const jobs = await queue().getWaiting();
      assert.deepEqual(
        jobs.map(({ data }) => data["uploadId"]),
        [id],
      );
      // A missing job is queued again.
      await jobs[0]?.remove();
      await cleanUp(30 * 60_000);
      assert.equal((await queue().getWaiting()).length, 1);
    });
  });
});
