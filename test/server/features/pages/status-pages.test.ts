import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type App } from "../../../support/app.ts";

describe("the status pages", () => {
  let app: App;
  before(async () => {
    app = await startApp({ hasJobs: false, env: { MARKETING_URL: "https://ember.example/site/" } });
  });
  after(() => app.stop());
  const textOf = async (path: string, language = "en") => {
    const headers = { "accept-language": language };
    return (await app.client.get(path, { headers })).text;
  };

  it("explain the error in the language of the client", async () => {
    assert.match(await textOf("/status/verify?result=success"), /is confirmed/);
    assert.match(await textOf("/status/verify?result=success", "de-AT,en"), /ist bestätigt/);
    const missing = "/status/unsubscribe?result=error&code=not_found";
    assert.match(await textOf(missing), /not on the list/);
  });

  it("show no content of the request", async () => {
    for (const code of ["<script>", "__proto__", "constructor", "%zz", "%00"]) {
      const text = await textOf(`/status/verify?result=error&code=${code}&result=<b>`);
      assert.match(text, /already, has expired/);
      assert.doesNotMatch(text, /script|proto|<b>/);
    }
  });

  it("come from the marketing site when one is configured", async () => {
    const answer = await app.client.get("/v1/unsubscribe");
    assert.equal(
      answer.headers.get("location"),
      "https://ember.example/site/status/unsubscribe?result=error&code=missing_arguments",
    );
  });
});
