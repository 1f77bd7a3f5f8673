import assert from "node:assert/strict";
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { nodeFlags } from "../../server/core/node-flags.ts";
import { rowsOf } from "../../db/queries/rows.ts";
import { configToEnv } from "../../server/core/config.ts";
import { startApp, type App } from "../support/app.ts";
import { registerAccount } from "../support/identity.ts";
import { formOf, scene, startTestModerator, type TestModerator } from "../support/pictures.ts";

const entry = fileURLToPath(new URL("./moderation-process.ts", import.meta.url));

describe("the moderation of an avatar whose job worker is killed", () => {
  let app: App;
  let moderator: TestModerator;
  const workers: ChildProcess[] = [];
  const startWorker = async () => {
    const worker = fork(entry, {
      execArgv: nodeFlags,
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

  before(async () => {
    moderator = await startTestModerator();
    const env = { AVATAR_MODERATION: "webhook", AVATAR_MODERATION_URL: moderator.url };
    app = await startApp({ hasJobs: false, env });
  });
  after(async () => {
    for (const worker of workers)
      if (worker.exitCode === null && !worker.killed) await kill(worker);
    await app.stop();
    await moderator.stop();
  });

  it("is done by the next one, once, and the request is not kept waiting", async () => {
    const first = await startWorker();
    const { session } = await registerAccount(app);
    const { id } = session.player;
    moderator.answer = null;
    const asked = moderator.next();
    const bytes = await scene(1).png().toBuffer();
    const sending = app.client.post("/v1/users/@me/avatar/upload", {
      token: session.access_token,
      ...formOf([{ bytes }]),
    });
    await asked;
    await kill(first);
    const { status, body } = await sending;
    assert.equal(status, 200);
    const { upload } = body as { upload: { id: number; status: string } };
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
    const deadline = performance.now() + 60_000;
    while ((await state())?.status === "queued") {
      assert.ok(performance.now() < deadline, "nobody took the job over");
      await new Promise((done) => setTimeout(done, 50));
    }
    assert.deepEqual(await state(), { status: "approved", v: 1, shown: upload.id });
    assert.deepEqual(moderator.asked, [upload.id, upload.id]);
    const drawn = await app.client.get(`/v1/players/${id}/avatar`);
    assert.ok(drawn.text.includes("data:image/webp"));
  });
});
