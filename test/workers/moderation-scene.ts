import assert from "node:assert/strict";
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { after, before } from "node:test";
import { fileURLToPath } from "node:url";
import { listForReview } from "../../db/queries/avatars/avatar-reviews.ts";
import { configToEnv } from "../../server/platform/config/config.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { maintain } from "../../workers/processors/maintenance.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import { avatarModeration } from "../../workers/queues.ts";
import { startApp, type App } from "../support/app.ts";
import { registerAccount } from "../support/identity.ts";
import { formOf, scene, startTestModerator, type TestModerator } from "../support/pictures.ts";
import { sourceFlags } from "../support/programs.ts";

const entry = fileURLToPath(new URL("./moderation-process.ts", import.meta.url));

/** An app without job workers, a moderator, and moderating workers that the tests of a `describe` start and kill. */
export function moderationScene() {
  let app: App;
  let moderator: TestModerator;
  let queues: Queues;
  const workers: ChildProcess[] = [];

  const kill = async (worker: ChildProcess) => {
    const gone = once(worker, "exit");
    worker.kill("SIGKILL");
    await gone;
  };
  const killAll = async () => {
    for (const worker of workers.splice(0))
      if (worker.exitCode === null && worker.signalCode === null) await kill(worker);
  };

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

  return {
    app: () => app,
    moderator: () => moderator,
    queue: () => queues.all().find(({ name }) => name === avatarModeration.name) ?? assert.fail(),
    kill,
    killAll,
    async startWorker(): Promise<ChildProcess> {
      const worker = fork(entry, {
        execArgv: [...sourceFlags],
        env: { ...process.env, ...configToEnv(app.deps.config) },
      });
      workers.push(worker);
      await once(worker, "message");
      return worker;
    },
    /** Uploads a picture; resolves to the response. */
    async send(seed: number) {
      const { session } = await registerAccount(app);
      const bytes = await scene(seed).png().toBuffer();
      const answer = await app.client.post("/v1/users/@me/avatar/upload", {
        token: session.access_token,
        ...formOf([{ bytes }]),
      });
      assert.equal(answer.status, 200, answer.text);
      const { upload } = answer.body as { upload: { id: number; status: string } };
      return { ...upload, playerId: session.player.id };
    },
    /** An upload as operators see it. */
    async waiting(id: number) {
      const query = { status: "queued", limit: 100, cursor: null } as const;
      const list = await listForReview(app.deps.em, query);
      return list.find((upload) => upload.id === id);
    },
    /** Runs the clean-up this much later. */
    cleanUp(laterMs: number) {
      const clock = { now: () => Date.now() + laterMs };
      return maintain({ task: "avatars" }, { ...app.deps, em: app.deps.orm.em.fork(), clock });
    },
  };
}
