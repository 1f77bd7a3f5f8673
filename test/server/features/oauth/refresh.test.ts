import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as client from "openid-client";
import { refreshGraceMs } from "../../../../server/platform/security/tokens.ts";
import { manualClock } from "../../../support/clock.ts";
import { registerAccount } from "../../../support/identity.ts";
import {
  app,
  authorizeAs,
  confidential,
  exchange,
  isRefused,
  open,
  scope,
  startsOAuthApp,
  userinfo,
} from "./oauth-app.ts";

const clock = manualClock();
const passGrace = () => clock.advance(refreshGraceMs + 1_000);

interface Tokens {
  access_token: string;
  refresh_token: string;
}

/** The first tokens of a new grant of a new player. */
async function firstTokens(): Promise<Tokens & { session: string }> {
  const { session } = await registerAccount(app);
  const offline = { scope: `${scope} offline_access`, prompt: "consent" };
  const done = await authorizeAs(session.access_token, offline);
  return { ...withRefresh(await exchange(open, done)), session: session.access_token };
}

function withRefresh({ access_token, refresh_token }: client.TokenEndpointResponse): Tokens {
  assert.ok(refresh_token);
  return { access_token, refresh_token };
}

const refresh = async (token: Tokens): Promise<Tokens> =>
  withRefresh(await client.refreshTokenGrant(open, token.refresh_token));

const isReuse = (token: Tokens) =>
  assert.rejects(client.refreshTokenGrant(open, token.refresh_token), { error: "invalid_grant" });

async function areValid(...tokens: Tokens[]): Promise<void> {
  for (const { access_token: token } of tokens)
    assert.equal((await userinfo(open, token)).status, 200);
}

async function areOver(...tokens: Tokens[]): Promise<void> {
  for (const token of tokens) {
    await isRefused(token.access_token);
    await isReuse(token);
  }
}

async function countSessions(token: string): Promise<number> {
  const { body } = await app.client.get("/v1/users/@me/sessions", { token });
  return (body as { sessions: unknown[] }).sessions.length;
}

describe("a program's refresh token", () => {
  startsOAuthApp({ clock });

  describe("that is used twice within the grace", () => {
    it("answers both of two tabs that refresh at the same moment, and each goes on", async () => {
      for (let round = 0; round < 5; round++) {
        const first = await firstTokens();
        const [one, other] = await Promise.all([refresh(first), refresh(first)]);
        assert.notEqual(one.refresh_token, other.refresh_token);
        await areValid(first, one, other);
        const next = await Promise.all([refresh(one), refresh(other)]);
        await areValid(one, other, ...next);
        assert.equal(await countSessions(first.session), 2);
      }
    });

    it("answers any number at once", async () => {
      const first = await firstTokens();
      const all = await Promise.all(Array.from({ length: 8 }, () => refresh(first)));
      await areValid(...all);
      passGrace();
      await Promise.all(all.map(refresh));
    });

    it("answers again when the answer was lost", async () => {
      const first = await firstTokens();
      await refresh(first);
      // Both uses are dated by Redis, so the way to it counts.
      clock.advance(refreshGraceMs - 1_000);
      const again = await refresh(first);
      passGrace();
      await areValid(again, await refresh(again));
    });

    it("ends nothing when another program presents it", async () => {
      const first = await firstTokens();
      const one = await refresh(first);
      passGrace();
      const stolen = client.refreshTokenGrant(confidential, first.refresh_token);
      await assert.rejects(stolen, { error: "invalid_grant" });
      await areValid(one);
    });
  });
  describe("that is used later", () => {
    it("ends the grant and its session", async () => {
      const first = await firstTokens();
      const one = await refresh(first);
      passGrace();
      assert.equal(await countSessions(first.session), 2);
      await isReuse(first);
      await areOver(first, one);
      assert.equal(await countSessions(first.session), 1);
    });

    it("ends the grant after both of two tabs were answered", async () => {
      const first = await firstTokens();
      const [one, other] = await Promise.all([refresh(first), refresh(first)]);
      passGrace();
      await isReuse(first);
      await areOver(one, other);
    });

    it("ends the grant at once, within the grace too, when a newer one was used", async () => {
      const first = await firstTokens();
      const one = await refresh(first);
      const next = await refresh(one);
      await isReuse(first);
      await areOver(one, next);
    });

    it("counts with the others of its generation: what one of them led to ends it", async () => {
      const first = await firstTokens();
      const [one, other] = await Promise.all([refresh(first), refresh(first)]);
      const next = await refresh(one);
      passGrace();
      await isReuse(other);
      await areOver(one, next);
    });

    it("is replaced at each use for as long as the grant lasts", async () => {
      let tokens: Tokens = await firstTokens();
      const used = [tokens];
      for (let turn = 0; turn < 4; turn++) {
        passGrace();
        tokens = await refresh(tokens);
        used.push(tokens);
      }
      assert.equal(new Set(used.map((one) => one.refresh_token)).size, used.length);
      await areValid(tokens);
    });
  });
});
