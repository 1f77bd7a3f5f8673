import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { projectionOf } from "../../db/projections/refresh.ts";
import { routes } from "../../server/app/routes.ts";
import { startApp, type App } from "../support/app.ts";
import { load } from "../support/archive.ts";
import { smallGame, smallTexts } from "../support/projected-game.ts";
import { sendRaw } from "../support/raw-http.ts";

/** Numbers used as values in random requests. */
const versions = ["0", "1000"] as const;

describe("the whole service under random requests", () => {
  let app: App;
  before(async () => {
    app = await startApp();
    for (const version of versions)
      await load(
        app,
        { game: "gamedata", version, entities: smallGame(), locales: smallTexts() },
        { project: projectionOf("gamedata") },
      );
  });
  after(() => app.stop());

  it("returns 405 and the allowed methods for a wrong method on every path", async () => {
    const paths = new Set(routes.map((route) => route.path.replaceAll(/\{[^}]+\}/g, "1")));
    for (const path of paths) {
      const methods = methodsOf(path);
      if (methods.has("GET") && path !== "/v1/hub") methods.add("HEAD");
      for (const method of ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "BREW"]) {
        if (methods.has(method)) continue;
        const where = `${method} ${path}`;
        const answer = await sendRaw(Number(new URL(app.url).port), head(method, path), {
          responses: 1,
          isHead: method === "HEAD",
        });
        const [response] = answer.responses;
        assert.equal(response?.status, 405, where);
        const allow = response.headers.find(([name]) => name === "allow")?.[1].split(", ");
        assert.deepEqual(new Set(allow), new Set([...methods, "OPTIONS"]), where);
      }
    }
  });

  it("refuses paths that match no route", async () => {
    const port = Number(new URL(app.url).port);
    const targets: [string, number[]][] = [
      ["/nothing", [404]],
      ["/v1", [302]],
      ["/v2/games", [404]],
      ["//v1//gateway", [404]],
      ["/v1/../v1/users", [404]],
      ["/v1/%2e%2e/users", [404]],
      ["/V1/GATEWAY/GUEST", [404]],
      ["/v1/games/trivia/lobbies/%", [400]],
      ["/v1/games/trivia/lobbies/%zz", [400]],
      ["/v1/games/trivia/lobbies/%C3%28", [400, 404]],
      ["/v1/games/trivia/lobbies/%00%00%00%00%00%00", [404]],
      ["/v1/games/trivia/lobbies/ABCDEF/%2F/token", [404]],
      [`/v1/${"a/".repeat(1_000)}`, [404]],
      [`/v1/${"a".repeat(4_000)}`, [414]],
      ["/__proto__", [404]],
      ["/constructor/prototype", [404]],
    ];
    for (const [target, expected] of targets) {
      const options = { responses: 1, isHead: false };
      const { responses } = await sendRaw(port, head("GET", target), options);
      const status = responses[0]?.status ?? 0;
      assert.ok(expected.includes(status), `${target.slice(0, 60)} -> ${status}`);
    }
  });
});

const head = (method: string, target: string) =>
  `${method} ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`;

/** Another path pattern may accept this method: `/users/{id}` and `/users/1`. */
function methodsOf(path: string): Set<string> {
  const asked = path.split("/");
  const fits = (pattern: string) => {
    const parts = pattern.split("/");
    const isFit = parts.every((part, n) => part.startsWith("{") || part === asked[n]);
    return isFit && parts.length === asked.length;
  };
  return new Set(routes.filter((route) => fits(route.path)).map(({ method }) => method));
}
