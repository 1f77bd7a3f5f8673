import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";
import { atDeath } from "./at-death.ts";

/** A host of its own: a network namespace on the bridge of the network. */
export interface Host {
  address: string;
  /** The words before a command that is to run on this host. */
  prefix: readonly string[];
  /** Takes its cable out, or puts it back. */
  setLink(isUp: boolean): void;
  /** Ends all its processes at once, as a power failure does. */
  killAll(): void;
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

/** Throws with one line that says what is missing: root and iproute2. */
export async function createNetwork(numHosts: number): Promise<Network> {
  const id = process.pid.toString(36);
  const subnet = `10.213.${randomInt(256)}`;
  const bridge = `em-${id}`;
  const names = Array.from({ length: numHosts }, (_, n) => `em-${id}-${n}`);
  const removal = atDeath(removeAll, bridge, ...names);
  try {
    ip("link", "add", bridge, "type", "bridge");
    ip("addr", "add", `${subnet}.1/24`, "dev", bridge);
    ip("link", "set", bridge, "up");
    const hosts = names.map((name, n) => {
      const veth = `em${n}-${id}`;
      return addHost({ name, bridge, veth, address: `${subnet}.${n + 2}` });
    });
    return { address: `${subnet}.1`, hosts, close: () => removal.now() };
  } catch (error) {
    await removal.now();
    const reason = error instanceof Error ? error.message.split("\n").at(-1) : String(error);
    throw new Error(`network namespaces need root and iproute2 (\`ip netns\`): ${reason}`, {
      cause: error,
    });
  }
}

function addHost(about: { name: string; bridge: string; veth: string; address: string }): Host {
  const { name, bridge, veth, address } = about;
  const inside = (...args: string[]) => ip("-n", name, ...args);
  ip("netns", "add", name);
  ip("link", "add", veth, "type", "veth", "peer", "name", "eth0", "netns", name);
  ip("link", "set", veth, "master", bridge, "up");
  inside("addr", "add", `${address}/24`, "dev", "eth0");
  inside("link", "set", "lo", "up");
  inside("link", "set", "eth0", "up");
  return {
    address,
    prefix: ["ip", "netns", "exec", name],
    setLink: (isUp) => void ip("link", "set", veth, isUp ? "up" : "down"),
    killAll() {
      for (const pid of ip("netns", "pids", name).split("\n").filter(Boolean))
        process.kill(Number(pid), "SIGKILL");
    },
  };
}

const ip = (...args: string[]): string =>
  execFileSync("ip", args, { stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });
