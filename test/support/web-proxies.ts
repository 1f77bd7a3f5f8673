import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { freePort } from "./free-port.ts";

export interface WebProxy {
  url: string;
  port: number;
  stop(): Promise<void>;
}

/** How to start a proxy whose configuration is in the README. */
export interface ProxyKind {
  name: string;
  program: string;
  /** Completes the README's configuration; `block` is its code block, for a service at `service`. */
  configure(block: string, port: number, folder: string): string;
  args(file: string): string[];
}

const readme = readFileSync(join(import.meta.dirname, "../../server/http/README.md"), "utf8");
const inReadme = "127.0.0.1:8080";

export const proxyKinds: readonly ProxyKind[] = [
  {
    name: "nginx",
    program: "nginx",
    configure: (block, port, folder) => `daemon off; master_process off;
      pid ${folder}/pid; error_log stderr emerg; events {}
      http {
        access_log off;
        ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((part) => `${part}_temp_path ${folder}/${part};`).join("\n")}
        ${block.replace(/^location [^]*$/m, (location) => `server { listen 127.0.0.1:${port}; ${location} }`)}
      }`,
    args: (file) => ["-c", file, "-e", "stderr"],
  },
  {
    name: "HAProxy",
    program: "haproxy",
    configure: (block, port) => block.replace(/^( *bind ).*$/m, `$1127.0.0.1:${port}`),
    args: (file) => ["-db", "-q", "-f", file],
  },
  {
    name: "Caddy",
    program: "caddy",
    configure: (block, port) =>
      `{\n admin off\n}\n${block.replace("play.example.com {", `http://:${port} {\n bind 127.0.0.1`)}`,
    args: (file) => ["run", "--adapter", "caddyfile", "--config", file],
  },
];

/** Path of the program, or null if this machine has none. */
export function findProgram({ program }: ProxyKind): string | null {
  const folders = ["/usr/sbin", "/usr/bin", ...(process.env["PATH"] ?? "").split(delimiter)];
  return folders.map((folder) => join(folder, program)).find(existsSync) ?? null;
}

/** The code block of the README under the name of the proxy. */
function blockOf({ name }: ProxyKind): string {
  const pattern = new RegExp(`\`\`\`${name.toLowerCase()}\n(.*?)\`\`\``, "s");
  const block = pattern.exec(readme)?.[1];
  if (block?.includes(inReadme)) return block;
  throw new Error(`the README has no configuration of ${name}`);
}

/**
 * Starts it in front of a service on this port, with the README's configuration; listens on 127.0.0.1 only.
 */
export function startWebProxy(kind: ProxyKind, servicePort: number): Promise<WebProxy> {
  const block = blockOf(kind).replaceAll(inReadme, `127.0.0.1:${servicePort}`);
  return startProxy(kind, (port, folder) => kind.configure(block, port, folder));
}

/** HAProxy with the README's configuration in front of two instances. */
export function startHaproxyOfTwo(ports: readonly [number, number]): Promise<WebProxy> {
  const [kind] = proxyKinds.filter(({ name }) => name === "HAProxy");
  const blocks = [...readme.matchAll(/```haproxy\n(.*?)```/gs)].map(([, block = ""]) => block);
  const [one = "", two] = blocks;
  if (kind === undefined || two === undefined) throw new Error("the README has no such block");
  const backend = two.replace(
    /10\.0\.0\.([12]):8080/g,
    (_all, n) => `127.0.0.1:${ports[Number(n) - 1]}`,
  );
  const [head = ""] = one.split("\nbackend emberline");
  return startProxy(kind, (port, folder) => kind.configure(head + backend, port, folder));
}

/** Starts the program with a configuration for this port, by default a free one of 127.0.0.1. */
export async function startProxy(
  kind: ProxyKind,
  configure: (port: number, folder: string) => string,
  at: { host: string; port: number } | null = null,
): Promise<WebProxy> {
  const program = findProgram(kind);
  if (program === null) throw new Error(`no ${kind.name} on this machine`);
  const folder = mkdtempSync(join(tmpdir(), "ember-proxy-"));
  const { host, port } = at ?? { host: "127.0.0.1", port: await freePort() };
  const file = join(folder, "config");
  writeFileSync(file, `${configure(port, folder)}\n`);
  const env = {
    PATH: process.env["PATH"],
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_CONFIG_HOME: folder,
  };
  const child = spawn(program, kind.args(file), { env, stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr.on("data", (text: Buffer) => (output += text.toString()));
  const stop = async () => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  if (await listens(host, port, child)) return { url: `http://${host}:${port}`, port, stop };
  await stop();
  throw new Error(`${kind.name} does not start: ${output.slice(-2_000)}`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
}

async function listens(host: string, port: number, child: ChildProcess): Promise<boolean> {
  while (child.exitCode === null) {
    const socket = connect(port, host);
    const isOpen = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return true;
    await pause(25);
  }
  return false;
}
