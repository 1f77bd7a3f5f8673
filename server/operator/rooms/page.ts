import type { Static } from "typebox";
import { takeoverCauses } from "../../../actors/index.ts";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { html, type Html, type Value } from "../html.ts";
import { marked, page, table, timeCell } from "../layout.ts";
import { eventsPath } from "../workers/page.ts";
import type { KindsBody, RoomBody, RoomsBody } from "./rooms.ts";

export const roomsPath = "/operator/rooms";
export const kindPathOf = (kind: string): string => `${roomsPath}/${encodeURIComponent(kind)}`;
export const roomPathOf = (kind: string, code: string): string =>
  `${kindPathOf(kind)}/${encodeURIComponent(code)}`;

interface View<Body> {
  body: Body;
  caller: OperatorCaller;
}

/** The kinds of room (OPS-04). */
export const kindsPage = ({ body: { kinds }, caller }: View<Static<typeof KindsBody>>): Html =>
  page(
    { title: "Rooms", caller },
    html`<h1>Rooms</h1>
      ${table(
        "Kinds",
        ["Kind", "Processes", "Shards", "Rooms in memory", "Commands that wait"],
        kinds.map(({ kind, num_owners, num_shards, num_rooms, num_pending }) => [
          html`<a href="${kindPathOf(kind)}">${kind}</a>`,
          ...[num_owners, num_shards, num_rooms, num_pending],
        ]),
      )}`,
  );

interface RoomsView extends View<Static<typeof RoomsBody>> {
  params: { kind: string };
}

/** The rooms of a kind that were used last. */
export const roomsPage = ({ body: { owners, rooms }, params: { kind }, caller }: RoomsView): Html =>
  page(
    { title: `Rooms: ${kind}`, caller },
    html`<h1>Rooms: ${kind}</h1>
      ${table(
        "Processes",
        ["Incarnation", "Host", "Pid", "Shards", "Rooms in memory", "Commands that wait"],
        owners.map(({ incarnation, host, pid, num_shards, num_rooms, num_pending }) => [
          ...[incarnation, host, pid, num_shards, num_rooms, num_pending],
        ]),
      )}
      ${table(
        "Rooms, last used first",
        ["Code", "Status", "Last message", "Streams", "Commands", "Last command", "Deadline"],
        rooms.map((room) => [
          html`<a href="${roomPathOf(kind, room.code)}">${room.code}</a>`,
          ...[room.status, room.last_seq, room.num_subscribers, room.num_commands],
          timeCell(room.last_command_at),
          room.deadline_at && timeCell(room.deadline_at),
        ]),
      )}
      <p><a href="${roomsPath}">All kinds</a></p>`,
  );

type Room = Static<typeof RoomBody>["room"];
type Owner = Room["owners"][number];

/** One room: who owned its shard and why, its members, and its messages without their content (OPS-62). */
export const roomPage = ({ body: { room }, caller }: View<Static<typeof RoomBody>>): Html =>
  page(
    { title: `${room.kind} ${room.code}`, caller },
    html`<h1>${room.kind} ${room.code}</h1>
      ${table("Facts", ["What", "Value"], factsOf(room))}
      ${table(
        `Owners of shard ${room.shard}`,
        ["Since", "Process", "Cause", "Incarnation"],
        room.owners.map(ownerRow),
      )}
      ${membersOf(room)}
      ${table(
        "Last messages",
        ["Number", "Type", "Time"],
        room.events.map(({ seq, type, at }) => [seq, type, timeCell(at)]),
      )}
      <p><a href="${kindPathOf(room.kind)}">All rooms of this kind</a></p>`,
  );

function factsOf(room: Room): Value[][] {
  const { result_job: job, deadline_at } = room;
  const jobPath =
    job && `/operator/jobs/${encodeURIComponent(job.queue)}/${encodeURIComponent(job.id)}`;
  const facts: [name: string, value: Value][] = [
    ["Status", room.status],
    ["Owner", room.owner ?? marked("none", true)],
    ["Last message", room.last_seq],
    ["Commands since it was loaded", room.num_commands ?? "unknown, its owner does not respond"],
    ["Streams", room.num_subscribers],
    ["Deadline", deadline_at && timeCell(deadline_at)],
    ["Result", job && html`<a href="${jobPath}">${job.queue} ${job.id}</a>`],
  ];
  return facts.filter(([, value]) => value !== null);
}

/** In words: a takeover is told apart from a handover. */
const causeTexts: Readonly<Record<string, string>> = {
  started: "first owner since a start",
  recovered: "takeover: its process was gone when this one joined",
  drained: "handover: its process drained",
  rebalanced: "handover: shards were rebalanced",
  exited: "takeover: its process exited",
  frozen: "takeover: its process was frozen, or could not reach Redis",
  reclaimed: "reclaimed by the same process",
};

const isTakeover = (cause: string) => takeoverCauses.some((one) => one === cause);

const ownerRow = ({ at, process, cause, incarnation }: Owner): Value[] => {
  const text = (Object.hasOwn(causeTexts, cause) ? causeTexts[cause] : undefined) ?? cause;
  return [
    html`<a href="${eventsNear(at)}">${timeCell(at)}</a>`,
    process,
    marked(text, isTakeover(cause)),
    incarnation,
  ];
};

const nearMs = 60_000;

/** What happened to processes around that time. */
function eventsNear(at: string): string {
  const [from, to] = [-nearMs, nearMs].map((ms) => new Date(Date.parse(at) + ms).toISOString());
  return `${eventsPath}?${new URLSearchParams({ from: from ?? "", to: to ?? "" })}`;
}

const membersOf = ({ members }: Room): Value =>
  members &&
  table(
    "Members",
    ["Seat", "Player"],
    members.map(({ seat_id, player_id }) => [
      seat_id,
      player_id === null
        ? "not signed in"
        : html`<a href="/operator/players/${player_id}">${player_id}</a>`,
    ]),
  );
