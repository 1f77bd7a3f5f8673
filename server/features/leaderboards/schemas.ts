import Type from "typebox";
import { globalTabs, teamTabs } from "./domain/families.ts";
import { Id } from "../../platform/schemas.ts";

/** Maximum page number: ten million entries at one a page. */
const maxPage = 10_000_000;
const Page = Type.Integer({ minimum: 1, maximum: maxPage, default: 1 });
const Limit = Type.Integer({ minimum: 1, maximum: 100, default: 20 });
const Search = Type.Optional(
  Type.String({
    minLength: 2,
    maxLength: 256,
    description:
      "part of a player name, ignoring case and accents; refused as too short if there are over 1,000 matches on the leaderboard or 2,000 players, or the search takes over 120 ms",
  }),
);

export const GlobalQuery = Type.Object({
  tab: Type.Enum([...globalTabs], { default: "score" }),
  limit: Limit,
  page: Page,
  search: Search,
});

export const ChallengeParams = Type.Object({
  challengeId: Id,
});

export const ChallengeQuery = Type.Object({
  top: Type.Integer({ minimum: 1, maximum: 100, default: 5 }),
  radius: Type.Integer({ minimum: 0, maximum: 10, default: 4 }),
  page: Page,
  search: Search,
});

export const TeamQuery = Type.Object({
  metric: Type.Enum([...teamTabs], { default: "score" }),
  limit: Limit,
  page: Page,
});

const paging = {
  total: Type.Integer({ description: "number of entries, or of matches of a search" }),
  page: Type.Integer(),
  has_more: Type.Boolean(),
};

export const GlobalEntry = Type.Object(
  {
    rank: Type.Integer({ description: "equal values share a rank: 1, 2, 2, 4" }),
    rank_prev: Type.Integer({
      description: "rank at the latest snapshot, 00:00 UTC; without one, the current rank",
    }),
    player_id: Type.Integer(),
    name: Type.String(),
    value: Type.Integer({ description: "value of the tab; accuracy in percent, rounded" }),
    total_score: Type.Integer(),
    total_xp: Type.Integer(),
    total_answers: Type.Integer(),
    accuracy: Type.Integer(),
    best_streak: Type.Integer(),
    level: Type.Integer(),
    is_player: Type.Boolean({ description: "the caller" }),
    is_guest: Type.Boolean(),
    avatar_v: Type.Integer(),
  },
  { title: "BoardEntry" },
);

export const GlobalLeaderboard = Type.Object({
  entries: Type.Array(GlobalEntry),
  ...paging,
  player_rank: Type.Union([
    Type.Object({ rank: Type.Integer(), value: Type.Integer() }),
    Type.Null(),
  ]),
});

export const ChallengeEntry = Type.Object(
  {
    rank: Type.Integer({
      description: "1, 2, 3, …: ties are decided by less time, then by the earlier finish",
    }),
    player_id: Type.Integer(),
    name: Type.String(),
    score: Type.Integer(),
    num_correct: Type.Integer(),
    best_streak: Type.Integer(),
    total_time_ms: Type.Integer(),
    is_player: Type.Boolean({ description: "the caller" }),
  },
  { title: "ChallengeBoardEntry" },
);

export const ChallengeLeaderboard = Type.Object({
  top: Type.Array(ChallengeEntry),
  context: Type.Array(ChallengeEntry, { description: "the caller and the neighbours" }),
  player_rank: Type.Union([Type.Integer(), Type.Null()]),
  ...paging,
});

export const TeamLeaderboard = Type.Object({
  entries: Type.Array(
    Type.Object(
      {
        rank: Type.Integer(),
        team_id: Type.Integer(),
        name: Type.String(),
        value: Type.Integer(),
      },
      { title: "TeamBoardEntry" },
    ),
  ),
  ...paging,
});
