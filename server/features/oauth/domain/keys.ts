import { createECDH, createHash, hkdfSync } from "node:crypto";
import type { Config } from "../../../platform/config/config.ts";

type Secrets = Pick<Config, "APP_SECRET" | "APP_SECRET_PREVIOUS">;

/** Order of the group of P-256. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const coordinateBytes = 32;

export interface SigningKey {
  kty: "EC";
  crv: "P-256";
  alg: "ES256";
  use: "sig";
  kid: string;
  x: string;
  y: string;
  d: string;
}

/**
 * Signing keys of id tokens, the present one first. They are derived from APP_SECRET as every other token key
 * (TOK-01), so they are equal in each process and after each start. The key of the previous secret stays published
 * while that secret is configured.
 */
export function signingKeys(secrets: Secrets): SigningKey[] {
  return known(secrets).map(signingKeyOf);
}

/** Keys of the library's signed cookies, the present one first. */
export function cookieKeys(secrets: Secrets): string[] {
  return known(secrets).map((secret) => derive(secret, "oauth-cookies", 32).toString("base64url"));
}

const known = ({ APP_SECRET, APP_SECRET_PREVIOUS }: Secrets): string[] =>
  [APP_SECRET, APP_SECRET_PREVIOUS].filter((secret) => secret !== "");

const derive = (secret: string, info: string, length: number): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, "", info, length));

function signingKeyOf(secret: string): SigningKey {
  // Sixteen bytes more than the order, so that the remainder is practically uniform.
  const wide = BigInt(`0x${derive(secret, "oauth-signing", coordinateBytes + 16).toString("hex")}`);
  const scalar = (wide % (order - 1n)) + 1n;
  const d = Buffer.from(scalar.toString(16).padStart(coordinateBytes * 2, "0"), "hex");
  const pair = createECDH("prime256v1");
  pair.setPrivateKey(d);
  const point = pair.getPublicKey();
  const x = point.subarray(1, 1 + coordinateBytes).toString("base64url");
  const y = point.subarray(1 + coordinateBytes).toString("base64url");
  const kid = createHash("sha256").update(`${x}.${y}`).digest("base64url").slice(0, 16);
  const fixed = { kty: "EC", crv: "P-256", alg: "ES256", use: "sig" } as const;
  return { ...fixed, kid, x, y, d: d.toString("base64url") };
}
