import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mayStart, stopsAtEnd } from "../../test/support/cleanup.ts";
import { freePort } from "../../test/support/free-port.ts";
import { openSocket } from "../raw-request.ts";
import type { Peer } from "./peer.ts";

const startLimitMs = 10_000;

/** The installed nginx with Nchan, one worker; null if it is not installed. */
export async function startNchan(maxStreams: number): Promise<Peer | null> {
  const module = findModule();
  if (module === null) return null;
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
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    name: "Nchan",
    port,
    target: { kind: "http", port },
    pids: childrenOf(child.pid ?? 0),
    storePids: [],
    readyText: null,
    stream: (topic) => ({
      topic,
      path: `/sub?topic=${topic}`,
      headers: "Accept: text/event-stream\r\n",
    }),
    stop,
  };
}

function findModule(): string | null {
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
    const socket = await openSocket(port).catch(() => null);
    socket?.destroy();
    if (socket) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("nginx did not start");
}

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ").map(Number);
