import { hash } from "node:crypto";
import { withdrawMessage } from "../../../db/queries/delivery/messages.ts";
import {
  endSubscription,
  isListTokenOpen,
  isOnList,
  upsertSubscriber,
  verifySubscriber,
} from "../../../db/queries/system/subscribers.ts";
import { normalizeEmail } from "../../platform/text/account-names.ts";
import { linkPath, publicBaseUrl } from "../../platform/net/addresses.ts";
import type { Config } from "../../platform/config/config.ts";
import { randomId } from "../../platform/ids.ts";
import { postMessages, writeMessage } from "../delivery/domain/send.ts";
import type { WithClock, WithConfig, WithEm } from "../../platform/capabilities.ts";
import type { SystemDeps } from "./deps.ts";
import { verifyPagePath } from "../verification/device.ts";
import { confirmEmail } from "../verification/service.ts";
import { isUnsubscribeToken, unsubscribeToken } from "./unsubscribe-token.ts";

/** Page of the unsubscribe link in a mail. */
export const unsubscribePagePath = "/unsubscribe";
const tokenMs = 24 * 3_600_000;
const defaultChannels = ["email:marketing"];

export interface SubscribeInput {
  email: string;
  channels: readonly string[] | null;
  locale: string;
  /** Slug of the realm of the page. */
  realm: string;
}

/** Subscribes an address and sends it a token, without revealing whether it was subscribed already (SYS-04). */
export async function subscribe(deps: SystemDeps, input: SubscribeInput): Promise<void> {
  const emailKey = normalizeEmail(input.email);
  if (emailKey === null) return;
  const chosen = [...new Set(input.channels ?? [])];
  const token = randomId();
  const now = deps.clock.now();
  const { locale, realm } = input;
  const link = publicBaseUrl(deps.config) + linkPath(verifyPagePath, { email: emailKey, token });
  const params = { link, ...waysToLeave(deps.config, emailKey) };
  const verifyHash = hash("sha256", token);
  const look = { to: emailKey, locale, realm, params };
  const credential = { hash: verifyHash };
  const message = { template: "subscribe-verify", ...look, credential } as const;
  const id = await deps.em.transactional(async (em) => {
    const messageId = await writeMessage(em, deps, message);
    // A message that is not sent must not void the earlier one.
    if (messageId === null) return null;
    const isNew = await upsertSubscriber(em, {
      email: emailKey,
      emailKey,
      channels: chosen.length === 0 ? defaultChannels : chosen,
      locale,
      realm,
      verifyHash,
      verifyExpiresAt: new Date(now + tokenMs),
      now: new Date(now),
    });
    if (isNew) return messageId;
    await withdrawMessage(em, messageId);
    return null;
  });
  await postMessages(deps, [id]);
}

export interface LinkInput {
  email: string;
  token: string;
  /** Dry run: opening a link is no consent. */
  isTrial: boolean;
}

export type VerifyOutcome = "success" | "missing_arguments" | "invalid_arguments";
export type UnsubscribeOutcome = VerifyOutcome | "not_found";

/** Verifies the address of an account or of a subscriber, by the kind of token (USR-06). */
export async function verifyAddress(deps: SystemDeps, input: LinkInput): Promise<VerifyOutcome> {
  const { email, token, isTrial } = input;
  if (email === "" || token === "") return "missing_arguments";
  // A signed token has dots, a subscriber's token has none.
  const isValid = token.includes(".")
    ? await confirmEmail(deps, { token, email, isTrial })
    : await confirmSubscriber(deps, input);
  return isValid ? "success" : "invalid_arguments";
}

async function confirmSubscriber(deps: SystemDeps, { email, token, isTrial }: LinkInput) {
  const emailKey = normalizeEmail(email);
  if (emailKey === null) return false;
  const listToken = { emailKey, verifyHash: hash("sha256", token) };
  const now = new Date(deps.clock.now());
  if (isTrial) return isListTokenOpen(deps.em, listToken, now);
  const result = await deps.em.transactional(async (em) => {
    const subscriber = await verifySubscriber(em, listToken, now);
    if (subscriber === null) return null;
    const params = waysToLeave(deps.config, emailKey);
    const welcome = { template: "subscribe-welcome", to: emailKey, ...subscriber, params } as const;
    return { id: await writeMessage(em, deps, welcome) };
  });
  if (result !== null) await postMessages(deps, [result.id]);
  return result !== null;
}

export async function unsubscribe(
  deps: WithEm & WithConfig & WithClock,
  { email, token, isTrial }: LinkInput,
): Promise<UnsubscribeOutcome> {
  if (email === "" || token === "") return "missing_arguments";
  const emailKey = unsubscriberOf(deps, { email, token });
  if (emailKey === null) return "invalid_arguments";
  const isFound = isTrial
    ? await isOnList(deps.em, emailKey)
    : await endSubscription(deps.em, emailKey, new Date(deps.clock.now()));
  return isFound ? "success" : "not_found";
}

/** Normal form of the address that a token unsubscribes; null for a token of another address. */
export function unsubscriberOf(
  { config }: WithConfig,
  { email, token }: Pick<LinkInput, "email" | "token">,
): string | null {
  const emailKey = normalizeEmail(email);
  const isRight = emailKey !== null && isUnsubscribeToken(config, emailKey, token);
  return isRight ? emailKey : null;
}

/** In every mail to a subscriber: a link to the page that asks, and the address for one click (RFC 8058). */
function waysToLeave(config: Config, emailKey: string) {
  const link = { email: emailKey, token: unsubscribeToken(config, emailKey) };
  const base = publicBaseUrl(config);
  return {
    leave: base + linkPath(unsubscribePagePath, link),
    unsubscribe: base + linkPath("/v1/unsubscribe", link),
  };
}
