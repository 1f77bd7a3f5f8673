import type { ProcessEvent } from "../platform/process-event.ts";

/** Questions between the processes with a subject; answers are plain JSON. */
export interface QuestionSubjects {
  /** Names of the metrics that are wanted; default: all. */
  metrics: readonly string[] | undefined;
  room: RoomQuestion;
  subscribers: SubscribersQuestion;
  /** Each process answers for the rooms it owns, as `HeldSeat`. */
  seats: readonly SeatQuestion[];
  drain: DrainQuestion;
  /** To the primary, which asks the primaries of all instances; answers: `FleetAnswer[]`. */
  fleet: AllQuestion;
  /** An order to a process with Postgres: store these events. It answers true once they are stored. */
  events: readonly ProcessEvent[];
}

export type Question =
  | "processes"
  | "rooms"
  | "moderation"
  | "pulse"
  | "stores"
  /** What a process reports of itself: `ProcessFigures`. */
  | "figures"
  /** To the primary of another instance: whether it takes the rooms of a worker that drains. */
  | "successor"
  | keyof QuestionSubjects;

export type SubjectOf<Q extends Question> = Q extends keyof QuestionSubjects
  ? QuestionSubjects[Q]
  : undefined;

export interface RoomQuestion {
  kind: string;
  code: string;
  /** Instance id of the process that reads the room; null: its owner. */
  reader: string | null;
}

/** How many streams follow these rooms. */
export interface SubscribersQuestion {
  kind: string;
  codes: readonly string[];
}

/** Whether a seat exists. */
export interface SeatQuestion {
  kind: string;
  code: string;
  seatId: number;
}

export interface HeldSeat extends SeatQuestion {
  /** Null if the kind does not know. */
  isHeld: boolean | null;
}

/** An order to the primary: drain the HTTP worker of this slot. */
export interface DrainQuestion {
  index: number;
  /** Instance id of the primary of the worker; default: this one. */
  instance?: string | undefined;
}

/**
 * `last`: no other HTTP worker is ready, nor another instance. `instance_unreachable`: the other instance has certainly
 * not received the order. `unconfirmed`: it has not answered, and may drain the worker all the same.
 */
export const drainAnswers = [
  "draining",
  "not_found",
  "not_ready",
  "last",
  "instance_not_found",
  "instance_unreachable",
  "unconfirmed",
] as const;
export type DrainAnswer = (typeof drainAnswers)[number];

/** A question to the primaries of all instances, each of which answers as it does to its own processes. */
export interface AllQuestion {
  question: "processes" | "rooms" | "room" | "subscribers" | "seats" | "figures";
  about?: unknown;
}

export interface FleetAnswer {
  /** Instance id of the primary. */
  instance: string;
  host: string;
  /** Null: it did not answer in time. */
  answer: unknown;
}

/** The answer of a process to "figures". */
export interface ProcessFigures {
  /** Its instance id. */
  process: string;
  memoryBytes: number;
  /** Lag of its event loop since it was last asked; null if it is not known. */
  loopLagMs: number | null;
  numStreams: number;
  /** In memory. */
  numRooms: number;
}

export interface AskMessage {
  type: "ask";
  id: number;
  question: Question;
  /** The `SubjectOf` the question. */
  about?: unknown;
}

export interface AnswerMessage {
  type: "answer";
  id: number;
  value: unknown;
}

/** Questions to the process at the other end of an IPC channel. */
export class Questions {
  readonly #send: (message: AskMessage) => void;
  readonly #maxPending: number;
  readonly #pending = new Map<number, (value: unknown) => void>();
  #lastId = 0;

  constructor(send: (message: AskMessage) => void, maxPending: number) {
    this.#send = send;
    this.#maxPending = maxPending;
  }

  /** Null if no answer arrives in time, or too many questions are pending. */
  ask(question: Question, timeoutMs: number, about?: unknown): Promise<unknown> {
    if (this.#pending.size >= this.#maxPending) return Promise.resolve(null);
    const id = (this.#lastId += 1);
    return new Promise((resolve) => {
      const finish = (value: unknown) => {
        clearTimeout(timer);
        this.#pending.delete(id);
        resolve(value);
      };
      const timer = setTimeout(finish, timeoutMs, null);
      this.#pending.set(id, finish);
      this.#send({ type: "ask", id, question, about });
    });
  }

  receive({ id, value }: AnswerMessage): void {
    this.#pending.get(id)?.(value);
  }
}
