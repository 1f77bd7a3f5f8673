import assert from "node:assert/strict";
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import type { Server } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { featureRequests } from "../support/feature-requests.ts";
import { copyTracked } from "../support/tracked-files.ts";
import { openStores } from "../support/store-ports.ts";
import { testStores, type TestStores } from "../support/stores.ts";

/** An unprivileged user that owns nothing and has no home. */
const unprivileged = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const email = "ada@example.com";
const password = "a long enough password";

const run = promisify(execFile);

/** A copy of the tracked files, installed without development packages. */
async function install(): Promise<string> {
  // Not in the folder of the run, which may be in memory and forbid native code.
  const folder = mkdtempSync("/var/tmp/ember-install-");
  copyTracked(folder);
  const { PATH, HOME } = process.env;
  await run("npm", ["ci", "--omit=dev", "--prefer-offline", "--no-audit", "--no-fund"], {
    cwd: folder,
    env: { PATH, HOME },
    maxBuffer: 2 ** 24,
  });
  await run("chmod", ["-R", "a-w,a+rX", folder]);
  return folder;
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
    const opened = await openStores(stores);
    ports.push(...opened.servers);
    storeUrls = opened.urls;
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

  for (const [what, status, method, path, body] of featureRequests)
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
