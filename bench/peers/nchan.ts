import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mayStart, stopsAtEnd } from "../../test/support/cleanup.ts";
import { freePort } from "../../test/support/free-port.ts";
import { openSocket, requestText } from "../raw-request.ts";
import { cpuMicros } from "../processes.ts";
import type { Side } from "../rooms/side.ts";
import { eventMessage } from "./event-message.ts";

export const nchan = "Nchan";
const startLimitMs = 10_000;

/** The installed nginx with Nchan, one worker. */
export async function withNchan<T>(
  module: string,
  maxStreams: number,
  work: (side: Side) => Promise<T>,
): Promise<T> {
  const dir = mkdtempSync(join(tmpdir(), "ember-nchan-"));
  const port = await freePort();
  const file = join(dir, "nginx.conf");
  writeFileSync(file, settings({ module, dir, port, maxStreams }));
  mayStart();
  const child = spawn("nginx", ["-c", file, "-p", dir, "-e", join(dir, "error.log")], {
    stdio: "ignore",
  });
  const stop = stopsAtEnd(async () => {
    const exited = once(child, "exit");
    if (child.exitCode === null && child.signalCode === null && child.kill()) await exited;
    rmSync(dir, { recursive: true, force: true });
  });
  try {
    await waitForPort(child, port);
    const pids = childrenOf(child.pid ?? 0);
    return await work({
      name: nchan,
      port,
      protocol: "http",
      rooms: async (count, streams) =>
        Array.from({ length: count }, (_, n) => ({
          streams,
          streamPath: `/sub?topic=${n}`,
          streamHeaders: "",
          command: requestText("POST", `/pub?topic=${n}`, { body: eventMessage }),
          // Its ids are times.
          numberOpening: '"seq":"',
        })),
      cpu: () => ({ server: cpuMicros(pids) }),
      pids: () => ({ server: pids }),
    });
  } finally {
    await stop();
  }
}

/** Path of its module; null if it is not installed. */

export function findNchan(): string | null {
  const version = spawnSync("nginx", ["-V"], { encoding: "utf8" });
  if (version.error) return null;
  const folder = /--modules-path=(\S+)/.exec(version.stderr)?.[1] ?? "/usr/lib/nginx/modules";
  const module = join(folder, "ngx_nchan_module.so");
  return existsSync(module) ? module : null;
}

function settings(given: { module: string; dir: string; port: number; maxStreams: number }) {
  const { module, dir, port, maxStreams } = given;
  const user = process.getuid?.() === 0 ? "user root;" : "";
  return `load_module ${module};
${user}
daemon off;
worker_processes 1;
worker_rlimit_nofile ${maxStreams + 1000};
pid ${dir}/nginx.pid;
error_log ${dir}/error.log crit;
events { worker_connections ${maxStreams + 500}; }
http {
  access_log off;
  client_body_temp_path ${dir}/body;
  proxy_temp_path ${dir}/proxy;
  fastcgi_temp_path ${dir}/fastcgi;
  uwsgi_temp_path ${dir}/uwsgi;
  scgi_temp_path ${dir}/scgi;
  keepalive_requests 1000000000;
  nchan_shared_memory_size 256M;
  server {
    listen 127.0.0.1:${port} backlog=4096;
    location = /pub {
      nchan_publisher;
      nchan_channel_id $arg_topic;
      nchan_message_buffer_length 256;
      nchan_message_timeout 10m;
    }
    location = /sub {
      nchan_subscriber eventsource;
      nchan_channel_id $arg_topic;
      nchan_subscriber_first_message newest;
    }
  }
}
`;
}

async function waitForPort(child: ChildProcess, port: number): Promise<void> {
  const until = performance.now() + startLimitMs;
  while (performance.now() < until && child.exitCode === null) {
    const socket = await openSocket(`http://127.0.0.1:${port}`).catch(() => null);
    socket?.destroy();
    if (socket) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("nginx did not start");
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
