import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type App } from "../../../support/app.ts";

describe("the page of the decision records", () => {
  let app: App;
  before(async () => {
    app = await startApp({ hasJobs: false });
  });
  after(() => app.stop());

  it("shows every record under an anchor with its id, and has no script", async () => {
    const { status, headers, text } = await app.client.get("/docs/decisions");
    assert.equal(status, 200);
    assert.match(headers.get("content-security-policy") ?? "", /default-src 'self'/);
    assert.match(text, /<h4 id="HTTP-17"><a href="#HTTP-17">HTTP-17<\/a><\/h4>/);
    assert.match(text, /<strong>Order of checks\.<\/strong>/);
    assert.doesNotMatch(text, /<script|\*\*/);
    const anchors = new Set([...text.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    const targets = [...text.matchAll(/href="(?:\/docs\/decisions)?#([^"]+)"/g)].map(
      ([, id]) => id,
    );
    assert.deepEqual(
      targets.filter((goal) => !anchors.has(goal)),
      [],
    );
  });

  it("is the link target for sources in the API documentation", async () => {
    const records = (await app.client.get("/docs/decisions")).text;
    const { text } = await app.client.get("/openapi.json");
    const ids = [...text.matchAll(/\(\/docs\/decisions#([^)]+)\)/g)].map(([, id]) => id);
    assert.ok(ids.includes("TOK-04"));
    assert.deepEqual(
      ids.filter((id) => !records.includes(` id="${id}"`)),
      [],
    );
  });
});
