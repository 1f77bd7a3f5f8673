import { resources } from "../../db/projections/resources/index.ts";

/** Routes beyond the specification, by reason, with the decision if there is one. */
export const additionsByReason: Readonly<Record<string, readonly string[]>> = {
  "who starts the service finds a page, the documents and a game in a browser": [
    "GET /",
    "GET /docs",
    "GET /v1",
    "GET /docs/decisions",
    "GET /play",
    "GET /assets/{file}",
  ],
  "programs read the OpenAPI document (BOOT-04)": ["GET /openapi.json"],
  "mails and text messages of development are read in a browser (BOOT-05)": [
    "GET /inbox",
    "GET /inbox/messages",
    "GET /inbox/messages/{id}/html",
  ],
  "people read the archive and follow its patches without a program": [
    "GET /codex",
    "GET /codex/{game}",
    "GET /codex/{game}/patches",
    "GET /codex/{game}/patches/{version}",
    "GET /codex/{game}/{thing}",
    "GET /codex/{game}/changelog.atom",
  ],
  "people read the typed game data without a program": [
    "GET /data",
    "GET /data/{list}",
    "GET /data/{list}/{id}",
  ],
  "programs load the client from the service that they call": [
    "GET /client/emberline.ts",
    "GET /client/emberline.js",
    "GET /client/emberline.js.map",
    "GET /client/emberline.d.ts",
  ],
  "other services check a token without the key (TOK-13)": ["GET /v1/tokens/validate"],
  "players see where they are signed in, and end it (TOK-08)": [
    "GET /v1/users/@me/sessions",
    "DELETE /v1/users/@me/sessions/{id}",
    "DELETE /v1/users/@me/sessions",
  ],
  "the link of a mail verifies an address once a person confirms it (USR-06)": [
    "POST /v1/users/email/verify",
    "GET /v1/gateway/verify",
    "POST /v1/gateway/verify",
  ],
  "an open session alone adds no way to sign in (USR-12)": ["POST /v1/users/@me/proof"],
  "the owner of a replaced address undoes the change (USR-14)": [
    "GET /restore-address",
    "POST /restore-address",
  ],
  "players see what the first proof of their address ended (S44)": [
    "GET /v1/users/@me/revocations",
  ],
  "the links of the mailing list lead to pages that say what came of them (SYS-02)": [
    "GET /unsubscribe",
    "POST /unsubscribe",
    "GET /status/verify",
    "GET /status/unsubscribe",
  ],
  "a mail program leaves the mailing list with one click (SYS-03)": ["POST /v1/unsubscribe"],
  "the link for a new password leads to a page where a realm has none (GW-10)": [
    "GET /reset-password",
  ],
  "sign-in pages list the social logins (OA-01)": ["GET /v1/gateway/oauth/providers"],
  "a social login returns to an address of the service (OA-03)": [
    "GET /v1/gateway/oauth/{provider}/callback",
    "POST /v1/gateway/oauth/{provider}/callback",
  ],
  "players list and remove their social logins (OA-05)": [
    "GET /v1/users/@me/connections",
    "DELETE /v1/users/@me/connections/{provider}",
  ],
  "programs of others act for players, who consent on a page (OA-06)": [
    "GET /v1/oauth/authorize",
    "POST /v1/oauth/authorize",
    "GET /v1/oauth/authorize/{uid}",
    "POST /v1/oauth/token",
    "POST /v1/oauth/revoke",
    "GET /v1/oauth/userinfo",
    "POST /v1/oauth/userinfo",
    "GET /v1/oauth/jwks",
    "GET /v1/oauth/consent/{uid}",
    "GET /v1/oauth/consent/{uid}/question",
    "POST /v1/oauth/consent/{uid}",
    "GET /.well-known/oauth-authorization-server",
    "GET /.well-known/openid-configuration",
  ],
  "the licence of the icons asks to name their authors": ["GET /v1/avatars/credits"],
  "players report a bad question (TRV-06)": ["POST /v1/games/trivia/questions/{id}/report"],
  "the leaderboard of teams needs teams (LB-05)": [
    "POST /v1/games/trivia/teams",
    "GET /v1/games/trivia/teams/@me",
    "GET /v1/games/trivia/teams/{id}",
    "PATCH /v1/games/trivia/teams/{id}",
    "POST /v1/games/trivia/teams/join",
    "POST /v1/games/trivia/teams/@me/leave",
    "DELETE /v1/games/trivia/teams/{id}/members/{playerId}",
  ],
  "anyone watches a public lobby (HUB-08)": ["POST /v1/games/trivia/lobbies/{code}/spectate"],
  "one hub token covers several lobbies (HUB-09)": ["POST /v1/hub/token"],
  "the host of a finished lobby keeps its answers (LOB-27)": [
    "GET /v1/games/trivia/lobbies/{code}/results",
  ],
  "a single document is also read by the singular of its type (PRJ-03)": resources.flatMap(
    ({ type }) => [`GET /v1/realms/{game_data_slug}/${type}/{id}`, `GET /v2/${type}/{id}`],
  ),
};

export const additions: readonly string[] = Object.values(additionsByReason).flat();
