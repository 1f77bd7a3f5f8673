import assert from "node:assert/strict";
import { execFile, execFileSync, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { createServer, connect, type AddressInfo, type Server } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { parseDatabaseUrl } from "../../server/platform/postgres/database-url.ts";
import { testStores, type TestStores } from "../support/stores.ts";

const root = join(import.meta.dirname, "../..");
/** An unprivileged user that owns nothing and has no home. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const email = "ada@example.com";
const password = "a long enough password";

/** The first request to each feature: its method and address, and the response. */
const features: readonly [
  what: string,
  status: number,
  method: "GET" | "POST",
  path: string,
  body?: unknown,
][] = [
  ["health", 200, "GET", "/v1/health-check"],
  ["accounts", 200, "GET", "/v1/users/@me"],
  ["sessions", 200, "GET", "/v1/users/@me/sessions"],
  ["protocol", 200, "GET", "/.well-known/openid-configuration"],
  ["protocol, keys", 200, "GET", "/v1/oauth/jwks"],
  [
    "protocol, unknown client",
    400,
    "GET",
    "/v1/oauth/authorize?client_id=nobody&response_type=code",
  ],
  ["social logins", 200, "GET", "/v1/gateway/oauth/providers"],
  ["wallet", 200, "GET", "/v1/wallet/@me"],
  ["lobbies", 201, "POST", "/v1/games/trivia/lobbies", { hostName: "Ada" }],
  ["questions", 200, "GET", "/v1/games/trivia/questions/draw"],
  ["runs", 200, "POST", "/v1/games/trivia/runs", { mode: "endless" }],
  ["leaderboards", 200, "GET", "/v1/games/trivia/leaderboard"],
  ["teams", 201, "POST", "/v1/games/trivia/teams", { name: "Installers" }],
  ["word game", 200, "GET", "/v1/games/wordgame/leaderboard?mode=daily"],
  ["archive", 200, "GET", "/v1/codex/games"],
  ["game data", 200, "GET", "/v2/items"],
  ["avatars", 200, "GET", "/v1/avatars/available"],
  ["an icon", 200, "GET", "/v1/avatars/icons/acorn"],
  ["keys", 200, "GET", "/v1/realms/default/keys"],
  ["docs", 200, "GET", "/docs"],
  ["decision records", 200, "GET", "/docs/decisions"],
  ["the client", 200, "GET", "/client/emberline.js"],
  ["the game in a browser", 200, "GET", "/play"],
];

const run = promisify(execFile);

/** A copy of the tracked files, installed without development packages. */
async function install(): Promise<string> {
  // Not in the folder of the run, which may be in memory and forbid native code.
  const folder = mkdtempSync("/var/tmp/ember-install-");
  const tracked = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" });
  for (const file of tracked
    .split("\0")
    .filter((name) => name !== "" && existsSync(join(root, name))))
    cpSync(join(root, file), join(folder, file));
  const { PATH, HOME } = process.env;
  await run("npm", ["ci", "--omit=dev", "--prefer-offline", "--no-audit", "--no-fund"], {
    cwd: folder,
    env: { PATH, HOME },
    maxBuffer: 2 ** 24,
  });
  await run("chmod", ["-R", "a-w,a+rX", folder]);
  return folder;
}

/** A local port that forwards to a socket only its owner can reach. */
async function portTo(socket: string): Promise<{ server: Server; port: number }> {
  const server = createServer((client) => {
    const store = connect(socket);
    client.pipe(store).pipe(client);
    for (const side of [client, store]) side.on("error", () => client.destroy() && store.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, port: (server.address() as AddressInfo).port };
}

/** An empty folder of the user who runs the service. */
function makeOwnFolder(): string {
  const made = mkdtempSync("/var/tmp/ember-data-");
  if (unprivileged.uid !== undefined) chownSync(made, unprivileged.uid, unprivileged.gid);
  return made;
}

const startIn = (folder: string, env: Record<string, string>) =>
  spawn("npm", ["start"], {
    cwd: folder,
    ...unprivileged,
    env: {
      PATH: process.env["PATH"],
      HOME: "/nonexistent",
      PORT: "0",
      OPERATOR_LISTEN: "127.0.0.1:0",
      HTTP_WORKERS: "1",
      RATE_LIMIT_FACTOR: "0",
      ...env,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });

describe("an installation without development dependencies", () => {
  let stores: TestStores;
  let folder: string;
  let storeUrls: Record<string, string>;
  let service: ChildProcess;
  const ownFolders = { data: makeOwnFolder(), temporary: makeOwnFolder() };
  const ports: Server[] = [];
  const urls = { public: "", operator: "", operatorToken: "", token: "" };

  before(async () => {
    stores = await testStores();
    folder = await install();
    const { host, port, user, database } = parseDatabaseUrl(stores.databaseUrl);
    const postgres = await portTo(join(host, `.s.PGSQL.${port}`));
    const redis = await portTo(stores.redisUrl.replace("unix://", ""));
    ports.push(postgres.server, redis.server);
    storeUrls = {
      DATABASE_URL: `postgres://${user}@127.0.0.1:${postgres.port}/${database}`,
      REDIS_URL: `redis://127.0.0.1:${redis.port}`,
    };
    service = startIn(folder, { ...storeUrls, DATA_DIR: ownFolders.data });
    service.stderr?.pipe(process.stderr);
    await untilStarted();
    const account = await ask("POST", "/v1/users", { email, username: "ada", password });
    urls.token = ((await account.json()) as { body: { access_token: string } }).body.access_token;
  });
  after(async () => {
    if (service?.exitCode === null) {
      service.kill("SIGTERM");
      await once(service, "exit");
    }
    for (const port of ports) port.close();
    await stores?.stop();
    for (const made of [folder, ...Object.values(ownFolders)])
      if (made !== undefined) rmSync(made, { recursive: true, force: true });
  });

  /** Reads the startup banner; output before it is an error. */
  async function untilStarted(): Promise<void> {
    Object.assign(urls, { public: "", operator: "" });
    const lines: string[] = [];
    for await (const line of createInterface({ input: service.stdout ?? process.stdin })) {
      lines.push(line);
      const [, name, url = "", , token = ""] =
        /^ {2}(API|Operator) +(\S+?)(\/v1)?(?: +token (\S+))?$/.exec(line) ?? [];
      if (name === "API") urls.public = url;
      if (name === "Operator")
        Object.assign(urls, { operator: url.replace(/\/operator$/, ""), operatorToken: token });
      if (urls.operator !== "") break;
    }
    assert.notEqual(urls.operator, "", lines.join("\n"));
    service.stdout?.resume();
  }

  const ask = (method: string, path: string, body?: unknown) =>
    fetch(urls.public + path, {
      method,
      redirect: "manual",
      headers: {
        ...(urls.token === "" ? {} : { authorization: `Bearer ${urls.token}` }),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  it("contains the build and no package that only development needs", () => {
    const there = [
      "tsx",
      "oxlint",
      "prettier",
      "playwright-core",
      ".build/current/primary.js",
    ].filter(
      (name) => existsSync(join(folder, "node_modules", name)) || existsSync(join(folder, name)),
    );
    assert.deepEqual(there, [".build/current/primary.js"]);
  });

  for (const [what, status, method, path, body] of features)
    it(`serves ${what}: ${method} ${path}`, async () => {
      const answer = await ask(method, path, body);
      assert.equal(answer.status, status, await answer.text());
    });

  it("answers no readable address with an internal error", async () => {
    const document = (await (await ask("GET", "/openapi.json")).json()) as {
      paths: Record<string, Record<string, unknown>>;
    };
    const known: Record<string, string> = {
      slug: "default",
      game_data_slug: "gamedata",
      game: "gamedata",
    };
    const paths = Object.entries(document.paths)
      .filter(([path, methods]) => "get" in methods && path !== "/v1/hub")
      .map(([path]) => path.replace(/\{(\w+)\}/g, (_all, name: string) => known[name] ?? "1"));
    assert.ok(paths.length > 100);
    const failed: string[] = [];
    for (const path of paths) {
      const answer = await ask("GET", path);
      if (answer.status >= 500) failed.push(`${path}: ${answer.status} ${await answer.text()}`);
      else await answer.body?.cancel();
    }
    assert.deepEqual(failed, []);
  });

  it("shows operators its metrics and its health", async () => {
    const headers = { authorization: `Bearer ${urls.operatorToken}` };
    for (const path of [
      "/metrics",
      "/health",
      "/ready",
      "/operator/workers",
      "/operator/queues/board",
    ])
      assert.equal((await fetch(urls.operator + path, { headers })).status, 200, path);
  });

  it("ends on a stop signal", async () => {
    const exited = once(service, "exit");
    service.kill("SIGTERM");
    assert.deepEqual(await exited, [0, null]);
  });

  it("needs no DATA_DIR when stores and pictures are elsewhere, and leaves nothing behind", async () => {
    service = startIn(folder, {
      ...storeUrls,
      TMPDIR: ownFolders.temporary,
      AVATAR_STORE: "https://id:secret@pictures.example/avatars?region=eu",
    });
    const problems = text(service.stderr ?? process.stdin);
    await untilStarted();
    assert.equal((await ask("GET", "/v1/health-check")).status, 200);
    const exited = once(service, "exit");
    service.kill("SIGTERM");
    assert.deepEqual(await exited, [0, null]);
    assert.match(await problems, /^warning: DATA_DIR is not set and \.data is not writable; .*$/m);
    // npm stores its compiled code there.
    const left = readdirSync(ownFolders.temporary).filter((name) => name !== "node-compile-cache");
    assert.deepEqual(left, []);
    assert.ok(!existsSync(join(folder, ".data")));
  });
});
