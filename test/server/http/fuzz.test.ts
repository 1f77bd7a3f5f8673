import assert from "node:assert/strict";
import { after, before, test, describe } from "node:test";
import { sendRaw } from "../../support/raw-http.ts";
import { fuzzRoutes } from "../../support/fuzz.ts";
import { startSample, type SampleServer } from "./sample.ts";
import { sampleRoutes } from "./sample-routes.ts";

/** Routes that fail or wait on purpose say nothing about input handling. */
const onPurpose = new Set([
  "/v1/bug",
  "/v1/late-bug",
  "/v1/cyclic",
  "/v1/store-failure/{code}",
  "/v1/waits",
]);

const routes = sampleRoutes.filter((route) => !onPurpose.has(route.path));
let sample: SampleServer;

const seed = Number(process.env["HTTP_FUZZ_SEED"] ?? 20_240_607);

describe("malformed HTTP", () => {
  before(async () => {
    sample = await startSample({ routes, env: { RATE_LIMIT_FACTOR: "0" } });
  });
  after(() => sample.stop());

  test(`random requests get an answer below 500 each (HTTP_FUZZ_SEED=${seed})`, async () => {
    const lobbyToken = sample.deps.tokens.sign("lobby", "1", 60, {
      lobby: "ABCDEF",
      lobby_player: 3,
    });
    const credentials = [
      { Authorization: `Bearer ${sample.token(7)}` },
      { Authorization: `Bearer ${sample.token(8, "ROLE_GUEST")}` },
      { "X-Lobby-Token": lobbyToken },
      { Cookie: `svc_lobby=${lobbyToken}` },
    ];
    const report = await fuzzRoutes(sample.url, routes, {
      runs: 1_000,
      seed,
      credentials,
    });
    const statuses = [...report.statuses.keys()];
    for (const status of [200, 204, 400, 401, 404, 405, 413, 415, 422])
      assert.ok(statuses.includes(status), `no request got ${status}: the requests are too tame`);
  });

  test("bytes that are not HTTP close only their own connection", async () => {
    const garbage = [
      "\0\0\0\0\r\n\r\n",
      "GET\r\n\r\n",
      "GET / HTTP/0.9\r\n\r\n",
      "\r\n\r\n\r\n",
      "GET / HTTP/1.0\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
    ];
    await Promise.all(
      garbage.map((bytes) => sendRaw(sample.port, bytes, { responses: 1, waitMs: 500 })),
    );
    assert.equal((await fetch(`${sample.url}/v1/ping`)).status, 200);
  });
});
