import { claimPorts, pickRange } from "../../server/runtime/boot/ports.ts";

const setting = "PORT";
const wanted = { setting, hostSetting: setting, host: "127.0.0.1" };

/**
 * A currently free port of 127.0.0.1: for servers whose address must be known before they listen, and for
 * servers that share a port, because `listen` cannot choose a shared one.
 */
export async function freePort(): Promise<number> {
  const [port = 0] = await claimPorts({ ...wanted, port: 0 });
  return port;
}

/** The first of this many consecutive free ports. */
export const freePorts = (count: number): Promise<number> => pickRange(wanted.host, count, []);

/** Whether the port is free. */
export const isFreePort = (port: number): Promise<boolean> =>
  claimPorts({ ...wanted, port }).then(
    () => true,
    () => false,
  );
