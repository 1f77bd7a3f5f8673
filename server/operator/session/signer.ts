import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";

/** Signs texts that a browser keeps, for one purpose (S5). */
export interface Signer {
  /** The text and its signature. */
  sign(text: string): string;
  /** The text, or null if it was not signed for this purpose. */
  open(signed: string): string | null;
}

export function createSigner(secret: string, purpose: string): Signer {
  const key = Buffer.from(hkdfSync("sha256", secret, "", purpose, 32));
  const signatureOf = (text: string) => createHmac("sha256", key).update(text).digest("base64url");
  return {
    sign: (text) => `${text}.${signatureOf(text)}`,
    open: (signed) => {
      const at = signed.lastIndexOf(".");
      const text = signed.slice(0, Math.max(0, at));
      return isEqual(signed.slice(at + 1), signatureOf(text)) ? text : null;
    },
  };
}

export function isEqual(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
