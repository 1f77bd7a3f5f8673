import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { RealmBrandingSchema } from "../../../../db/entities/realm-branding.ts";
import { RealmSchema } from "../../../../db/entities/realm.ts";
import { readRealmOrigins, resolveRealm } from "../../../../server/features/realms/service.ts";
import { startApp, type App } from "../../../support/app.ts";

describe("realms", () => {
  let app: App;
  before(async () => {
    app = await startApp();
    const em = app.deps.orm.em.fork();
    const add = (slug: string, isActive: boolean, frontendUrl: string) => {
      const realm = em.create(RealmSchema, { slug, name: slug, isActive, createdAt: new Date() });
      em.create(RealmBrandingSchema, { realm, displayName: `The ${slug}`, frontendUrl });
    };
    add("arcade", true, "https://arcade.example/play");
    add("closed", false, "https://closed.example");
    await em.flush();
  });
  after(() => app.stop());

  const code = (json: unknown) =>
    (json as { flash: { errors: { code: string }[] } }).flash.errors[0]?.code;

  it("GET /v1/realms/{slug} returns the realm, active or not", async () => {
    const { body } = await app.client.get("/v1/realms/default");
    assert.deepEqual(body, {
      realm: { slug: "default", name: "Default", mode: "hosted", is_active: true },
    });
    const closed = await app.client.get("/v1/realms/closed");
    assert.equal((closed.body as { realm: { is_active: boolean } }).realm.is_active, false);
  });

  it("GET /v1/realms/{slug} returns 404 for an unknown realm", async () => {
    for (const slug of ["nowhere", "-", "DEFAULT", "a%00b", "%F0%9F%98%80", "x".repeat(500)]) {
      const { status, json } = await app.client.get(`/v1/realms/${slug}`);
      assert.deepEqual([status, code(json)], [404, "realm:not_found"]);
    }
  });

  it("GET /v1/realms/{slug}/branding returns every field, null where nothing is set", async () => {
    const { body } = await app.client.get("/v1/realms/arcade/branding");
    assert.deepEqual(body, {
      branding: {
        display_name: "The arcade",
        logo_url: null,
        primary_color: null,
        privacy_url: null,
        terms_url: null,
        support_email: null,
        frontend_url: "https://arcade.example/play",
      },
    });
  });

  it("GET /v1/realms/{slug}/branding distinguishes a missing branding from a missing realm", async () => {
    const missing = await app.client.get("/v1/realms/default/branding");
    assert.deepEqual([missing.status, code(missing.json)], [404, "realm:branding_missing"]);
    const unknown = await app.client.get("/v1/realms/nowhere/branding");
    assert.deepEqual([unknown.status, code(unknown.json)], [404, "realm:not_found"]);
  });

  it("are resolved by name, then by the origin of their pages, and otherwise to the default one", async () => {
    const resolve = (named?: string, origin?: string) => resolveRealm(app.deps, { named, origin });
    const origin = "https://arcade.example";
    assert.equal(await resolve("arcade"), "arcade");
    assert.equal(await resolve("gamedata", origin), "gamedata");
    assert.equal(await resolve(undefined, origin), "arcade");
    assert.equal(await resolve("nowhere", origin), "arcade");
    for (const other of [
      "http://arcade.example",
      "https://arcade.example:444",
      "null",
      "x",
      "https://closed.example",
    ])
      assert.equal(await resolve(undefined, other), "default");
    assert.equal(await resolve("closed"), "default");
    assert.equal(await resolve(), "default");
  });

  it("allow the origins of active realms", async () => {
    assert.deepEqual([...(await readRealmOrigins(app.deps))], ["https://arcade.example"]);
  });
});
