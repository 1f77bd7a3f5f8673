import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { password, post, uniqueName } from "../../../support/identity.ts";
import { followLink } from "../../../support/link-page.ts";
import { sentMessage } from "../../../support/messages.ts";
import {
  accessStatuses,
  app,
  attach,
  keysPath,
  linkTo,
  login,
  other,
  register,
  startsProofApp,
  until,
} from "./first-proof-app.ts";

describe("the link in the mail to a replaced address", () => {
  startsProofApp();

  it("ends what was added since on every worker, and keeps what the account had before", async () => {
    const { email, session } = await register();
    await followLink(app, await linkTo(email));
    const owner = session.access_token;
    const key = async (token: string) => {
      const made = await app.client.post(keysPath, { token, body: { name: "K", scopes: ["*"] } });
      return made.body as { plaintext: string; key: { id: number } };
    };
    const [kept, rolled] = [await key(owner), await key(owner)];
    const stolen = (await login(email)).body;
    const token = stolen.access_token;
    const second = `${uniqueName()}@example.com`;
    const changed = await app.client.patch("/v1/users/@me", { token, body: { email: second } });
    assert.equal(changed.status, 200);
    const had = await attach(stolen);
    const roll = await app.client.post(`${keysPath}/${rolled.key.id}/roll`, { token });
    assert.equal(roll.status, 200);
    await followLink(app, await linkTo(second));
    assert.deepEqual(await accessStatuses(app, stolen, had), [200, 200, 200]);

    const { content } = await sentMessage(app.deps, email, "address-replaced");
    const { pathname, search } = new URL(content.links[0] ?? "");
    const answer = await app.client.post(pathname + search, {
      body: "answer=yes",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    const next = new URL(answer.headers.get("location") ?? "", app.url);
    assert.equal(next.pathname, "/reset-password");

    const isOver = (at: typeof app) => async () =>
      (await accessStatuses(at, stolen, had)).every((status) => status === 401);
    for (const at of [app, other]) await until("all access ended", isOver(at));
    const wallet = (plaintext: string) =>
      app.client.get("/v1/wallet/@me", { headers: { "x-api-key": plaintext } });
    assert.equal((await wallet((roll.body as { plaintext: string }).plaintext)).status, 401);
    assert.equal((await wallet(kept.plaintext)).status, 200);
    assert.equal((await app.client.get("/v1/users/@me", { token: owner })).status, 401);
    assert.equal((await login(email)).code, "auth:invalid");
    const { refresh_token } = stolen;
    assert.equal((await post(app, "/v1/gateway/refresh", { refresh_token })).status, 401);
    const { passport } = had;
    const redirect = "http://localhost:5173/";
    const query = new URLSearchParams({ passport, redirect });
    const arrival = await app.client.get(`/v1/gateway/customs?${query.toString()}`);
    assert.equal(arrival.status, 401);
    const player = await app.deps.orm.em.fork().findOneOrFail(PlayerSchema, session.player.id);
    assert.deepEqual([player.emailKey, player.phone], [email, null]);
    assert.ok(player.emailVerifiedAt);

    const reset = { token: next.searchParams.get("token"), password: `${password}2` };
    assert.equal((await post(app, "/v1/gateway/reset-password", reset)).status, 200);
    const { body: again } = await login(email, `${password}2`);
    const mine = { token: again.access_token };
    const connections = await app.client.get("/v1/users/@me/connections", mine);
    assert.deepEqual(connections.body, { connections: [] });
    const { body } = await app.client.get("/v1/users/@me/revocations", mine);
    const { revocations } = body as { revocations: { kind: string; reason: string }[] };
    const kinds = new Set(revocations.map(({ kind }) => kind));
    const all = ["api_key", "connection", "consent", "password", "phone", "session"];
    assert.deepEqual([...kinds].toSorted(), all);
    assert.deepEqual(
      new Set(revocations.map(({ reason }) => reason)),
      new Set(["address_restored"]),
    );
  });

  it("keeps the number, the login and the key that were added before", async () => {
    const { email, session } = await register();
    await followLink(app, await linkTo(email));
    const had = await attach(session);
    const token = session.access_token;
    await app.client.patch("/v1/users/@me", {
      token,
      body: { email: `${uniqueName()}@example.com` },
    });
    const { content } = await sentMessage(app.deps, email, "address-replaced");
    const { pathname, search } = new URL(content.links[0] ?? "");
    await app.client.post(pathname + search, {
      body: "answer=yes",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    await until("the sessions ended, the key not", async () => {
      const statuses = await accessStatuses(app, session, had);
      return statuses.join() === "401,200,401";
    });
    const player = await app.deps.orm.em.fork().findOneOrFail(PlayerSchema, session.player.id);
    assert.equal(player.phone, had.phone);
    const templates = ["phone-changed", "login-linked"] as const;
    for (const template of templates) await sentMessage(app.deps, email, template);
  });
});
