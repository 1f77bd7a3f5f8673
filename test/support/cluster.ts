import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { silentLogger } from "../../server/platform/log/logger.ts";
import { cacheFolder } from "../../server/runtime/stores/cache-folder.ts";
import { findRedisProgram } from "../../server/runtime/stores/redis-program.ts";
import { freePort, isFreePort } from "./free-port.ts";

export interface TestCluster {
  /** `redis+cluster://…` with all masters. */
  url: string;
  ports: number[];
  /** Kills the first master with SIGKILL once its replica is up to date; the replica then takes over. */
  failOver(): Promise<void>;
  stop(): Promise<void>;
}

const masters = 3;
const slots = 16_384;
/** Offset of a node's bus port from its port. */
const busOffset = 10_000;
/** Start of the ephemeral ports of outgoing connections. */
const lowestOutgoing = 32_768;
const readyLimitMs = 60_000;
const pollMs = 25;
const retryMs = 50;

/** Three masters on free ports of this machine with all slots, and a replica of the first. */
export async function startTestCluster(): Promise<TestCluster> {
  const dir = mkdtempSync(join(tmpdir(), "ember-cl-"));
  const { command, env } = await findRedisProgram(cacheFolder("", dir), silentLogger);
  const ports = await freePorts(masters + 1);
  const nodes = ports.map((port) => startNode(command, env, join(dir, String(port)), port));
  const clients = ports.map(
    (port) =>
      new Redis({
        host: "127.0.0.1",
        port,
        retryStrategy: () => retryMs,
        maxRetriesPerRequest: readyLimitMs / retryMs,
      }),
  );
  for (const client of clients) client.on("error", () => {});
  const stop = async () => {
    for (const client of clients) client.disconnect();
    await Promise.all(nodes.map(endNode));
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    await formCluster(clients, ports);
  } catch (error) {
    await stop();
    throw error;
  }
  const addresses = ports.slice(0, masters).map((port) => `127.0.0.1:${port}`);
  const failOver = async () => {
    const [[first], replica] = [clients, clients.at(-1)];
    // WAIT counts writes up to this client's last command, by whichever client.
    await first?.ping();
    await first?.wait(1, readyLimitMs);
    if (nodes[0]) await endNode(nodes[0]);
    await replica?.cluster("FAILOVER", "TAKEOVER");
  };
  return { url: `redis+cluster://${addresses.join(",")}`, ports, failOver, stop };
}

function startNode(
  command: string,
  env: NodeJS.ProcessEnv | undefined,
  dir: string,
  port: number,
): ChildProcess {
  mkdirSync(dir);
  const settings = {
    port: String(port),
    bind: "127.0.0.1",
    dir,
    "cluster-enabled": "yes",
    "cluster-config-file": join(dir, "nodes.conf"),
    // Long, so that a busy machine does not count as dead.
    "cluster-node-timeout": "15000",
    appendonly: "yes",
    save: "",
    loglevel: "warning",
    pidfile: join(dir, "redis.pid"),
  };
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
  return spawn(command, args, { cwd: dir, stdio: "ignore", ...(env ? { env } : {}) });
}

async function formCluster(clients: Redis[], ports: number[]): Promise<void> {
  const size = Math.ceil(slots / masters);
  await Promise.all(
    clients
      .slice(0, masters)
      .map((client, i) =>
        client.cluster("ADDSLOTSRANGE", i * size, Math.min(slots, (i + 1) * size) - 1),
      ),
  );
  const [[first], replica] = [clients, clients.at(-1)];
  for (const port of ports.slice(1)) await first?.cluster("MEET", "127.0.0.1", port);
  for (const client of clients) await until(() => seesAllNodes(client));
  await replica?.cluster("REPLICATE", String(await first?.cluster("MYID")));
  await until(async () => String(await replica?.info("replication")).includes("_status:up"));
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + readyLimitMs;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error("the cluster did not form in time");
    await new Promise((resolve) => setTimeout(resolve, pollMs));
  }
}

async function seesAllNodes(client: Redis): Promise<boolean> {
  const info = String(await client.cluster("INFO"));
  return info.includes("cluster_state:ok") && info.includes(`cluster_known_nodes:${masters + 1}`);
}

async function endNode(node: ChildProcess): Promise<void> {
  if (node.exitCode !== null || node.signalCode !== null) return;
  const exited = once(node, "exit");
  node.kill("SIGKILL");
  await exited;
}

/** Ports with a free bus port, outside the ephemeral range. */
async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = await freePort();
    const taken = ports.flatMap((one) => [one, one + busOffset]);
    const bus = port + busOffset;
    const isFit = bus < lowestOutgoing && !taken.includes(port) && !taken.includes(bus);
    if (isFit && (await isFreePort(bus))) ports.push(port);
  }
  return ports;
}
