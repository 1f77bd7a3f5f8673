import { claimPorts } from "../../server/boot/ports.ts";

/**
 * A port of 127.0.0.1 that is free now: for servers whose address has to be known before they listen, and for
 * those that share one, which a port chosen at `listen` cannot be.
 */
export async function freePort(): Promise<number> {
  const setting = "PORT";
  const [port = 0] = await claimPorts({
    setting,
    hostSetting: setting,
    host: "127.0.0.1",
    port: 0,
  });
  return port;
}
