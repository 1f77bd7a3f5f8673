import type { OperatorCaller } from "../../http/auth/auth.ts";
import { playerActions, type PlayerVerb } from "../../features/accounts/domain/player-service.ts";
import { html, type Html, type Value } from "../html.ts";
import { marked, page, table, timeCell } from "../layout.ts";
import { mayMake } from "../roles.ts";
import { roomPathOf } from "../rooms/page.ts";
import { maxReason } from "../schemas.ts";
import type { PlayerAnswer } from "./schemas.ts";

export const playerPathOf = (id: number): string => `/operator/players/${id}`;

interface PlayerView {
  body: PlayerAnswer;
  caller: OperatorCaller;
}

type Player = PlayerAnswer["player"];

/** State, sessions, lock and rooms of a player, with the changes this operator may make (OPS-63). */
export const playerPage = ({ body: { player, rooms }, caller }: PlayerView): Html =>
  page(
    { title: `Player ${player.id}`, caller },
    html`<h1>Player ${player.id}: ${player.name}</h1>
      ${table("Facts", ["What", "Value"], factsOf(player))} ${roomsOf(rooms)}
      ${changesOf(player, caller)}`,
  );

const timeOf = (at: string | null): Value => at && timeCell(at);

function factsOf(player: Player): Value[][] {
  const facts: [name: string, value: Value][] = [
    ["State", stateOf(player)],
    ["Realm", player.realm],
    ["Address", player.email],
    ["Address verified", timeOf(player.email_verified_at)],
    ["Phone verified", timeOf(player.phone_verified_at)],
    ["Created", timeCell(player.created_at)],
    ["Last sign-in", timeOf(player.last_login_at)],
    ["Closed", timeOf(player.deleted_at)],
    ["Cleared", timeOf(player.purged_at)],
    ["Sessions", player.num_sessions],
    ["Locked", lockOf(player)],
  ];
  return facts.filter(([, value]) => value !== null);
}

function lockOf({ locked_seconds: seconds }: Player): Value {
  if (seconds === null) return marked("unknown", true);
  return seconds > 0 ? marked(`for ${seconds} s after failed sign-ins`, true) : "no";
}

function stateOf({ deleted_at, purged_at, is_guest }: Player): string {
  if (purged_at !== null) return "closed, personal data cleared";
  if (deleted_at !== null) return "closed";
  return is_guest ? "guest" : "account";
}

export function roomsOf(rooms: PlayerAnswer["rooms"]): Html {
  if (rooms === null)
    return html`<h2>Rooms now</h2>
      <p class="wrong">Redis does not respond: rooms are unknown.</p>`;
  if (rooms.length === 0)
    return html`<h2>Rooms now</h2>
      <p>None.</p>`;
  return table(
    "Rooms now",
    ["Kind", "Code", "Seat", "Taken", "State"],
    rooms.map(({ kind, code, seat_id, taken_at, is_held }) => [
      kind,
      html`<a href="${roomPathOf(kind, code)}">${code}</a>`,
      seat_id,
      timeCell(taken_at),
      is_held === null ? marked("unknown, its owner does not respond", true) : "has a seat",
    ]),
  );
}

const changeTexts: Readonly<Record<PlayerVerb, string>> = {
  unlock: "Unlock",
  restore: "Restore",
  "revoke-sessions": "End sessions",
};

/** Whether a change can have an effect now. */
const isUseful: Readonly<Record<PlayerVerb, (player: Player) => boolean>> = {
  unlock: ({ locked_seconds }) => locked_seconds !== null && locked_seconds > 0,
  restore: ({ deleted_at, purged_at }) => deleted_at !== null && purged_at === null,
  "revoke-sessions": ({ num_sessions, is_guest }) => num_sessions > 0 || is_guest,
};

/** One reason and a button for each change that this operator may make. */
function changesOf(player: Player, { role }: OperatorCaller): Value {
  const offered = (Object.keys(playerActions) as PlayerVerb[]).filter(
    (verb) => mayMake(role, playerActions[verb]) && isUseful[verb](player),
  );
  if (offered.length === 0) return null;
  return html`<h2>Changes</h2>
    <form method="post">
      <label for="reason">Reason (for the audit log)</label
      ><input id="reason" name="reason" maxlength="${maxReason}" required />
      <p>
        ${offered.map(
          (verb) =>
            html`<button formaction="${playerPathOf(player.id)}/${verb}">
              ${changeTexts[verb]}
            </button> `,
        )}
      </p>
    </form>`;
}
