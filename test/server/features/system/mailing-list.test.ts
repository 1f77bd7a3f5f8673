import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sql } from "kysely";
import { rowsOf } from "../../../../db/queries/rows.ts";
import { writeMessage } from "../../../../server/features/delivery/domain/send.ts";
import { subscribe as subscribeAddress } from "../../../../server/features/system/mailing-list.ts";
import { unsubscribeToken } from "../../../../server/features/system/unsubscribe-token.ts";
import { startApp, type App } from "../../../support/app.ts";
import { post } from "../../../support/identity.ts";
import { followLink, openLink, pressButton } from "../../../support/link-page.ts";
import { messagesTo, sentMessage } from "../../../support/messages.ts";

let app: App;
let now = Date.now();
let people = 0;
const someone = () => `reader-${++people}@example.com`;

const subscribe = (email: string, more: object = {}) =>
  app.client.post("/v1/subscribe", { body: { email, ...more } });

const mailOf = (email: string, template = "subscribe-verify") =>
  sentMessage(app.deps, email, template);

/** Path and query of a link in a mail. */
const pathOf = (link: string | undefined) => {
  const url = new URL(link ?? "");
  return url.pathname + url.search;
};

/** Redirect target of an address of the specification, which acts at once. */
const locationOf = async (path: string, headers: Record<string, string> = {}) => {
  const answer = await app.client.get(path, { headers });
  assert.equal(answer.status, 302);
  assert.equal(answer.headers.get("referrer-policy"), "no-referrer");
  assert.equal(answer.headers.get("cache-control"), "no-store");
  return answer.headers.get("location") ?? "";
};

/** What is no decision of a person: HEAD, and the prefetches of browsers and chat programs. */
const previews: ["GET" | "HEAD", Record<string, string>][] = [
  ["HEAD", {}],
  ["GET", { "sec-purpose": "prefetch" }],
  ["GET", { "sec-purpose": "prefetch;prerender" }],
  ["GET", { purpose: "prefetch" }],
];

const stateOf = async (email: string) => {
  const [row] = await rowsOf(
    app.deps.em,
    sql<{ verified: boolean; ended: boolean; channels: string[] }>`select channels,
      verified_at is not null as verified, unsubscribed_at is not null as ended
      from subscribers where email_key = ${email}`,
  );
  return row;
};

const good = "/status/verify?result=success";
const bad = "/status/verify?result=error&code=invalid_arguments";

describe("the mailing list", () => {
  before(async () => {
    app = await startApp({ clock: { now: () => now } });
  });
  after(() => app.stop());

  describe("POST /v1/subscribe", () => {
    it("sends a mail with a link that adds the address to the list, once", async () => {
      const email = someone();
      const answer = await subscribe(email);
      assert.equal(answer.status, 200);
      const { content } = await mailOf(email);
      assert.deepEqual(await stateOf(email), {
        verified: false,
        ended: false,
        channels: ["email:marketing"],
      });
      const link = pathOf(content.links[0]);
      assert.equal(await followLink(app, link), good);
      assert.equal((await stateOf(email))?.verified, true);
      assert.match((await mailOf(email, "subscribe-welcome")).content.text, /[^1]\/unsubscribe\?/);
      assert.equal(await followLink(app, link), bad);
    });

    it("does not reveal who is on the list, and changes nothing for members", async () => {
      const email = someone();
      await subscribe(email);
      await followLink(app, pathOf((await mailOf(email)).content.links[0]));
      await mailOf(email, "subscribe-welcome");
      const answer = await subscribe(` ${email.toUpperCase()} `, { channels: ["sms:spam"] });
      assert.equal(answer.status, 200);
      assert.deepEqual((await stateOf(email))?.channels, ["email:marketing"]);
      assert.equal((await messagesTo(app.deps, email)).length, 2);
    });

    it("keeps the link of an earlier mail valid while no other can be sent", async () => {
      const email = someone();
      await subscribe(email);
      const { content } = await mailOf(email);
      const config = { ...app.deps.config, RATE_LIMIT_FACTOR: 1 };
      const deps = { ...app.deps, em: app.deps.orm.em.fork(), config };
      const other = {
        template: "sign-in-code",
        to: email,
        locale: "en",
        params: { code: "1" },
      } as const;
      while ((await writeMessage(deps.em, deps, other)) !== null);
      await subscribeAddress(deps, { email, channels: null, locale: "en", realm: "default" });
      assert.equal(await followLink(app, pathOf(content.links[0])), good);
    });

    it("invalidates the link of an earlier mail, and every link after a day", async () => {
      const email = someone();
      await subscribe(email);
      const first = pathOf((await mailOf(email)).content.links[0]);
      await subscribe(email, { channels: ["email:product", "email:product"] });
      const second = pathOf((await mailOf(email)).content.links[0]);
      assert.equal(await followLink(app, first), bad);
      assert.deepEqual((await stateOf(email))?.channels, ["email:product"]);
      now += 24 * 3_600_000;
      assert.equal(await followLink(app, second), bad);
      assert.equal((await stateOf(email))?.verified, false);
    });

    it("refuses an invalid address and malformed channels", async () => {
      const wrong: object[] = [
        {},
        { email: "nobody" },
        { email: 7 },
        { email: "a@example.com", channels: ["everything"] },
        { email: "a@example.com", channels: "email:marketing" },
        { email: "a@example.com", channels: Array(33).fill("email:a") },
      ];
      for (const body of wrong) {
        const { status, json } = await app.client.post("/v1/subscribe", { body });
        const { flash } = json as { flash: { violations: object[] } };
        assert.deepEqual([status, flash.violations.length], [422, 1]);
      }
      const nullable = { email: someone(), channels: null };
      assert.equal((await app.client.post("/v1/subscribe", { body: nullable })).status, 200);
    });
  });
  describe("GET /v1/verify", () => {
    it("always redirects, with the problem in the address", async () => {
      const missing = "/status/verify?result=error&code=missing_arguments";
      for (const query of ["", "?email=a@example.com", "?token=x", "?email=&token="])
        assert.equal(await locationOf(`/v1/verify${query}`), missing);
      for (const query of [
        "?email=a@example.com&token=x",
        "?email=%zz&token=%00",
        "?email=a&token=a.b.c",
      ])
        assert.equal(await locationOf(`/v1/verify${query}`), bad);
    });

    it("is not consumed by a scanner that sends HEAD or GET", async () => {
      const email = someone();
      await subscribe(email);
      const link = pathOf((await mailOf(email)).content.links[0]);
      assert.equal((await app.client.head(link)).status, 200);
      const page = await openLink(app, link);
      assert.equal(page.action, link);
      assert.deepEqual(page.answers, ["yes"]);
      assert.match(page.html, new RegExp(email));
      assert.equal((await stateOf(email))?.verified, false);
      assert.equal(await followLink(app, link), good);
    });

    it("acts at once when it is called with the token of the mail", async () => {
      const email = someone();
      await subscribe(email);
      const { search } = new URL((await mailOf(email)).content.links[0] ?? "");
      for (const [method, headers] of previews) {
        const answer = await app.client.request(method, `/v1/verify${search}`, { headers });
        assert.deepEqual([answer.status, answer.headers.get("location")], [302, good]);
      }
      assert.equal((await stateOf(email))?.verified, false);
      assert.equal(await locationOf(`/v1/verify${search}`), good);
      assert.equal((await stateOf(email))?.verified, true);
      assert.equal(await locationOf(`/v1/verify${search}`), bad);
    });
  });
  describe("unsubscribing", unsubscribing);
});

function unsubscribing(): void {
  const path = (email: string, token: string) =>
    `/v1/unsubscribe?${new URLSearchParams({ email, token }).toString()}`;
  const tokenOf = (email: string) => unsubscribeToken(app.deps.config, email);
  const success = "/status/unsubscribe?result=success";
  const problem = (code: string) => `/status/unsubscribe?result=error&code=${code}`;

  it("works repeatedly and at any time from the link of any mail", async () => {
    const email = someone();
    await subscribe(email);
    const { content } = await mailOf(email);
    await followLink(app, pathOf(content.links[0]));
    now += 400 * 86_400_000;
    const leave = pathOf(content.links[1]);
    assert.match(leave, /^\/unsubscribe\?/);
    assert.equal(await followLink(app, leave), success);
    assert.equal(await followLink(app, leave), success);
    assert.equal((await stateOf(email))?.ended, true);
  });

  it("happens at once at the address of the specification, as links of old mails have it", async () => {
    const email = someone();
    await subscribe(email);
    const link = path(email, tokenOf(email));
    for (const [method, headers] of previews) {
      const answer = await app.client.request(method, link, { headers });
      assert.deepEqual([answer.status, answer.headers.get("location")], [302, success]);
    }
    assert.equal((await stateOf(email))?.ended, false);
    assert.equal(await locationOf(link), success);
    assert.equal((await stateOf(email))?.ended, true);
    assert.equal(await locationOf(link), success);
  });

  it("waits for a confirmation by the person who opens the link", async () => {
    const email = someone();
    await subscribe(email);
    const page = await openLink(
      app,
      `/unsubscribe${new URL(path(email, tokenOf(email)), app.url).search}`,
    );
    assert.deepEqual(page.answers, ["yes"]);
    assert.equal(await pressButton(app, page, ""), page.action);
    assert.equal((await stateOf(email))?.ended, false);
    assert.equal(await pressButton(app, page, "yes"), success);
    assert.equal((await stateOf(email))?.ended, true);
  });

  it("works with one click, regardless of the form body", async () => {
    const email = someone();
    await subscribe(email);
    const answer = await app.client.post(path(email, tokenOf(email)), {
      body: "List-Unsubscribe=One-Click",
      headers: { "content-type": "application/x-www-form-urlencoded" },
    });
    assert.equal(answer.status, 200);
    assert.equal((await stateOf(email))?.ended, true);
    const wrong = await post(app, path(email, "wrong"), {});
    assert.deepEqual([wrong.status, wrong.code], [401, "auth:token_invalid"]);
    const missing = await post(app, "/v1/unsubscribe", {});
    assert.deepEqual([missing.status, missing.code], [400, "request:missing_parameter"]);
    const unknown = someone();
    assert.equal((await app.client.post(path(unknown, tokenOf(unknown)))).status, 200);
  });

  it("names the problem of an invalid link", async () => {
    assert.equal(await locationOf("/v1/unsubscribe"), problem("missing_arguments"));
    const [one, other] = [someone(), someone()];
    await subscribe(one);
    assert.equal(await locationOf(path(one, tokenOf(other))), problem("invalid_arguments"));
    assert.equal(await locationOf(path("%", "%")), problem("invalid_arguments"));
    assert.equal(await locationOf(path(other, tokenOf(other))), problem("not_found"));
    assert.equal((await stateOf(one))?.ended, false);
  });

  it("ends when the address is confirmed again", async () => {
    const email = someone();
    await subscribe(email);
    await locationOf(path(email, tokenOf(email)));
    await subscribe(email);
    assert.equal(await followLink(app, pathOf((await mailOf(email)).content.links[0])), good);
    assert.deepEqual(await stateOf(email), {
      verified: true,
      ended: false,
      channels: ["email:marketing"],
    });
  });
}
