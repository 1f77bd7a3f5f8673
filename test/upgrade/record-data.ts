import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { withDatabase } from "../../server/platform/postgres/database-url.ts";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { startLocalRedis } from "../../server/runtime/stores/redis.ts";
import { withClient } from "../../server/runtime/stores/postgres.ts";
import { eventually } from "../support/eventually.ts";
import { freePort } from "../support/free-port.ts";
import { startTestPostgres } from "../support/stores.ts";
import { dumpDatabase, dumpRedis, type Dump } from "./dump.ts";
import { recordFirst, recordLast, type Release } from "./story.ts";
import { storedFile, storySettings } from "./stored.ts";

/**
 * Makes `stored/`: what a release leaves in Postgres, Redis and its data folder when it is stopped, and what it told
 * its callers before. Its whole service runs, by its own `npm start`:
 *
 *     npm run release:data -- /tmp/last
 */
const [folder] = process.argv.slice(2);
if (folder === undefined)
  throw new Error("give the folder of the release's checkout, with its packages");
const checkout = resolve(folder);
const dir = mkdtempSync(join(tmpdir(), "ember-record-"));
const dataDir = join(dir, "data");
const running = new Set<ChildProcess>();
const postgres = await startTestPostgres();
const redis = await startLocalRedis({
  dataDir: join(dir, "d"),
  socketDir: join(dir, "s"),
  log: silentLogger,
});
try {
  await withClient(postgres.url, (client) => client.query("create database recorded"));
  const port = await freePort();
  const databaseUrl = withDatabase(postgres.url, "recorded");
  const env = {
    PATH: `${join(checkout, "node_modules/.bin")}:${process.env["PATH"]}`,
    HOME: process.env["HOME"],
    ...storySettings,
    PORT: String(port),
    DATA_DIR: dataDir,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redis.url,
  };
  const release: Release = {
    url: `http://127.0.0.1:${port}`,
    redisUrl: redis.url,
    folder: dir,
    run: (script, args) => run(script, args, env),
  };
  const first = await start({ ...env, JOB_WORKERS: "1" }, release.url);
  const told = await recordFirst(release);
  await stop(first);
  // Nobody works on what is queued from here on.
  const second = await start({ ...env, JOB_WORKERS: "0" }, release.url);
  const lastResponses = await recordLast(release, told);
  await stop(second);
  const recordedAt = Date.now();
  const files = globSync("**/*.*", { cwd: dataDir });
  const dump: Dump = {
    ...(await dumpDatabase(databaseUrl)),
    keys: await dumpRedis(redis.url),
    files: Object.fromEntries(
      files.map((file) => [file, readFileSync(join(dataDir, file)).toString("base64")]),
    ),
  };
  const stored = { recordedAt, told: { ...told, ...lastResponses }, dump };
  const packed = gzipSync(JSON.stringify(stored), { level: 9 });
  mkdirSync(resolve(storedFile, ".."), { recursive: true });
  writeFileSync(storedFile, packed);
  process.stdout.write(`${storedFile}: ${packed.length} bytes\n`);
} finally {
  await Promise.all([...running].map(stop));
  await redis.stop();
  await postgres.stop();
  rmSync(dir, { recursive: true, force: true });
}
process.exit(0);

function commandOf(script: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(checkout, "package.json"), "utf8"));
  const command = (manifest as { scripts: Record<string, string> }).scripts[script];
  if (command === undefined) throw new Error(`the release has no script ${script}`);
  return command;
}

async function start(env: NodeJS.ProcessEnv, url: string): Promise<ChildProcess> {
  const options = { cwd: checkout, env, stdio: "inherit" } as const;
  const child = spawn("sh", ["-c", commandOf("start")], options);
  running.add(child);
  await eventually("the release is ready", async () => {
    if (child.exitCode !== null) throw new Error("the release did not start");
    const answer = await fetch(`${url}/v1/health-check`).catch(() => null);
    await answer?.body?.cancel();
    return answer?.status === 200;
  });
  return child;
}

async function stop(child: ChildProcess): Promise<void> {
  running.delete(child);
  const exited = once(child, "exit");
  if (child.kill("SIGTERM")) await exited;
}

async function run(script: string, args: string[], env: NodeJS.ProcessEnv): Promise<unknown> {
  const child = spawn("sh", ["-c", `${commandOf(script)} "$@"`, script, ...args], {
    cwd: checkout,
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, "exit")]);
  if (code !== 0) throw new Error(`${script} ${args.join(" ")}: ${code} ${output}`);
  return output.trim() === "" ? null : JSON.parse(output.trim().split("\n").at(-1) ?? "");
}
