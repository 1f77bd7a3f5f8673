import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { startCollector, type Collector, type ReceivedSpan } from "../support/collector.ts";
import { eventually } from "../support/eventually.ts";
import { startService, wakeOperator, type Service } from "../support/process.ts";
import { scrape } from "../support/scrape.ts";

const lobbies = "/v1/games/trivia/lobbies";

describe("a trace", () => {
  let collector: Collector;
  let service: Service;
  before(async () => {
    collector = await startCollector();
    service = await startService({
      sharesPostgres: true,
      env: {
        HTTP_WORKERS: "2",
        WORKER_PORTS: "auto",
        RATE_LIMIT_FACTOR: "0",
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        TRUSTED_PROXIES: "127.0.0.1/32",
      },
    });
  });
  after(async () => {
    await service.stop();
    await collector.stop();
  });

  const post = (
    path: string,
    headers: Record<string, string> = {},
    body = {},
    base = service.url,
  ) =>
    fetch(base + path, {
      method: "POST",
      headers: { "Content-Type": "application/json", ...headers },
      body: JSON.stringify(body),
    });

  async function openLobby(): Promise<{ code: string; token: string; ownerPort: string }> {
    const settings = { mode: "versus", category: "science", timer: 30, numQuestions: 3 };
    const guest = (await (await post("/v1/gateway/guest")).json()) as {
      body: { access_token: string };
    };
    const Authorization = `Bearer ${guest.body.access_token}`;
    const answer = await post(lobbies, { Authorization }, { hostName: "Ada", ...settings });
    assert.equal(answer.status, 201);
    const { body } = (await answer.json()) as {
      body: { lobby: { code: string }; player_token: string };
    };
    const ownerPort = answer.headers.get("x-owner-port") ?? assert.fail("no owner");
    return { code: body.lobby.code, token: body.player_token, ownerPort };
  }

  const sent = (requestId: string): ReceivedSpan[] => {
    const root = collector.spans.find(
      ({ name, facts }) => facts["emberline.request.id"] === requestId && name.startsWith("POST "),
    );
    return collector.spans.filter(({ traceId }) => traceId === root?.traceId);
  };

  /** The names of the spans below each other, with their processes. */
  function treeOf(spans: readonly ReceivedSpan[], parentId: string, depth = 0): string[] {
    return spans
      .filter((span) => span.parentId === parentId)
      .toSorted((a, b) => (a.name < b.name ? -1 : 1))
      .flatMap((span) => [
        `${"  ".repeat(depth)}${span.name} @${span.process}`,
        ...treeOf(spans, span.id, depth + 1),
      ]);
  }

  it("has a request, its command at another worker, the job and the published event", async () => {
    const secret = "0af7651916cd43dd8448eb211c80319c";
    const ports = new Set<string>();
    let [id, code, token] = ["", "", ""];
    let numTries = 0;
    /** Ends a game by a worker that was not the owner a moment ago; the owners of a new service change. */
    const end = async () => {
      ({ code, token } = await openLobby());
      const headers = { "X-Lobby-Token": token };
      assert.equal((await post(`${lobbies}/${code}/join`, {}, { name: "Grace" })).status, 201);
      const started = await post(`${lobbies}/${code}/start`, headers);
      assert.equal(started.status, 200);
      const owner = started.headers.get("x-owner-port") ?? "";
      const other = [...ports.add(owner)].find((port) => port !== owner);
      if (other === undefined) return false;
      id = `request-that-ends-${++numTries}`;
      const more = { ...headers, "X-Request-Id": id, "User-Agent": secret };
      const path = `${lobbies}/${code}/end?text=${secret}`;
      const ended = await post(path, more, {}, `http://127.0.0.1:${other}`);
      assert.equal(ended.status, 200, await ended.text());
      await eventually("all of it", () => treeOf(sent(id), "").length >= 11);
      return new Set(sent(id).map(({ process }) => process)).size === 3;
    };
    await eventually("a command at another worker", end);
    const [root] = sent(id).filter(({ parentId }) => parentId === "");
    const owner = sent(id).find(({ name }) => name === "lobby end")?.process;
    assert.deepEqual(treeOf(sent(id), ""), [
      `POST ${lobbies}/{code}/end @${root?.process}`,
      `  lobby end @${owner}`,
      ...["commit", "decide"].map((step) => `    ${step} @${owner}`),
      "    job lobby-results @jobs-0",
      `    lobby result_queued @${owner}`,
      ...["commit", "decide", "wait"].map((step) => `      ${step} @${owner}`),
      `    publish lobby.ended @${owner}`,
      `    wait @${owner}`,
    ]);
    assert.deepEqual(root?.facts, {
      "http.request.method": "POST",
      "http.route": `${lobbies}/{code}/end`,
      "http.response.status_code": "200",
      "emberline.request.id": id,
    });
    const seat = sent(id).find(({ name }) => name === "lobby end");
    assert.equal(seat?.facts["emberline.room"], `lobby ${code}`);
    const texts = collector.texts.join("");
    for (const hidden of [token, secret, "Ada", "Grace", "127.0.0.1"])
      assert.ok(!texts.includes(hidden), `a span has ${hidden}`);
  });

  it("goes on that of a trusted proxy, with its decision whether to record", async () => {
    const traceId = (digit: string) => digit.repeat(32);
    const from = (digit: string, flags: string) =>
      fetch(`${service.url}/v1/nothing-here`, {
        headers: { traceparent: `00-${traceId(digit)}-${"b".repeat(16)}-${flags}` },
      });
    await from("c", "00");
    await from("a", "01");
    await eventually("the request", () =>
      collector.spans.some((span) => span.traceId === traceId("a")),
    );
    const [found] = collector.spans.filter((span) => span.traceId === traceId("a"));
    assert.deepEqual([found?.name, found?.parentId], ["GET", "b".repeat(16)]);
    assert.equal(found?.facts["emberline.code"], "route:not_found");
    assert.ok(!collector.spans.some((span) => span.traceId === traceId("c")));
  });

  it("is dropped and counted while the collector is away, and requests go on", async () => {
    const numOf = async (outcome: string) =>
      (await scrape(service))
        .filter(
          ({ name, labels }) => name === "emberline_spans_total" && labels["outcome"] === outcome,
        )
        .reduce((sum, { value }) => sum + value, 0);
    const port = Number(new URL(collector.url).port);
    await collector.stop();
    const before = await numOf("dropped");
    await eventually("dropped spans", async () => {
      assert.equal((await openLobby()).code.length, 6);
      return (await numOf("dropped")) > before;
    });
    collector = await startCollector(port);
    await eventually("a span", async () => {
      await openLobby();
      return collector.spans.some(({ name }) => name === `POST ${lobbies}`);
    });
    assert.ok((await numOf("sent")) > 0);
  });
});

describe("a service without a collector", () => {
  it("loads nothing that makes traces", async () => {
    const dir = mkdtempSync(join(tmpdir(), "ember-loaded-"));
    try {
      // Node writes there which scripts each process has loaded.
      const service = await startService({
        sharesPostgres: true,
        env: { NODE_V8_COVERAGE: dir },
      });
      await fetch(`${service.url}/v1/nothing-here`);
      await wakeOperator(service);
      await service.stop();
      const loaded = readdirSync(dir).map((file) => readFileSync(join(dir, file), "utf8"));
      for (const process of ["http-worker", "job-worker", "operator"])
        assert.ok(
          loaded.some((text) => text.includes(`/${process}.js"`)),
          `nothing is known of ${process}`,
        );
      assert.ok(!loaded.some((text) => /@opentelemetry\/(sdk|exporter|otlp)/.test(text)));
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
