import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type App } from "../../../support/app.ts";

interface SourceMap {
  sources: string[];
  sourcesContent: string[];
}

/** Scripts of the pages, with a source that each is made from. */
const scripts: readonly [path: string, source: string][] = [
  ["/assets/home.js", "home.ts"],
  ["/assets/inbox.js", "inbox.ts"],
  ["/assets/docs.js", "docs.ts"],
  ["/assets/consent.js", "consent.ts"],
  ["/assets/reset-password.js", "reset-password.ts"],
  ["/assets/play.js", "play/room.ts"],
  ["/assets/codex.js", "reader/codex-timeline.ts"],
  ["/assets/data.js", "reader/data-loot.ts"],
  ["/client/emberline.js", "emberline.ts"],
];

describe("the assets of the pages", () => {
  let app: App;
  before(async () => {
    app = await startApp({ hasJobs: false });
  });
  after(() => app.stop());

  for (const [path, source] of scripts)
    it(`${path} is one script with the map to its sources`, async () => {
      const { status, headers, text } = await app.client.get(path);
      assert.equal(status, 200);
      assert.equal(headers.get("content-type"), "text/javascript; charset=utf-8");
      assert.match(headers.get("content-security-policy") ?? "", /^default-src 'self'; img-src/);
      assert.equal(headers.get("cache-control"), "no-cache");
      assert.doesNotMatch(text, /^import\b|\bimport\(|^export \* /m);
      const file = path.slice(path.lastIndexOf("/") + 1);
      assert.ok(text.endsWith(`//# sourceMappingURL=${file}.map\n`));
      const map = await app.client.get(`${path}.map`);
      assert.equal(map.headers.get("content-type"), "application/json");
      const { sources, sourcesContent } = JSON.parse(map.text) as SourceMap;
      const at = sources.findIndex((name) => name.endsWith(source));
      assert.match(sourcesContent[at] ?? "", /\b(import|export|declare)\b/);
    });

  it("are found from the base of the interface, which leads to its documentation", async () => {
    for (const path of ["/v1", "/v1/"]) {
      const { status, headers } = await app.client.get(path);
      assert.deepEqual([status, headers.get("location")], [302, "/docs"]);
    }
  });

  it("are sent again only after a change", async () => {
    for (const path of ["/assets/play.js", "/assets/play.css", "/assets/icon.svg"]) {
      const first = await app.client.get(path);
      const tag = first.headers.get("etag") ?? "";
      assert.match(tag, /^"[\w-]{27}"$/);
      const again = await app.client.get(path, { headers: { "If-None-Match": tag } });
      assert.equal(again.status, 304);
    }
  });

  it("include no other file of the server", async () => {
    for (const name of ["play.ts", "bundle.mjs", "README.md", "..%2Fserver.js", "room.js"]) {
      const { status, text } = await app.client.get(`/assets/${name}`);
      assert.equal(status, 404, name);
      assert.match(text, /"route:not_found"/);
    }
  });
});
