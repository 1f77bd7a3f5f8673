import type { Import } from "./imports.ts";

/**
 * The parts of the project and who may import whom. The first pattern that fits a file names its
 * zone, so narrow patterns stand above wide ones.
 */
const zones: readonly [zone: string, pattern: RegExp][] = [
  ["core", /^server\/core\//],
  ["providers", /^server\/providers\//],
  ["delivery", /^server\/delivery\//],
  ["wallet", /^server\/wallet\//],
  ["play", /^server\/play\//],
  ["avatars", /^server\/avatars\//],
  ["boards", /^server\/boards\//],
  ["oauth", /^server\/oauth\//],
  ["http", /^server\/http\//],
  ["sse", /^server\/sse\//],
  ["module", /^server\/modules\//],
  ["pages", /^server\/pages\//],
  ["deps", /^server\/deps\.ts$/],
  ["routes", /^server\/routes\.ts$/],
  ["queues", /^workers\/queues\.ts$/],
  ["processors", /^workers\/processors\//],
  ["lobby", /^actors\/lobby\//],
  ["runtime", /^actors\/runtime\//],
  ["actors", /^actors\/(index|contract)\.ts$/],
  ["import-run", /^importers\/(run|envelope-file|contract|sample\/sample)\.ts$/],
  ["importers", /^importers\/(?!cli\.ts)/],
  ["db", /^db\/(?!create-migration\.ts)/],
  ["manifest", /^package\.json$/],
  ["test", /^test\//],
  ["bench", /^bench\//],
  // What a process starts from, and the parts only such an entry uses.
  [
    "process",
    /^(server\/[^/]+\.(ts|mjs)|server\/(boot|local|operator|console|entries)\/|workers\/[^/]+\.ts|importers\/cli\.ts|db\/create-migration\.ts)/,
  ],
];

const anything = zones.map(([zone]) => zone);
const product = anything.filter((zone) => !["test", "bench"].includes(zone));

/** Zones whose code a zone may load. Its own zone is always allowed, except as said in `refuse`. */
const mayLoad: Readonly<Record<string, readonly string[]>> = {
  core: ["manifest"],
  providers: ["core"],
  db: ["core"],
  delivery: ["core", "providers", "db", "queues"],
  wallet: ["core", "db"],
  // Points are counted by the rules of the lobby, which load nothing themselves.
  play: ["core", "providers", "db", "lobby"],
  avatars: ["core", "db"],
  boards: ["core", "db"],
  queues: ["core"],
  lobby: [],
  runtime: ["lobby", "core", "queues"],
  actors: ["runtime", "lobby", "core"],
  importers: ["db", "core", "import-run"],
  "import-run": ["db", "core", "importers"],
  oauth: ["core", "db"],
  http: ["core", "manifest"],
  sse: ["core"],
  module: [
    "core",
    "http",
    "sse",
    "providers",
    "delivery",
    "wallet",
    "play",
    "avatars",
    "boards",
    "db",
    "queues",
    "actors",
  ],
  pages: ["core", "http", "manifest"],
  processors: [
    "core",
    "providers",
    "delivery",
    "wallet",
    "play",
    "avatars",
    "boards",
    "db",
    "import-run",
    "queues",
  ],
  routes: ["module", "pages", "http", "sse", "core", "manifest"],
  deps: product.filter((zone) => !["module", "pages", "routes", "process"].includes(zone)),
  process: product,
  test: anything,
  bench: anything,
};

/** Zones whose types a zone may name besides; nothing of them is loaded. */
const mayName: Readonly<Record<string, readonly string[]>> = {
  lobby: ["core"],
  // The contract of the door, implemented by the runtime behind it.
  runtime: ["actors"],
  http: ["deps"],
  // A stream is handed over by the pipeline in the shape the route contract gives it.
  sse: ["http"],
  module: ["deps"],
  delivery: ["deps"],
  wallet: ["deps"],
  play: ["deps"],
  avatars: ["deps"],
  pages: ["deps"],
  processors: ["deps"],
  db: ["lobby"],
};

export function zoneOf(file: string): string | null {
  return zones.find(([, pattern]) => pattern.test(file))?.[0] ?? null;
}

/** Why an import is against the directions, or null when it follows them. */
export function refuse({ from, to, isTypeOnly }: Import): string | null {
  const [source, target] = [zoneOf(from), zoneOf(to)];
  if (source === null || target === null) return "one of the two belongs to no zone";
  if (source === target) return source === "module" ? refuseModule(from, to) : null;
  if (source === "lobby" && target === "core" && to !== "server/core/errors.ts")
    return "a lobby knows only the error codes";
  if (mayLoad[source]?.includes(target)) return null;
  if (isTypeOnly && mayName[source]?.includes(target)) return null;
  return `${source} may not ${isTypeOnly ? "name types of" : "load"} ${target}`;
}

function refuseModule(from: string, to: string): string | null {
  const [, , ownName] = from.split("/");
  const [, , otherName, file] = to.split("/");
  if (ownName === otherName || file === "service.ts") return null;
  return "another module is used through its service.ts only";
}
