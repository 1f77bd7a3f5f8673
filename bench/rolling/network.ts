import { execFileSync } from "node:child_process";
import { randomInt } from "node:crypto";

/** A host of its own: a network namespace on the bridge of the network. */
export interface Host {
  address: string;
  /** The words before a command that is to run on this host. */
  prefix: readonly string[];
  /** Takes its cable out, or puts it back. */
  setLink(isUp: boolean): void;
}

export interface Network {
  /** Address of this machine on the bridge. */
  address: string;
  hosts: Host[];
  close(): void;
}

/** Throws with one line that says what is missing: root and iproute2. */
export function createNetwork(numHosts: number): Network {
  const id = process.pid.toString(36);
  const subnet = `10.213.${randomInt(256)}`;
  const bridge = `em-${id}`;
  const made: string[][] = [];
  const add = (command: string[], undo: string[]) => {
    ip(...command);
    made.push(undo);
  };
  const close = () => {
    for (const undo of made.splice(0).reverse()) ip(...undo);
  };
  try {
    add(["link", "add", bridge, "type", "bridge"], ["link", "del", bridge]);
    ip("addr", "add", `${subnet}.1/24`, "dev", bridge);
    ip("link", "set", bridge, "up");
    const hosts = Array.from({ length: numHosts }, (_, n): Host => {
      const name = `em-${id}-${n}`;
      const [outer, inner] = [`em${n}o-${id}`, `em${n}i-${id}`];
      const address = `${subnet}.${n + 2}`;
      const inside = (...args: string[]) => ip("-n", name, ...args);
      add(["netns", "add", name], ["netns", "del", name]);
      ip("link", "add", outer, "type", "veth", "peer", "name", inner, "netns", name);
      ip("link", "set", outer, "master", bridge, "up");
      inside("addr", "add", `${address}/24`, "dev", inner);
      inside("link", "set", "lo", "up");
      inside("link", "set", inner, "up");
      return {
        address,
        prefix: ["ip", "netns", "exec", name],
        setLink: (isUp) => ip("link", "set", outer, isUp ? "up" : "down"),
      };
    });
    return { address: `${subnet}.1`, hosts, close };
  } catch (error) {
    close();
    const reason = error instanceof Error ? error.message.split("\n").at(-1) : String(error);
    throw new Error(`network namespaces need root and iproute2 (\`ip netns\`): ${reason}`, {
      cause: error,
    });
  }
}

function ip(...args: string[]): void {
  execFileSync("ip", args, { stdio: ["ignore", "ignore", "pipe"], encoding: "utf8" });
}
