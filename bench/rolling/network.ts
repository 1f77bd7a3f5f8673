import { execFileSync, spawn } from "node:child_process";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { eventually } from "../../test/support/eventually.ts";
import { atDeath, type AtDeath } from "./at-death.ts";

/** As shipped for machines with several HTTP workers. */
const sysctlFile = join(import.meta.dirname, "../../.deploy/systemd/60-emberline.conf");

/** A host of its own: a network namespace on the bridge of the network. */
export interface Host {
  address: string;
  /** The words before a command that is to run on this host. */
  prefix: readonly string[];
  /** Takes its cable out, or puts it back. */
  setLink(isUp: boolean): void;
  /** Ends all its processes at once, as a power failure does; resolves when they are gone. */
  killAll(): Promise<void>;
}

export interface Network {
  /** Address of this machine on the bridge. */
  address: string;
  hosts: Host[];
  /** Ends what runs on the hosts, and removes them. */
  close(): Promise<void>;
}

/** Arguments: the bridge, then the namespaces. Their veth pairs end with them. */
const removeAll = `
bridge=$1
shift
for host; do
  ip netns pids "$host" | xargs -r kill -KILL
  ip netns del "$host"
done
ip link del "$bridge"`;

/** Makes it, without what killed runs have left. Throws with one line that says what is missing: root and iproute2. */
export async function createNetwork(numHosts: number): Promise<Network> {
  const id = process.pid.toString(36);
  const subnet = `10.213.${randomInt(256)}`;
  const bridge = `em-${id}`;
  const names = Array.from({ length: numHosts }, (_, n) => `em-${id}-${n}`);
  const removal = atDeath(removeAll, bridge, ...names);
  const add: Add = (...args) => runBefore(removal, args);
  try {
    await removeLeftovers();
    await add("link", "add", bridge, "type", "bridge");
    await add("addr", "add", `${subnet}.1/24`, "dev", bridge);
    await add("link", "set", bridge, "up");
    const hosts: Host[] = [];
    for (const [n, name] of names.entries()) {
      const veth = `em${n}-${id}`;
      hosts.push(await addHost(add, { name, bridge, veth, address: `${subnet}.${n + 2}` }));
    }
    return { address: `${subnet}.1`, hosts, close: () => removal.now() };
  } catch (error) {
    await removal.now();
    const reason = error instanceof Error ? error.message.split("\n").at(-1) : String(error);
    throw new Error(`network namespaces need root and iproute2 (\`ip netns\`): ${reason}`, {
      cause: error,
    });
  }
}

/** Names begin with `em-` and the id of the process. A run whose process has ended has lost its clean-up as well. */
async function removeLeftovers(): Promise<void> {
  const listed = [ip("netns", "list"), ip("-brief", "link", "show", "type", "bridge")];
  const names = listed.join("\n").match(/^em-\w+(-\d+)?/gm) ?? [];
  const idOf = (name: string) => name.split("-")[1] ?? "";
  for (const id of new Set(names.map(idOf)))
    if (!isRunning(Number.parseInt(id, 36))) {
      const hosts = names.filter((name) => idOf(name) === id && name !== `em-${id}`);
      await atDeath(removeAll, `em-${id}`, ...hosts).now();
    }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

type Add = (...args: string[]) => Promise<void>;

async function addHost(
  add: Add,
  about: { name: string; bridge: string; veth: string; address: string },
): Promise<Host> {
  const { name, bridge, veth, address } = about;
  const addInside: Add = (...args) => add("-n", name, ...args);
  await add("netns", "add", name);
  await add("link", "add", veth, "type", "veth", "peer", "name", "eth0", "netns", name);
  await add("link", "set", veth, "master", bridge, "up");
  await addInside("addr", "add", `${address}/24`, "dev", "eth0");
  await addInside("link", "set", "lo", "up");
  await addInside("link", "set", "eth0", "up");
  await add("netns", "exec", name, "sysctl", "--quiet", `--load=${sysctlFile}`);
  return {
    address,
    prefix: ["ip", "netns", "exec", name],
    setLink: (isUp) => void ip("link", "set", veth, isUp ? "up" : "down"),
    async killAll() {
      const pids = () => ip("netns", "pids", name).split("\n").filter(Boolean);
      for (const pid of pids()) process.kill(Number(pid), "SIGKILL");
      // A busy machine needs time to end a process and to close its connections.
      await eventually(`what runs on ${name} has ended`, () => pids().length === 0);
    },
  };
}

/** Runs `ip` so that the removal waits for it: what it adds after the end of this process would stay. */
async function runBefore(removal: AtDeath, args: readonly string[]): Promise<void> {
  const child = spawn("ip", args, { stdio: ["ignore", "ignore", "pipe", removal.pipe] });
  const output = child.stderr === null ? "" : text(child.stderr);
  const [[code]] = (await Promise.all([once(child, "close"), output])) as [[number | null], string];
  if (code !== 0)
    throw new Error((await output).trim() || `ip ${args.join(" ")} ended with ${code}`);
}

const ip = (...args: string[]): string =>
  execFileSync("ip", args, { stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
