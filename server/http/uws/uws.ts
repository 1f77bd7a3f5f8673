import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type * as Uws from "uWebSockets.js";

export type { HttpRequest, HttpResponse, MultipartField, us_listen_socket } from "uWebSockets.js";

/** A build of uWebSockets.js and the layout of its npm package. */
interface Package {
  specifier: string;
  binaries: string;
  manifest: string;
}

/**
 * The newer build parses some requests that the older one refuses or does not answer, but its Linux binary needs
 * glibc 2.38. Where it does not load, the older build is used.
 */
const newer: Package = { specifier: "uWebSockets.js-newer", binaries: "./", manifest: "./" };
const older: Package = { specifier: "uWebSockets.js", binaries: "./bin/", manifest: "../" };

/** A failed load of a native package has no side effect. */
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
 * Listens on a host, with a shared or exclusive port: the package does not declare this overload of `listen` until
 * uNetworking/uWebSockets.js#1154 is merged. Rejects when the address is not available.
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

/** The loaded build, compared with those the raw requests were tested with. */
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
