import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import jwt from "jsonwebtoken";
import { parseConfig } from "../../../server/core/config.ts";
import { createTokenService, type TokenType } from "../../../server/core/tokens.ts";
import { manualClock } from "../../support/clock.ts";

const oldSecret = "a".repeat(40);
const newSecret = "b".repeat(40);
const service = (clock = manualClock(), env: Record<string, string> = {}) =>
  createTokenService(parseConfig({ APP_SECRET: newSecret, ...env }), clock);
const types: TokenType[] = [
  "access",
  "refresh",
  "passport",
  "password_reset",
  "email_verify",
  "reclaim",
  "hub",
  "lobby",
];

describe("a token", () => {
  it("is accepted for its own purpose and refused for every other", () => {
    const tokens = service();
    for (const made of types) {
      const token = tokens.sign(made, "7", 60);
      for (const asked of types)
        assert.equal(tokens.verify(asked, token)?.sub ?? null, made === asked ? "7" : null);
    }
  });

  it("carries its claims, which cannot override whom and what it is for", () => {
    const tokens = service();
    const token = tokens.sign("hub", "7", 60, { sub: "8", aud: "access", lobby: "ABC", exp: 9e9 });
    const claims = tokens.verify("hub", token);
    assert.equal(claims?.sub, "7");
    assert.equal(claims.lobby, "ABC");
    assert.equal(claims.exp - claims.iat, 60);
    assert.match(claims.jti, /^[\w-]{22}$/);
  });

  it("ends at the second it says, also when it was verified before", () => {
    const clock = manualClock(1_000_000_000_000);
    const tokens = service(clock);
    const token = tokens.sign("access", "7", 60);
    assert.ok(tokens.verify("access", token));
    clock.advance(59_999);
    assert.ok(tokens.verify("access", token));
    clock.advance(1);
    assert.equal(tokens.verify("access", token), null);
  });

  it("may come from a clock that is five seconds ahead, not more", () => {
    const ahead = (ms: number) => service(manualClock(1_000_000_000_000 + ms));
    const tokens = service(manualClock(1_000_000_000_000));
    assert.ok(tokens.verify("access", ahead(5_000).sign("access", "7", 60)));
    assert.equal(tokens.verify("access", ahead(6_000).sign("access", "7", 60)), null);
  });

  it("outlives a change of the secret as long as the previous one is named", () => {
    const token = service(manualClock(), { APP_SECRET: oldSecret }).sign("access", "7", 60);
    assert.equal(service().verify("access", token), null);
    assert.ok(service(manualClock(), { APP_SECRET_PREVIOUS: oldSecret }).verify("access", token));
  });

  it("of another issuer is refused", () => {
    const token = service(manualClock(), { TOKEN_ISSUER: "elsewhere" }).sign("access", "7", 60);
    assert.equal(service().verify("access", token), null);
  });

  it("that names another algorithm or none is refused", () => {
    const tokens = service();
    const [head = "", body = ""] = tokens.sign("access", "7", 60).split(".");
    const { kid } = JSON.parse(Buffer.from(head, "base64url").toString());
    const header = (alg: string) =>
      Buffer.from(JSON.stringify({ alg, typ: "JWT", kid })).toString("base64url");
    assert.equal(tokens.verify("access", `${header("none")}.${body}.`), null);
    for (const algorithm of ["HS384", "HS512"] as const) {
      const payload = JSON.parse(Buffer.from(body, "base64url").toString());
      const forged = jwt.sign(payload, newSecret, { algorithm, keyid: kid });
      assert.equal(tokens.verify("access", forged), null);
    }
    assert.equal(tokens.verify("access", `${head}.${body}.`), null);
  });

  it("is refused when any character is changed, and so is any other text", () => {
    const tokens = service();
    const token = tokens.sign("access", "7", 60, { name: "x" });
    const last = token.length - 1;
    fc.assert(
      // The last character holds bits that base64url leaves unused, so another one may read the same.
      fc.property(
        fc.integer({ min: 0, max: last - 1 }),
        fc.constantFrom("A", "z", "-", "."),
        (at, to) => {
          fc.pre(token[at] !== to);
          assert.equal(
            tokens.verify("access", token.slice(0, at) + to + token.slice(at + 1)),
            null,
          );
        },
      ),
    );
    fc.assert(fc.property(fc.string(), (text) => tokens.verify("access", text) === null));
    assert.equal(tokens.verify("access", token + "=".repeat(4_096)), null);
  });
});
