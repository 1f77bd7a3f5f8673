import { claimPorts, pickRange } from "../../server/runtime/boot/ports.ts";

const setting = "PORT";
const wanted = { setting, hostSetting: setting, host: "127.0.0.1" };

/**
 * A port of 127.0.0.1 that is free now: for servers whose address has to be known before they listen, and for
 * those that share one, which a port chosen at `listen` cannot be.
 */
export async function freePort(): Promise<number> {
  const [port = 0] = await claimPorts({ ...wanted, port: 0 });
  return port;
}

/** The first of so many free ports in a row. */
export const freePorts = (count: number): Promise<number> => pickRange(wanted.host, count, []);

/** Whether nobody has the port now. */
export const isFreePort = (port: number): Promise<boolean> =>
  claimPorts({ ...wanted, port }).then(
    () => true,
    () => false,
  );
