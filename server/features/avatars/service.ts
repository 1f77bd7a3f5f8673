import { brokenConstraint, isDeadlock } from "../../../db/constraints.ts";
import { findLatestApproved } from "../../../db/queries/avatars/avatar-uploads.ts";
import {
  findSoleIcon,
  listTakenIcons,
  isClaimFree,
  lockAvatar,
  nothingChosen,
  readAvatar,
  writeAvatar,
  type AvatarChoice,
  type AvatarRow,
} from "../../../db/queries/avatars/avatars.ts";
import { listConnections } from "../../../db/queries/social/oauth-connections.ts";
import type { EntityManager } from "@mikro-orm/postgresql";
import { loadCatalogue, nameOf, type Icon } from "./domain/catalogue.ts";
import {
  backgroundOf,
  borderOf,
  colorOf,
  defaultBackground,
  defaultColor,
} from "./domain/palettes.ts";
import { AppError } from "../../platform/errors.ts";
import type { WithClock, WithConfig, WithEm } from "../../platform/capabilities.ts";
import type { Caller } from "../../http/auth/auth.ts";
import type { SelectionBody } from "./schemas.ts";
import { maxId } from "../../platform/ids.ts";

/** Two players who swap combinations can deadlock; one of them is retried. */
const claimTries = 4;

/** Changes a player's avatar; a claim has one holder, also under concurrent requests (S32, AV-01). */
export async function changeSelection(
  deps: WithEm & WithClock & WithConfig,
  caller: Pick<Caller, "playerId" | "isGuest">,
  requested: SelectionBody,
): Promise<AvatarRow> {
  for (let tries = 1; ; tries++) {
    try {
      return await tryChange(deps, caller, requested);
    } catch (error) {
      if (!isDeadlock(error) || tries >= claimTries) throw error;
    }
  }
}

async function tryChange(
  deps: WithEm & WithClock & WithConfig,
  caller: Pick<Caller, "playerId" | "isGuest">,
  requested: SelectionBody,
): Promise<AvatarRow> {
  const { playerId } = caller;
  const { em, clock, config } = deps;
  const providers = config.oauthProviders.map(({ id }) => id);
  // No lock for an unchanged or a taken combination: repeats do not wait.
  const seen = require(await readAvatar(em, playerId), caller, requested);
  const wanted = await choose(em, { playerId, before: seen, requested, providers });
  if (isSame(seen, wanted)) return seen;
  if (wanted.icon !== null && !(await isClaimFree(em, playerId, wanted))) throw taken(wanted);
  let choice = wanted;
  try {
    return await em.transactional(async (tx) => {
      const before = require(await lockAvatar(tx, playerId), caller, requested);
      choice = await choose(tx, { playerId, before, requested, providers });
      if (isSame(before, choice)) return before;
      const after = await writeAvatar(tx, playerId, { choice, now: new Date(clock.now()) });
      if (!after) throw new AppError("user:not_found");
      return after;
    });
  } catch (error) {
    if (brokenConstraint(error) !== "players_avatar_claim_unique") throw error;
    throw taken(choice, error);
  }
}

const taken = ({ icon, color, bg }: AvatarChoice, cause?: unknown) =>
  new AppError("avatar:combination_taken", {
    body: { error: "combination_taken", icon, color, bg },
    cause,
  });

/** The present choice of a player who may change it. */
function require(
  before: AvatarRow | null,
  { isGuest }: Pick<Caller, "isGuest">,
  requested: SelectionBody,
): AvatarRow {
  if (!before) throw new AppError("user:not_found");
  // A guest's token does not act for the account the guest has become (S8).
  if (before.isGuest !== isGuest) throw new AppError("auth:token_invalid");
  if (before.isGuest && requested.source !== null) throw new AppError("avatar:guest_forbidden");
  return before;
}

interface SelectionChange {
  playerId: number;
  before: AvatarRow;
  requested: SelectionBody;
  /** Ids of the configured social logins. */
  providers: readonly string[];
}

async function choose(
  em: EntityManager,
  { playerId, before, requested, providers }: SelectionChange,
): Promise<AvatarChoice> {
  const { source } = requested;
  // Another source than custom keeps the claim; null releases it (AV-02).
  const kept: AvatarChoice = { ...pick(before), source, uploadId: null };
  if (source === null) return nothingChosen;
  if (source === "custom")
    return { ...(await readClaim(before, requested)), source, uploadId: null };
  if (source === "upload") {
    const uploadId = await findLatestApproved(em, playerId);
    if (uploadId === null) throw new AppError("avatar:no_approved_upload");
    return { ...kept, uploadId };
  }
  const linked = await listConnections(em, playerId);
  if (linked.some(({ provider }) => provider === source)) return kept;
  throw new AppError(
    providers.includes(source) ? "avatar:provider_not_linked" : "avatar:invalid_option",
  );
}

async function readClaim(before: AvatarRow, requested: SelectionBody) {
  const icon = (await loadCatalogue()).byName(requested.icon ?? "");
  const color = colorOf(requested.color ?? defaultColor);
  const bg = backgroundOf(requested.bg ?? defaultBackground);
  const wanted = requested.border === undefined ? before.border : requested.border;
  const border = wanted === null ? null : borderOf(wanted);
  const wrong = {
    icon: icon === null,
    color: color === null,
    bg: bg === null,
    border: wanted !== null && border === null,
  };
  const [option] = Object.entries(wrong).find(([, isWrong]) => isWrong) ?? [];
  if (icon === null || option !== undefined)
    throw new AppError("avatar:invalid_option", { params: { option } });
  return { icon: nameOf(icon), color, bg, border };
}

const keys = ["source", "icon", "color", "bg", "border", "uploadId"] as const;

function pick({ source, icon, color, bg, border, uploadId }: AvatarChoice): AvatarChoice {
  return { source, icon, color, bg, border, uploadId };
}

const isSame = (a: AvatarChoice, b: AvatarChoice) => keys.every((key) => a[key] === b[key]);

/** The icons that no other player holds in any combination, and the number left out (AV-01). */
export async function listAvailable(
  deps: WithEm,
  mine: number | null,
): Promise<{ icons: readonly Icon[]; total: number; numTaken: number }> {
  const { icons } = await loadCatalogue();
  const em = deps.em;
  const taken = new Set(await listTakenIcons(em));
  const isPlayer = mine !== null && mine > 0 && mine <= maxId;
  const own = isPlayer ? await findSoleIcon(em, mine) : null;
  if (own !== null) taken.delete(own);
  const free = icons.filter((icon) => !taken.has(nameOf(icon)));
  return { icons: free, total: icons.length, numTaken: icons.length - free.length };
}
