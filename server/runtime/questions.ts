import type { ProcessEvent } from "../platform/process-event.ts";

/** Questions between the processes with a subject; answers are plain JSON. */
export interface QuestionSubjects {
  room: RoomQuestion;
  subscribers: SubscribersQuestion;
  /** Each process answers for the rooms it owns, as `HeldSeat`. */
  seats: readonly SeatQuestion[];
  drain: DrainQuestion;
  /** An order to a process with Postgres: store these events. It answers true once they are stored. */
  events: readonly ProcessEvent[];
}

export type Question =
  "metrics" | "processes" | "rooms" | "moderation" | "pulse" | "stores" | keyof QuestionSubjects;

export type SubjectOf<Q extends Question> = Q extends keyof QuestionSubjects
  ? QuestionSubjects[Q]
  : undefined;

export interface RoomQuestion {
  kind: string;
  code: string;
  /** Pid of the process that reads the room; null: its owner. */
  reader: number | null;
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
}

/** `last`: no other HTTP worker is ready. */
export type DrainAnswer = "draining" | "not_found" | "not_ready" | "last";

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
