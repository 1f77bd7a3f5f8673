import { cutText } from "../../platform/text/cut-text.ts";
import { raw, type EntityManager } from "@mikro-orm/postgresql";
import type { Player } from "../../../db/entities/player.ts";
import { TokenFamilySchema } from "../../../db/entities/token-family.ts";
import {
  holdGuest,
  recordLoginWithFamily,
  type LoginRecord,
  type SignedIn,
} from "../../../db/queries/accounts/players.ts";
import {
  findOpenSignIn,
  isFamilyOpen,
  nextSignInNumber,
  type NewFamily,
  type SignIn,
  type SignInMethod,
} from "../../../db/queries/sessions/token-families.ts";
import { AppError } from "../../platform/errors.ts";
import { randomId } from "../../platform/ids.ts";
import type { WithClock, WithConfig, WithEm, WithTokens } from "../../platform/capabilities.ts";
import type { Caller } from "../../http/auth/auth.ts";
import type { RequestInfo } from "../../http/pipeline/route.ts";
import { resolveRealm } from "../realms/service.ts";
import { refreshCookie } from "./cookies.ts";
import { presentPlayer, rolesOf, type SessionBody } from "./schemas.ts";

const daySeconds = 86_400;
const accessSeconds = 3_600;
const reclaimSeconds = 730 * daySeconds;

/** Lifetime of a refresh token in seconds, and of a family in days (TOK-03, TOK-05). */
const lifetimes = {
  guest: { refreshSeconds: 730 * daySeconds, familySeconds: 730 * daySeconds },
  registered: { refreshSeconds: 30 * daySeconds, familySeconds: 180 * daySeconds },
};
/** Idle time after which a session of an account has no valid token. */
export const refreshWindowMs = lifetimes.registered.refreshSeconds * 1_000;
const lifetimeOf = (isGuest: boolean) => (isGuest ? lifetimes.guest : lifetimes.registered);

/** Client data stored with a session. */
export interface ClientInfo {
  realm: string;
  userAgent: string | null;
  /** Client address. */
  ip?: string;
}

/** Session named by a request; it may be closed. */
export interface HeldSession {
  playerId: number;
  family: string;
}

/** Response of a sign-in, and its cookie. */
export interface Session {
  body: SessionBody;
  /** Max-Age of the refresh cookie in seconds. */
  cookieSeconds: number;
}

export async function clientInfoOf(
  deps: WithEm & WithConfig,
  request: Pick<RequestInfo, "headers" | "ip">,
): Promise<ClientInfo> {
  const { headers } = request;
  const { "user-agent": agent } = headers;
  const realm = await resolveRealm(deps, { named: headers["x-realm"], origin: headers["origin"] });
  return {
    realm,
    ip: request.ip,
    userAgent: agent === undefined ? null : cutText(agent.toWellFormed().replaceAll("\0", ""), 255),
  };
}

/** On a public route: from the access token or the browser's cookie. */
export function heldSession(
  { tokens }: WithTokens,
  { headers, cookies }: Pick<RequestInfo, "headers" | "cookies">,
): HeldSession | null {
  const bearer = /^bearer +([^\s,]+) *$/i.exec(headers["authorization"] ?? "")?.[1];
  const cookie = cookies[refreshCookie];
  const access = bearer === undefined ? null : tokens.verify("access", bearer);
  const claims = access ?? (cookie === undefined ? null : tokens.verify("refresh", cookie));
  return claims?.fam === undefined ? null : { playerId: Number(claims.sub), family: claims.fam };
}

/** For sessions without credentials: programs that require a recent sign-in force a new one. */
export const withoutCredentials = (method: SignInMethod): SignIn => ({
  method,
  authenticatedAt: null,
  signInNumber: null,
  parent: null,
});

/** For sessions opened with credentials now. */
export const withCredentials = (method: SignInMethod, now: number): SignIn => ({
  method,
  authenticatedAt: new Date(now),
  signInNumber: "next",
  parent: null,
});

/** For a session derived from another: copies its sign-in time. Null when that one has ended. */
export async function inheritSignIn(
  em: EntityManager,
  { clock }: WithClock,
  { method, playerId, parent }: { method: SignInMethod; playerId: number; parent: string },
): Promise<SignIn | null> {
  const now = new Date(clock.now());
  const open = await findOpenSignIn(em, { id: parent, playerId, now });
  if (open === null) return null;
  const { authenticatedAtMs: ms, signInNumber } = open;
  return { method, authenticatedAt: ms === null ? null : new Date(ms), signInNumber, parent };
}

/** Creates a family for a player; written by the flush of `em`. */
export function openSession(
  em: EntityManager,
  deps: WithClock & WithTokens,
  player: SignedIn,
  client: ClientInfo,
  signIn: SignIn = withoutCredentials("guest"),
): Session {
  const family = newFamily(player, client, { now: deps.clock.now(), signIn });
  const number = family.signInNumber;
  const signInNumber = number === "next" ? raw<number>(nextSignInNumber) : number;
  em.create(TokenFamilySchema, { ...family, signInNumber });
  return sessionOf(deps, player, family, family.createdAt.getTime());
}

/** Records a login by password and opens its session; null when the password is no longer valid. */
export async function openLoginSession(
  deps: WithEm & WithClock & WithTokens,
  accountId: number,
  client: ClientInfo,
  record: LoginRecord,
): Promise<Session | null> {
  const now = record.now.getTime();
  const signIn = withCredentials("password", now);
  const family = newFamily({ id: accountId, isGuest: false }, client, { now, signIn });
  const account = await recordLoginWithFamily(deps.em, record, family);
  return account && sessionOf(deps, account, family, now);
}

function newFamily(
  player: Pick<Player, "id" | "isGuest">,
  { realm, userAgent }: ClientInfo,
  { now, signIn }: { now: number; signIn: SignIn },
): NewFamily {
  const { familySeconds } = lifetimeOf(player.isGuest);
  return {
    id: randomId(),
    player: player.id,
    isGuest: player.isGuest,
    realm,
    generation: 0,
    createdAt: new Date(now),
    lastUsedAt: new Date(now),
    endsAt: new Date(now + familySeconds * 1000),
    userAgent,
    ...signIn,
  };
}

/**
 * Throws unless the session of the access token is open: otherwise a stolen token could open a session, or add a
 * credential, after a log out or a password change (S7). Call it with the player's row locked.
 */
export async function requireOpenSession(
  { em, clock }: WithEm & WithClock,
  { playerId, family }: Pick<Caller, "playerId" | "family">,
): Promise<void> {
  const now = new Date(clock.now());
  if (!(await isFamilyOpen(em, { id: family, playerId, now })))
    throw new AppError("auth:token_invalid");
}

/**
 * Throws unless the player is still a guest: a guest's token stays valid until this process receives the upgrade, and
 * must not act for the account (S8). The `em` of a route with `auth: "player"` begins every transaction of a guest with
 * it; a single statement outside a transaction checks the role itself.
 */
export async function requireStillGuest(em: EntityManager, playerId: number): Promise<void> {
  if (!(await holdGuest(em, playerId))) throw new AppError("auth:token_invalid");
}

/** Tokens of the current generation of a family (TOK-03). */
export function sessionOf(
  deps: WithClock & WithTokens,
  player: SignedIn,
  family: { id: string; realm: string; generation: number; endsAt: Date },
  now = deps.clock.now(),
): Session {
  const { tokens } = deps;
  const subject = String(player.id);
  const roles = rolesOf(player);
  const { refreshSeconds } = lifetimeOf(player.isGuest);
  const leftSeconds = Math.max(1, Math.floor((family.endsAt.getTime() - now) / 1000));
  const { id: fam, realm, generation: gen } = family;
  const access = { roles, realm, name: player.name, fam };
  const body: SessionBody = {
    access_token: tokens.sign("access", subject, accessSeconds, access),
    refresh_token: tokens.sign("refresh", subject, Math.min(refreshSeconds, leftSeconds), {
      roles,
      fam,
      gen,
    }),
    token_type: "Bearer",
    expires_in: accessSeconds,
    player: presentPlayer(player),
  };
  if (player.isGuest)
    body.reclaim_token = tokens.sign("reclaim", subject, reclaimSeconds, {
      gen: player.reclaimGeneration,
    });
  return { body, cookieSeconds: refreshSeconds };
}
