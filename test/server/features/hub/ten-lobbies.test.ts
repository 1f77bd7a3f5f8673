import assert from "node:assert/strict";
import { before, describe, it } from "node:test";
import { Emberline } from "../../../../server/web/client/emberline.ts";
import { sharedService, type Service } from "../../../support/process.ts";

/** The other headers of a browser behind a proxy. */
const usual = {
  "user-agent": "x".repeat(150),
  "x-forwarded-for": "192.0.2.1",
  referer: "x".repeat(300),
};

describe("the cookies of ten lobbies in one browser", () => {
  let service: Service;
  before(async () => {
    service = await sharedService();
  });

  it("fit into the headers of one request", async () => {
    const cookies = new Map<string, string>();
    const codes: string[] = [];
    for (let i = 0; i < 10; i++) {
      const { code, key } = await new Emberline({ url: service.url }).create({ hostName: "Ada" });
      const { headers } = await fetch(`${service.url}/v1/games/trivia/lobbies/${code}/token`, {
        method: "POST",
        headers: { "x-lobby-token": key.token },
      });
      for (const line of headers.getSetCookie()) {
        const [pair = ""] = line.split(";", 1);
        cookies.set(pair.slice(0, pair.indexOf("=")), pair);
      }
      codes.push(code);
    }
    assert.equal(cookies.size, 11, "the last one is set under both names");
    const cookie = [...cookies.values()].join("; ");
    assert.ok(cookie.length < 4_608, `${cookie.length} characters, below the 8 KB line of proxies`);
    for (const code of codes) {
      const topic = encodeURIComponent(`/games/trivia/lobby/${code}`);
      const response = await fetch(`${service.url}/v1/hub?topic=${topic}`, {
        headers: { ...usual, cookie },
      });
      await response.body?.cancel();
      assert.equal(response.status, 200);
    }
  });
});
