import { uwsBuild, type UwsBuild } from "../uws/uws.ts";
import { cutsName, hiddenLengthOfGet } from "./requests.ts";

interface KnownBuild extends UwsBuild {
  /** Raw requests with an unexpected outcome; the README says which proxy settings protect from them. */
  misread: readonly string[];
}

/** Builds that the raw requests were tested with; another build may parse them differently. */
const knownBuilds: readonly KnownBuild[] = [
  {
    package: "uws-pack",
    version: "20.0.8",
    binary: "uws_linux_x64_127.node",
    sha256: "8cabc918bbf9a07323e54f89a33882491080b2eb35df0607f473ccdb1f3c31af",
    misread: [hiddenLengthOfGet, cutsName],
  },
  {
    package: "@btc-vision/uwebsockets.js",
    version: "20.56.0",
    binary: "uws_linux_x64_127.node",
    sha256: "0e0af5d0e486b67e25dd5c6686f8f05be4504629404d5c1972c808ab5d8e4cc2",
    misread: [hiddenLengthOfGet],
  },
];

/** Requests this build is known to misread; null for an untested build. */
export function knownMisreadings(build: UwsBuild = uwsBuild()): readonly string[] | null {
  const isSame = (one: KnownBuild) =>
    one.package === build.package && one.version === build.version && one.sha256 === build.sha256;
  return knownBuilds.find(isSame)?.misread ?? null;
}

/** Warning for the startup log; null for a known build. */
export function buildWarning(build: UwsBuild = uwsBuild()): string | null {
  if (knownMisreadings(build) !== null) return null;
  return (
    `the raw requests of http:probe were never sent to this build of the HTTP library: ${nameOf(build)}, ` +
    `sha256 ${build.sha256}; run: npm run console -- http:probe`
  );
}

export const nameOf = ({ package: name, version, binary }: UwsBuild): string =>
  `${name} ${version}, ${binary}`;
