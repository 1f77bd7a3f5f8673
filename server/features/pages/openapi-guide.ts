import type { Groups } from "../../http/openapi/openapi.ts";

/** Introduction to all operations, for new readers of the interface document. */
export const guide = `
**Begin** with \`POST /v1/gateway/guest\`: its \`access_token\` makes you a player. \`Authorization: Bearer <token>\` goes with
every further request; \`POST /v1/gateway/refresh\` renews it. A service of your own sends \`X-Api-Key\`, and a seat in a
lobby is whoever has its \`player_token\`, sent as \`X-Lobby-Token\`.

**Every JSON answer** is an envelope: what you asked for is in \`body\`, next to status and time of the answer. A refusal has no
\`body\` but \`flash.errors\`: \`code\` is for programs and never changes its meaning, \`message\` is for people, \`params\` has the
numbers. Fields that were wrong are listed in \`flash.violations\`.

**Requests** are JSON; fields nobody knows are left alone. \`Idempotency-Key\` makes repeating a command harmless where it is listed.
Where a limit counts, \`X-RateLimit-Limit\`, \`-Remaining\` and \`-Reset\` say how much is left, and after a 429 or a 503
\`Retry-After\` says when to come back. \`X-Request-Id\`, yours or ours, names the request in the log.

**Rules** that an operation names as its source are explained in the [decision records](/docs/decisions).

**Live events**: \`POST /v1/games/trivia/lobbies/{code}/token\` gives a seat its hub token, \`GET /v1/hub\` the stream.
`.trim();

/** Groups of operations, in the order of a first use. */
export const groups: Groups = {
  Gateway: "Become a guest, sign in by password or code, upgrade, sign in on another domain",
  Sessions: "Where an account is signed in, and ending that",
  Tokens: "What an access token says",
  "Social login": "Sign in with other providers, link and unlink them",
  "OAuth 2.0": "Programs that let players sign in here",
  Users: "The own account: profile, mail address, phone, password, closing it",
  Avatars: "What a player is shown as",
  "API keys": "Keys for programs: scopes, origins, expiry, rolling",
  Realms: "Tenants and how they look",
  Wallet: "Embers and Ingots with their ledgers, levels and awards",
  Questions: "Categories, and questions to practise",
  Runs: "Questions without end, alone",
  Challenges: "Runs of the day, the same for everyone",
  Progress: "What a player has seen, reached, kept and prefers",
  Leaderboards: "Players and teams by score",
  Teams: "Found, join and leave teams",
  Lobbies: "Games of 2 to 16 players: seats, settings, questions, answers",
  Hub: "What happens in lobbies, as server-sent events",
  "Word game": "Results and boards of the word game",
  Archive: "Entities of games by patch and branch: history, differences, changelogs, files",
  "Game data": "One game of the archive as typed resources",
  System: "Health, mailing list, contact and feedback",
  Development: "Mails and messages that were sent; not in production",
  Pages: "For people with a browser",
  Operator: "Queues, lobbies, workers and players, for who runs the service",
};
