// Types of the OpenAPI document, by `npm run client:types`.

export interface Player {
  id: number;
  name: string;
  is_host: boolean;
  account_id: number | null;
  avatar_url: string | null;
  score: number;
  streak: number;
  best_streak: number;
  num_correct: number;
  is_connected: boolean;
  has_answered: boolean;
  /** ISO 8601, YYYY-MM-DDTHH:MM:SS+00:00 */
  joined_at: string;
}

export interface Question {
  id: number;
  type: "multiple_choice";
  category: string;
  difficulty: string;
  question: string;
  payload: {
    choices: string[];
    estimated_rate: number;
  };
  is_cached: boolean;
  /** hex SHA-256 of `<answer_salt>\n<id>\n<correct_index>\n<text of the correct choice>`; the reveal contains the salt */
  answer_hash: string | null;
  index: number;
  started_at_ms: number;
  ends_at_ms: number;
}

export interface Reveal {
  question_id: number;
  index: number;
  correct_index: number;
  /** proves `answer_hash` of the question */
  answer_salt: string | null;
  explanation: string;
  correct_rate: number;
  num_served: number;
  results: Result[];
  closed_by: "all_answered" | "lock" | "timer" | "next";
}

/** The answer of one seat; `selected_index` is -1 for a timeout. */
export interface Result {
  player_id: number;
  selected_index: number;
  is_correct: boolean;
  points_earned: number;
  time_taken_ms: number;
  score: number;
  streak: number;
}

export interface Lobby {
  id: number;
  code: string;
  host_name: string;
  category: string | null;
  difficulty: string | null;
  prompt: string | null;
  selected_categories: string[];
  blend: boolean;
  review: boolean;
  timer: number;
  /** questions of the game: after the start those drawn; null means endless (LOB-29) */
  num_questions: number | null;
  /** questions asked for by the settings; null means endless (LOB-29) */
  num_questions_requested: number | null;
  is_endless: boolean;
  status: "waiting" | "in_progress" | "finished";
  visibility: "public" | "private";
  mode: "coop" | "versus";
  max_players: number;
  current_index: number;
  /** ISO 8601, YYYY-MM-DDTHH:MM:SS+00:00 */
  created_at: string;
  /** ISO 8601, YYYY-MM-DDTHH:MM:SS+00:00 */
  started_at: string | null;
  /** ISO 8601, YYYY-MM-DDTHH:MM:SS+00:00 */
  finished_at: string | null;
  current_question_started_at_ms: number | null;
  server_now_ms: number;
  players: Player[];
  current_question: Question | null;
  answered_player_ids: number[];
  host_disconnect: {
    since_ms: number;
    ends_at_ms: number;
  } | null;
  reveal: Reveal | null;
  /** streams without a seat (HUB-08) */
  spectator_count: number;
  seq: number;
  hub: HubAddress;
  /** of a finished lobby with `review` (LOB-23) */
  review_items?: ReviewItem[];
}

/** A closed question with its correct answer and the answers of all seats. */
export interface ReviewItem {
  index: number;
  question: CatalogQuestion;
  answer_hash: string | null;
  /** proves `answer_hash` of the question */
  answer_salt: string | null;
  closed_by: "all_answered" | "lock" | "timer" | "next";
  results: Result[];
}

export interface CatalogQuestion {
  id: number;
  type: "multiple_choice";
  category: string;
  difficulty: string;
  question: string;
  answers: string[];
  correct_index: number;
  explanation: string;
}

export interface SeatRef {
  id: number;
  name: string;
  is_host: boolean;
}

/** The result that the answering seat of a versus game receives before the reveal. */
export interface AnswerResult {
  is_correct: boolean;
  answer: number;
  explanation: string;
  correct_rate: number;
  num_served: number;
  /** less for a question answered before the game */
  xp_gained: number;
  points_earned: number;
  score: number;
  streak: number;
  best_streak: number;
  is_question_closed: boolean;
}

export interface HubAddress {
  url: string;
  topic: string;
}

/** A lobby as seen by one seat. */
export interface SeatView {
  lobby: Lobby;
  player: SeatRef | null;
  /** for a seat in co-op while a question is open: all current picks */
  picks?: {
    player_id: number;
    selected_index: number;
  }[];
}

export interface NewLobby {
  /** 1 to 64 visible characters of one script after trimming (Latin may be mixed with Chinese, Japanese and Korean) */
  hostName: string;
  category?: string | null;
  /** seconds; 30 when null (LOB-07) */
  timer?: number | null;
  /** null means endless */
  numQuestions?: number | null;
  visibility?: "public" | "private";
  mode?: "coop" | "versus";
  maxPlayers?: number;
  difficulty?: string | null;
  /** letters, digits, spaces and . , ! ? ' - : ; ( ) / " alone */
  prompt?: string | null;
}

export interface Settings {
  difficulty?: string | null;
  /** letters, digits, spaces and . , ! ? ' - : ; ( ) / " alone */
  prompt?: string | null;
  selected_categories?: string[];
  /** seconds; 30 when null (LOB-07) */
  timer?: number | null;
  blend?: boolean;
  review?: boolean;
  num_questions?: number | null;
  visibility?: "public" | "private";
  mode?: "coop" | "versus";
}

/** Data of each lobby event. */
export interface LobbyEventData {
  "lobby.snapshot": {
    lobby: Lobby;
  };
  "lobby.player_joined": {
    player: Player | null;
    lobby: Lobby;
  };
  "lobby.settings": {
    changes: {
      difficulty?: string | null;
      /** letters, digits, spaces and . , ! ? ' - : ; ( ) / " alone */
      prompt?: string | null;
      selected_categories?: string[];
      /** seconds; 30 when null (LOB-07) */
      timer?: number | null;
      blend?: boolean;
      review?: boolean;
      num_questions?: number | null;
      visibility?: "public" | "private";
      mode?: "coop" | "versus";
    };
    lobby: Lobby;
  };
  "lobby.started": {
    lobby: Lobby;
  };
  "lobby.answer": {
    player_id: number;
    answered_player_ids: number[];
  };
  "lobby.pick": {
    player_id: number;
    selected_index: number;
  };
  "lobby.reveal": {
    reveal: Reveal | null;
    lobby: Lobby;
  };
  "lobby.question": {
    lobby: Lobby;
  };
  "lobby.host_disconnect": {
    host_disconnect: {
      since_ms: number;
      ends_at_ms: number;
    } | null;
  };
  "lobby.player_removed": {
    player_id: number;
    reason: "left" | "kicked" | "away";
    lobby: Lobby;
  };
  "lobby.spectators": {
    spectator_count: number;
  };
  "lobby.ended": {
    reason: "completed" | "host_ended" | "host_left" | "host_timeout" | "idle" | "operator";
    lobby: Lobby;
  };
  "lobby.gap": Record<string, never>;
}
