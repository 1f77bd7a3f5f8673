import type {
  CommandOf,
  Lobby,
  LobbyCaller,
  LobbyCommand,
  LobbyEvent,
} from "../../actors/lobby/types.ts";
import type { Choices } from "../support/random.ts";

type Type = LobbyCommand["type"];

/** A client that sends anything it may. */
export interface Moment {
  me: { by: LobbyCaller };
  isHost: boolean;
  lobby: Lobby;
  random: Choices;
}

/** A client may send it at any time. */
interface AtAnyTime<Command = LobbyCommand> {
  /** How many lots it has in the draw. */
  lots: number;
  /** Default: always. */
  may?: (moment: Moment) => boolean;
  make: (moment: Moment) => Command;
}

interface Simulated<T extends Type> {
  /** "plan": `chooser.ts` sends it where it advances the game; "runtime": no client sends it. */
  sent: "plan" | "runtime" | AtAnyTime<CommandOf<T>>;
  /** Each success causes exactly one such event. */
  causes?: LobbyEvent["type"];
  /** Each success causes at most one such event. */
  mayCause?: LobbyEvent["type"];
  /** Success means that one of its commits is stored. */
  isStored?: true;
  /** What a success guarantees about a lobby that is not over, from then on. */
  guarantees?: (lobby: Lobby, command: CommandOf<T>, seatId: number) => boolean;
}

const hasSeat = ({ seats }: Lobby, seatId: number) => seats.some(({ id }) => id === seatId);
const isOver = () => false;
const by =
  <T extends Type>(type: T) =>
  ({ me }: Moment) => ({ type, ...me });

/** Every command of lobbies: when the clients of the simulation send it, and what they check. */
const commands: { readonly [T in Type]: Simulated<T> } = {
  create: { sent: "plan", isStored: true },
  read: { sent: { lots: 3, make: by("read") } },
  join: { sent: "plan", isStored: true, causes: "joined" },
  settings: { sent: "plan", isStored: true, causes: "settings_changed" },
  prepare: { sent: "plan", isStored: true },
  start: { sent: "plan", isStored: true },
  abandon_start: {
    sent: {
      lots: 1,
      may: ({ isHost, lobby }) => isHost && lobby.status === "waiting",
      make: by("abandon_start"),
    },
  },
  check_seat: { sent: { lots: 1, make: by("check_seat") } },
  spectate: { sent: { lots: 1, make: () => ({ type: "spectate" }) } },
  spectators: { sent: "runtime" },
  pick: { sent: "plan", isStored: true, causes: "picked" },
  answer: { sent: "plan", isStored: true, causes: "answered" },
  lock: {
    sent: { lots: 1, make: ({ me }) => ({ type: "lock", index: null, ...me }) },
    guarantees: ({ round }, { index }) =>
      index === null || (round !== null && (round.index > index || !round.isOpen)),
  },
  next: {
    sent: "plan",
    // The last one ends the game instead, and a repeated one finds the question open.
    mayCause: "question_opened",
    guarantees: ({ round }, { index }) => index === null || (round !== null && round.index > index),
  },
  plan_batch: {
    sent: {
      lots: 1,
      may: ({ isHost }) => isHost,
      make: by("plan_batch"),
    },
  },
  reveal: { sent: { lots: 1, make: by("reveal") } },
  heartbeat: { sent: { lots: 1, make: by("heartbeat") } },
  leave: {
    sent: {
      lots: 1,
      // A host who leaves ends the lobby, as do the commands below.
      may: ({ isHost, random }) => !isHost || random.is(0.3),
      make: by("leave"),
    },
    guarantees: (lobby, _, seatId) => !hasSeat(lobby, seatId),
  },
  end: {
    sent: {
      lots: 1,
      may: ({ isHost, random }) => isHost && random.is(0.3),
      make: by("end"),
    },
    guarantees: isOver,
  },
  operator_end: {
    sent: {
      lots: 1,
      may: ({ random }) => random.is(0.1),
      make: () => ({ type: "operator_end" }),
    },
    guarantees: isOver,
  },
  results: {
    sent: { lots: 1, may: ({ isHost }) => isHost, make: by("results") },
  },
  kick: {
    sent: {
      lots: 1,
      may: ({ isHost, lobby }) => isHost && lobby.seats.length > 0,
      make: ({ me, lobby, random }) => ({
        type: "kick",
        seatId: random.pick(lobby.seats).id,
        ban: random.is(0.5),
        ...me,
      }),
    },
    isStored: true,
    guarantees: (lobby, { seatId }) => !hasSeat(lobby, seatId),
  },
  add_questions: { sent: "runtime" },
  tick: { sent: "runtime" },
  result_queued: { sent: "runtime" },
};

const lots = Object.values(commands).flatMap(({ sent }): AtAnyTime[] =>
  typeof sent === "string" ? [] : Array.from({ length: sent.lots }, () => sent),
);

/** Any command that the client may send. */
export const anyCommand = (moment: Moment): LobbyCommand =>
  moment.random.pick(lots.filter(({ may }) => may?.(moment) ?? true)).make(moment);

/** The type of command in a command id of the runtime, such as "c.pick.10-1". */
const typeIn = (id: string) => id.split(".")[1] ?? "";

const counted = new Map<string, { event: LobbyEvent["type"]; isExact: boolean }>(
  Object.entries(commands).flatMap(([type, { causes, mayCause }]) => {
    const event = causes ?? mayCause;
    return event ? [[type, { event, isExact: causes !== undefined }]] : [];
  }),
);

/** Events whose number must match that of the successful commands that cause them. */
export const countedEvents = [...counted.values()];

/** The counted event that this command causes; null: none. */
export const eventOf = (id: string): LobbyEvent["type"] | null =>
  counted.get(typeIn(id))?.event ?? null;

export const isAlwaysStored = ({ type }: LobbyCommand): boolean => commands[type].isStored ?? false;

/** Whether what a success of this command guarantees is true of the lobby. */
export function isTrueAfter<T extends Type>(
  type: T,
  command: CommandOf<T>,
  { lobby, seatId }: { lobby: Lobby | null; seatId: number },
): boolean {
  if (!lobby || lobby.status === "finished") return lobby !== null;
  return commands[type].guarantees?.(lobby, command, seatId) ?? true;
}
