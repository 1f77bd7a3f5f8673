import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import type { SessionBody } from "../../../../server/features/sessions/schemas.ts";
import { cookieOf, tokenOf, uniqueName } from "../../../support/identity.ts";
import { openLink, pressButton } from "../../../support/link-page.ts";
import {
  app,
  until,
  register,
  attach,
  login,
  linkTo,
  accessStatuses,
  startsProofApp,
} from "./first-proof-app.ts";

describe("a verification link", () => {
  startsProofApp();

  verificationLink();
});

function verificationLink(): void {
  const state = (session: SessionBody) =>
    app.client.get("/v1/users/@me", { token: session.access_token });

  it("ends nothing where the address was registered, or in a session of the account", async () => {
    for (const where of ["device", "cookie", "bearer"] as const) {
      const { email, session, device } = await register();
      const had = await attach(session);
      const second = (await login(email)).body;
      const headers: Record<string, string> = {
        device: { cookie: device },
        cookie: cookieOf(second.refresh_token),
        bearer: tokenOf(second),
      }[where];
      const page = await openLink(app, await linkTo(email), headers);
      assert.deepEqual(page.answers, ["yes"], where);
      assert.doesNotMatch(page.html, /Stranger/);
      assert.equal(await pressButton(app, page, "yes", headers), "/status/verify?result=success");
      assert.deepEqual(await accessStatuses(app, session, had), [200, 200, 200]);
      assert.match((await state(second)).text, /"email_verified_at":"/);
    }
  });

  it("asks elsewhere who created the account, with time and place, and accepts a confirmation", async () => {
    const { email, session } = await register();
    const other = await register();
    for (const headers of [
      {},
      { cookie: other.device },
      cookieOf(other.session.refresh_token),
      { cookie: "svc_device=; svc_refresh=x" },
    ] as Record<string, string>[]) {
      const page = await openLink(app, await linkTo(email), headers);
      assert.deepEqual(page.answers, ["yes", "no"]);
      for (const shown of [
        email,
        session.player.name,
        "127.0.0.1",
        "Stranger/1.0 &lt;b&gt;",
        new Date().toISOString().slice(0, 10),
      ])
        assert.ok(page.html.includes(shown), shown);
      assert.doesNotMatch(page.html, /<script|<b>/);
    }
    const page = await openLink(app, await linkTo(email));
    assert.equal(await pressButton(app, page, "yes"), "/status/verify?result=success");
    assert.equal((await login(email)).status, 200);
    const known = await app.deps.orm.em.fork().findOneOrFail(PlayerSchema, session.player.id);
    assert.deepEqual([known.addressIp, known.addressAgent], [null, null]);
  });

  it("uses the client's language", async () => {
    const { email } = await register();
    const page = await openLink(app, await linkTo(email), { "accept-language": "de" });
    assert.match(page.html, /Warst du das\?/);
  });

  it("reports an address that was entered later, and a denial revokes everything before it", async () => {
    const { session } = await register();
    const victim = `${uniqueName()}@example.com`;
    const token = session.access_token;
    const changed = await app.client.patch("/v1/users/@me", { token, body: { email: victim } });
    assert.equal(changed.status, 200);
    const page = await openLink(app, await linkTo(victim));
    assert.deepEqual(page.answers, ["yes", "no"]);
    assert.match(await pressButton(app, page, "no"), /\/reset-password\?token=/);
    assert.equal((await login(victim)).code, "auth:invalid");
    await until("the access token is refused", async () => (await state(session)).status === 401);
  });
}
