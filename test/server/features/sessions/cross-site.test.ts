import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { routes } from "../../../../server/app/routes.ts";
import { startApp, type App } from "../../../support/app.ts";
import { refusalIn } from "../../../support/client.ts";

const evil = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
/** Headers of requests from other sites: old browsers send only the origin, others the site, some neither. */
const foreign: Record<string, string>[] = [
  evil,
  { "sec-fetch-site": "cross-site" },
  { "sec-fetch-site": "same-site" },
  { origin: "null" },
  { origin: "null", "sec-fetch-site": "cross-site", "content-type": "text/plain" },
  { ...evil, "content-type": "text/plain;charset=UTF-8" },
];
const visited = routes.filter(({ setsCookie }) => setsCookie === "by-visit");
const signing = routes.filter(({ setsCookie }) => setsCookie === "by-page");
const params: Readonly<Record<string, string>> = {
  code: "ABC234",
  provider: "example",
  id: "abcdefghijklmnopqrstuv",
};
const addressOf = (path: string) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? "x");

describe("a session cookie", () => {
  let app: App;
  before(async () => {
    app = await startApp({ hasJobs: false, env: { TRUSTED_PROXIES: "127.0.0.1" } });
  });
  after(() => app.stop());

  it("is neither set nor cleared for a page of another site, by any route", async () => {
    assert.ok(signing.length >= 14);
    for (const { method, path } of signing)
      for (const headers of foreign) {
        const answer = await app.client.request(method, addressOf(path), { headers });
        assert.deepEqual(answer.headers.getSetCookie(), [], path);
        // Endpoints that require a token check it first.
        const { code } = refusalIn(answer.json);
        assert.ok(["request:origin_forbidden", "auth:required"].includes(code ?? ""), path);
      }
  });

  it("is not set by a navigation address that a page of another site embeds", async () => {
    assert.ok(visited.length >= 2);
    for (const { method, path } of visited)
      for (const site of ["cross-site", "same-site"]) {
        const headers = { "sec-fetch-site": site, "sec-fetch-dest": "image" };
        const answer = await app.client.request(method, addressOf(path), { headers });
        assert.deepEqual(answer.headers.getSetCookie(), [], path);
        assert.equal(refusalIn(answer.json).code, "request:origin_forbidden", path);
      }
  });

  it("of a guest is set for our own pages and for programs only", async () => {
    const path = "/v1/gateway/guest";
    assert.equal((await app.client.post(path, { headers: evil })).status, 403);
    for (const headers of [{}, { origin: app.url, "sec-fetch-site": "same-origin" }]) {
      const answer = await app.client.post(path, { headers: headers as Record<string, string> });
      assert.equal(answer.status, 200);
      assert.match(answer.headers.getSetCookie()[0] ?? "", /^svc_refresh=/);
    }
  });

  it("is not cleared by a sign-out from another site", async () => {
    const answer = await app.client.post("/v1/gateway/logout", { headers: evil });
    assert.equal(refusalIn(answer.json).code, "request:origin_forbidden");
  });

  it("of a stream is Secure when the player came over https, through any number of proxies", async () => {
    const guest = await app.client.post("/v1/gateway/guest");
    const { access_token: token } = guest.body as { access_token: string };
    const body = { hostName: "Ada" };
    const made = await app.client.post("/v1/games/trivia/lobbies", { token, body });
    const { code } = (made.body as { lobby: { code: string } }).lobby;
    const cookieFor = async (scheme: string) => {
      const headers = { "x-forwarded-proto": scheme };
      const path = `/v1/games/trivia/lobbies/${code}/token`;
      return (await app.client.post(path, { token, headers })).headers.getSetCookie()[0] ?? "";
    };
    for (const scheme of ["https", "https,http", "HTTPS, http"])
      assert.match(await cookieFor(scheme), /; Secure/, scheme);
    for (const scheme of ["http", "http,https"])
      assert.doesNotMatch(await cookieFor(scheme), /; Secure/, scheme);
  });
});
