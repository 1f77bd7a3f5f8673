import type { RedisOptions } from "ioredis";

/** Nodes of a Redis Cluster and the options of connections to them. */
export interface ClusterAddress {
  nodes: { host: string; port: number }[];
  options: Pick<RedisOptions, "username" | "password" | "tls">;
}

const scheme = /^(rediss?)\+cluster:\/\/(?:([^@]*)@)?([^/@]+)\/?$/;

/**
 * Parses `redis+cluster://[user:password@]host:port[,host:port…]`; `rediss` for TLS. Null for any other
 * address, which is a single Redis. Throws for an invalid list of nodes.
 */
export function parseClusterAddress(url: string): ClusterAddress | null {
  if (!/^rediss?\+cluster:/.test(url)) return null;
  const [, protocol, credentials, list] = scheme.exec(url) ?? [];
  const nodes = (list ?? "").split(",").map((text) => {
    const colon = text.lastIndexOf(":");
    return { host: text.slice(0, Math.max(0, colon)), port: Number(text.slice(colon + 1)) };
  });
  const isSound = nodes.every(
    ({ host, port }) => host !== "" && Number.isInteger(port) && port > 0 && port < 65_536,
  );
  if (!isSound) throw new Error("redis+cluster://host:port,host:port is expected");
  const [username = "", password = ""] = (credentials ?? "").split(":", 2).map(decodeURIComponent);
  return {
    nodes,
    options: {
      ...(username === "" ? {} : { username }),
      ...(password === "" ? {} : { password }),
      ...(protocol === "rediss" ? { tls: {} } : {}),
    },
  };
}
