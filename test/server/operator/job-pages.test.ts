import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { jobRoutes, type JobsDeps } from "../../../server/operator/jobs/routes.ts";
import type { JobDetail } from "../../../server/operator/jobs/schemas.ts";
import type { JobPeriod, JobSeries } from "../../../server/platform/job-times/store.ts";
import { answerOf, type Call } from "./call-route.ts";
import { sampleFailure } from "./failures/sample-failure.ts";

const evil = `"><img src=x onerror=alert(1)>`;
const headers = { accept: "text/html" };
const at = "2026-03-01T12:00:00+00:00";
const fromMs = Date.parse(at);
const percentiles = { p50: 850, p95: 1_500, p99: 125_000 };

const job: JobDetail = {
  ...{ id: "j/1", queue: "mail", state: "failed", data: { messageId: 7 } },
  ...{ num_attempts: 3, max_attempts: 5, created_at: at, due_at: null },
  ...{ started_at: at, finished_at: at, failed_reason: "smtp.refused 550" },
  ...{ stack_traces: ["Fault\n  at send"], result: null, attempts: ["attempt 1", "attempt 2"] },
  ...{ progress: 0, request_id: "req-12345", failure_id: null },
};
const queue = {
  ...{ name: "mail", is_paused: false, oldest_waiting_seconds: 7_500 },
  counts: { waiting: 3, delayed: 9, retrying: 7, scheduled: 2, failed: 41, completed: 100 },
};
const period = (startMs: number, number: number): JobPeriod => ({
  ...{ startMs, numCompleted: number, numFailed: 1, numRetried: 0 },
  ...{ wait: number > 0 ? percentiles : null, run: null },
});
const series = async (name: string | null): Promise<JobSeries> => ({
  ...{ queue: name, stepMs: 60_000, total: period(fromMs, 600) },
  periods: Array.from({ length: 60 }, (_, minute) => period(fromMs + minute * 60_000, minute % 3)),
});

interface Given {
  job?: Partial<JobDetail>;
  deps?: object;
}

const answer = (path: string, call: Call = {}, given: Given = {}) => {
  const shown = { ...job, ...given.job };
  const deps = {
    audit: async () => undefined,
    jobs: {
      queues: async () => [queue],
      queue: async () => queue,
      list: async () => ({
        jobs: [shown],
        pagination: { page: 2, limit: 50, total: 5_000, has_more: true },
      }),
      job: async () => shown,
      detail: async () => shown,
      retry: async () => shown,
      remove: async () => undefined,
    },
    jobTimes: { lastHour: async () => [await series("mail")], series },
    failures: { list: async () => ({ failures: [sampleFailure] }) },
    groupOfJob: async () => sampleFailure.id,
    ...given.deps,
  } as unknown as JobsDeps;
  return answerOf<JobsDeps, unknown>(jobRoutes, deps, path, { headers, ...call });
};
const open = async (path: string, call: Call = {}, given: Given = {}) => {
  const { status, text } = await answer(path, call, given);
  assert.equal(status, 200, text);
  return text;
};
const plain = (text: string) => text.replaceAll(/<[^>]*>/g, " ").replaceAll(/\s+/g, " ");
const changesIn = (text: string) =>
  [...text.matchAll(/class="inline" method="post" action="([^"]+)"/g)].map(([, to]) => to);
const away = () => Promise.reject(new Error("Redis is away"));

describe("the pages of queues and jobs", () => {
  it("list queues with retries apart from schedules, the oldest waiting, and the last hour", async () => {
    const text = plain(await open("/operator/queues"));
    assert.match(text, /mail 3 0 7 2 41 100 2\.1 h/);
    assert.match(text, /mail 10 1 0 850 ms 1\.5 s 2\.1 min/);
  });

  it("say in one line what is unknown while Redis is away", async () => {
    const jobs = { queues: away };
    const jobTimes = { lastHour: away };
    const text = await open("/operator/queues", {}, { deps: { jobs, jobTimes } });
    assert.match(text, /Redis does not respond: the queues are unknown\./);
    const known = await open("/operator/queues", {}, { deps: { jobTimes } });
    assert.match(known, /Redis does not say how long jobs waited and ran\./);
    assert.match(plain(known), /mail 3 0 7 2 41/);
    const failures = { list: away };
    const one = await open("/operator/queues/mail", {}, { deps: { failures } });
    assert.match(one, /The failures of this queue cannot be read now\./);
    for (const path of [
      "/operator/queues/mail",
      "/operator/queues/mail/jobs",
      "/operator/jobs/mail/1",
    ]) {
      const refused = await answer(
        path,
        {},
        { deps: { jobs: { queue: away, list: away, detail: away } } },
      );
      assert.equal(refused.status, 503, path);
      assert.match(refused.text, /Jobs are stored in Redis, which does not respond\./);
    }
  });

  it("show one queue with its charts of each time, percentiles and failures", async () => {
    const text = await open("/operator/queues/mail?span=day");
    assert.equal(text.match(/role="img"/g)?.length, 3);
    assert.match(text, /Completed: 0, 1, 2, 0/);
    assert.match(text, /Wait p50: unknown, 0\.9, 0\.9, unknown/);
    assert.match(text, /<b>24 hours<\/b>[^]*href="\/operator\/queues\/mail\?span=month"/);
    assert.match(plain(text), /Wait, from the due time to the start 850 ms 1\.5 s 2\.1 min/);
    assert.match(plain(text), /10 jobs a minute: 600 completed, 1 failed/);
    assert.ok(text.includes(`href="/operator/failures/${sampleFailure.id}"`));
    assert.doesNotMatch(text, /style=|<style/);
  });

  it("show the failures of the queue only", async () => {
    const other = { ...sampleFailure, key: { ...sampleFailure.key, place: "maintenance" } };
    const route = { ...sampleFailure, key: { ...sampleFailure.key, kind: "request" } };
    const failures = { list: async () => ({ failures: [other, route] }) };
    const text = await open("/operator/queues/mail", {}, { deps: { failures } });
    assert.match(text, /No failures of this queue/);
  });

  it("list jobs by state, with steps to the other pages", async () => {
    const text = await open("/operator/queues/mail/jobs?state=failed&page=2");
    assert.match(text, /<b>failed<\/b>/);
    assert.match(text, /href="\/operator\/queues\/mail\/jobs\?state=delayed"/);
    assert.match(text, /href="\/operator\/jobs\/mail\/j%2F1"[^]*smtp\.refused 550/);
    assert.match(text, /state=failed&amp;page=1&amp;limit=50">Previous page/);
    assert.match(text, /state=failed&amp;page=3&amp;limit=50">Next page/);
  });

  it("show one job with its attempts, its failure and its request", async () => {
    const text = await open("/operator/jobs/mail/j%2F1");
    assert.match(text, /<pre>attempt 1\nattempt 2<\/pre>/);
    assert.match(text, /<pre>Fault\n {2}at send<\/pre>/);
    assert.ok(text.includes(`href="/operator/failures/${sampleFailure.id}"`));
    assert.ok(text.includes(`href="/operator/requests/req-12345"`));
    assert.doesNotMatch(text, /<h2>(?:Progress|Result)</);
    const done = await open("/operator/jobs/mail/1", {}, { job: { state: "completed" } });
    assert.ok(!done.includes("/operator/failures/"), "the failure of a job that has not failed");
  });

  it("escape every text from elsewhere", async () => {
    const odd = {
      ...{ id: evil, queue: evil, data: evil, failed_reason: evil, request_id: evil },
      ...{ attempts: [evil], stack_traces: [evil], progress: { phase: evil }, result: evil },
    };
    for (const path of ["/operator/jobs/mail/1", "/operator/queues/mail/jobs"]) {
      const text = await open(path, {}, { job: odd });
      assert.ok(text.includes("&#60;img src=x onerror=alert(1)&#62;"), path);
      assert.doesNotMatch(text, /<img/, path);
    }
  });

  it("offer of a job only what its state allows", async () => {
    const path = "/operator/jobs/mail/j%2F1";
    const buttons = async (state: string) => changesIn(await open(path, {}, { job: { state } }));
    assert.deepEqual(await buttons("failed"), [`${path}/retry`, `${path}/remove`]);
    assert.deepEqual(await buttons("delayed"), [`${path}/remove`]);
    assert.deepEqual(await buttons("active"), []);
  });

  it("send a browser to the job after a retry, and to the list after a removal", async () => {
    const press = async (verb: string) => {
      const path = `/operator/jobs/mail/j%2F1/${verb}`;
      return (await answer(path, { method: "POST", body: {} })).status;
    };
    assert.deepEqual([await press("retry"), await press("remove")], [303, 303]);
  });
});
