import { domainToASCII } from "node:url";
import Format from "typebox/format";

const label = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const entryForm = new RegExp(`^(\\*\\.)?(${label}(?:\\.${label})*)(?::([1-9]\\d{0,4}))?$`);
const maxEntry = 270;
const maxHost = 253;
const usualPorts: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

/**
 * One entry of a key's allow-list in its stored spelling: a host, with or without a port, or
 * `*.` before at least two labels (KEY-05). Null for anything else.
 */
export function normalizeKeyOrigin(text: string): string | null {
  if (text.length > maxEntry) return null;
  const plain = text.trim().toLowerCase();
  const ascii = isAscii(plain) ? plain : inAscii(plain);
  const match = entryForm.exec(ascii);
  if (!match) return null;
  const [, wildcard, host = "", port] = match;
  if (host.length > maxHost || (port !== undefined && Number(port) > 65_535)) return null;
  return wildcard !== undefined && !host.includes(".") ? null : ascii;
}

// oxlint-disable-next-line no-control-regex -- matches all of ASCII
const isAscii = (text: string) => /^[\u0000-\u007f]*$/.test(text);

/** Only the host is converted; the wildcard and the port are not part of a name. */
function inAscii(text: string): string {
  const [, wildcard = "", host = "", port = ""] = /^(\*\.)?([^:]*)(:.*)?$/.exec(text) ?? [];
  return wildcard + domainToASCII(host) + port;
}

const originForm = /^https?:\/\/[^\s/\\@?#]+$/i;

/** True when a page of this `Origin` may present a key with these entries; no entries allow any origin. */
export function isOriginCovered(entries: readonly string[], origin: string | undefined): boolean {
  if (entries.length === 0) return true;
  // The URL parser accepts more than a browser sends: an origin has no user and no path.
  if (origin === undefined || !originForm.test(origin) || !URL.canParse(origin)) return false;
  const { hostname, port, protocol } = new URL(origin);
  if (hostname.split(".").includes("")) return false;
  const usual = usualPorts[protocol];
  // An origin of another scheme than http or https has no host to compare.
  if (usual === undefined) return false;
  return entries.some((entry) => covers(entry, hostname, port || usual));
}

function covers(entry: string, host: string, port: string): boolean {
  const [pattern = "", wantedPort] = entry.split(":");
  if (wantedPort !== undefined && wantedPort !== port) return false;
  if (!pattern.startsWith("*.")) return host === pattern;
  return host.endsWith(pattern.slice(1)) && host.length > pattern.length - 1;
}

Format.Set("key-origin", (text) => normalizeKeyOrigin(text) !== null);
