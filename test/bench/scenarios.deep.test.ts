import assert from "node:assert/strict";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { describe, it } from "node:test";
import { planBeside } from "../../bench/faults/beside.ts";
import type { Beside } from "../../bench/load/beside.ts";
import type { Operation, Report } from "../../bench/report/schema.ts";
import { stallGenerator, stallService } from "../../bench/show.ts";
import { loadScenario } from "../../bench/scenarios.ts";
import { startService } from "../support/process.ts";
import { runBench } from "./runs.ts";

const seconds = 6;
/** Runs beside each other; each waits most of its time. */
const atOnce = 2;

const killsWorker = (context: Beside) =>
  planBeside(context, [{ kind: "kill-worker", atMs: (seconds * 1000) / 2 }]);

/** One of each kind; `npm run bench -- <name> --faults kill-worker` does it with any. */
const killed = ["http", "games", "awards", "picks"];

describe("a scenario", { concurrency: atOnce }, () => {
  for (const name of killed)
    it(`ends with a report when a worker is killed: ${name}`, async () => {
      const { scenario } = await loadScenario(name);
      const settings = { HTTP_WORKERS: "2" };
      const load = { ...scenario.load, seconds };
      const report = await runBench(name, { load, settings, beside: killsWorker });
      assert.equal(report.status, "completed", report.problems.join());
      assert.deepEqual(report.violations, []);
      assert.ok(report.arrivals.sent > 0);
      assert.equal(report.faults.length, 1);
    });
});

describe("a run whose faults cannot be made", () => {
  it("ends with a report that says why, after its load", async () => {
    const load = { shape: "constant", perSecond: 20, seconds: 2 } as const;
    const beside = () => Promise.reject(new Error("no worker to kill"));
    const report = await runBench("http", { load, beside });
    assert.equal(report.status, "failed");
    assert.match(report.problems.join(), /no worker to kill/);
    assert.ok(report.arrivals.sent > 0);
  });
});

const stallLoad = { shape: "poisson", perSecond: 250, seconds: 5 } as const;
const settings = { HTTP_WORKERS: "1" };
const stallMs = 1_000;

function timesOf(report: Report, operation: string): Operation {
  const found = report.operations.find(({ name }) => name === operation);
  assert.ok(found, report.problems.join());
  return found;
}

const atLeast = (value: number | null | undefined, least: number, what: string) =>
  assert.ok((value ?? 0) >= least, `${what}: ${value} ms`);

for (const [scenario, operation] of [
  ["http", "read"],
  ["awards", "award"],
] as const)
  describe(`the scenario ${scenario}`, () => {
    it("shows a second in which the only worker stands still", async () => {
      const report = await runBench(scenario, {
        load: stallLoad,
        settings,
        beside: stallService,
      });
      const { response } = timesOf(report, operation);
      atLeast(response.percentiles["90"], 400, "response p90");
      atLeast(response.percentiles["99"], 900, "response p99");
      // The arrivals were sent all the same.
      assert.ok((report.arrivals.lateness.percentiles["90"] ?? 0) < 400, "lateness");
    });

    it("says so when it is the generator that stands still", async () => {
      const report = await runBench(scenario, {
        // What was due meanwhile comes at once: few enough for a slow machine.
        load: { ...stallLoad, perSecond: 30 },
        settings,
        beside: stallGenerator,
      });
      const { response, service } = timesOf(report, operation);
      assert.equal(report.exitCode, 4, report.verdict);
      atLeast(response.percentiles["90"], 400, "response p90");
      atLeast(report.arrivals.lateness.percentiles["90"], 400, "lateness p90");
      const served = service?.percentiles["90"];
      assert.ok(served != null && served < 400, `service p90: ${served} ms`);
      assert.ok((service?.maxMs ?? Infinity) < stallMs, `service max: ${service?.maxMs} ms`);
    });
  });

describe("a lost answer", () => {
  it("ends the run with 3 and names the player, the lobby and the request", async () => {
    const service = await startService({ sharesPostgres: true });
    const proxy = await forgingProxy(service.url);
    try {
      const load = { shape: "constant", perSecond: 1, seconds: 1 } as const;
      const report = await runBench("games", { load, url: proxy.url });
      assert.equal(report.exitCode, 3, report.verdict);
      const [violation] = report.violations;
      assert.equal(violation?.kind, "lost answer");
      assert.equal(violation.requestId, proxy.forged());
      assert.match(violation.text, /answer \d of player \d+ to question 0 of lobby [A-Z0-9]{6} /);
    } finally {
      await proxy.stop();
      await service.stop();
    }
  });
});

/** Passes everything on but the first answer of a player, which it acknowledges itself. */
async function forgingProxy(url: string) {
  let forged: string | null = null;
  const forge = (response: ServerResponse) => {
    const body = { points_earned: 0, score: 0 };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ version: "1", code: 200, meta: {}, body }));
  };
  const pass = (from: IncomingMessage, to: ServerResponse) => {
    const { method, headers } = from;
    const behind = request(url + from.url, { method: method ?? "GET", headers, agent: false });
    behind.on("response", (answer) => {
      to.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(to);
    });
    behind.on("error", () => to.destroy());
    to.on("close", () => behind.destroy());
    from.pipe(behind);
  };
  const server = createServer((from, to) => {
    if (forged !== null || !from.url?.endsWith("/answer")) return pass(from, to);
    forged = String(from.headers["x-request-id"]);
    from.resume();
    forge(to);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    forged: () => forged,
    async stop() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
