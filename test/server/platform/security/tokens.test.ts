import assert from "node:assert/strict";
import { createHmac, hkdfSync } from "node:crypto";
import { describe, it } from "node:test";
import jwt from "jsonwebtoken";
import { parseConfig } from "../../../../server/platform/config/config.ts";
import { createTokenService, type TokenType } from "../../../../server/platform/security/tokens.ts";
import { manualClock } from "../../../support/clock.ts";
import { fc } from "../../../support/seed.ts";

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
  "address_restore",
  "reclaim",
  "hub",
  "lobby",
];

describe("a token", () => {
  describe("is valid for its time and purpose", () => {
    it("is accepted for its own purpose and refused for every other", () => {
      const tokens = service();
      for (const made of types) {
        const token = tokens.sign(made, "7", 60);
        for (const asked of types)
          assert.equal(tokens.verify(asked, token)?.sub ?? null, made === asked ? "7" : null);
      }
    });

    it("carries its claims, which cannot override the subject and the purpose", () => {
      const tokens = service();
      const token = tokens.sign("hub", "7", 60, {
        sub: "8",
        aud: "access",
        lobby: "ABC",
        exp: 9e9,
      });
      const claims = tokens.verify("hub", token);
      assert.equal(claims?.sub, "7");
      assert.equal(claims.lobby, "ABC");
      assert.equal(claims.exp - claims.iat, 60);
      assert.match(claims.jti, /^[\w-]{22}$/);
    });

    it("has the same claims in the process that signed it as in another", () => {
      const [signer, other] = [service(), service()];
      for (const type of types) {
        const claims = { roles: ["ROLE_GUEST"], realm: "r", lobby: "ABCDEF", lobby_player: 3 };
        const token = signer.sign(type, "7", 60, claims);
        claims.roles.push("ROLE_REGISTERED");
        const own = signer.verify(type, token);
        assert.deepEqual(own, other.verify(type, token), type);
        assert.ok(Object.isFrozen(own));
      }
    });

    it("is refused in the process that signed it if it is refused in another", () => {
      const [signer, other] = [service(), service()];
      for (const type of types) {
        const token = signer.sign(type, "7", 1.5);
        assert.deepEqual(
          [signer.verify(type, token), other.verify(type, token)],
          [null, null],
          type,
        );
      }
    });

    it("expires at its exact second, also when it was verified before", () => {
      const clock = manualClock(1_000_000_000_000);
      const tokens = service(clock);
      const token = tokens.sign("access", "7", 60);
      assert.ok(tokens.verify("access", token));
      clock.advance(59_999);
      assert.ok(tokens.verify("access", token));
      clock.advance(1);
      assert.equal(tokens.verify("access", token), null);
    });

    it("is accepted however far ahead the clock of the signer is, or was set back since", () => {
      const clock = manualClock(1_000_000_000_000);
      const tokens = service(clock);
      for (const type of types) {
        for (const ahead of [6_000, 3_600_000, 86_400_000 * 400]) {
          const other = service(manualClock(clock.now() + ahead));
          assert.ok(tokens.verify(type, other.sign(type, "7", 60)), `${type} ${ahead}`);
        }
        const [old, seen] = [tokens.sign(type, "7", 7_200), tokens.sign(type, "7", 7_200)];
        assert.ok(tokens.verify(type, seen));
        clock.advance(-3_600_000);
        for (const token of [old, seen]) assert.ok(tokens.verify(type, token), type);
        clock.advance(3_600_000);
      }
    });

    it("is refused once any clock says that it has expired, and valid again only for as long as that clock was set back", () => {
      const clock = manualClock(1_000_000_000_000);
      const tokens = service(clock);
      for (const type of types) {
        const token = tokens.sign(type, "7", 60);
        clock.advance(60_000);
        assert.equal(tokens.verify(type, token), null, type);
        clock.advance(-10_000);
        assert.ok(tokens.verify(type, token), type);
        clock.advance(10_000);
        assert.equal(tokens.verify(type, token), null, type);
      }
    });

    it("stays valid after a change of the secret while the previous secret is configured", () => {
      const token = service(manualClock(), { APP_SECRET: oldSecret }).sign("access", "7", 60);
      assert.equal(service().verify("access", token), null);
      assert.ok(service(manualClock(), { APP_SECRET_PREVIOUS: oldSecret }).verify("access", token));
    });
  });
  describe("is refused", () => {
    it("from another issuer is refused", () => {
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

    it("is refused with another type, or with any header member that the service does not write", () => {
      const tokens = service();
      const [head = ""] = tokens.sign("access", "7", 60).split(".");
      const header: object = JSON.parse(Buffer.from(head, "base64url").toString());
      assert.deepEqual(Object.keys(header), ["alg", "typ", "kid"]);
      for (const type of types) {
        const [, body = ""] = tokens.sign(type, "7", 60).split(".");
        assert.ok(tokens.verify(type, signed(type, JSON.stringify(header), body)), type);
        for (const other of [
          { crit: ["exp"] },
          { crit: [] },
          { crit: ["b64"], b64: false },
          { b64: true },
          { typ: "at+jwt" },
          { typ: "jwt" },
          { typ: undefined },
          { typ: ["JWT"] },
          { kid: undefined },
          { cty: "JWT" },
          { zip: "DEF" },
          { jku: "https://elsewhere.example/keys" },
          { jwk: { kty: "oct", k: "AAAA" } },
        ]) {
          const text = JSON.stringify({ ...header, ...other });
          assert.equal(tokens.verify(type, signed(type, text, body)), null, `${type} ${text}`);
        }
      }
    });

    it("is refused when its header or its claims contain a name twice", () => {
      const tokens = service();
      const [head = "", body = ""] = tokens.sign("access", "7", 60).split(".");
      const [header, claims] = [head, body].map((part) =>
        Buffer.from(part, "base64url").toString(),
      ) as [string, string];
      const base64 = (text: string) => Buffer.from(text).toString("base64url");
      const twice = (text: string, member: string) => text.replace("{", `{${member},`);
      assert.ok(tokens.verify("access", signed("access", header, base64(claims))));
      for (const member of ['"alg":"none"', '"typ":"JWT"', '"kid":"x"'])
        assert.equal(tokens.verify("access", signed("access", twice(header, member), body)), null);
      for (const member of ['"sub":"8"', '"exp":1', '"aud":"refresh"', '"\\u0073ub":"8"']) {
        const text = base64(twice(claims, member));
        assert.equal(tokens.verify("access", signed("access", header, text)), null, member);
      }
    });

    it("is refused when its expiry is not a whole number in the future, or it is not valid yet", () => {
      const clock = manualClock(1_000_000_000_000);
      const tokens = service(clock);
      const [head = "", body = ""] = tokens.sign("access", "7", 60).split(".");
      const header = Buffer.from(head, "base64url").toString();
      const claims: object = JSON.parse(Buffer.from(body, "base64url").toString());
      const verify = (change: object) => {
        const text = Buffer.from(JSON.stringify({ ...claims, ...change })).toString("base64url");
        return tokens.verify("access", signed("access", header, text));
      };
      assert.ok(verify({}));
      assert.ok(verify({ iat: 9_000_000_000 }));
      for (const exp of [undefined, null, "9000000000", 9e9 + 0.5, -9e9, 0, 1e300, true, [9e9], {}])
        assert.equal(verify({ exp }), null, String(exp));
      for (const nbf of [9e9, 1e300, "1"]) assert.equal(verify({ nbf }), null, String(nbf));
      assert.equal(verify({ aud: ["access"] }), null);
    });

    it("is refused when any character is changed, and so is any other text", () => {
      const tokens = service();
      const token = tokens.sign("access", "7", 60, { name: "x" });
      const last = token.length - 1;
      fc.assert(
        // The last base64url character contains unused bits, so a different one may decode to the same bytes.
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
});

/** A token signed with the service's own key, with any content. */
function signed(type: TokenType, header: string, body: string): string {
  const text = `${Buffer.from(header).toString("base64url")}.${body}`;
  const key = Buffer.from(hkdfSync("sha256", newSecret, "", type, 32));
  return `${text}.${createHmac("sha256", key).update(text).digest("base64url")}`;
}
