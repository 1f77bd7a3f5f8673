import type { WithClock, WithConfig, WithTokens } from "../../platform/capabilities.ts";
import { AppError } from "../../platform/errors.ts";
import { roomTopic } from "../../platform/room-names.ts";
import { roomKindOf } from "../../platform/security/tokens.ts";
import { maxTokens, seatsIn } from "./tokens.ts";

type JointDeps = WithTokens & WithConfig & WithClock;

interface Right {
  topic: string;
  /** Null: a spectator. */
  seat: number | null;
}

/**
 * One hub token for all topics of the given ones, which are seat tokens or hub tokens (HUB-09). It ends with the first
 * of them, and a stream still asks each room for the seat.
 */
export function jointToken(deps: JointDeps, texts: readonly string[]) {
  const given = texts.map((text) => readRights(deps, text));
  const rights = merge(given.flatMap((one) => one.rights));
  if (rights.length > maxTokens) {
    const title = `must cover at most ${maxTokens} topics and seats`;
    throw new AppError("validation:failed", { violations: [{ propertyPath: "tokens", title }] });
  }
  const expiresAt = Math.min(...given.map(({ exp }) => exp));
  const claims = {
    subscribe: rights.map(({ topic }) => topic),
    seats: rights.map(({ seat }) => seat),
  };
  const seconds = expiresAt - Math.floor(deps.clock.now() / 1000);
  return {
    token: deps.tokens.sign("hub", "0", seconds, claims),
    topics: [...new Set(claims.subscribe)],
    expires_in: seconds,
  };
}

/** Each right once. All seats of a topic are kept, since one may be gone; each sees more than a spectator. */
function merge(rights: readonly Right[]): Right[] {
  const seated = new Set(rights.flatMap(({ topic, seat }) => (seat === null ? [] : topic)));
  const needed = rights.filter(({ topic, seat }) => seat !== null || !seated.has(topic));
  return [...new Map(needed.map((one) => [`${one.topic} ${one.seat}`, one])).values()];
}

function readRights({ tokens, config }: JointDeps, text: string): { rights: Right[]; exp: number } {
  const ofSeat = tokens.verify("lobby", text);
  if (ofSeat?.lobby !== undefined && ofSeat.lobby_player !== undefined) {
    const topic = roomTopic(config.TOPIC_BASE, roomKindOf(ofSeat), ofSeat.lobby);
    return { rights: [{ topic, seat: ofSeat.lobby_player }], exp: ofSeat.exp };
  }
  const claims = tokens.verify("hub", text);
  if (!claims) throw new AppError("auth:token_invalid");
  const rights = (claims.subscribe ?? []).flatMap((topic) =>
    seatsIn(claims, topic).map((seat) => ({ topic, seat: seat === "spectator" ? null : seat })),
  );
  return { rights, exp: claims.exp };
}
