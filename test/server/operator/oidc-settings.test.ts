import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { nameOf, roleValueOf } from "../../../server/operator/session/oidc-person.ts";
import { createOidcSignIn } from "../../../server/operator/session/oidc.ts";
import { sessionRoutes } from "../../../server/operator/session/routes.ts";
import { ConfigError, parseConfig } from "../../../server/platform/config/config.ts";
import { readOperatorOidc } from "../../../server/platform/config/operator-oidc.ts";
import { silentLogger } from "../../../server/platform/log/logger.ts";
import { operatorUrl } from "../../../server/platform/net/addresses.ts";
import { systemClock } from "../../../server/platform/time/clock.ts";
import { startOperatorPart } from "../../support/operator.ts";

const full = {
  OPERATOR_OIDC_ISSUER: "https://id.example/staff",
  OPERATOR_OIDC_CLIENT_ID: "games",
  OPERATOR_OIDC_ROLES: "a=viewer,b=admin,ada@example.com=operator",
};

const problemsOf = (env: Record<string, string>): string[] => {
  try {
    parseConfig(env);
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigError);
    return error.problems.filter((problem) => problem.startsWith("OPERATOR_"));
  }
};

describe("the settings of the sign-in at an OpenID provider", () => {
  it("are complete or absent", () => {
    assert.deepEqual(problemsOf(full), []);
    assert.deepEqual(problemsOf({ OPERATOR_OIDC_ISSUER: full.OPERATOR_OIDC_ISSUER }), [
      "OPERATOR_OIDC_CLIENT_ID: required by OPERATOR_OIDC_ISSUER",
      "OPERATOR_OIDC_ROLES: required by OPERATOR_OIDC_ISSUER",
    ]);
    assert.deepEqual(problemsOf({ OPERATOR_OIDC_ROLES: "a=viewer" }), [
      "OPERATOR_OIDC_ROLES: needs OPERATOR_OIDC_ISSUER",
    ]);
    assert.match(
      problemsOf({ ...full, OPERATOR_OIDC_ROLES: "a=root" })[0] ?? "",
      /^OPERATOR_OIDC_ROLES: must be/,
    );
    assert.match(
      problemsOf({ OPERATOR_URL: "https://ops.example/x" })[0] ?? "",
      /^OPERATOR_URL: must be/,
    );
  });

  it("take plain http on this machine only, and in production none", () => {
    const local = { ...full, OPERATOR_OIDC_ISSUER: "http://127.0.0.1:4444" };
    const problem = "OPERATOR_OIDC_ISSUER: not an https address";
    assert.deepEqual(problemsOf(local), []);
    assert.deepEqual(problemsOf({ ...full, OPERATOR_OIDC_ISSUER: "http://id.example" }), [problem]);
    assert.deepEqual(problemsOf({ ...local, APP_ENV: "production" }), [problem]);
    const plain = { ...full, OPERATOR_URL: "http://ops.example", APP_ENV: "production" };
    assert.deepEqual(problemsOf(plain), ["OPERATOR_URL: must be https in production"]);
    assert.deepEqual(problemsOf({ ...plain, OPERATOR_URL: "http://127.0.0.1:9090" }), []);
  });

  it("take a secret only with what it is for", () => {
    assert.deepEqual(problemsOf({ OPERATOR_OIDC_CLIENT_SECRET: "x" }), [
      "OPERATOR_OIDC_CLIENT_SECRET: needs OPERATOR_OIDC_ISSUER",
    ]);
    assert.deepEqual(problemsOf({ OPERATOR_WEBHOOK_SECRET: "x" }), [
      "OPERATOR_WEBHOOK_SECRET: needs OPERATOR_WEBHOOK_URL",
    ]);
  });

  it("name the address of the listener, by default the one it listens on", () => {
    const of = (env: Record<string, string>) => operatorUrl(parseConfig(env));
    assert.equal(of({}), "http://127.0.0.1:9090");
    assert.equal(of({ OPERATOR_LISTEN: "0.0.0.0:81" }), "http://127.0.0.1:81");
    assert.equal(of({ OPERATOR_LISTEN: "[::1]:81" }), "http://[::1]:81");
    assert.equal(of({ OPERATOR_URL: "https://ops.example/" }), "https://ops.example");
  });

  it("leave the login page without a button, and the addresses absent", async () => {
    assert.equal(
      createOidcSignIn({ config: parseConfig({}), clock: systemClock, log: silentLogger }),
      null,
    );
    const part = await startOperatorPart<object>({ routes: [...sessionRoutes], deps: {} });
    const open = (path: string) => fetch(part.url + path, { redirect: "manual" });
    assert.doesNotMatch(await (await open("/operator/login")).text(), /Sign in with/);
    for (const path of ["/operator/login/oidc", "/operator/login/oidc/callback?code=1&state=2"])
      assert.equal((await open(path)).status, 404, path);
    await part.stop();
  });
});

describe("the role of claims", () => {
  const oidc = readOperatorOidc(parseConfig(full)) ?? assert.fail();
  const byMail = { ...oidc, claim: "email" };

  it("is the highest one of a text or a list", () => {
    assert.equal(roleValueOf(oidc, { groups: "a" }), "a");
    assert.equal(roleValueOf(oidc, { groups: ["a", "b", 7, null, "a"] }), "b");
    for (const groups of [undefined, null, 7, {}, [], ["B"], "constructor", [["b"]]])
      assert.equal(roleValueOf(oidc, { groups }), null);
    const late = [...Array<string>(1_000).fill("x"), "b"];
    assert.equal(roleValueOf(oidc, { groups: late }), null, "a bounded number is compared");
    assert.equal(roleValueOf(oidc, { groups: late.slice(1) }), "b");
  });

  it("comes from an address only if it is verified", () => {
    const email = "ada@example.com";
    assert.equal(roleValueOf(byMail, { email, email_verified: true }), email);
    for (const email_verified of [undefined, false, "true"])
      assert.equal(roleValueOf(byMail, { email, email_verified }), null);
  });

  it("goes with a name that fits the audit log and is no token's", () => {
    const email = "ada@example.com";
    assert.equal(nameOf({ sub: "7", email, email_verified: true }), email);
    assert.equal(nameOf({ sub: "bootstrap", email }), "oidc:bootstrap");
    const long = `${"a".repeat(60)}@example.com`;
    assert.equal(nameOf({ sub: "7", email: long, email_verified: true }), "oidc:7");
    assert.equal(nameOf({ sub: "7".repeat(59) })?.length, 64);
    for (const sub of ["7".repeat(60), "a\nb", 7, undefined]) assert.equal(nameOf({ sub }), null);
  });
});
