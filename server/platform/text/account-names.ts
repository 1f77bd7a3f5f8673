import { domainToASCII } from "node:url";
import Format from "typebox/format";

const maxEmailLength = 254;
const localPart = /^[^\s@"(),:;<>[\]\\\p{C}]{1,64}$/u;
const domainText = /^[\p{L}\p{M}\p{N}.-]+$/u;
const domainForm = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

/** Invisible characters that come with a pasted address, such as direction marks. */
const unseen = /[\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * Normal form of an email address, in which it is compared, stored, shown and mailed; null for a text that is no
 * address (GW-03, USR-03). Normalize before any other decision about an address.
 */
export function normalizeEmail(text: string): string | null {
  if (text.length > 4 * maxEmailLength) return null;
  const seen = text.normalize("NFKC").replace(unseen, "");
  const plain = seen.trim().toLowerCase().normalize("NFKC").trim();
  const [local, domain, ...more] = plain.split("@");
  if (local === undefined || domain === undefined || more.length > 0) return null;
  if (!localPart.test(local) || local.startsWith(".") || /\.\.|\.$/.test(local)) return null;
  const host = asciiDomain(domain.replaceAll("\u3002", ".").replace(/\.$/, ""));
  if (host === null) return null;
  const email = `${local}@${host}`;
  return email.length <= maxEmailLength ? email : null;
}

const atSign = /[@\uff20\ufe6b]/;

/**
 * True when an address is in normal form except for case and the domain, which DNS reads in any form. A mail server
 * may map another spelling to another mailbox: owning one does not prove owning the other.
 */
export function isSameMailbox(text: string, normal: string): boolean {
  const local = text.trim().split(atSign, 1)[0] ?? "";
  return normal.startsWith(`${local.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())}@`);
}

/** Address of an account for mail; an account that lost its address to another one keeps the typed text. */
export const addressOf = (account: {
  email?: string | null | undefined;
  emailKey?: string | null | undefined;
}): string | null => account.emailKey ?? account.email ?? null;

function asciiDomain(domain: string): string | null {
  if (!domainText.test(domain)) return null;
  // Only domains that need it are converted: the converter also reads numbers as IP addresses.
  // oxlint-disable-next-line no-control-regex -- matches all of ASCII
  const isPlain = /^[\u0000-\u007f]*$/.test(domain) && !/(?:^|\.)xn--/.test(domain);
  const ascii = isPlain ? domain : domainToASCII(domain);
  return domainForm.test(ascii) ? ascii : null;
}

/** Usernames and guest names: `[A-Za-z0-9_]`, 3-20 characters. */
export const usernamePattern = "^[A-Za-z0-9_]{3,20}$";
export const usernameForm = "3 to 20 letters, digits or underscores";
const username = new RegExp(usernamePattern);

export const isUsername = (text: string): boolean => username.test(text);

/** The form in which usernames and guest names are compared; they share one namespace (GW-03). */
export const nameKey = (name: string): string => name.toLowerCase();

const maxDisplayName = 64;
/** Control characters, line separators and direction marks. */
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** A visible character. */
const visible = /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u;

export const isVisible = (text: string): boolean => visible.test(text);

/** Folds a display name for comparison: ignores width, case, spaces and invisible characters. */
export function foldName(name: string): string {
  const seen = name.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  return seen.toLowerCase().normalize("NFKC").replace(/\s+/gu, " ").trim();
}

/** 1-64 characters after trimming, all displayable as text (USR-03). */
export function isDisplayName(text: string): boolean {
  if (text.length > 1_024) return false;
  const length = Array.from(text.trim()).length;
  return length <= maxDisplayName && isVisible(text) && !unprintable.test(text);
}

// Schemas name these formats; `email` replaces the laxer rule of the library.
Format.Set("email", (text) => normalizeEmail(text) !== null);
Format.Set("display-name", isDisplayName);
