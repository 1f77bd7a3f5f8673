import type { Decision as ActorDecision } from "../rules.ts";

/** State, commands and events of a lobby. State is plain JSON; times are milliseconds since the epoch. */

export type Mode = "coop" | "versus";
export type Visibility = "public" | "private";
export type Status = "waiting" | "in_progress" | "finished";
export type ClosedBy = "all_answered" | "lock" | "timer" | "next";
/** `away`: a seat that yielded to a new player (LOB-30). */
export type RemovalReason = "left" | "kicked" | "away";
export type EndReason =
  "completed" | "host_ended" | "host_left" | "host_timeout" | "idle" | "operator";

/** Times from the configuration, fixed at the creation of the lobby (CFG-01). */
export interface Timings {
  staleMs: number;
  /** From the disconnect to the end of the host's lobby, or until another seat may be taken (LOB-19, LOB-30). */
  hostGraceMs: number;
  minQuestionMs: number;
}

/** Settings of the host, with their wire names (LOB-22, LOB-23). */
export interface Settings {
  category: string | null;
  selected_categories: string[];
  difficulty: string | null;
  prompt: string | null;
  blend: boolean;
  review: boolean;
  /** Seconds. */
  timer: number;
  /** null = endless (LOB-20). */
  num_questions: number | null;
  visibility: Visibility;
  mode: Mode;
}

export type SettingsChange = Partial<Omit<Settings, "category">>;

/** A drawn question including its secret, which only `snapshot.ts` may publish. */
export interface DrawnQuestion {
  id: number;
  category: string;
  difficulty: string;
  text: string;
  choices: string[];
  correctIndex: number;
  explanation: string;
  estimatedRate: number;
  isCached: boolean;
  /** Number of answers recorded before this lobby (TRV-06). */
  numServed: number;
  numCorrect: number;
  /**
   * Commitment to the correct answer, made when the question is drawn: hex SHA-256 of salt, id, index and
   * text of the correct choice, each on a line. Absent in a lobby stored by an earlier version.
   */
  answerHash?: string;
  /** Secret until the reveal, after which everyone can verify the hash. */
  answerSalt?: string;
  /**
   * XP of a correct answer for players who had answered the question before the draw; others get the full
   * XP (TRV-11).
   */
  xpOfKnown?: Record<number, number>;
}

export interface Seat {
  /** Unique over all lobbies (LOB-08). */
  id: number;
  name: string;
  /** Absent in a seat stored by an earlier version. */
  nameSkeleton?: string;
  isHost: boolean;
  /** Platform player bound to the seat, or null for an anonymous one (LOB-01). */
  accountId: number | null;
  avatarUrl: string | null;
  score: number;
  streak: number;
  bestStreak: number;
  numCorrect: number;
  isConnected: boolean;
  /** Since when it was last not connected; absent before, and in a seat stored by an earlier version. */
  disconnectedAt?: number;
  joinedAt: number;
  /** Time of the last command or heartbeat (LOB-19). */
  lastSeenAt: number;
}

/** A pick (co-op, tentative) or an answer (versus, final) to the open question. */
export interface Choice {
  seatId: number;
  /** 0-3, or -1 for a timeout sent by the client. */
  selectedIndex: number;
  at: number;
  /** The time claimed by the client; null without a claim (co-op picks). */
  claimedMs: number | null;
}

export interface AnswerResult {
  seatId: number;
  selectedIndex: number;
  isCorrect: boolean;
  pointsEarned: number;
  xpGained: number;
  /** XP at a first answer to this question, if that is more (TRV-11). */
  xpWhole?: number;
  /** Answer time for scoring (SCO-04). */
  timeTakenMs: number;
  /** Totals of the seat after this answer. */
  score: number;
  streak: number;
}

/** A played question with its results; the last entry is the current question once it is closed. */
export interface PlayedQuestion {
  index: number;
  questionId: number;
  startedAt: number;
  closedAt: number;
  closedBy: ClosedBy;
  results: AnswerResult[];
}

/** The open or most recently closed question. */
export interface Round {
  index: number;
  startedAt: number;
  /** startedAt + timer; the server closes it `graceMs` later (LOB-07). */
  endsAt: number;
  isOpen: boolean;
  /** In the order of the answers; in co-op, of the picks (LOB-09). */
  choices: Choice[];
  /** Versus answers are scored immediately and shown to others at the reveal. */
  results: AnswerResult[];
}

export interface Lobby {
  id: number;
  code: string;
  realm: string;
  status: Status;
  settings: Settings;
  /** Increases with every change of the settings; a start carries the revision it drew for. */
  settingsRevision: number;
  maxPlayers: number;
  timings: Timings;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  endReason: EndReason | null;
  /** Time of the last command or join (LOB-21). */
  lastCommandAt: number;
  seats: Seat[];
  /** Seats that left or were removed after the start, kept for the result sheet. */
  formerSeats: Seat[];
  bannedAccounts: number[];
  bannedSeats: number[];
  /** A start is preparing questions until this time (LOB-24). */
  preparingUntil: number | null;
  questions: DrawnQuestion[];
  /** Endless: a batch is pending until this time (LOB-20). */
  fetchingUntil: number | null;
  /** Endless: no further questions can be produced. */
  isExhausted: boolean;
  round: Round | null;
  played: PlayedQuestion[];
  hostDisconnect: { since: number; endsAt: number } | null;
  /** Reveals requested by anyone are merged to one per second (LOB-15). */
  lastRevealAt: number;
  isRevealPending: boolean;
  /** Sequence number of the last published event (HUB-03). */
  seq: number;
  /** True until the result sheet is in the job queue (LOB-27). */
  isResultPending: boolean;
  /** Streams without a seat, as last published (HUB-08); absent in a lobby stored by an earlier version. */
  spectatorCount?: number;
  spectatorsToldAt?: number;
}

/** Sender of a command: a seat by its lobby token, else a player by the bearer token (LOB-01). */
export interface LobbyCaller {
  seatId: number | null;
  playerId: number | null;
  /** Seat of the token in the cookie, used last. */
  cookieSeatId?: number | null;
}

export interface NewSeat {
  id: number;
  name: string;
  /** Confusable skeleton of the name (UTS 39): names with the same skeleton count as equal. */
  nameSkeleton?: string;
  accountId: number | null;
  avatarUrl: string | null;
}

/** Initial data of a lobby. */
interface Founding {
  id: number;
  code: string;
  realm: string;
  settings: Settings;
  maxPlayers: number;
  timings: Timings;
  host: NewSeat;
}

interface Asked {
  by: LobbyCaller;
}

/** All commands of a lobby. The mailbox adds `now`. */
export type LobbyCommand =
  | ({ type: "create" } & Founding)
  | ({ type: "read" } & Asked)
  | ({ type: "join"; seat: NewSeat } & Asked)
  | ({ type: "settings"; changes: SettingsChange } & Asked)
  /** First half of a start: validates, locks out a second start, answers what to draw. */
  | ({ type: "prepare" } & Asked)
  /**
   * Second half: the questions drawn for `revision`. If the revision has changed, answers `{is_stale:
   * true}`.
   */
  | ({ type: "start"; revision: number; questions: DrawnQuestion[] } & Asked)
  /** The questions could not be drawn; the lobby stays waiting. */
  | ({ type: "abandon_start" } & Asked)
  /** A heartbeat of a seat (LOB-19). `isFollowUp`: not stored if the previous sign of the seat is only seconds old. */
  | ({ type: "check_seat"; isFollowUp?: true } & Asked)
  /** Whether anyone may watch. Answers the lobby; a private one counts as unknown (HUB-08). */
  | { type: "spectate" }
  /** A process reports its number of spectators; the runtime adds the `sum` of all reports. */
  | { type: "spectators"; worker: string; count: number; sum?: number }
  | ({ type: "pick"; selectedIndex: number; index: number | null } & Asked)
  | ({ type: "answer"; selectedIndex: number; claimedMs: number; index: number | null } & Asked)
  | ({ type: "lock"; index: number | null } & Asked)
  | ({ type: "next"; index: number | null } & Asked)
  /** Endless: the draw that `next` has to wait for. */
  | ({ type: "plan_batch" } & Asked)
  | ({ type: "reveal" } & Asked)
  | ({ type: "heartbeat" } & Asked)
  | ({ type: "leave" } & Asked)
  | ({ type: "end" } & Asked)
  /** The result sheet of a finished lobby, for its host. */
  | ({ type: "results" } & Asked)
  | ({ type: "kick"; seatId: number; ban: boolean } & Asked)
  | { type: "operator_end" }
  /** Endless: the next batch; an empty one exhausts the lobby. */
  | { type: "add_questions"; firstIndex: number; questions: DrawnQuestion[] }
  /** A deadline may be due; `spectators` is the sum of the last reports. */
  | { type: "tick"; spectators?: number }
  /** The result job is in the queue. */
  | { type: "result_queued" };

export type CommandOf<T extends LobbyCommand["type"]> = Extract<LobbyCommand, { type: T }>;

/** The events that `evolve` folds and the journal stores. */
export type LobbyEvent =
  | ({ type: "created"; at: number } & Founding)
  | { type: "joined"; at: number; seat: NewSeat }
  | { type: "settings_changed"; at: number; changes: SettingsChange }
  | { type: "preparing"; at: number; until: number }
  | { type: "prepare_abandoned"; at: number }
  | { type: "started"; at: number; questions: DrawnQuestion[] }
  | { type: "picked"; at: number; seatId: number; selectedIndex: number }
  | { type: "answered"; at: number; choice: Choice; result: AnswerResult }
  | { type: "question_closed"; at: number; closedBy: ClosedBy; results: AnswerResult[] }
  | { type: "question_opened"; at: number; index: number }
  /** POST reveal: publishes a snapshot now, or marks one as pending until the end of the second. */
  | { type: "reveal_published"; at: number }
  | { type: "reveal_owed"; at: number }
  /** Activity of a seat; `isCommand` for a command without any other event (LOB-21). */
  | { type: "seen"; at: number; seatId: number; isCommand?: true }
  | { type: "disconnected"; at: number; seatId: number }
  | { type: "host_disconnect_set"; at: number; endsAt: number }
  | { type: "host_disconnect_cleared"; at: number }
  | { type: "removed"; at: number; seatId: number; reason: RemovalReason; ban: boolean }
  | { type: "fetching"; at: number; until: number }
  | { type: "questions_added"; at: number; questions: DrawnQuestion[] }
  | { type: "spectators_counted"; at: number; count: number }
  | { type: "finished"; at: number; reason: EndReason }
  | { type: "result_queued"; at: number };

export type EventOf<T extends LobbyEvent["type"]> = Extract<LobbyEvent, { type: T }>;

/** The answer to the caller once the events are committed; `snapshot.ts` makes the bodies. */
export type Answer =
  | { type: "none" }
  | { type: "ok" }
  | { type: "lobby" }
  | { type: "lobby_and_player"; seatId: number | null }
  | { type: "player"; seatId: number }
  | { type: "result"; seatId: number }
  | { type: "plan" }
  | { type: "sheet" }
  | { type: "stale_start" };

export type Decision = ActorDecision<LobbyEvent, Answer>;

/** The draw for a start or a batch, answered by `prepare` and `plan_batch` and requested by `fetching`. */
export interface DrawPlan {
  revision: number;
  category: string | null;
  selected_categories: string[];
  difficulty: string | null;
  prompt: string | null;
  blend: boolean;
  /** Number of questions to draw. */
  count: number;
  /** Players bound to seats; questions they have not seen come first (LOB-24). */
  player_ids: number[];
  /** Questions already drawn in this lobby. */
  exclude_ids: number[];
  /** Index that the first drawn question will have. */
  first_index: number;
}
