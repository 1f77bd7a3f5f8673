import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { before, describe, it } from "node:test";
import { eventually } from "../support/eventually.ts";
import { sendRaw } from "../support/raw-http.ts";
import {
  failToStart,
  serviceEnv,
  sharedService,
  temporaryDataDir,
  type Service,
} from "../support/process.ts";

describe("a running service", () => {
  let service: Service;
  before(async () => {
    service = await sharedService();
  });

  it("answers the health check on the port it prints", async () => {
    const response = await fetch(`${service.url}/v1/health-check`);
    assert.equal(response.status, 200);
  });

  it("reads headers of up to 16 KiB; beyond that the HTTP library refuses with its own page", async () => {
    const port = Number(new URL(service.url).port);
    const head = (length: number) =>
      `GET /v1/health-check HTTP/1.1\r\nHost: x\r\nX-Long: ${"x".repeat(length)}\r\n\r\n`;
    const { responses } = await sendRaw(port, head(15 * 1024), { responses: 1 });
    assert.equal(responses[0]?.status, 200);
    const refused = await sendRaw(port, head(17 * 1024));
    assert.match(refused.text, /^HTTP\/1\.1 431 /);
    assert.ok(refused.isClosedByServer);
  });

  it("answers its probes on both listeners", async () => {
    for (const [path, word] of [
      ["/live", "live"],
      ["/ready", "ready"],
    ])
      for (const listener of [service.url, service.operatorUrl])
        await eventually(`${listener}${path} answers`, async () => {
          const response = await fetch(listener + path);
          return response.status === 200 && (await response.text()) === word;
        });
  });

  it("reports its health on the operator listener once every process is ready", async () => {
    let answer = { body: {} };
    // A store that responds late on a busy machine is temporarily not ready.
    await eventually("it is ready", async () => {
      const response = await fetch(`${service.operatorUrl}/health`);
      answer = (await response.json()) as typeof answer;
      return response.status === 200;
    });
    const expected = {
      status: "ok",
      degraded: [],
      num_processes: 3,
      num_waiting: 0,
      missing_stores: [],
      read_only_stores: [],
      avatar_moderation: "idle",
    };
    assert.deepEqual(answer.body, expected);
  });

  it("refuses a second service on the same port, naming the port", async () => {
    const port = new URL(service.url).port;
    const dataDir = temporaryDataDir();
    const second = await failToStart(serviceEnv(dataDir, { PORT: port }));
    rmSync(dataDir, { recursive: true });
    assert.equal(second.code, 1);
    assert.match(second.output, new RegExp(`^PORT: 127\\.0\\.0\\.1:${port} is taken`, "m"));
  });

  it("refuses a second service on the same data folder, naming the process", async () => {
    const second = await failToStart(serviceEnv(service.dataDir));
    assert.equal(second.code, 1);
    assert.match(second.output, new RegExp(`in use by process ${service.pid}`));
  });

  it("restarts a killed worker", async () => {
    const [killed = 0] = await service.workerPids();
    const health = /^emberline_http_requests_total\{route="\/v1\/health-check".* (\d+)$/m;
    const counted = async () =>
      Number(health.exec(await (await fetch(`${service.operatorUrl}/metrics`)).text())?.[1] ?? 0);
    await fetch(`${service.url}/v1/health-check`);
    let before = 0;
    // A process that answers late on a busy machine is missing in one response.
    await eventually("it is counted", async () => (before = await counted()) > 0);
    process.kill(killed, "SIGKILL");
    await eventually("a new worker is ready", async () => {
      const worker = (await service.processes()).find(({ role }) => role === "http");
      return worker !== undefined && worker.is_ready && worker.pid !== killed;
    });
    assert.equal((await fetch(`${service.url}/v1/health-check`)).status, 200);
    await eventually(
      "what the killed worker counted is still there",
      async () => (await counted()) === before + 1,
    );
  });

  it("sums the metrics of all processes", async () => {
    const text = await (await fetch(`${service.operatorUrl}/metrics`)).text();
    assert.match(text, /^process_cpu_user_seconds_total\{role="http"\} \d/m);
    assert.match(text, /^# TYPE emberline_http_requests_total counter$/m);
  });
});

describe("an invalid configuration", () => {
  it("is refused with every problem at once and exit code 1", async () => {
    const env = serviceEnv("/nowhere", { PORT: "http", JOB_WORKERS: "-1", APP_ENV: "live" });
    const { code, output } = await failToStart(env);
    assert.equal(code, 1);
    for (const name of ["PORT", "JOB_WORKERS", "APP_ENV"])
      assert.match(output, new RegExp(`- ${name}: must`));
  });
});
