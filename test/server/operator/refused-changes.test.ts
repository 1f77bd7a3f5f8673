import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../db/queries/rows.ts";
import { createPlayerService } from "../../../server/features/accounts/domain/player-service.ts";
import { createAvatarService } from "../../../server/features/avatars/domain/avatar-service.ts";
import { recordingUndone } from "../../../server/features/operators/domain/undone-changes.ts";
import { createQuestionService } from "../../../server/features/questions/domain/question-review.ts";
import { createUndoneRecords } from "../../../server/operator/audit.ts";
import { avatarRoutes, type AvatarsDeps } from "../../../server/operator/avatars/routes.ts";
import { playerRoutes, type PlayersDeps } from "../../../server/operator/players/routes.ts";
import { questionRoutes, type QuestionsDeps } from "../../../server/operator/questions/routes.ts";
import { AppError } from "../../../server/platform/errors.ts";
import { noFaults } from "../../../server/platform/faults/recorder.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { connectRedis } from "../../../server/platform/redis/redis.ts";
import { startApp, type App } from "../../support/app.ts";
import { registerAccount } from "../../support/identity.ts";
import { startOperatorPart, undoneRecordsIn } from "../../support/operator.ts";

type Deps = AvatarsDeps & PlayersDeps & QuestionsDeps;

/** Changes whose record is committed with them (OPS-54, OPS-90). */
describe("a refused change of an operator", () => {
  let app: App;
  let part: Awaited<ReturnType<typeof startOperatorPart<Deps>>>;
  let playerId = 0;

  before(async () => {
    app = await startApp({ hasJobs: false });
    const { config, clock, orm, redis } = app.deps;
    const recordUndone = undoneRecordsIn(orm);
    const afterwards = () => undefined;
    const inStores: Parameters<typeof createQuestionService>[0] = (work) =>
      orm.em.fork().transactional((em) => work({ em, redis, faults: noFaults, afterwards }));
    part = await startOperatorPart<Deps>({
      routes: [...avatarRoutes, ...playerRoutes, ...questionRoutes],
      deps: {
        players: createPlayerService({ config, inStores, recordUndone }),
        avatars: createAvatarService({ config, clock, open: async () => orm, recordUndone }),
        questions: createQuestionService(inStores, recordUndone),
        playerRooms: async () => [],
      },
    });
    ({
      session: {
        player: { id: playerId },
      },
    } = await registerAccount(app));
  });
  after(async () => {
    await part.stop();
    await app.stop();
  });

  const records = () =>
    rowsOf<Record<string, unknown>>(
      app.deps.em,
      sql`select operator, action, target, reason, outcome, num_changed, request_id
        from audit_log order by id`,
    );

  const changes = () =>
    [
      [`players/${playerId}/restore`, "account:restore", `player ${playerId}`, 409],
      ["players/999/unlock", "account:unlock", "player 999", 404],
      ["questions/999/retire", "question:retire", "question 999", 404],
      ["avatar-uploads/999/undo", "avatar:undo", "avatar upload 999", 404],
    ] as const;
  const reason = "asked by mail";
  /** JSON of a program, or the form of a page's button. */
  const send = (path: string, isPage: boolean, id: string) =>
    fetch(`${part.url}/operator/${path}`, {
      method: "POST",
      redirect: "manual",
      headers: {
        "x-request-id": id,
        ...(isPage
          ? { accept: "text/html", cookie: "operator=token-of-operator" }
          : { authorization: "Bearer token-of-operator", "content-type": "application/json" }),
      },
      body: isPage ? new URLSearchParams({ reason }) : JSON.stringify({ reason }),
    });

  for (const isPage of [true, false])
    it(`leaves a record and nothing else, ${isPage ? "by a page" : "by the API"}`, async () => {
      for (const [path, action, target, status] of changes()) {
        await app.deps.em.getConnection().execute("delete from audit_log");
        const id = `request-of-${action.replace(":", "-")}`;
        assert.equal((await send(path, isPage, id)).status, status, path);
        const who = { operator: "the operator", action, target, reason };
        assert.deepEqual(await records(), [
          { ...who, outcome: "refused", num_changed: null, request_id: id },
        ]);
      }
    });

  it("is recorded as failed if a store was away, and its error stays as it was", async () => {
    const outcomes: unknown[] = [];
    const broken = new Error("connection lost");
    const change = { operator: "olga", action: "account:unlock", target: "player 7" };
    const record = async ({ outcome }: { outcome?: string }) => void outcomes.push(outcome);
    await assert.rejects(
      recordingUndone(record, change, () => Promise.reject(broken)),
      broken,
    );
    assert.deepEqual(outcomes, ["failed"]);
  });

  it("is recorded as failed while Redis is away, where the locks of a player are", async () => {
    const { config, orm } = app.deps;
    const redis = connectRedis("unix:///nowhere/redis.sock", silentLogger, "test");
    const players = createPlayerService({
      config,
      recordUndone: undoneRecordsIn(orm),
      inStores: (work) =>
        orm.em
          .fork()
          .transactional((em) =>
            work({ em, redis, faults: noFaults, afterwards: () => undefined }),
          ),
    });
    await app.deps.em.getConnection().execute("delete from audit_log");
    const by = { operator: "olga", reason, requestId: "request-of-unlock" };
    await assert.rejects(
      players.change(playerId, "unlock", by),
      (error) => error instanceof AppError && error.code === "account:locks_unavailable",
    );
    const [{ outcome } = assert.fail("no record"), ...others] = await records();
    assert.deepEqual([outcome, others], ["failed", []]);
    redis.disconnect();
  });

  it("is refused as before if the record cannot be written, and a log line says so", async () => {
    const lines: unknown[] = [];
    const record = createUndoneRecords(
      { begin: () => Promise.reject(new Error("away")) },
      { error: (facts: unknown) => lines.push(facts) },
    );
    const change = { operator: "olga", action: "account:unlock", target: "player 7" };
    await record({ ...change, outcome: "refused" });
    assert.deepEqual(
      lines.map((line) => (line as { event: string }).event),
      ["audit_undone_failed"],
    );
  });
});
