import { domainToASCII } from "node:url";
import Format from "typebox/format";

const maxEmailLength = 254;
const localPart = /^[^\s@"(),:;<>[\]\\\p{C}]{1,64}$/u;
const domainText = /^[\p{L}\p{M}\p{N}.-]+$/u;
const domainForm = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/;

/** Signs nobody sees, which come along when an address is pasted; marks of direction are among them. */
const unseen = /[\p{Default_Ignorable_Code_Point}\u2800]/gu;

/**
 * The one form of an address in which it is compared, stored, shown and written to; null for what is no
 * address (GW-03, USR-03). It is made before anything is decided about an address.
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
 * Whether an address was spelled in its normal form, but for case and the domain, which the name system
 * reads in any form. Of other spellings a mail server may make another mailbox: that somebody has the
 * one does not say that they have the other.
 */
export function isSameMailbox(text: string, normal: string): boolean {
  const local = text.trim().split(atSign, 1)[0] ?? "";
  return normal.startsWith(`${local.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())}@`);
}

/** The address of an account as a mail server takes it; one that lost it to another keeps what was typed. */
export const addressOf = (account: {
  email?: string | null | undefined;
  emailKey?: string | null | undefined;
}): string | null => account.emailKey ?? account.email ?? null;

function asciiDomain(domain: string): string | null {
  if (!domainText.test(domain)) return null;
  // Only what needs it is converted, or checked: the converter also reads numbers as IP addresses.
  // oxlint-disable-next-line no-control-regex -- the whole of ASCII is meant
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
/** Control characters, line separators, and marks that turn the reading direction of what follows. */
const unprintable = /[\p{Cc}\p{Cs}\u2028\u2029\u202a-\u202e\u2066-\u2069]/u;

/** A sign that leaves something on the page: no space, and none that is not seen at all. */
const visible = /[^\s\p{Default_Ignorable_Code_Point}\u2800]/u;

export const isVisible = (text: string): boolean => visible.test(text);

/**
 * The form in which names that people choose freely are compared: what looks the same but for width,
 * case, spaces and signs nobody sees is the same.
 */
export function foldName(name: string): string {
  const seen = name.normalize("NFKC").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  return seen.toLowerCase().normalize("NFKC").replace(/\s+/gu, " ").trim();
}

/** 1-64 characters after trimming, nothing that a page could not show as text (USR-03). */
export function isDisplayName(text: string): boolean {
  if (text.length > 1_024) return false;
  const length = Array.from(text.trim()).length;
  return length <= maxDisplayName && isVisible(text) && !unprintable.test(text);
}

// Schemas name these formats; `email` replaces the laxer rule of the library.
Format.Set("email", (text) => normalizeEmail(text) !== null);
Format.Set("display-name", isDisplayName);
