import { hash, timingSafeEqual } from "node:crypto";
import { stringifySetCookie } from "cookie";
import { randomId } from "../../platform/ids.ts";
import type { Headers, RequestInfo } from "../../http/pipeline/route.ts";

const deviceCookie = "svc_device";
/** Where the link of a verification mail leads; the cookie is for it alone. */
export const verifyPagePath = "/v1/gateway/verify";
const daySeconds = 86_400;
/** Longer than any link is good that an account's first mails carry. */
const maxAge = 30 * daySeconds;

/** The browser an address is entered in: it is known again when the link of the mail is opened there. */
export interface NewDevice {
  /** As it is stored. */
  deviceHash: string;
  headers: Headers;
}

/** Not strict, for the link comes from a mail program; none, for pages of another site register too. */
export function newDevice(): NewDevice {
  const value = randomId();
  const cookie = stringifySetCookie({
    name: deviceCookie,
    value,
    maxAge,
    path: verifyPagePath,
    httpOnly: true,
    secure: true,
    sameSite: "none",
  });
  return { deviceHash: hash("sha256", value), headers: [["Set-Cookie", cookie]] };
}

export function isDevice(
  { cookies }: Pick<RequestInfo, "cookies">,
  deviceHash: string | null,
): boolean {
  const value = cookies[deviceCookie];
  if (value === undefined || deviceHash === null) return false;
  const [given, known] = [Buffer.from(hash("sha256", value)), Buffer.from(deviceHash)];
  return given.length === known.length && timingSafeEqual(given, known);
}

/** What is kept of who entered an address, until somebody proves it. */
export function addressOrigin(
  { ip, userAgent }: { ip?: string | undefined; userAgent: string | null },
  { now, deviceHash }: { now: Date; deviceHash: string | null },
) {
  return {
    addressSetAt: now,
    addressIp: ip?.slice(0, 45) ?? null,
    addressAgent: userAgent,
    addressDevice: deviceHash,
  };
}
