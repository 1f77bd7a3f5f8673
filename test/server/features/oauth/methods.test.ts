import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as client from "openid-client";
import { Browser, issuer } from "./browser.ts";
import {
  account,
  app,
  authorize,
  begin,
  bearer,
  exchange,
  isRefused,
  open,
  startsOAuthApp,
  userinfo,
} from "./oauth-app.ts";

const urlForm = (fields: Record<string, string>) => new URLSearchParams(fields);

async function postUserinfo(
  headers: Record<string, string>,
  body?: URLSearchParams,
  query = "",
): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }> {
  const init = { method: "POST", headers, ...(body ? { body } : {}) };
  const answer = await fetch(`${app.url}/v1/oauth/userinfo${query}`, init);
  const json = (await answer.json()) as Record<string, unknown>;
  return { status: answer.status, body: json, headers: answer.headers };
}

describe("the OpenID endpoints", () => {
  startsOAuthApp();

  describe("userinfo by POST", () => {
    it("answers like GET, with the token in the header or in the form", async () => {
      const { access_token: token } = await exchange(open, await authorize(open));
      const { body: expected } = await userinfo(open, token);
      assert.equal(expected["sub"], String(account.session.player.id));
      const inHeader = { authorization: `Bearer ${token}` };
      for (const answer of [
        await postUserinfo(inHeader),
        await postUserinfo({ ...inHeader, "content-type": "application/json" }),
        await postUserinfo(inHeader, urlForm({})),
        await postUserinfo({}, urlForm({ access_token: token })),
      ]) {
        assert.equal(answer.status, 200, JSON.stringify(answer.body));
        assert.deepEqual(answer.body, expected);
        assert.match(answer.headers.get("cache-control") ?? "", /no-store/);
      }
      const posted = await client.fetchProtectedResource(
        open,
        token,
        new URL(`${issuer}/v1/oauth/userinfo`),
        "POST",
      );
      assert.deepEqual(await posted.json(), expected);
    });

    it("refuses no token, a wrong one, two, and one in the address", async () => {
      const { access_token: token } = await exchange(open, await authorize(open));
      const inHeader = { authorization: `Bearer ${token}` };
      for (const [answer, status] of [
        [await postUserinfo({}), 401],
        [await postUserinfo({}, urlForm({ access_token: "wrong" })), 401],
        [await postUserinfo({ authorization: "Bearer wrong" }), 401],
        [await postUserinfo(inHeader, urlForm({ access_token: token })), 400],
        [await postUserinfo({}, undefined, `?access_token=${token}`), 400],
      ] as const)
        assert.equal(answer.status, status, JSON.stringify(answer.body));
      await client.tokenRevocation(open, token);
      await isRefused(token);
      assert.equal((await postUserinfo(inHeader)).status, 401);
    });

    it("may be called by pages of any origin", async () => {
      const headers = { origin: "https://fans.example", "access-control-request-method": "POST" };
      const path = `${app.url}/v1/oauth/userinfo`;
      const preflight = await fetch(path, { method: "OPTIONS", headers });
      assert.equal(preflight.headers.get("access-control-allow-origin"), "*");
      assert.match(preflight.headers.get("access-control-allow-methods") ?? "", /POST/);
    });
  });
  describe("authorize by POST", () => {
    it("continues by GET with the same parameters, up to the code", async () => {
      const { verifier, url } = await begin(open);
      const answer = await fetch(`${app.url}/v1/oauth/authorize`, {
        method: "POST",
        redirect: "manual",
        headers: { origin: "https://program.example", "sec-fetch-site": "cross-site" },
        body: new URLSearchParams(url.searchParams),
      });
      assert.equal(answer.status, 303);
      assert.deepEqual(answer.headers.getSetCookie(), []);
      const next = new URL(answer.headers.get("location") ?? "", issuer);
      assert.equal(next.pathname, "/v1/oauth/authorize");
      assert.deepEqual(Object.fromEntries(next.searchParams), Object.fromEntries(url.searchParams));
      const browser = new Browser(app);
      const back = await browser.decide(await browser.open(next), bearer());
      assert.ok((await exchange(open, { verifier, back })).access_token);
    });

    it("leads to the same refusals", async () => {
      for (const fields of [{}, { client_id: "nobody" }, { response_mode: "form_post" }]) {
        const first = await fetch(`${app.url}/v1/oauth/authorize`, {
          method: "POST",
          body: urlForm(fields as Record<string, string>),
        });
        assert.equal(first.status, 400, "the page of the refusal, after the redirect");
      }
    });
  });
});
