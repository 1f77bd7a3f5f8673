import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type * as Uws from "uWebSockets.js";

export type { HttpRequest, HttpResponse, MultipartField, us_listen_socket } from "uWebSockets.js";

/** A build of uWebSockets.js as npm brings it, and where in its package things are. */
interface Package {
  specifier: string;
  binaries: string;
  manifest: string;
}

/**
 * The newer one reads some requests right that the older one refuses or leaves without an answer, but
 * its Linux binary loads only with glibc 2.38 or newer: then it is used, elsewhere the older one.
 */
const newer: Package = { specifier: "uWebSockets.js-newer", binaries: "./", manifest: "./" };
const older: Package = { specifier: "uWebSockets.js", binaries: "./bin/", manifest: "../" };

/** Node loads a native package whole or not at all, so the attempt leaves nothing behind. */
async function load(): Promise<{ uws: typeof Uws; from: Package }> {
  try {
    return { uws: (await import(newer.specifier)) as typeof Uws, from: newer };
  } catch {
    return { uws: await import("uWebSockets.js"), from: older };
  }
}

const { uws, from } = await load();

/** The one place where the library is loaded; everything else imports it from here. */
export const { App, getParts, us_listen_socket_close, us_socket_local_port } = uws;

/** uSockets' flag LIBUS_LISTEN_EXCLUSIVE_PORT; the package declares it as a type only. */
const exclusivePort = 1;

type ListenOnHost = (
  host: string,
  port: number,
  options: number,
  done: (socket: Uws.us_listen_socket | false) => void,
) => void;

/**
 * Listens at a host, with the port shared or not: a form of `listen` that the package does not declare, until
 * uNetworking/uWebSockets.js#1154 is merged. Rejects when the address cannot be had.
 */
export function listenOn(
  app: Uws.TemplatedApp,
  { host, port, isExclusive }: { host: string; port: number; isExclusive: boolean },
): Promise<Uws.us_listen_socket> {
  const listen = app.listen.bind(app) as unknown as ListenOnHost;
  return new Promise((resolve, reject) => {
    listen(host, port, isExclusive ? exclusivePort : 0, (socket) => {
      if (socket === false) reject(new Error(`Cannot listen on ${host}:${port}`));
      else resolve(socket);
    });
  });
}

/** What was loaded, to be compared with what the raw requests were tried on. */
export interface UwsBuild {
  package: string;
  version: string;
  binary: string;
  sha256: string;
}

export function uwsBuild(): UwsBuild {
  const entry = import.meta.resolve(from.specifier);
  const manifest: unknown = JSON.parse(
    readFileSync(new URL(`${from.manifest}package.json`, entry), "utf8"),
  );
  const { name, version } = manifest as { name: string; version: string };
  const binary = `uws_${process.platform}_${process.arch}_${process.versions.modules}.node`;
  const bytes = readFileSync(new URL(from.binaries + binary, entry));
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  return { package: name, version, binary, sha256 };
}
