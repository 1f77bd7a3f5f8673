import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { afterEach, beforeEach, describe, it } from "node:test";
import { pino } from "pino";
import { probeRoutes } from "../../../server/app/probe-routes.ts";
import { parseConfig } from "../../../server/platform/config/config.ts";
import { startingProbes, type ProbeAnswers } from "../../../server/platform/probes.ts";
import { sendRaw } from "../../support/raw-http.ts";
import { startSample, type SampleServer } from "./sample.ts";

const ready: ProbeAnswers = { ...startingProbes, ready: { status: 200, word: "ready" } };

describe("the probes of the public listener", () => {
  let sample: SampleServer;
  let probes = startingProbes;
  let output = "";
  const start = async (env: Record<string, string> = {}) => {
    const destination = new Writable({
      write(chunk: Buffer, _encoding, done) {
        output += chunk.toString();
        done();
      },
    });
    sample = await startSample({
      routes: probeRoutes(parseConfig(env), () => probes),
      log: pino({ level: "info" }, destination),
    });
  };
  beforeEach(() => {
    probes = startingProbes;
    output = "";
  });
  afterEach(() => sample.stop());

  const ask = async (path: string, method = "GET") => {
    const answer = await fetch(sample.url + path, { method });
    return `${answer.status} ${await answer.text()}`;
  };

  it("answer a status and one word, which caches do not keep", async () => {
    await start();
    assert.deepEqual([await ask("/live"), await ask("/ready")], ["200 live", "503 starting"]);
    probes = ready;
    assert.deepEqual([await ask("/ready"), await ask("/ready", "HEAD")], ["200 ready", "200 "]);
    const { headers } = await fetch(`${sample.url}/ready`);
    assert.equal(headers.get("cache-control"), "no-store");
    assert.equal(headers.get("content-type"), "text/plain; charset=utf-8");
  });

  it("are neither logged nor counted nor limited", async () => {
    await start();
    for (let i = 0; i < 500; i++) await ask("/ready");
    await ask("/nowhere");
    assert.doesNotMatch(output, /ready/);
    assert.match(output, /unmatched/);
    const { values } = await sample.deps.metrics.requests.get();
    assert.deepEqual(
      values.map(({ labels }) => labels.route),
      ["unmatched"],
    );
  });

  it("have paths that settings choose or turn off", async () => {
    await start({ PUBLIC_LIVE_PATH: "off", PUBLIC_READY_PATH: "/balancer/check" });
    assert.equal(await ask("/balancer/check"), "503 starting");
    for (const path of ["/live", "/ready"]) assert.match(await ask(path), /^404 /);
  });

  it("and other requests are served after an announced stop, on connections that then close", async () => {
    await start();
    sample.server.announceLeave(true);
    const request = "GET /live HTTP/1.1\r\nHost: a\r\n\r\n";
    const closing = "Connection: close\r\n";
    const { responses, isClosedByServer } = await sendRaw(sample.port, request);
    assert.deepEqual([responses[0]?.status, isClosedByServer], [200, true]);
    assert.equal(await ask("/live"), "200 live", "new connections are accepted");
    sample.server.announceLeave(false);
    const twice = await sendRaw(sample.port, request + request.replace("Host", `${closing}Host`));
    assert.equal(twice.responses.length, 2, "it does not stop after all");
  });
});
