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
  pid: number;
  stop(): Promise<void>;
}

/** How to start a proxy with the file that is shipped for it. */
export interface ProxyKind {
  name: string;
  program: string;
  /** In `.deploy/proxy/`. */
  file: string;
  /** The shipped file without TLS, listening on this port of 127.0.0.1, in front of these addresses. */
  configure(shipped: string, port: number, addresses: readonly string[]): string;
  /** Completes the configuration of `configure`. */
  wrap(configuration: string, folder: string): string;
  args(file: string): string[];
}

const shippedFolder = join(import.meta.dirname, "../../.deploy/proxy");

export const proxyKinds: readonly ProxyKind[] = [
  {
    name: "nginx",
    program: "nginx",
    file: "nginx.conf",
    configure: (shipped, port, addresses) =>
      withAddresses(shipped, /^ *server (?=\S+:8080)/, addresses)
        .replace("listen 443 ssl;", `listen 127.0.0.1:${port};`)
        .replaceAll(/^ *ssl_.*$/gm, ""),
    wrap: (configuration, folder) => `daemon off; master_process off;
      pid ${folder}/pid; error_log stderr emerg; events { worker_connections 8192; }
      http {
        access_log off;
        ${["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((part) => `${part}_temp_path ${folder}/${part};`).join("\n")}
        ${configuration}
      }`,
    args: (file) => ["-c", file, "-e", "stderr"],
  },
  {
    name: "HAProxy",
    program: "haproxy",
    file: "haproxy.cfg",
    configure: (shipped, port, addresses) =>
      withAddresses(shipped, /^ *server \w+ (?=\S+:8080)/, addresses).replace(
        /^( *bind ).*$/m,
        `$1127.0.0.1:${port}`,
      ),
    wrap: (configuration) => configuration,
    args: (file) => ["-db", "-q", "-f", file],
  },
  {
    name: "Caddy",
    program: "caddy",
    file: "Caddyfile",
    configure: (shipped, port, addresses) =>
      shipped
        .replace(/^\{\$SITE:.*\} \{$/m, `http://:${port} {\n bind 127.0.0.1`)
        .replace(/\{\$INSTANCES:.*?\}/, addresses.join(" ")),
    wrap: (configuration) => `{\n admin off\n}\n${configuration}`,
    args: (file) => ["run", "--adapter", "caddyfile", "--config", file],
  },
];

/** One server line per address in place of the shipped ones; each gets a name of its own where it has one. */
function withAddresses(shipped: string, start: RegExp, addresses: readonly string[]): string {
  const lines = shipped.split("\n");
  const isServer = (line: string) => start.test(line);
  const first = lines.findIndex(isServer);
  const model = lines[first];
  if (model === undefined) throw new Error(`the shipped file has no line ${start}`);
  const made = addresses.map((address, n) =>
    model.replace("server one", `server number${n}`).replace(/\S+:8080/, address),
  );
  const others = lines.filter((line) => !isServer(line));
  return others.toSpliced(first, 0, ...made).join("\n");
}

/** Path of the program, or null if this machine has none. */
export function findProgram({ program }: ProxyKind): string | null {
  const folders = ["/usr/sbin", "/usr/bin", ...(process.env["PATH"] ?? "").split(delimiter)];
  return folders.map((folder) => join(folder, program)).find(existsSync) ?? null;
}

export function proxyKind(name: string): ProxyKind {
  const kind = proxyKinds.find((one) => one.name === name);
  if (kind === undefined) throw new Error(`no proxy ${name}`);
  return kind;
}

/**
 * Starts it with the shipped file, without TLS, in front of these addresses (`host:port`); listens on 127.0.0.1 only.
 * `edit` changes what a test needs otherwise.
 */
export function startWebProxy(
  kind: ProxyKind,
  addresses: readonly string[],
  edit: (shipped: string) => string = (shipped) => shipped,
): Promise<WebProxy> {
  const shipped = edit(readFileSync(join(shippedFolder, kind.file), "utf8"));
  return startProxy(kind, (port, folder) =>
    kind.wrap(kind.configure(shipped, port, addresses), folder),
  );
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
  const [command = program, ...args] = [...endsWithUs(), program, ...kind.args(file)];
  const child = spawn(command, args, { env, stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr.on("data", (text: Buffer) => (output += text.toString()));
  const stop = async () => {
    await end(child);
    rmSync(folder, { recursive: true, force: true });
  };
  if (await listens(host, port, child))
    return { url: `http://${host}:${port}`, port, pid: child.pid ?? 0, stop };
  await stop();
  throw new Error(`${kind.name} does not start: ${output.slice(-2_000)}`);
}

/** The words before a command that Linux ends with this process, even if this one is killed. */
function endsWithUs(): string[] {
  const setpriv = "/usr/bin/setpriv";
  return existsSync(setpriv) ? [setpriv, "--pdeathsig", "KILL"] : [];
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
