import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { createOrm } from "../../db/orm.ts";
import { createFaultStore } from "../../server/features/faults/domain/fault-store.ts";
import { parseConfig } from "../../server/platform/config/config.ts";
import { Fault } from "../../server/platform/faults/fault.ts";
import { BatchingFaultRecorder } from "../../server/platform/faults/recorder.ts";
import { createInstance } from "../../server/platform/instance.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { createMetrics } from "../../server/platform/metrics/metrics.ts";
import { noOrigin } from "../../server/platform/origin.ts";
import { connectRedis, redisReady } from "../../server/platform/redis/redis.ts";
import { noRequests } from "../../server/platform/requests/tracker.ts";
import { systemClock } from "../../server/platform/time/clock.ts";
import { startJobs, type Jobs, type Processors } from "../../workers/jobs.ts";
import { LazyQueues } from "../../workers/lazy-queues.ts";
import { createQueues, type Queues } from "../../workers/producer.ts";
import type { GroupActionDeps } from "../../workers/processors/group-actions.ts";
import { avatarModeration, credentialRequests, mail } from "../../workers/queues.ts";
import { sharedBrowser } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { startService, type Service } from "../support/process.ts";
import { actingProcessors } from "../workers/group-actions-app.ts";
import { Operator } from "./console-page.ts";

/** Failed jobs by cause; the greylisted ones are retried. */
const counts = { refused: 4_000, greylisted: 2_500, moderation: 2_000, credentials: 1_500 };
const evil = "<img src=x onerror=document.title='hit'>";

describe("ten thousand failures of four causes, as an operator sees them", () => {
  let browser: Browser | null;
  let service: Service;
  let queues: Queues;
  let lazy: LazyQueues;
  let jobs: Jobs;
  let ada: Operator;
  const closing: (() => unknown)[] = [];
  let isMended = false;
  const runsAfterwards = new Map<number, number>();

  const send = ({ messageId }: { messageId: number }) => {
    const isGreylisted = messageId > counts.refused;
    if (isMended) runsAfterwards.set(messageId, (runsAfterwards.get(messageId) ?? 0) + 1);
    if (isMended && isGreylisted) return;
    const facts = { isPermanent: true, text: evil } as const;
    throw isGreylisted
      ? new Fault("smtp.deferred", { ...facts, peer: "mail-b.example:25", status: 451 })
      : new Fault("smtp.refused", { ...facts, peer: "mail-a.example:25", status: 550 });
  };
  const failing: Processors<unknown> = {
    mail: async (payload: { messageId: number }) => send(payload),
    "avatar-moderation": async () => {
      throw new Fault("moderation.status", {
        peer: "eye.example:443",
        status: 500,
        isPermanent: true,
      });
    },
    "credential-requests": async ({ requestId }: { requestId: number }) => {
      const error = new Error(`no row for request ${requestId}, room ABC234`);
      error.name = "UnrecoverableError";
      throw error;
    },
  };

  before(async () => {
    browser = await sharedBrowser();
    // The jobs of this test are run by the test alone.
    service = await startService({ env: { JOB_WORKERS: "0" }, sharesPostgres: true });
    const redis = connectRedis(service.redisUrl, silentLogger, "test");
    await redisReady(redis);
    const orm = await createOrm(parseConfig({ DATABASE_URL: service.databaseUrl }));
    queues = createQueues(service.redisUrl, silentLogger);
    lazy = new LazyQueues(service.redisUrl, silentLogger, noRequests);
    const metrics = createMetrics();
    const instance = createInstance({ role: "jobs", index: 0, version: "1" });
    const faults = new BatchingFaultRecorder({
      ...{ store: createFaultStore(redis, systemClock), clock: systemClock },
      ...{ instance, metrics, log: silentLogger, everyMs: 50 },
    });
    const deps = { redis, clock: systemClock, log: silentLogger };
    jobs = await startJobs<GroupActionDeps>({
      ...{ redisUrl: service.redisUrl, log: silentLogger, metrics, faults },
      processors: { ...failing, ...actingProcessors.processors } as Processors<GroupActionDeps>,
      failureSteps: actingProcessors.failureSteps,
      depsOf: () => ({ ...deps, queueNamed: lazy.named.bind(lazy), em: orm.em.fork() }),
    });
    closing.push(
      () => faults.stop(),
      () => queues.close(),
      () => lazy.close(),
      () => orm.close(true),
      () => redis.disconnect(),
    );
    await failAll();
    const occurrence = { place: "question-generator", error: new Error("out of tokens") };
    faults.record({ kind: "degraded", ...occurrence, origin: noOrigin });
    await faults.flush();
  });
  after(async () => {
    await ada.close();
    await jobs.close();
    for (const close of closing) await close();
    await service.stop();
  });

  async function failAll(): Promise<void> {
    const add = (from: number, count: number, one: (n: number) => Promise<unknown>) =>
      Promise.all(Array.from({ length: count }, (_, at) => one(from + at)));
    const origin = (n: number) => ({ ...noOrigin, playerId: 1 + (n % 500) });
    const { refused, greylisted, moderation, credentials } = counts;
    await add(1, refused + greylisted, (messageId) =>
      queues.enqueue(mail, { messageId, round: 0 }, origin(messageId)),
    );
    await add(1, moderation, (uploadId) =>
      queues.enqueue(avatarModeration, { uploadId, round: 0 }, origin(uploadId)),
    );
    await add(1, credentials, (requestId) =>
      queues.enqueue(credentialRequests, { requestId, round: 0 }, origin(requestId)),
    );
    await eventually("all jobs have failed", async () => (await numFailed()) === 10_000, 120_000);
  }

  async function numFailed(): Promise<number> {
    const failed = await Promise.all(queues.all().map((queue) => queue.getFailedCount()));
    return failed.reduce((sum, count) => sum + count, 0);
  }

  it("shows cause, count, since when and players without a click after the login", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    ada = await Operator.signIn(browser, service);
    const rows = ada.page.locator("table").first().locator("tbody tr");
    const shown = new Map<string, string[]>();
    for (const row of await rows.all()) {
      const cells = (await row.locator("td").allTextContents()).map((text) => text.trim());
      shown.set(cells[0] ?? "", cells);
    }
    const rowOf = (cause: string) =>
      [...shown].find(([what]) => what.includes(cause))?.[1] ?? assert.fail(`${cause} is missing`);
    for (const [cause, place, count] of [
      ["smtp.refused mail-a.example:25 550", "mail", counts.refused],
      ["smtp.deferred mail-b.example:25 451", "mail", counts.greylisted],
      ["moderation.status eye.example:443 500", "avatar-moderation", counts.moderation],
      ["no row for request", "credential-requests", counts.credentials],
    ] as const) {
      const [, where, failedNow, lastHour, players, since] = rowOf(cause);
      assert.deepEqual([where, failedNow, lastHour], [place, String(count), String(count)]);
      assert.ok(Math.abs(Number(players) - 500) <= 10, players);
      assert.match(since ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/);
    }
    assert.match(rowOf("out of tokens")[0] ?? "", /a fallback answered/);
    assert.ok(ada.takeClicks() <= 3);
    await ada.takePicture("overview");
    await ada.isWholeWhenNarrow();
  });

  it("retries one cause in at most six clicks and a minute, exactly its jobs, once each", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    isMended = true;
    const { page } = ada;
    await ada.click(page.getByRole("link", { name: /smtp\.deferred/ }));
    await ada.takePicture("group");
    await ada.isWholeWhenNarrow();
    await ada.click(page.getByRole("link", { name: `Retry jobs: ${counts.greylisted}` }));
    await page.getByLabel("Reason").fill("the server is back");
    await ada.isWholeWhenNarrow();
    const startedAt = performance.now();
    await ada.click(page.getByRole("button", { name: "Retry jobs" }));
    const state = page.locator("tr", { hasText: "State" }).locator("td").nth(1);
    await page.waitForFunction(
      () => [...document.querySelectorAll("td")].some((cell) => cell.textContent.trim() === "done"),
      undefined,
      { timeout: 60_000 },
    );
    assert.equal((await state.textContent())?.trim(), "done");
    assert.ok(performance.now() - startedAt <= 60_000);
    assert.ok(ada.takeClicks() <= 6);
    assert.equal(runsAfterwards.size, counts.greylisted);
    assert.ok([...runsAfterwards].every(([id, runs]) => id > counts.refused && runs === 1));
    assert.equal(await numFailed(), 10_000 - counts.greylisted);
    await ada.isWholeWhenNarrow();
  });

  it("cuts no figure on a narrow screen, and shows texts of others as text", async (t) => {
    if (!browser) return t.skip("no browser on this machine");
    for (const path of [
      "/operator/failures",
      "/operator/queues",
      "/operator/queues/mail",
      "/operator/queues/mail/jobs?state=failed",
      "/operator/jobs/mail/message-1-0",
      "/operator/workers",
      "/operator/rooms",
      "/operator/rooms/lobby",
      "/operator/audit",
    ]) {
      await ada.go(path);
      await ada.isWholeWhenNarrow();
      assert.equal(await ada.page.locator("main img").count(), 0, path);
      assert.notEqual(await ada.page.title(), "hit");
    }
  });
});
