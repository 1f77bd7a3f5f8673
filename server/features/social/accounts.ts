import type { EntityManager } from "@mikro-orm/postgresql";
import { brokenConstraint } from "../../../db/constraints.ts";
import { PlayerSchema, type Player } from "../../../db/entities/player.ts";
import { lockAccount } from "../../../db/queries/accounts/accounts.ts";
import {
  findAddressHolder,
  findConnectedPlayer,
  listConnections,
  saveConnection,
} from "../../../db/queries/social/oauth-connections.ts";
import { isAddressReserved } from "../../../db/queries/verification/replaced-addresses.ts";
import { loadOpenPlayer, recordLogin } from "../../../db/queries/accounts/players.ts";
import { AppError } from "../../platform/errors.ts";
import { randomId, randomString } from "../../platform/ids.ts";
import { userNameFields } from "../../platform/text/skeletons.ts";
import { postMessages } from "../delivery/domain/send.ts";
import type { WithClock } from "../../platform/capabilities.ts";
import type { SocialDeps } from "./deps.ts";
import type { Caller } from "../../http/auth/auth.ts";
import { inheritSignIn, openSession, type ClientInfo, type Session } from "../sessions/sessions.ts";
import { addressOrigin } from "../verification/device.ts";
import { writeAddition } from "../verification/notices.ts";
import { writeVerification } from "../verification/service.ts";
import { loginNotice } from "./notices.ts";
import type { Profile } from "./profiles.ts";

/** Retries after a name taken meanwhile, or a concurrent sign-in of the same person. */
const maxTries = 8;
/** Parts of a username's 20 characters: the name, an underscore, the digits. */
const maxNamePart = 13;
const numDigits = 6;
/** Tolerance for the provider's clock: an authentication this shortly before belongs to this sign-in. */
const newMs = 60_000;

export interface SocialSignIn {
  provider: string;
  profile: Profile;
  locale: string;
}

/** Signs in, links or creates the account of a profile (OA-04). */
export async function signInSocially(
  deps: SocialDeps,
  signIn: SocialSignIn,
  client: ClientInfo,
): Promise<Session> {
  for (let attempt = 0; attempt < maxTries; attempt++) {
    try {
      return await tryToSignIn(deps, signIn, client);
    } catch (error) {
      if (brokenConstraint(error) === null && !(error instanceof Overtaken)) throw error;
    }
  }
  throw new AppError("oauth:already_linked");
}

/** A concurrent request linked this login to an account: the next attempt finds it. */
class Overtaken extends Error {}

async function tryToSignIn(
  deps: SocialDeps,
  signIn: SocialSignIn,
  client: ClientInfo,
): Promise<Session> {
  const { provider, profile } = signIn;
  const now = new Date(deps.clock.now());
  const [session, mails] = await deps.em.transactional(async (em) => {
    const known = await findKnown(em, signIn);
    const player = known ?? (await createAccount(em, deps, signIn, client));
    if (!(await recordLogin(em, player.id, { now }))) throw new AppError("oauth:already_linked");
    // The row is locked; the link to the account may have been removed while this waited.
    if (known && (await findKnown(em, signIn)) !== known)
      throw new AppError("oauth:already_linked");
    player.lastLoginAt = now;
    const id = randomId();
    const connection = { ...profile, provider, playerId: player.id, linkedBy: id };
    const isLink = known !== null && (await findConnectedPlayer(em, connection)) === null;
    if (!(await saveConnection(em, connection, now))) throw new Overtaken();
    const needsMail = known === null && !player.emailVerifiedAt;
    const mail = needsMail ? await writeVerification(em, deps, player) : null;
    const linked = loginNotice(deps, "login-linked", provider);
    const notice = isLink ? await writeAddition(em, deps, player.id, linked) : null;
    const { authenticatedAt } = profile;
    const isNew = authenticatedAt !== null && now.getTime() - authenticatedAt.getTime() <= newMs;
    const signInNumber = isNew ? "next" : null;
    const opening = { id, method: "social", authenticatedAt, signInNumber, parent: null } as const;
    return [openSession(em, deps, player, client, opening), [mail, notice]] as const;
  });
  await postMessages(deps, mails);
  return session;
}

/**
 * The account of this login, or of an address both sides have verified. An address verified by one side only proves
 * nothing: linking it would give the account to the first one to claim it.
 */
async function findKnown(
  em: EntityManager,
  { provider, profile }: SocialSignIn,
): Promise<Player | null> {
  // The holder of the address first: of concurrent sign-ins only the second read may find the account, never only the
  // first.
  const holder = profile.email === null ? null : await findAddressHolder(em, profile.email);
  const playerId = await findConnectedPlayer(em, { provider, subject: profile.subject });
  const linked = playerId === null ? null : await loadOpenPlayer(em, playerId);
  if (linked) return linked;
  if (playerId !== null) throw new AppError("oauth:already_linked");
  if (!holder) return null;
  const isSafe = profile.isEmailVerified && holder.emailVerifiedAt && !holder.deletedAt;
  if (!isSafe) throw new AppError("oauth:already_linked");
  if (await hasConnection(em, holder.id, provider)) throw new AppError("oauth:already_linked");
  return holder;
}

async function createAccount(
  em: EntityManager,
  deps: WithClock,
  { provider, profile, locale }: SocialSignIn,
  client: ClientInfo,
): Promise<Player> {
  const username = usernameOf(profile.name ?? provider);
  const now = new Date(deps.clock.now());
  const isProven = profile.isEmailVerified && profile.email !== null;
  const player = em.create(PlayerSchema, {
    ...userNameFields(username),
    username,
    displayName: profile.name ?? username,
    isGuest: false,
    email: profile.email,
    emailKey: profile.email,
    emailVerifiedAt: isProven ? now : null,
    ...(isProven ? {} : addressOrigin(client, { now, deviceHash: null })),
    locale,
    channels: profile.email === null ? [] : ["email:account"],
    realm: client.realm,
    lastLoginAt: now,
    createdAt: now,
  });
  // The connection and the tokens carry the id, so the row must exist first.
  await em.flush();
  if (profile.email !== null && (await isAddressReserved(em, profile.email, { now })))
    throw new AppError("oauth:already_linked");
  return player;
}

function usernameOf(name: string): string {
  const plain = name.normalize("NFKD").replaceAll(/[^A-Za-z0-9]+/g, "_");
  const part = plain.replaceAll(/^_+|_+$/g, "").slice(0, maxNamePart);
  return `${part === "" ? "Player" : part}_${randomString(numDigits, "0123456789")}`;
}

async function hasConnection(em: EntityManager, playerId: number, provider: string) {
  return (await listConnections(em, playerId)).some((one) => one.provider === provider);
}

/**
 * Adds a login to an account; refuses a login of another account, or a second one of the provider. Opens a session
 * for the given client.
 */
export async function linkSocially(
  deps: SocialDeps,
  linker: Pick<Caller, "playerId" | "family">,
  { provider, profile }: Pick<SocialSignIn, "provider" | "profile">,
  client: ClientInfo | null,
): Promise<Session | null> {
  const { playerId } = linker;
  const now = new Date(deps.clock.now());
  try {
    const [session, mail] = await deps.em.transactional(async (em) => {
      const player = await lockAccount(em, playerId);
      if (!player) throw new AppError("auth:token_invalid");
      const parent = linker.family;
      const signIn = await inheritSignIn(em, deps, { method: "link", playerId, parent });
      if (signIn === null) throw new AppError("auth:token_invalid");
      const link = { ...profile, provider, playerId, linkedBy: linker.family };
      const isNew = (await findConnectedPlayer(em, link)) === null;
      const isSaved = await saveConnection(em, link, now);
      if (!isSaved) throw new AppError("oauth:already_linked");
      const linked = loginNotice(deps, "login-linked", provider);
      const notice = isNew ? await writeAddition(em, deps, playerId, linked) : null;
      return [client && openSession(em, deps, player, client, signIn), notice] as const;
    });
    await postMessages(deps, [mail]);
    return session;
  } catch (error) {
    if (brokenConstraint(error) === null) throw error;
    throw new AppError("oauth:already_linked", { cause: error });
  }
}
