import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { RealmBrandingSchema } from "../../../../../db/entities/realm-branding.ts";
import { RealmSchema } from "../../../../../db/entities/realm.ts";
import { startApp, type App } from "../../../../support/app.ts";
import { password, post, uniqueName } from "../../../../support/identity.ts";
import { followLink } from "../../../../support/link-page.ts";
import { sentMessage } from "../../../../support/messages.ts";

describe("the branding of a mail", () => {
  let app: App;

  interface Branding {
    displayName?: string;
    logoUrl?: string;
    primaryColor?: string;
    supportEmail?: string;
    privacyUrl?: string;
  }

  async function brandRealm(slug: string, branding: Branding, isActive = true): Promise<void> {
    const { em } = app.deps;
    const known = await em.findOne(RealmSchema, { slug });
    const id =
      known?.id ?? (await em.insert(RealmSchema, { slug, name: `Name of ${slug}`, isActive }));
    await em.upsert(RealmBrandingSchema, { realm: id, ...branding });
  }
  async function mailOfNewPlayer(realm: string) {
    const username = uniqueName();
    const email = `${username}@example.com`;
    const answer = await post(
      app,
      "/v1/users",
      { email, username, password },
      { "x-realm": realm },
    );
    assert.equal(answer.status, 201);
    return (await sentMessage(app.deps, email, "verify-email")).content;
  }

  before(async () => {
    app = await startApp({ env: { MAIL_FROM: "Our Own <a@example.com>" } });
  });
  after(() => app.stop());

  it("is the default one while no realm has any", async () => {
    const { html, text } = await mailOfNewPlayer("default");
    assert.match(text, /your Our Own account/);
    assert.match(html ?? "", /background:#b4430f;color:#ffffff/);
    assert.doesNotMatch(html ?? "", /<img/);
  });

  it("has name, colour, logo and addresses of the reader's realm", async () => {
    await brandRealm("bright", {
      displayName: "Bright <Game>",
      logoUrl: "https://bright.example/logo.png?a=1&b=2",
      primaryColor: "#FFEE00",
      supportEmail: "help@bright.example",
      privacyUrl: "https://bright.example/privacy",
    });
    const { html, text } = await mailOfNewPlayer("bright");
    assert.match(text, /your Bright <Game> account/);
    assert.match(text, /Help: help@bright\.example\nPrivacy: https:\/\/bright\.example\/privacy$/);
    assert.match(html ?? "", /your Bright &#60;Game&#62; account/);
    assert.match(html ?? "", /src="https:\/\/bright\.example\/logo\.png\?a=1&#38;b=2"/);
    // Black on yellow: white could not be read.
    assert.match(html ?? "", /background:#ffee00;color:#000000/);
    assert.match(html ?? "", /href="mailto:help@bright\.example"/);
  });

  it("is that of the reader's realm when another realm requests a code or a new password", async () => {
    const username = uniqueName();
    const email = `${username}@example.com`;
    await post(app, "/v1/users", { email, username, password }, { "x-realm": "bright" });
    await post(app, "/v1/gateway/reset-password/request", { email }, { "x-realm": "default" });
    const { text } = (await sentMessage(app.deps, email, "reset-password")).content;
    assert.match(text, /your Bright <Game> account/);
  });

  it("applies to the mailing list, from the confirmation to the welcome", async () => {
    const email = `${uniqueName()}@example.com`;
    await post(app, "/v1/subscribe", { email }, { "x-realm": "bright" });
    const { content } = await sentMessage(app.deps, email, "subscribe-verify");
    assert.match(content.text, /news from Bright <Game>/);
    assert.match(content.html ?? "", />Unsubscribe<\/a> · /);
    await followLink(app, content.links[0] ?? "");
    const welcome = await sentMessage(app.deps, email, "subscribe-welcome");
    assert.match(welcome.content.text, /news from Bright <Game>/);
  });

  it("is that of the default realm when the reader's realm has none", async () => {
    await brandRealm("default", { primaryColor: "#112233" });
    await app.deps.em.insert(RealmSchema, { slug: "plain", name: "Plain" });
    const { html, text } = await mailOfNewPlayer("plain");
    assert.match(text, /your Our Own account/);
    assert.match(html ?? "", /background:#112233;color:#ffffff/);
  });

  it("omits invalid URLs and colours, even if they are in the table", async () => {
    await brandRealm("odd", { logoUrl: "javascript:alert(1)", primaryColor: "red;x:1" });
    const { html } = await mailOfNewPlayer("odd");
    assert.doesNotMatch(html ?? "", /javascript|red;|<img/);
    assert.match(html ?? "", /Name of odd/);
  });

  it("is that of the default realm after the reader's realm is closed", async () => {
    const username = uniqueName();
    const email = `${username}@example.com`;
    await post(app, "/v1/users", { email, username, password }, { "x-realm": "bright" });
    await sentMessage(app.deps, email, "verify-email");
    await app.deps.em.nativeUpdate(RealmSchema, { slug: "bright" }, { isActive: false });
    await post(app, "/v1/gateway/reset-password/request", { email });
    const { text } = (await sentMessage(app.deps, email, "reset-password")).content;
    assert.doesNotMatch(text, /Bright/);
  });
});
