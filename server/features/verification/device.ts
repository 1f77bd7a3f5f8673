import { hash, timingSafeEqual } from "node:crypto";
import { stringifySetCookie } from "cookie";
import { randomId } from "../../platform/ids.ts";
import type { Headers, RequestInfo } from "../../http/pipeline/route.ts";

const deviceCookie = "svc_device";
/** Path of the link in a verification mail, and of the cookie. */
export const verifyPagePath = "/v1/gateway/verify";
const daySeconds = 86_400;
/** Longer than the lifetime of any link in an account's first mails. */
const maxAge = 30 * daySeconds;

/** Identifies the browser in which an address is entered, when the link of the mail is opened there. */
export interface NewDevice {
  /** Stored form. */
  deviceHash: string;
  headers: Headers;
}

/** SameSite=None: the link comes from a mail program, and pages of other sites register too. */
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

/** Stored origin of an unverified address, until it is verified. */
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
