import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { TimelineBody } from "../../../../server/operator/requests/schemas.ts";
import { createRequestStore } from "../../../../server/features/requests/domain/request-store.ts";
import { systemClock } from "../../../../server/platform/time/clock.ts";
import { noOrigin } from "../../../../server/platform/origin.ts";
import { mail } from "../../../../workers/queues.ts";
import { idOf, startTimelineApp } from "./timeline-app.ts";

const words = "the model is overloaded, ask again after lunch";
let service: Awaited<ReturnType<typeof startTimelineApp>>;

describe("a request by its id", () => {
  before(async () => {
    service = await startTimelineApp(words);
  });
  after(() => service.stop());

  describe("leads", leads);
  describe("is kept", () => {
    const away = () => Promise.reject(new Error("away"));

    it("or is refused with 404, which says since when requests are kept", async () => {
      const { read, pageOf } = service;
      for (const id of ["never-seen-before", "short", "with%20space1", "%3Cimg%20onerror=x%3E"]) {
        const { status, text } = await read(id);
        assert.equal(status, 404, id);
        assert.ok(text.includes("request:not_kept"), id);
      }
      assert.match(await pageOf("never-seen-before"), /24 hours[^]*kept_since: \d{4}-/);
    });

    it("unless it succeeds at once and queues nothing", async () => {
      const { app, register, read, timelineOf } = service;
      const quick = idOf(await fetch(`${app.url}/v1/games/trivia/categories`));
      const { id } = await register();
      await timelineOf(id, ({ requests }) => requests.length === 1);
      assert.equal((await read(quick)).status, 404);
    });

    it("so that each store shows its part while the other one is away", async () => {
      const { app, register, read, pageOf, timelineOf } = service;
      const { id } = await register();
      await timelineOf(id, ({ requests, messages }) => requests.length + messages.length === 2);
      const store = createRequestStore(app.deps.redis, systemClock);
      const requests = Object.assign(store, { find: away });
      const withoutPostgres = await pageOf(id, { open: away });
      assert.match(withoutPostgres, /Postgres does not respond[^]*\/v1\/users/);
      const withoutRedis = await pageOf(id, { requests });
      assert.match(withoutRedis, /Redis does not respond[^]*verify-email/);
      assert.equal((await read("never-seen-before", {}, { requests, open: away })).status, 200);
    });

    it("without addresses, tokens and codes", async () => {
      const { redis } = service.app.deps;
      const lists = (await redis.keys("jobs:faults:requests:*")).filter((key) => /:\d+$/.test(key));
      const stored = JSON.stringify(
        await Promise.all(lists.map((key) => redis.lrange(key, 0, -1))),
      );
      assert.ok(stored.includes("/v1/users") && stored.includes("message-"));
      assert.doesNotMatch(stored, /@example|eyJ|correct horse|player\d|"\d{6}"|127\.0\.0\.1/);
    });
  });
});

function leads(): void {
  it("from a 503 to its job and to the words of the generator", async () => {
    const { send, pageOf, timelineOf } = service;
    const guest = await send("/v1/gateway/guest", {});
    const session = (await guest.json()) as { body: { access_token: string } };
    const wanted = { category: "film", prompt: "zxqwv" };
    const headers = { authorization: `Bearer ${session.body.access_token}` };
    const response = await send("/v1/games/trivia/questions/generate", wanted, headers);
    assert.equal(response.status, 503);
    const id = idOf(response);
    const body = await timelineOf(
      id,
      ({ requests, failures }) => requests.length === 1 && failures.length === 2,
    );
    const [request] = body.requests;
    assert.deepEqual(
      [request?.method, request?.route, request?.status, request?.code],
      ["POST", "/v1/games/trivia/questions/generate", 503, "generator:unavailable"],
    );
    assert.ok((request?.player_id ?? 0) > 0);
    assert.deepEqual(
      body.jobs.map(({ queue, state }) => [queue, state]),
      [["question-generation", "completed"]],
    );
    const fault = body.failures.find(({ code }) => code === "generator.status");
    assert.deepEqual([fault?.place, fault?.status], ["question-generator", 500]);
    const page = await pageOf(id);
    assert.ok(page.includes(words));
    assert.ok(page.includes(`href="/operator/failures/${fault?.id}"`));
    assert.ok(page.includes("/operator/jobs/question-generation/"));
  });

  it("from a sign-up to its mail, whose address is masked", async () => {
    const { register, pageOf, timelineOf } = service;
    const { id, email } = await register();
    const isSent = ({ requests, messages: [sent] }: TimelineBody) =>
      requests.length === 1 && sent?.status === "sent";
    const { requests, messages, jobs, changes } = await timelineOf(id, isSent);
    assert.deepEqual([requests[0]?.status, requests[0]?.route], [201, "/v1/users"]);
    assert.deepEqual(
      messages.map(({ kind, template, to }) => [kind, template, to]),
      [["mail", "verify-email", "p***@example.com"]],
    );
    assert.deepEqual([jobs.map(({ queue }) => queue), changes], [["mail"], []]);
    const page = await pageOf(id);
    assert.ok(page.includes("message sent") && !page.includes(email));
  });

  it("to the failed attempts of its job with what the other side said", async () => {
    const { register, mails, timelineOf } = service;
    mails.refuse({ code: 451, text: "greylisted for an hour" });
    const { id } = await register();
    const isFailed = ({ jobs: [job], failures }: TimelineBody) =>
      job?.attempts.length === 1 && failures.length === 1;
    const { jobs, failures } = await timelineOf(id, isFailed);
    const head = `attempt 1 on [a-z]+-[a-z0-9@]+, \\d+ ms, request ${id}, player \\d+`;
    const line = new RegExp(`${head}: smtp\\.deferred 451 .*greylisted`);
    assert.match(jobs[0]?.attempts[0] ?? "", line);
    assert.equal(failures[0]?.code, "smtp.deferred");
    mails.refuse(null);
  });

  it("from a code that was asked for to the mail that another job wrote", async () => {
    const { register, send, timelineOf } = service;
    const { email } = await register();
    const id = idOf(await send("/v1/gateway/code/request", { email }));
    const isWritten = (body: TimelineBody) => body.messages.length === 1 && body.jobs.length === 2;
    const { jobs, messages } = await timelineOf(id, isWritten);
    assert.deepEqual(jobs.map(({ queue }) => queue).toSorted(), ["credential-requests", "mail"]);
    assert.equal(messages[0]?.template, "sign-in-code");
  });

  it("to every request with the id, since clients choose it", async () => {
    const { register, pageOf, timelineOf } = service;
    const headers = { "x-request-id": "chosen-by-a-client" };
    await register(headers);
    await register(headers);
    const body = await timelineOf("chosen-by-a-client", ({ requests }) => requests.length === 2);
    assert.equal(body.messages.length, 2);
    assert.ok((await pageOf("chosen-by-a-client")).includes("Several requests had this id"));
  });

  it("from a request that waits for the job of another one to that one", async () => {
    const { app, timelineOf } = service;
    const job = { messageId: 1_000_000, round: 0 };
    const first = { ...noOrigin, requestId: "the-first-request" };
    const id = await app.deps.enqueue(mail, job, first);
    await app.deps.enqueue(mail, job, { ...noOrigin, requestId: "the-second-request" });
    const { jobs } = await timelineOf("the-second-request", (body) => body.jobs.length === 1);
    assert.deepEqual([jobs[0]?.id, jobs[0]?.queued_by], [id, "the-first-request"]);
  });
}
