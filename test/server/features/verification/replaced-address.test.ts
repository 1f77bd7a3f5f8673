import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { PlayerSchema } from "../../../../db/entities/player.ts";
import { ReplacedAddressSchema } from "../../../../db/entities/replaced-address.ts";
import {
  lockAccount,
  purgeAccounts,
  reopenAccount,
} from "../../../../db/queries/accounts/accounts.ts";
import { CredentialRequestSchema } from "../../../../db/entities/credential-request.ts";
import {
  keepReplaced,
  maxReplaced,
} from "../../../../server/features/verification/replaced-addresses.ts";
import { maintain } from "../../../../workers/processors/maintenance.ts";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { eventually } from "../../../support/eventually.ts";
import { enter, password, post, uniqueName } from "../../../support/identity.ts";
import { openLink, pressButton } from "../../../support/link-page.ts";
import { untilOneWaits } from "../../../support/locks.ts";
import { messagesTo, sentMessage } from "../../../support/messages.ts";
import { me, newAccount } from "../accounts/own-account.ts";

let app: App;
const clock = manualClock();
const dayMs = 86_400_000;
const newAddress = () => `${uniqueName()}@example.com`;
const used = "/status/verify?result=error&code=invalid_arguments";
const resets = /\/reset-password\?token=/;

const linkIn = async (to: string, template: string) =>
  (await sentMessage(app.deps, to, template)).content.links[0] ?? "";
const restoreLink = (to: string) => linkIn(to, "address-replaced");
const tokenIn = (link: string) => new URL(link).searchParams.get("token");
const templatesTo = async (to: string) =>
  (await messagesTo(app.deps, to)).map(({ template }) => template);

async function verify(email: string): Promise<void> {
  const token = tokenIn(await linkIn(email, "verify-email"));
  assert.equal((await post(app, "/v1/users/email/verify", { token })).status, 200);
}

/** An account whose verified address `first` was replaced by `second` just now. */
async function replaced() {
  const { session, id, email: first } = await newAccount(app);
  await verify(first);
  const name = session.player.username ?? "";
  const change = async (email: string) => {
    const { body } = await post(app, "/v1/gateway/login", { identifier: name, password });
    const token = body.access_token;
    return app.client.patch(me, { token, body: { email } });
  };
  const second = newAddress();
  assert.equal((await change(second)).status, 200);
  return { id, name, first, second, session, change };
}

/** The stored address, and whether it is verified. */
async function addressOf({ id }: { id: number }) {
  const player = await app.deps.orm.em.fork().findOneOrFail(PlayerSchema, id);
  return [player.emailKey, player.emailVerifiedAt !== null];
}

async function register(email: string): Promise<string> {
  const answer = await post(app, "/v1/users", { email, username: uniqueName(), password });
  return `${answer.status} ${answer.code ?? ""}`.trim();
}
const taken = "409 user:email_taken";

/** Answers on the page of the link; returns where it leads. */
async function press(link: string, answer = "yes"): Promise<string> {
  const { pathname, search } = new URL(link);
  const reply = await app.client.post(pathname + search, {
    body: `answer=${answer}`,
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
  return reply.headers.get("location") ?? reply.text;
}

/** Requests a code and a link at each address, and waits until all requests were handled. */
async function forget(...emails: string[]): Promise<void> {
  for (const email of emails) {
    await post(app, "/v1/gateway/code/request", { email });
    await post(app, "/v1/gateway/reset-password/request", { email });
  }
  const numWaiting = () => app.deps.orm.em.fork().count(CredentialRequestSchema, {});
  await eventually("the requests are handled", async () => (await numWaiting()) === 0);
}
const credentialsTo = async (to: string) =>
  (await templatesTo(to)).filter((one) => ["sign-in-code", "reset-password"].includes(one));

describe("a verified address that was replaced", () => {
  before(async () => {
    app = await startApp({ clock });
  });
  after(() => app.stop());

  describe("receives codes and links alone until the new one is verified", () => {
    it("and the new one receives them from then on", async () => {
      const one = await replaced();
      assert.deepEqual(await templatesTo(one.first), ["verify-email", "address-replaced"]);
      await forget(one.second, one.first);
      assert.deepEqual(await credentialsTo(one.second), []);
      assert.deepEqual((await credentialsTo(one.first)).toSorted(), [
        "reset-password",
        "sign-in-code",
      ]);
      const { code } = (await sentMessage(app.deps, one.first, "sign-in-code")).content;
      const reset = tokenIn(await linkIn(one.first, "reset-password"));
      await verify(one.second);
      const signIn = { email: one.first, code };
      assert.equal((await post(app, "/v1/gateway/code/verify", signIn)).code, "auth:code_invalid");
      const body = { token: reset, password: "abcdefg1" };
      assert.equal(
        (await post(app, "/v1/gateway/reset-password", body)).code,
        "auth:token_invalid",
      );
      clock.advance(16 * 60_000);
      await forget(one.first, one.second);
      assert.equal((await credentialsTo(one.first)).length, 2);
      assert.equal((await credentialsTo(one.second)).length, 2);
    });

    it("of which a proof ends nothing of the owner's", async () => {
      const one = await replaced();
      const token = one.session.access_token;
      await forget(one.first);
      const { code } = (await sentMessage(app.deps, one.first, "sign-in-code")).content;
      const byCode = await post(app, "/v1/gateway/code/verify", { email: one.first, code });
      assert.equal(byCode.status, 200);
      assert.deepEqual(await addressOf(one), [one.second, false], "it proves the other address");
      await verify(one.second);
      assert.deepEqual(await addressOf(one), [one.second, true]);
      assert.equal((await app.client.get(me, { token })).status, 200);
      const again = await post(app, "/v1/gateway/login", { identifier: one.second, password });
      assert.equal(again.status, 200);
      const { body } = await app.client.get(`${me}/revocations`, { token });
      assert.deepEqual(body, { revocations: [] });
    });

    it("and a reset by it voids the link that waits at the new one", async () => {
      const one = await replaced();
      const waiting = tokenIn(await linkIn(one.second, "verify-email"));
      await forget(one.first);
      const token = tokenIn(await linkIn(one.first, "reset-password"));
      const reset = await post(app, "/v1/gateway/reset-password", { token, password: "abcdefg1" });
      assert.equal(reset.status, 200);
      assert.ok((await templatesTo(one.first)).includes("password-changed"));
      const verified = await post(app, "/v1/users/email/verify", { token: waiting });
      assert.equal(verified.code, "auth:token_invalid");
      assert.deepEqual(await addressOf(one), [one.second, false]);
    });

    it("and returns at once when the owner enters it again, with its link still valid", async () => {
      const one = await replaced();
      const answer = await one.change(one.first);
      assert.equal(answer.status, 200);
      assert.deepEqual(await addressOf(one), [one.first, true]);
      assert.equal((await templatesTo(one.first)).at(-1), "address-restored");
      assert.equal((await templatesTo(one.second)).at(-1), "email-changed");
      const waiting = tokenIn(await linkIn(one.second, "verify-email"));
      assert.equal((await post(app, "/v1/users/email/verify", { token: waiting })).status, 401);
      assert.match(await press(await restoreLink(one.first)), resets);
    });

    it("and returns when the reader of the new one disowns the account, which loses nothing else", async () => {
      const one = await replaced();
      const page = await openLink(app, await linkIn(one.second, "verify-email"));
      assert.match(page.html, /the address is taken off the account/);
      const next = await pressButton(app, page, "no");
      assert.equal(next, "/status/verify?result=error&code=address_removed");
      assert.match((await app.client.get(next)).text, /no longer belongs to the account/);
      assert.deepEqual(await addressOf(one), [one.first, true]);
      const token = one.session.access_token;
      assert.equal((await app.client.get(me, { token })).status, 200);
    });
  });
  describe("stays reserved for seven days", () => {
    it("for its account alone, whatever others try", async () => {
      const one = await replaced();
      const { first: email } = one;
      await verify(one.second);
      const other = await newAccount(app);
      const guest = await enter(app);
      const upgrade = () =>
        app.client.post("/v1/gateway/upgrade", {
          token: guest.access_token,
          body: { email: email.toUpperCase(), password },
        });
      const isFree = async () =>
        (await app.client.post("/v1/users/check", { body: { email } })).body as object;
      assert.equal(await register(email), taken);
      assert.equal((await other.change({ email })).code, "user:email_taken");
      assert.equal((await upgrade()).status, 409);
      assert.deepEqual(await isFree(), { email: { available: false } });
      clock.advance(7 * dayMs - 1);
      assert.equal(await register(email), taken);
      await maintain({ task: "accounts" }, app.deps);
      assert.equal(await register(email), taken);
      clock.advance(1);
      assert.deepEqual(await isFree(), { email: { available: true } });
      assert.equal(await register(email), "201");
    });

    it("and as long as it receives the codes of the account", async () => {
      const one = await replaced();
      clock.advance(8 * dayMs);
      await maintain({ task: "accounts" }, app.deps);
      assert.equal(await register(one.first), taken);
      await forget(one.first);
      assert.equal((await credentialsTo(one.first)).length, 2);
      assert.equal((await one.change(one.first)).status, 200);
      await maintain({ task: "accounts" }, app.deps);
      const em = app.deps.orm.em.fork();
      assert.equal(await em.count(ReplacedAddressSchema, { player: one.id }), 0);
    });

    it("also against a request that waits for the change", async () => {
      const one = await newAccount(app);
      await verify(one.email);
      const { em } = app.deps;
      const { other } = await em.transactional(async (inner) => {
        const account = (await lockAccount(inner, one.id)) ?? assert.fail();
        await keepReplaced(inner, app.deps, account);
        const email = newAddress();
        Object.assign(account, { email, emailKey: email, emailVerifiedAt: null });
        await inner.flush();
        const registered = register(one.email);
        await untilOneWaits(em);
        return { other: registered };
      });
      assert.equal(await other, taken);
    });

    it("unless it was never verified", async () => {
      const one = await newAccount(app);
      await one.change({ email: newAddress() });
      assert.deepEqual(await templatesTo(one.email), ["verify-email", "email-changed"]);
      assert.equal(await register(one.email), "201");
    });
  });
  describe("returns by the link of its mail", () => {
    it("only once its page was answered with yes", async () => {
      const one = await replaced();
      const link = await restoreLink(one.first);
      const { pathname, search } = new URL(link);
      const page = await app.client.get(pathname + search);
      assert.equal(page.status, 200);
      assert.ok(page.text.includes(one.first));
      assert.doesNotMatch(page.text, /<script/);
      assert.match(page.headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/);
      assert.equal(page.headers.get("referrer-policy"), "no-referrer");
      await app.client.head(pathname + search);
      await app.client.get(pathname + search, { headers: { "sec-purpose": "prefetch" } });
      for (const answer of ["no", "", "YES"])
        assert.equal(await press(link, answer), pathname + search);
      assert.deepEqual(await addressOf(one), [one.second, false]);
      const next = await press(link);
      assert.match(next, resets);
      assert.deepEqual(await addressOf(one), [one.first, true]);
      const login = () => post(app, "/v1/gateway/login", { identifier: one.name, password });
      assert.equal((await login()).code, "auth:invalid", "the password is void until it is reset");
      const token = tokenIn(next);
      const body = { token, password: "abcdefg1" };
      assert.equal((await post(app, "/v1/gateway/reset-password", body)).status, 200);
      assert.equal(await press(link), used);
      assert.equal((await app.client.get(pathname + search)).headers.get("location"), used);
      const waiting = tokenIn(await linkIn(one.second, "verify-email"));
      assert.equal((await post(app, "/v1/users/email/verify", { token: waiting })).status, 401);
      assert.equal(await register(one.second), "201");
    });

    it("with later changes, of which each has a link of its own", async () => {
      const [all, last] = [await replaced(), await replaced()];
      const thirds = [newAddress(), newAddress()] as const;
      for (const [n, one] of [all, last].entries()) {
        await verify(one.second);
        assert.equal((await one.change(thirds[n] ?? "")).status, 200);
        await verify(thirds[n] ?? "");
      }
      assert.match(await press(await restoreLink(last.second)), resets);
      assert.deepEqual(await addressOf(last), [last.second, true]);
      assert.match(await press(await restoreLink(last.first)), resets, "the older one stays valid");
      assert.deepEqual(await addressOf(last), [last.first, true]);
      assert.match(await press(await restoreLink(all.first)), resets);
      assert.deepEqual(await addressOf(all), [all.first, true]);
      assert.equal(await press(await restoreLink(all.second)), used);
      assert.deepEqual(await templatesTo(thirds[0]), ["verify-email", "email-changed"]);
      for (const email of [all.second, thirds[0]]) assert.equal(await register(email), "201");
    });

    it("which each further change mails again, before the new address is verified", async () => {
      const one = await replaced();
      const link = await restoreLink(one.first);
      clock.advance(8 * dayMs);
      assert.equal((await one.change(newAddress())).status, 200);
      const mails = (await templatesTo(one.first)).filter((name) => name === "address-replaced");
      assert.equal(mails.length, 2);
      const { content } = await sentMessage(app.deps, one.first, "address-replaced", 1);
      assert.match(await press(content.links[0] ?? ""), resets);
      assert.equal(await press(link), used);
      assert.deepEqual(await addressOf(one), [one.first, true]);
    });

    it("for seven days, and not while the account is closed", async () => {
      const [late, closed] = [await replaced(), await replaced()];
      for (const one of [late, closed]) await verify(one.second);
      const token = closed.session.access_token;
      assert.equal((await app.client.delete(me, { token })).status, 200);
      const link = await restoreLink(closed.first);
      assert.equal(await press(link), used);
      assert.ok(await reopenAccount(app.deps.em, closed.id));
      clock.advance(7 * dayMs - 1_000);
      assert.match(await press(link), resets);
      clock.advance(1_000);
      assert.equal(await press(await restoreLink(late.first)), used);
      assert.deepEqual(await addressOf(late), [late.second, true]);
    });

    it("once, however many answer, and before or after a verification", async () => {
      const one = await replaced();
      const link = await restoreLink(one.first);
      const next = await Promise.all(Array.from({ length: 6 }, () => press(link)));
      assert.equal(next.filter((each) => resets.test(each)).length, 1);
      assert.equal(next.filter((each) => each === used).length, 5);
      const races = await Promise.all(Array.from({ length: 4 }, replaced));
      await Promise.all(
        races.map(async (each) => {
          const token = tokenIn(await linkIn(each.second, "verify-email"));
          const restore = await restoreLink(each.first);
          const [verified, went] = await Promise.all([
            post(app, "/v1/users/email/verify", { token }),
            press(restore),
          ]);
          assert.ok([200, 401].includes(verified.status));
          assert.match(went, resets);
          assert.deepEqual(await addressOf(each), [each.first, true]);
        }),
      );
    });

    it("not with a token of another purpose, or of another account", async () => {
      const one = await replaced();
      const { tokens } = app.deps;
      const jti = tokens.verify(
        "address_restore",
        tokenIn(await restoreLink(one.first)) ?? "",
      )?.jti;
      assert.ok(jti);
      for (const token of [
        "",
        "x",
        tokens.sign("email_verify", String(one.id), 60, { jti, email: one.first }),
        tokens.sign("address_restore", String(one.id + 1), 60, { jti, email: one.first }),
      ])
        assert.equal(await press(`http://x/restore-address?token=${token}`), used);
      assert.deepEqual(await addressOf(one), [one.second, false]);
    });
  });
  describe("is one of few", bounds);
});

function bounds(): void {
  it("in seven days, which bounds the links of an account", async () => {
    const one = await replaced();
    let last = one.second;
    for (let n = 1; n < maxReplaced; n++) {
      await verify(last);
      last = newAddress();
      assert.equal((await one.change(last)).status, 200);
      clock.advance(1_000);
    }
    await verify(last);
    const refused = await one.change(newAddress());
    assert.equal(refused.status, 429);
    assert.equal(refused.headers.get("retry-after"), String(7 * 86_400 - (maxReplaced - 1)));
    assert.deepEqual(await addressOf(one), [last, true]);
    clock.advance(7 * dayMs);
    assert.equal((await one.change(newAddress())).status, 200);
  });

  it("that are deleted with the account", async () => {
    const one = await replaced();
    const token = one.session.access_token;
    await app.client.delete(me, { token });
    const em = app.deps.orm.em.fork();
    const now = new Date(clock.now() + dayMs);
    await purgeAccounts(em, { before: now, now, limit: 100 });
    assert.equal(await em.count(ReplacedAddressSchema, { player: one.id }), 0);
    assert.equal(await register(one.first), "201");
  });
}
