import type { Decision as ActorDecision } from "../runtime/definition.ts";

/** The vocabulary of a lobby. State is plain JSON; times are milliseconds since the epoch. */

export type Mode = "coop" | "versus";
export type Visibility = "public" | "private";
export type Status = "waiting" | "in_progress" | "finished";
export type ClosedBy = "all_answered" | "lock" | "timer" | "next";
export type EndReason =
  "completed" | "host_ended" | "host_left" | "host_timeout" | "idle" | "operator";

/** Times that come from configuration, fixed when the lobby is made (CFG-01). */
export interface Timings {
  staleMs: number;
  hostGraceMs: number;
  minQuestionMs: number;
}

/** What the host may set; names are the wire's (LOB-22, LOB-23). */
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

/** A drawn question with its secret; leaves the state only through `snapshot.ts`. */
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
  /** Recorded answers before this lobby (TRV-06). */
  numServed: number;
  numCorrect: number;
  /**
   * Commitment to the right answer, made when the question is drawn: hex SHA-256 of salt, id, index and
   * text of the right choice, each on a line. A lobby stored by an earlier version has none.
   */
  answerHash?: string;
  /** Secret until the reveal, which lets everyone check the hash. */
  answerSalt?: string;
  /** XP of a right answer of players who had answered the question before it was drawn; of others it is whole (TRV-11). */
  xpOfKnown?: Record<number, number>;
}

export interface Seat {
  /** Unique over all lobbies (LOB-08). */
  id: number;
  name: string;
  /** Of a seat; one stored by an earlier version has none. */
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
  joinedAt: number;
  /** Last command or heartbeat (LOB-19). */
  lastSeenAt: number;
}

/** A pick (co-op, tentative) or an answer (versus, final) to the open question. */
export interface Choice {
  seatId: number;
  /** 0-3, or -1 for a timeout sent by the client. */
  selectedIndex: number;
  at: number;
  /** As claimed by the client; null when it said nothing (co-op picks). */
  claimedMs: number | null;
}

export interface AnswerResult {
  seatId: number;
  selectedIndex: number;
  isCorrect: boolean;
  pointsEarned: number;
  xpGained: number;
  /** What it would have been at the first answer to this question, where it is less (TRV-11). */
  xpWhole?: number;
  /** Time used for points (SCO-04). */
  timeTakenMs: number;
  /** Seat totals after this answer. */
  score: number;
  streak: number;
}

/** One question as it was played; the last entry belongs to the current question once it is closed. */
export interface PlayedQuestion {
  index: number;
  questionId: number;
  startedAt: number;
  closedAt: number;
  closedBy: ClosedBy;
  results: AnswerResult[];
}

/** The open or just closed question. */
export interface Round {
  index: number;
  startedAt: number;
  /** startedAt + timer; the server closes it `graceMs` later (LOB-07). */
  endsAt: number;
  isOpen: boolean;
  /** In order of answering; in co-op of picking (LOB-09). */
  choices: Choice[];
  /** Versus answers are scored when given and shown to others at the reveal. */
  results: AnswerResult[];
}

export interface Lobby {
  id: number;
  code: string;
  realm: string;
  status: Status;
  settings: Settings;
  /** Grows with every settings change; a start carries the one it drew for. */
  settingsRevision: number;
  maxPlayers: number;
  timings: Timings;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
  endReason: EndReason | null;
  /** Last command or join (LOB-21). */
  lastCommandAt: number;
  seats: Seat[];
  /** Seats that left or were kicked after the start, kept for the result sheet. */
  formerSeats: Seat[];
  bannedAccounts: number[];
  bannedSeats: number[];
  /** A start is preparing questions until this time (LOB-24). */
  preparingUntil: number | null;
  questions: DrawnQuestion[];
  /** Endless: a batch was asked for and has not come until this time (LOB-20). */
  fetchingUntil: number | null;
  /** Endless: no further questions can be produced. */
  isExhausted: boolean;
  round: Round | null;
  played: PlayedQuestion[];
  hostDisconnect: { since: number; endsAt: number } | null;
  /** Reveals asked for by anyone are merged to one a second (LOB-15). */
  lastRevealAt: number;
  isRevealPending: boolean;
  /** Number of the last published event (HUB-03). */
  seq: number;
  /** The result sheet still has to be handed to the job queue (LOB-27). */
  isResultPending: boolean;
  /** Streams without a seat, as last published (HUB-08); a lobby stored by an earlier version has none. */
  spectatorCount?: number;
  spectatorsToldAt?: number;
}

/** Who sends a command: a seat by its lobby token, else a player by the bearer token (LOB-01). */
export interface LobbyCaller {
  seatId: number | null;
  playerId: number | null;
  /** Seat of the token in the cookie, asked last. */
  cookieSeatId?: number | null;
}

export interface NewSeat {
  id: number;
  name: string;
  /** What the name looks like (UTS 39): names of one skeleton are not told apart. */
  nameSkeleton?: string;
  accountId: number | null;
  avatarUrl: string | null;
}

/** What a lobby begins with. */
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

/** Everything that can be asked of a lobby. `now` is added by the mailbox. */
export type LobbyCommand =
  | ({ type: "create" } & Founding)
  | ({ type: "read" } & Asked)
  | ({ type: "join"; seat: NewSeat } & Asked)
  | ({ type: "settings"; changes: SettingsChange } & Asked)
  /** First half of a start: checks, locks out a second start, answers what to draw. */
  | ({ type: "prepare" } & Asked)
  /** Second half: the questions drawn for `revision`; a moved revision answers `{is_stale: true}`. */
  | ({ type: "start"; revision: number; questions: DrawnQuestion[] } & Asked)
  /** The questions could not be drawn; the lobby stays waiting. */
  | ({ type: "abandon_start" } & Asked)
  | ({ type: "check_seat" } & Asked)
  /** May anyone watch? Answers the lobby; a private one is as good as unknown (HUB-08). */
  | { type: "spectate" }
  /** A process says how many spectators it has; the runtime makes one `sum` of what all have said. */
  | { type: "spectators"; worker: string; count: number; sum?: number }
  | ({ type: "pick"; selectedIndex: number; index: number | null } & Asked)
  | ({ type: "answer"; selectedIndex: number; claimedMs: number; index: number | null } & Asked)
  | ({ type: "lock"; index: number | null } & Asked)
  | ({ type: "next"; index: number | null } & Asked)
  /** Endless: what to draw at once so that `next` can go on. */
  | ({ type: "plan_batch" } & Asked)
  | ({ type: "reveal" } & Asked)
  | ({ type: "heartbeat" } & Asked)
  | ({ type: "leave" } & Asked)
  | ({ type: "end" } & Asked)
  /** The result sheet of a finished lobby, for its host. */
  | ({ type: "results" } & Asked)
  | ({ type: "kick"; seatId: number; ban: boolean } & Asked)
  | { type: "operator_end" }
  /** Endless: the next batch, possibly empty (then the lobby is exhausted). */
  | { type: "add_questions"; firstIndex: number; questions: DrawnQuestion[] }
  /** A deadline may be due; `spectators` is the sum of what the processes last said. */
  | { type: "tick"; spectators?: number }
  /** The result job is in the queue. */
  | { type: "result_queued" };

/** What happened; `evolve` folds these, the journal stores these. */
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
  /** POST reveal: publish a snapshot now, or mark one as owed at the end of the second. */
  | { type: "reveal_published"; at: number }
  | { type: "reveal_owed"; at: number }
  /** A sign of life; `isCommand` of a command that no other event tells of (LOB-21). */
  | { type: "seen"; at: number; seatId: number; isCommand?: true }
  | { type: "disconnected"; at: number; seatId: number }
  | { type: "host_disconnect_set"; at: number; endsAt: number }
  | { type: "host_disconnect_cleared"; at: number }
  | { type: "removed"; at: number; seatId: number; reason: "left" | "kicked"; ban: boolean }
  | { type: "fetching"; at: number; until: number }
  | { type: "questions_added"; at: number; questions: DrawnQuestion[] }
  | { type: "spectators_counted"; at: number; count: number }
  | { type: "finished"; at: number; reason: EndReason }
  | { type: "result_queued"; at: number };

/** What the caller gets once the events are committed; bodies are made by `snapshot.ts`. */
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

/** What a start or a batch has to draw, answered by `prepare` and `plan_batch`, and asked for by `fetching`. */
export interface DrawPlan {
  revision: number;
  category: string | null;
  selected_categories: string[];
  difficulty: string | null;
  prompt: string | null;
  blend: boolean;
  /** How many questions to draw now. */
  count: number;
  /** Players bound to seats; their unseen questions come first (LOB-24). */
  player_ids: number[];
  /** Already drawn in this lobby. */
  exclude_ids: number[];
  /** Index the first drawn question will have. */
  first_index: number;
}

/** One server-sent event of a lobby, before it is encoded (HUB-03, HUB-04). */
export interface LobbyMessage {
  type:
    | "lobby.player_joined"
    | "lobby.settings"
    | "lobby.started"
    | "lobby.answer"
    | "lobby.pick"
    | "lobby.reveal"
    | "lobby.question"
    | "lobby.host_disconnect"
    | "lobby.player_removed"
    | "lobby.spectators"
    | "lobby.ended";
  data: Record<string, unknown>;
}
