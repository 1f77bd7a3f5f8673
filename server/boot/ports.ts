import { createServer } from "node:net";
import { once } from "node:events";
import { StartError } from "./start-error.ts";

const reasons: Record<string, string> = {
  EADDRINUSE: "is taken by another program",
  EACCES: "needs more rights",
  EADDRNOTAVAIL: "is not an address of this machine",
};

/**
 * The port all workers will share: a free one for 0, else the same after a check. The check is
 * needed because workers bind with SO_REUSEPORT, which would let two services share it silently.
 */
export async function claimPort(host: string, port: number, setting: string): Promise<number> {
  const probe = createServer();
  probe.listen({ host, port, exclusive: true });
  try {
    await once(probe, "listening");
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? "";
    const reason = reasons[code] ?? `cannot be used (${code})`;
    throw new StartError(`${setting}: ${host}:${port} ${reason}; set ${setting} to another one`);
  }
  const address = probe.address();
  const chosen = typeof address === "object" && address !== null ? address.port : port;
  probe.close();
  await once(probe, "close");
  return chosen;
}

export function splitAddress(text: string): { host: string; port: number } {
  const [host = "127.0.0.1", port = "0"] = text.split(":");
  return { host, port: Number(port) };
}
