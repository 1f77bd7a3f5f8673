import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { starts } from "../../test/support/cleanup.ts";
import { proxyKind, startProxy } from "../../test/support/web-proxies.ts";
import { cpuMicros } from "../processes.ts";
import { requestText } from "../raw-request.ts";
import { commandNumber } from "../rooms/http-link.ts";
import type { Side } from "../rooms/side.ts";

/** A message of the size of most of a game; the ids of Nchan's events are times, so it has the number itself. */
const body = { type: "lobby.answer", seq: commandNumber, data: { pad: "x".repeat(240) } };

/** Path of the module of the installed nginx; null if there is none. */
export function findNchan(): string | null {
  const { stderr } = spawnSync("nginx", ["-V"], { encoding: "utf8" });
  const folder = /--modules-path=(\S+)/.exec(stderr ?? "")?.[1] ?? "/usr/lib/nginx/modules";
  const module = join(folder, "ngx_nchan_module.so");
  return existsSync(module) ? module : null;
}

/** The installed nginx with Nchan, one process. */
export async function withNchan<T>(work: (side: Side) => Promise<T>): Promise<T> {
  const module = findNchan();
  if (module === null)
    throw new Error("Nchan is not installed (Debian: nginx-core, libnginx-mod-nchan)");
  const nginx = proxyKind("nginx");
  const configure = (port: number, folder: string) =>
    `load_module ${module};\n${nginx.wrap(server(port), folder)}`;
  const { pid, port, stop } = await starts(() => startProxy(nginx, configure));
  let numRuns = 0;
  try {
    return await work({
      ...{ name: "Nchan", port, protocol: "http" },
      async rooms(count, streams) {
        numRuns += 1;
        return Array.from({ length: count }, (_, n) => ({
          ...{ streams, streamPath: `/sub?topic=${numRuns}-${n}`, streamHeaders: "" },
          command: requestText("POST", `/pub?topic=${numRuns}-${n}`, { body }),
          numberOpening: '"seq":"',
        }));
      },
      cpu: () => ({ server: cpuMicros([pid]) }),
    });
  } finally {
    await stop();
  }
}

const server = (port: number) => `
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
  }`;
