import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import { sendRaw } from "../../../support/raw-http.ts";

describe("the content policy of the play page", () => {
  let app: App;
  before(async () => {
    const env = { WORKER_PORTS: "8081", HTTP_WORKERS: "2" };
    app = await startApp({ hasJobs: false, env });
  });
  after(() => app.stop());

  const policyAt = async (host: string, path = "/play") => {
    const { port } = new URL(app.url);
    const text = `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    const { responses } = await sendRaw(Number(port), text);
    return new Map(responses[0]?.headers).get("content-security-policy") ?? "";
  };

  it("lets it ask at the ports of the workers of its own host, and nowhere else", async () => {
    assert.match(
      await policyAt("game.example:8080"),
      /; connect-src 'self' http:\/\/game\.example:8081 http:\/\/game\.example:8082$/,
    );
    assert.match(await policyAt("[::1]:8080"), /; connect-src 'self' http:\/\/\[::1\]:8081 /);
  });

  it("takes nothing but a name or an address from the request", async () => {
    for (const host of ["game.example;script-src", "a,b", "'unsafe-inline'"])
      assert.doesNotMatch(await policyAt(host), /connect-src/, host);
  });

  it("is that of all pages elsewhere", async () => {
    assert.doesNotMatch(await policyAt("game.example", "/docs"), /connect-src/);
  });
});
