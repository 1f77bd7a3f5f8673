import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { it } from "node:test";
import { BotFetch, newCounts } from "../../bench/bots/fetch.ts";

it("a bot counts a refusal with 429 by its request and the setting of the limit", async (t) => {
  const server = createServer((_, answer) => {
    answer.writeHead(429, { "content-type": "application/json" });
    answer.end('{"flash":{"errors":[{"code":"rate_limit:exceeded"}]}}');
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const counts = newCounts();
  const bot = new BotFetch("bot-1", url, null, counts);
  t.after(() => {
    bot.close();
    server.close();
  });
  for (const path of ["/v1/hub?topic=a", "/v1/hub?topic=b", "/v1/games/trivia/lobbies/ABC234"])
    await bot.fetch(url + path);
  assert.deepEqual(counts.limited, {
    "GET /v1/hub: HUB_STREAMS_PER_ADDRESS": 2,
    "GET /v1/games/trivia/lobbies/{code}: RATE_LIMIT_FACTOR": 1,
  });
});
