/** Promised and not declared yet. A line leaves this list together with the change that serves it. */
export const pending: readonly string[] = [
  "POST /v1/games/trivia/runs",
  "GET /v1/games/trivia/runs/{id}",
  "POST /v1/games/trivia/runs/{id}/answer",
  "POST /v1/games/trivia/runs/{id}/advance",
  "GET /v1/games/trivia/challenges/today",
  "POST /v1/games/wordgame/results",
  "GET /v1/games/wordgame/leaderboard",
];
