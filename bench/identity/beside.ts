import { mkdtempSync, readFileSync, rmSync, watch } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { openGenerator, requestText, type LoadResult } from "../load.ts";
import { verdict, type Table } from "../report.ts";
import { startEcho } from "../requests.ts";
import type { Scenario } from "../floor-scenario.ts";
import { withService } from "../service.ts";
import { makeAccounts } from "./accounts.ts";
import { loginJobs, startArgon2 } from "./logins.ts";
import type { Stall } from "./loop-watch.ts";

const readsPerSecond = 500;
const loginsPerSecond = 50;
const readers = 16;
const loginClients = 32;

interface Read {
  name: string;
  reads: LoadResult;
  logins?: LoadResult;
  stall?: Stall;
}

export const beside: Scenario = {
  about: "reads during 50 logins per second, and stalls of the event loop",
  async run({ isQuick }) {
    const seconds = isQuick ? 4 : 12;
    const dir = mkdtempSync(join(tmpdir(), "ember-loop-"));
    try {
      return [
        tableOf([
          ...(await measureEcho(seconds)),
          ...(await measureService(seconds, join(dir, "still.json"))),
        ]),
      ];
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  },
};

/** The same with raw uWebSockets.js, and the password checks in another process. */
async function measureEcho(seconds: number): Promise<Read[]> {
  const echo = await startEcho();
  const bare = await startArgon2();
  const generator = await openGenerator("127.0.0.1", echo.port, readers);
  const request = requestText("GET", "/", { headers: { authorization: "x".repeat(300) } });
  const jobs = Array.from({ length: readers }, () => ({ request }));
  const read = () => generator.run(jobs, seconds, readsPerSecond);
  await generator.run(jobs, 1, readsPerSecond);
  const alone = await read();
  const checks = bare.call("paced", { perSecond: loginsPerSecond, seconds });
  const reads = await read();
  await checks;
  generator.close();
  await Promise.all([bare.stop(), echo.stop()]);
  return [
    { name: "raw echo", reads: alone },
    { name: `raw echo, with ${loginsPerSecond} bare checks/s`, reads },
  ];
}

function measureService(seconds: number, file: string): Promise<Read[]> {
  const watcher = new URL("./loop-watch.ts", import.meta.url).href;
  const work = async (service: { url: string; workerPids(): Promise<number[]> }) => {
    const accounts = await makeAccounts(service.url, loginClients);
    const [pid = 0] = await service.workerPids();
    const { hostname, port } = new URL(service.url);
    const open = (connections: number) => openGenerator(hostname, Number(port), connections);
    const generator = await open(readers);
    const headers = { authorization: `Bearer ${accounts[0]?.accessToken}` };
    const request = requestText("GET", "/v1/tokens/validate", { headers });
    const jobs = Array.from({ length: readers }, () => ({ request }));
    const read = () => generator.run(jobs, seconds, readsPerSecond);
    await generator.run(jobs, 1, readsPerSecond);
    await readStall(pid, file);
    const alone = { reads: await read(), stall: await readStall(pid, file) };
    const loginGenerator = await open(loginClients);
    await loginGenerator.run(loginJobs(accounts), 1, loginsPerSecond);
    await readStall(pid, file);
    const [reads, logins] = await Promise.all([
      read(),
      loginGenerator.run(loginJobs(accounts), seconds, loginsPerSecond),
    ]);
    const stall = await readStall(pid, file);
    generator.close();
    loginGenerator.close();
    return [
      { name: "GET tokens/validate", ...alone },
      { name: `GET tokens/validate, with ${loginsPerSecond} logins/s`, reads, logins, stall },
    ];
  };
  const loop = { NODE_OPTIONS: `--import=${watcher}`, BENCH_LOOP_FILE: file };
  return withService(1, work, loop);
}

/** The stall since the previous call. */
async function readStall(pid: number, file: string): Promise<Stall> {
  await new Promise<void>((resolve) => {
    const watcher = watch(dirname(file), (_event, name) => {
      if (name !== basename(file)) return;
      watcher.close();
      resolve();
    });
    process.kill(pid, "SIGUSR2");
  });
  return JSON.parse(readFileSync(file, "utf8")) as Stall;
}

function tableOf(rows: readonly Read[]): Table {
  return {
    title: `identity: ${readsPerSecond} reads/s during logins; stalls of the worker's event loop`,
    head: ["what", "logins/s", "p50 ms", "p99 ms", "longest stall ms", "longest task ms", "target"],
    rows: rows.map(({ name, reads, logins, stall }) => [
      name,
      logins?.perSecond.toFixed(0) ?? "",
      reads.p50Ms.toFixed(2),
      reads.p99Ms.toFixed(2),
      stall?.longestMs.toFixed(1) ?? "",
      stall?.longestOwnMs.toFixed(1) ?? "",
      logins && stall ? verdict(stall.longestOwnMs, { limit: 20, unit: " ms of work" }) : "",
    ]),
  };
}
