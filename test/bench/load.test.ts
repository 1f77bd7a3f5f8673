import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Addresses } from "../../bench/bots/addresses.ts";
import { DeadlineError, within } from "../../bench/load/deadline.ts";
import { limitsOf } from "../../bench/load/health.ts";
import { Times } from "../../bench/load/histogram.ts";
import type { GeneratorNotice, Second } from "../../bench/load/record.ts";
import { Recorder } from "../../bench/load/recorder.ts";
import { intendedArrivals, type OpenLoad } from "../../bench/load/shapes.ts";
import { addressOf, isLoopback } from "../../bench/target.ts";

const timesOf = (load: OpenLoad, seed = 3) =>
  Array.from(intendedArrivals(load, seed), ({ atMs }) => atMs);
const countIn = (times: readonly number[], from: number, to: number) =>
  times.filter((atMs) => atMs >= from * 1000 && atMs < to * 1000).length;
const isAbout = (value: number, expected: number) =>
  assert.ok(Math.abs(value - expected) < expected * 0.1, `${value} is not about ${expected}`);

describe("the arrivals of a load", () => {
  it("are the same for the same seed, and others for another one", () => {
    const load = { shape: "poisson", perSecond: 100, seconds: 10 } as const;
    assert.deepEqual(timesOf(load), timesOf(load));
    assert.notDeepEqual(timesOf(load), timesOf(load, 4));
  });

  it("come in even gaps only when the load is constant", () => {
    const constant = timesOf({ shape: "constant", perSecond: 4, seconds: 1 });
    assert.deepEqual(constant, [0, 250, 500, 750]);
    const poisson = timesOf({ shape: "poisson", perSecond: 500, seconds: 10 });
    const gaps = poisson.slice(1).map((at, n) => at - (poisson[n] ?? 0));
    // Exponential: the standard deviation is the mean.
    isAbout(gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length, 2);
    isAbout(Math.sqrt(gaps.reduce((sum, gap) => sum + (gap - 2) ** 2, 0) / gaps.length), 2);
  });

  it("follow the rate of every shape", () => {
    const ramp = timesOf({ shape: "ramp", from: 0, to: 1_000, seconds: 10 });
    isAbout(countIn(ramp, 0, 5), 1_250);
    isAbout(countIn(ramp, 5, 10), 3_750);
    const fall = timesOf({ shape: "ramp", from: 1_000, to: 0, seconds: 10 });
    isAbout(countIn(fall, 0, 5), 3_750);
    const steps = timesOf({ shape: "steps", perSecond: [500, 1_000], seconds: 10 });
    isAbout(countIn(steps, 0, 5), 2_500);
    isAbout(countIn(steps, 5, 10), 5_000);
    const spike = timesOf({ shape: "spike", perSecond: 200, peak: 2_000, seconds: 10 });
    isAbout(countIn(spike, 4, 6), 4_000);
    isAbout(countIn(spike, 0, 4), 800);
    isAbout(countIn(spike, 6, 10), 800);
  });
});

describe("times", () => {
  it("have no percentile with fewer than 10 samples beyond it", () => {
    const times = new Times();
    for (let n = 1; n <= 999; n++) times.record(n);
    assert.equal(times.percentile(99), null);
    times.record(1_000);
    const { percentiles } = times.summary();
    assert.ok(Math.abs((percentiles["99"] ?? 0) - 990) <= 1, `${percentiles["99"]}`);
    assert.equal(percentiles["99.9"], null);
  });

  it("are the same after they were stored and merged", () => {
    const [all, odd, even] = [new Times(), new Times(), new Times()];
    for (let n = 1; n <= 5_000; n++) {
      all.record(n / 7);
      (n % 2 === 0 ? even : odd).record(n / 7);
    }
    // Stored, a maximum is rounded like every value.
    const stored = (times: Times) => Times.decode(times.encode()).summary();
    assert.deepEqual(stored(Times.merge([odd.encode(), even.encode()])), stored(all));
  });
});

describe("a recorder", () => {
  const seconds: Second[] = [];
  const keep = (notice: GeneratorNotice) => {
    if ("second" in notice) seconds.push(notice.second);
  };
  const recorded = () =>
    Times.merge(seconds.flatMap(({ operations }) => operations["read"]?.service ?? []));

  it("counts a response from the intended start, and no service time of what was sent late", () => {
    const recorder = new Recorder(keep);
    const now = performance.now();
    recorder.begin(now - 2_000);
    const late = recorder.start("read", now - 500);
    const beside = recorder.start("read", now);
    recorder.succeeded(late);
    recorder.succeeded(beside);
    recorder.succeeded(recorder.start("read", performance.now()));
    recorder.end();
    const response = Times.merge(
      seconds.flatMap(({ operations }) => operations["read"]?.response ?? []),
    );
    assert.equal(response.count, 3);
    assert.ok(response.summary().maxMs >= 499);
    // Neither the late one, nor the one that met its burst.
    assert.equal(recorded().count, 1);
  });

  it("keeps what a stall of its process delayed out of the service time, and reports the stall", () => {
    seconds.length = 0;
    const recorder = new Recorder(keep);
    recorder.begin(performance.now());
    const started = recorder.start("read", performance.now());
    for (const until = performance.now() + 80; performance.now() < until;);
    recorder.succeeded(started);
    const health = recorder.end();
    assert.equal(recorded().count, 0);
    assert.equal(health.numStalls, 1);
    const run = { generators: [health], sent: 1, late: 0, seconds: 1 };
    assert.match(limitsOf(run).join(), /generator 0 stood still once/);
  });

  it("groups errors by code, each with requests to look up, and counts 429 apart", () => {
    seconds.length = 0;
    const recorder = new Recorder(keep);
    recorder.begin(performance.now());
    const fail = (status: number, code: string, requestId: string) =>
      recorder.failed(recorder.start("read", performance.now()), {
        ...{ status, code, requestId, bot: "bot-1", request: "GET /", message: "no" },
      });
    fail(503, "server:unavailable", "bot-1-1");
    fail(503, "server:unavailable", "bot-1-2");
    fail(429, "rate_limit:exceeded", "bot-1-3");
    recorder.end();
    const groups = recorder.errors.map(({ code, count, samples }) => [
      code,
      count,
      samples.map(({ requestId }) => requestId),
    ]);
    assert.deepEqual(groups, [
      ["server:unavailable", 2, ["bot-1-1", "bot-1-2"]],
      ["rate_limit:exceeded", 1, ["bot-1-3"]],
    ]);
    const counts = seconds.map(({ operations }) => operations["read"]);
    assert.deepEqual(
      counts.map((one) => [one?.failed, one?.limited]),
      [[2, 1]],
    );
  });
});

describe("a wait", () => {
  it("ends at its deadline with what did not come", async () => {
    const never = new Promise<void>(() => undefined);
    await assert.rejects(within(1, "the first question of ABC234", never), (error) => {
      assert.ok(error instanceof DeadlineError);
      assert.equal(error.awaited, "the first question of ABC234");
      return true;
    });
    assert.equal(await within(60_000, "an answer", Promise.resolve(7)), 7);
  });
});

describe("the target of a load", () => {
  it("is an address, of this machine or another one", () => {
    for (const url of ["http://127.0.0.1:8080", "http://localhost", "http://[::1]:80"])
      assert.ok(isLoopback(url), url);
    for (const url of [
      "https://staging.example",
      "http://10.0.0.7:8080",
      "http://127.0.0.1.example",
    ])
      assert.ok(!isLoopback(url), url);
    assert.equal(addressOf("https://staging.example/"), "https://staging.example");
    for (const url of ["staging.example", "ftp://localhost", "http://localhost/v1"])
      assert.throws(() => addressOf(url), /is no address/);
  });

  it("gets each bot's own address out of the range", () => {
    const range = new Addresses("10.9.0.0/16");
    assert.deepEqual(
      [0, 1, 255, 65_534, 65_535].map((n) => range.at(n)),
      ["10.9.0.1", "10.9.0.2", "10.9.1.0", "10.9.255.255", "10.9.0.1"],
    );
    for (const text of ["10.9.0.0", "10.9.0.256/16", "10.9.0.0/33", "::/64"])
      assert.throws(() => new Addresses(text), /is no IPv4 range/);
  });
});
