import { openGenerator, requestText, type LoadResult } from "../load.ts";
import type { Table } from "../report.ts";
import { startEcho } from "../requests.ts";
import type { Scenario } from "../floor-scenario.ts";
import { withService } from "../service.ts";
import { makeAccounts } from "./accounts.ts";
import { loginJobs, startArgon2 } from "./logins.ts";

const readsPerSecond = 500;
const loginsPerSecond = 50;
const readers = 16;
const loginClients = 32;

interface Read {
  name: string;
  reads: LoadResult;
  logins?: LoadResult;
}

export const beside: Scenario = {
  about: "reads during 50 logins per second",
  async run({ isQuick }) {
    const seconds = isQuick ? 4 : 12;
    return [tableOf([...(await measureEcho(seconds)), ...(await measureService(seconds))])];
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

function measureService(seconds: number): Promise<Read[]> {
  return withService(1, async (service) => {
    const accounts = await makeAccounts(service.url, loginClients);
    const { hostname, port } = new URL(service.url);
    const open = (connections: number) => openGenerator(hostname, Number(port), connections);
    const generator = await open(readers);
    const headers = { authorization: `Bearer ${accounts[0]?.accessToken}` };
    const request = requestText("GET", "/v1/tokens/validate", { headers });
    const jobs = Array.from({ length: readers }, () => ({ request }));
    const read = () => generator.run(jobs, seconds, readsPerSecond);
    await generator.run(jobs, 1, readsPerSecond);
    const alone = await read();
    const loginGenerator = await open(loginClients);
    await loginGenerator.run(loginJobs(accounts), 1, loginsPerSecond);
    const [reads, logins] = await Promise.all([
      read(),
      loginGenerator.run(loginJobs(accounts), seconds, loginsPerSecond),
    ]);
    generator.close();
    loginGenerator.close();
    return [
      { name: "GET tokens/validate", reads: alone },
      { name: `GET tokens/validate, with ${loginsPerSecond} logins/s`, reads, logins },
    ];
  });
}

function tableOf(rows: readonly Read[]): Table {
  return {
    title: `identity: ${readsPerSecond} reads/s during logins`,
    head: ["what", "logins/s", "p50 ms", "p99 ms"],
    rows: rows.map(({ name, reads, logins }) => [
      name,
      logins?.perSecond.toFixed(0) ?? "",
      reads.p50Ms.toFixed(2),
      reads.p99Ms.toFixed(2),
    ]),
  };
}
