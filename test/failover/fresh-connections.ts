import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { awaitSuccessor, startService, type Service } from "../support/process.ts";

/*
 * Fresh connections while HTTP workers drain one after the other, in a network namespace of its own:
 *
 *   unshare -n node test/failover/fresh-connections.ts <tcp_migrate_req> <connections> <at once>
 *
 * Prints the number of connections, of drains, and what each connection without a response received instead.
 */
const [, , migrates = "1", wanted = "10000", burst = "50"] = process.argv;
const pauseMs = 40;
const limitMs = 10_000;

/** Null if the request on a new connection is answered with 200, and otherwise what came instead. */
function failureOf(port: number): Promise<string | null> {
  const startedAt = performance.now();
  return new Promise((resolve) => {
    let text = "";
    let end = "closed";
    const socket = connect(port, "127.0.0.1", () =>
      socket.write("GET /live HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"),
    );
    socket.setTimeout(limitMs, () => socket.destroy(new Error(`silent for ${limitMs} ms`)));
    socket.on("data", (chunk) => (text += chunk.toString()));
    socket.on("error", ({ message }) => (end = message));
    socket.once("close", () => {
      if (text.startsWith("HTTP/1.1 200 ")) return resolve(null);
      const afterMs = Math.round(performance.now() - startedAt);
      resolve(`${end} after ${afterMs} ms, received: ${JSON.stringify(text.slice(0, 100))}`);
    });
  });
}

async function drain(service: Service, index: number): Promise<void> {
  const processes = await service.processes();
  const old = processes.find((one) => one.role === "http" && one.index === index);
  if (!old) throw new Error(`there is no worker ${index}`);
  process.kill(old.pid, "SIGTERM");
  await awaitSuccessor(service, old);
}

execFileSync("ip", ["link", "set", "lo", "up"]);
writeFileSync("/proc/sys/net/ipv4/tcp_migrate_req", migrates);
const service = await startService({
  env: { HTTP_WORKERS: "2", JOB_WORKERS: "0", RATE_LIMIT_FACTOR: "0" },
});
const port = Number(new URL(service.url).port);
const failures: string[] = [];
let [asked, drains, isOver] = [0, 0, false];
const draining = (async () => {
  for (; !isOver; drains++) await drain(service, drains % 2);
})();
while (asked < Number(wanted) || drains < 4) {
  const results = await Promise.all(Array.from({ length: Number(burst) }, () => failureOf(port)));
  asked += results.length;
  failures.push(...results.filter((failure) => failure !== null));
  await sleep(pauseMs);
}
isOver = true;
await draining;
await service.stop();
process.stdout.write(`${JSON.stringify({ asked, drains, failures })}\n`);
process.exit(0);
