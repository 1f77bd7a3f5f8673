import { cookieHole, requestText, type Job, type LoadResult } from "./load.ts";
import { ask, openSocket } from "./raw-request.ts";

const [host = "127.0.0.1", port = "0", connections = "1"] = process.argv.slice(2);
const sockets = await Promise.all(
  Array.from({ length: Number(connections) }, () => openSocket(Number(port), host)),
);
/** Number of turns of each connection over all runs. */
const numTurns = sockets.map(() => 0);
const probe = requestText("GET", "/v1/health-check");
process.send?.(
  await Promise.all(sockets.map(async (socket) => (await ask(socket, probe)).requestId)),
);
/** Cookie of each connection, kept over all runs like in a browser. */
const cookies: string[] = [];

process.on("disconnect", () => process.exit(0));
process.on("message", (message: { jobs: Job[]; seconds: number; perSecond?: number }) => {
  const { jobs, seconds, perSecond } = message;
  const turnMs = perSecond === undefined ? 0 : (jobs.length / perSecond) * 1000;
  void run(jobs, seconds, turnMs).then((result) => process.send?.(result));
});

function nextRequest({ request, values }: Job, connection: number): string {
  if (values === undefined) return request;
  const turn = numTurns[connection] ?? 0;
  numTurns[connection] = turn + 1;
  return request.replace("{value}", values[turn % values.length] ?? "");
}

/** Waits for the connection's next turn; missed turns are made up. */
async function waitUntil(at: number): Promise<void> {
  const left = at - performance.now();
  if (left > 0.5) await new Promise((resolve) => setTimeout(resolve, left));
}

async function run(jobs: Job[], seconds: number, turnMs: number): Promise<LoadResult> {
  const latencies: number[] = [];
  const statuses: Record<string, number> = {};
  const started = performance.now();
  const end = started + seconds * 1000;
  await Promise.all(
    jobs.map(async (job, i) => {
      const socket = sockets[i];
      if (!socket || job.request === "") return;
      for (let turn = i / jobs.length; performance.now() < end; turn++) {
        if (turnMs > 0) await waitUntil(started + turn * turnMs);
        const held = cookies[i] ?? job.cookie ?? "";
        const request = nextRequest(job, i).replace(cookieHole, held);
        const sent = performance.now();
        const { status, cookie } = await ask(socket, request);
        if (cookie !== "") cookies[i] = cookie;
        latencies.push(performance.now() - sent);
        statuses[status] = (statuses[status] ?? 0) + 1;
      }
    }),
  );
  const elapsed = (performance.now() - started) / 1000;
  latencies.sort((a, b) => a - b);
  const at = (share: number) => latencies[Math.floor((latencies.length - 1) * share)] ?? 0;
  return {
    requests: latencies.length,
    seconds: elapsed,
    perSecond: latencies.length / elapsed,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    statuses,
  };
}
