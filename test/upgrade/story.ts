import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { Queue } from "bullmq";
import { Redis } from "ioredis";
import { writeEnvelopeFile } from "../../importers/envelope/write-envelope.ts";
import { envelope } from "../support/archive.ts";
import { eventually } from "../support/eventually.ts";
import { scene } from "../support/pictures.ts";
import { made, smallGame, smallTexts } from "../support/projected-game.ts";
import { bearer, call, type Answer, type Headed } from "./api.ts";
import { authorize, redirect, type Client } from "./code-flow.ts";

/** A running release, and a script of its checkout: its parsed JSON output. */
export interface Release {
  url: string;
  redisUrl: string;
  /** Folder for files of the recording. */
  folder: string;
  run(script: string, args: string[]): Promise<unknown>;
}

/** A caller with its credentials. */
export interface Credentials {
  id: number;
  access: string;
  refresh: string;
  reclaim: string;
}

export interface Seat {
  seatId: number;
  token: string;
}

/** An open game: its seats, the host first. */
export interface Game {
  code: string;
  seats: Seat[];
}

/** Data the release returned to its callers, who continue with it. */
export interface RecordedResponses {
  ada: Credentials & { email: string; password: string };
  /** Another session of the same caller. */
  second: Credentials;
  guest: Credentials;
  upgraded: Credentials & { email: string; password: string };
  key: { id: number; plaintext: string };
  client: Client & { refresh: string; access: string };
  waiting: Game;
  running: Game;
  /** An answer given under a key, and its response. */
  repeat: { path: string; key: string; body: unknown; said: unknown };
  /** Ended while no worker processed its result. */
  ended: Game & { players: number[] };
  run: { id: number; challengeId: number; state: unknown };
  joinCode: string;
  upload: number;
  failedJob: string;
  /** Path of a GET request by `ada` -> its response. */
  reads: Record<string, unknown>;
}

const lobbies = "/v1/games/trivia/lobbies";
const password = "correct horse 1";
const settings = { category: "random", timer: 60, visibility: "public", mode: "versus" };

export function credentialsOf({ body, headers }: Answer): Credentials {
  const cookie = headers.getSetCookie().find((line) => line.startsWith("svc_refresh=")) ?? "";
  return {
    id: (body["player"] as { id: number }).id,
    access: String(body["access_token"]),
    refresh: String(body["refresh_token"] ?? /=([^;]*)/.exec(cookie)?.[1]),
    reclaim: String(body["reclaim_token"] ?? ""),
  };
}

const seatHeaders = ({ token }: Seat): Headed => ({ "x-lobby-token": token });

const seatOf = ({ body }: Answer): Seat => ({
  seatId: (body["player"] as { id: number }).id,
  token: String(body["player_token"]),
});

export async function openGame(
  url: string,
  owners: Credentials[],
  questions: number,
): Promise<Game> {
  const seats: Seat[] = [];
  let code = "";
  for (const [n, { access }] of owners.entries()) {
    const headers = bearer(access);
    const name = `Player ${n}`;
    const taken =
      n === 0
        ? await call(url, `POST ${lobbies}`, {
            headers,
            body: { hostName: name, ...settings, numQuestions: questions },
          })
        : await call(url, `POST ${lobbies}/${code}/join`, { headers, body: { name } });
    if (n === 0) code = (taken.body["lobby"] as { code: string }).code;
    seats.push(seatOf(taken));
  }
  return { code, seats };
}

export const askGame = (url: string, { code }: Game, seat: Seat, action: string, body?: unknown) =>
  call(url, `POST ${lobbies}/${code}/${action}`, { body, headers: seatHeaders(seat) });

export const startGame = (url: string, game: Game) => askGame(url, game, hostOf(game), "start");

export function hostOf({ seats: [host] }: Game): Seat {
  if (!host) throw new Error("a game has a host");
  return host;
}

export async function readGame(url: string, game: Game) {
  const headers = seatHeaders(hostOf(game));
  const { body } = await call(url, `GET ${lobbies}/${game.code}`, { headers });
  return body["lobby"] as {
    status: string;
    seq: number;
    current_index: number;
    players: { id: number; score: number }[];
  };
}

export async function playRounds(url: string, game: Game, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index++) {
    for (const [n, seat] of game.seats.entries())
      await askGame(url, game, seat, "answer", { selected_index: n, time_taken_ms: 900, index });
    await askGame(url, game, hostOf(game), "next", { index });
  }
}

/** Reads from the release and its successor, which must be equal. */
export async function readAll(
  url: string,
  { access }: Credentials,
  runId: number,
  challenge: number,
) {
  const paths = [
    "/v1/users/@me",
    "/v1/users/@me/sessions",
    "/v1/wallet/@me",
    "/v1/embers/@me/ledger",
    "/v1/ingots/@me/ledger",
    "/v1/embers/@me/awards",
    "/v1/realms/default/keys",
    "/v1/games/trivia/teams/@me",
    "/v1/games/trivia/leaderboard",
    "/v1/games/trivia/leaderboard?tab=xp",
    `/v1/games/trivia/leaderboard/challenges/${challenge}`,
    "/v1/games/trivia/leaderboard/teams",
    "/v1/games/wordgame/leaderboard?mode=random",
    `/v1/games/trivia/runs/${runId}`,
    "/v1/games/trivia/state",
    "/v1/codex/games",
    "/v1/codex/gamedata/manifest",
    "/v1/codex/gamedata/item",
    "/v2/items",
    "/v2/monsters",
  ];
  const reads: Record<string, unknown> = {};
  for (const path of paths)
    reads[path] = (await call(url, `GET ${path}`, { headers: bearer(access) })).body;
  return reads;
}

type LastResponses = Pick<
  RecordedResponses,
  "ended" | "waiting" | "running" | "repeat" | "upload" | "reads"
>;
type FirstResponses = Omit<RecordedResponses, keyof LastResponses>;

/** Everything that needs jobs. */
export async function recordFirst(release: Release): Promise<FirstResponses> {
  const { url } = release;
  const post = (path: string, body: unknown, headers: Headed = {}) =>
    call(url, `POST ${path}`, { body, headers });
  const email = "ada@example.com";
  const ada = credentialsOf(await post("/v1/users", { email, username: "ada_l", password }, {}));
  const second = credentialsOf(await post("/v1/gateway/login", { identifier: email, password }));
  const guest = credentialsOf(await post("/v1/gateway/guest", {}));
  const before = credentialsOf(await post("/v1/gateway/guest", {}));
  const upgrade = { email: "bob@example.com", password };
  const upgraded = credentialsOf(await post("/v1/gateway/upgrade", upgrade, bearer(before.access)));
  const created = await post(
    "/v1/realms/default/keys",
    { name: "A program", scopes: ["trivia:read", "trivia:write"] },
    bearer(ada.access),
  );
  const key = {
    id: (created.body["key"] as { id: number }).id,
    plaintext: String(created.body["plaintext"]),
  };
  const client = await release.run("console", [
    ...["oauth:client-create", "--realm", "default", "--name", "A website"],
    ...["--redirect", redirect, "--json"],
  ]);
  const { client_id: id, client_secret: secret } = client as Record<string, string>;
  const program = { id: id ?? "", secret: secret ?? "" };
  const tokens = await authorize(url, program, ada.access);
  await earn(release, ada);
  const team = await post("/v1/games/trivia/teams", { name: "The Engines" }, bearer(ada.access));
  const joinCode = (team.body["team"] as { join_code: string }).join_code;
  await post("/v1/games/trivia/teams/join", { join_code: joinCode }, bearer(upgraded.access));
  await post("/v1/subscribe", { email: "reader@example.com" }, {});

  const owners = [ada, guest];
  const finished = await openGame(url, owners, 2);
  await startGame(url, finished);
  await playRounds(url, finished, 0, 2);
  const run = await startRun(url, ada);
  await importGame(release);
  const failedJob = await addBrokenJob(release);
  await eventually("the result is counted", async () => {
    const path = "GET /v1/games/trivia/state";
    const { body } = await call(url, path, { headers: bearer(ada.access) });
    // One from the run, two from the game.
    return JSON.stringify(body).includes(`"total_answers":3`);
  });
  return {
    ada: { ...ada, email, password },
    second,
    guest,
    upgraded: { ...upgraded, email: upgrade.email, password },
    key,
    client: { ...program, ...tokens },
    run,
    joinCode,
    failedJob,
  };
}

/** Jobs waiting when the release is stopped. */
export async function recordLast({ url }: Release, told: FirstResponses): Promise<LastResponses> {
  const { ada, guest, upgraded } = told;
  const others = [
    credentialsOf(await call(url, "POST /v1/gateway/guest", { body: {} })),
    credentialsOf(await call(url, "POST /v1/gateway/guest", { body: {} })),
  ];
  const game = await openGame(url, others, 2);
  const ended = { ...game, players: others.map(({ id }) => id) };
  await startGame(url, game);
  await playRounds(url, game, 0, 2);
  const form = new FormData();
  const png = await scene(1).png().toBuffer();
  form.set("image", new Blob([new Uint8Array(png)], { type: "image/png" }), "me.png");
  const headers = bearer(upgraded.access);
  const sent = await call(url, "POST /v1/users/@me/avatar/upload", { body: form, headers });
  const upload = (sent.body["upload"] as { id: number }).id;
  const body = { email: upgraded.email };
  await call(url, "POST /v1/gateway/reset-password/request", { body });
  const waiting = await openGame(url, [upgraded, guest], 3);
  const running = await openGame(url, [ada, guest], 4);
  await startGame(url, running);
  await playRounds(url, running, 0, 1);
  const repeat = await answerUnderKey(url, running);
  const reads = await readAll(url, told.second, told.run.id, told.run.challengeId);
  // The last use of a session is written a moment later.
  await wait(1_000);
  return { ended, waiting, running, repeat, upload, reads };
}

async function earn({ url, run }: Release, { id, access }: Credentials): Promise<void> {
  const to = ["--player", String(id), "--json"];
  await run("console", ["ingots:credit", ...to, "--amount", "500", "--ref-id", "payment-1"]);
  await run("console", ["ingots:spend", ...to, "--amount", "120", "--reason", "a hat"]);
  await run("console", ["embers:grant", ...to, "--amount", "75"]);
  const result = { type: "random", score: 1_234, level: 5, wordsFound: 20, blocksDropped: 90 };
  const body = { ...result, timeTaken: "61.25" };
  await call(url, "POST /v1/games/wordgame/results", {
    body,
    headers: bearer(access),
  });
}

async function answerUnderKey(url: string, game: Game): Promise<RecordedResponses["repeat"]> {
  const path = `POST ${lobbies}/${game.code}/answer`;
  const key = "the-answer-to-question-two";
  const body = { selected_index: 2, time_taken_ms: 700, index: 1 };
  const headers = { ...seatHeaders(hostOf(game)), "idempotency-key": key };
  const said = (await call(url, path, { body, headers })).body;
  return { path, key, body, said };
}

async function startRun(url: string, { access }: Credentials): Promise<RecordedResponses["run"]> {
  const headers = bearer(access);
  const base = "/v1/games/trivia";
  const today = await call(url, `GET ${base}/challenges/today`, { headers });
  const challengeId = (today.body["daily_shuffle"] as { id: number }).id;
  const body = { mode: "daily_shuffle", challenge_id: challengeId };
  const begun = await call(url, `POST ${base}/runs`, { body, headers });
  const { id } = begun.body["run"] as { id: number };
  const first = { selected_index: 1, time_taken_ms: 1_000 };
  await call(url, `POST ${base}/runs/${id}/answer`, { body: first, headers });
  const state = (await call(url, `GET ${base}/runs/${id}`, { headers })).body;
  return { id, challengeId, state };
}

async function importGame({ folder, run }: Release): Promise<void> {
  const file = join(folder, "game", "one.json.gz");
  const icon = await scene(2, 32, 32).png().toBuffer();
  const source = envelope({
    game: "gamedata",
    version: "1.0",
    entities: [
      ...smallGame(),
      made("item", "torch", { name: "Item_Torch" }, { icon: "torch.png" }),
    ],
    assets: [{ path: "torch.png", media_type: "image/png", role: "icon" }],
    files: { "torch.png": icon },
    locales: smallTexts(),
  });
  await writeEnvelopeFile(source, file);
  await run("import", ["gamedata", "--envelope", file, "--json"]);
}

/** A job that no version can process, which stays listed. */
async function addBrokenJob({ redisUrl }: Release): Promise<string> {
  const connection = new Redis({
    path: redisUrl.replace("unix://", ""),
    maxRetriesPerRequest: null,
  });
  const queue = new Queue("lobby-results", { connection, prefix: "jobs" });
  const job = await queue.add("lobby-results", { code: "nobody" }, { jobId: "broken" });
  await eventually("it has failed", async () => (await job.getState()) === "failed");
  await queue.close();
  connection.disconnect();
  return job.id ?? "";
}
