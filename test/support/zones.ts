import type { Import } from "./imports.ts";

/**
 * The parts of the project and who may import whom. The first pattern that fits a file names its
 * zone, so narrow patterns stand above wide ones.
 */
const zones: readonly [zone: string, pattern: RegExp][] = [
  ["platform", /^server\/platform\//],
  ["http", /^server\/http\//],
  ["sse", /^server\/sse\//],
  ["domain", /^server\/features\/[^/]+\/(domain|providers|classifier)\//],
  ["feature", /^server\/features\//],
  ["web", /^server\/web\//],
  ["deps", /^server\/app\/deps\.ts$/],
  ["routes", /^server\/app\/routes\.ts$/],
  ["queues", /^workers\/queues\.ts$/],
  ["processors", /^workers\/processors\//],
  ["lobby", /^actors\/lobby\//],
  ["actor-runtime", /^actors\/runtime\//],
  ["actors", /^actors\/(index|contract|kinds|lobbies|lobby-keys)\.ts$/],
  ["envelope", /^importers\/envelope\//],
  ["adapters", /^importers\/adapters\//],
  ["samples", /^importers\/samples\//],
  ["pipeline", /^importers\/pipeline\//],
  ["db", /^db\/(?!create-migration\.ts)/],
  ["manifest", /^package\.json$/],
  ["test", /^test\//],
  ["bench", /^bench\//],
  // What a process starts from, and the parts only such an entry uses.
  [
    "process",
    /^(server\/[^/]+\.(ts|mjs)|server\/(app|entries|runtime|operator|console)\/|workers\/[^/]+\.ts|importers\/cli\.ts|db\/create-migration\.ts)/,
  ],
];

const anything = zones.map(([zone]) => zone);
const product = anything.filter((zone) => !["test", "bench"].includes(zone));

/** Zones whose code a zone may load. Its own zone is always allowed, except as said in `refuse`. */
const mayLoad: Readonly<Record<string, readonly string[]>> = {
  platform: ["manifest"],
  db: ["platform"],
  queues: ["platform"],
  lobby: [],
  // Browsers load it: what it knows of the service is the interface document.
  web: [],
  "actor-runtime": ["platform"],
  actors: ["actor-runtime", "lobby", "platform", "queues"],
  // Points are counted by the rules of the lobby, which load nothing themselves.
  domain: ["platform", "db", "queues", "actors", "lobby"],
  // Sources of game data know no database.
  envelope: ["platform", "domain"],
  adapters: ["platform", "envelope"],
  samples: ["envelope", "adapters"],
  pipeline: ["platform", "db", "envelope"],
  http: ["platform", "manifest"],
  sse: ["platform"],
  feature: ["platform", "http", "sse", "domain", "db", "queues", "actors", "web", "manifest"],
  processors: ["platform", "domain", "db", "envelope", "samples", "pipeline", "queues"],
  routes: ["feature", "http", "sse", "platform", "manifest"],
  deps: product.filter((zone) => !["feature", "routes", "process"].includes(zone)),
  process: product,
  test: anything,
  bench: anything,
};

/** Zones whose types a zone may name besides; nothing of them is loaded. */
const mayName: Readonly<Record<string, readonly string[]>> = {
  // The shape of a definition, and the error codes.
  lobby: ["platform", "actor-runtime"],
  // A stream is handed over by the pipeline in the shape the route contract gives it.
  sse: ["http"],
  // All dependencies together are what every feature and processor names for itself.
  deps: ["feature"],
  routes: ["deps"],
  // The shape of an adapter; the command names the adapters.
  pipeline: ["adapters"],
  db: ["lobby"],
};

const knowsAllDeps = /^(server\/(app|entries)|test)\//;

export function zoneOf(file: string): string | null {
  return zones.find(([, pattern]) => pattern.test(file))?.[0] ?? null;
}

/** Why an import is against the directions, or null when it follows them. */
export function refuse({ from, to, isTypeOnly }: Import): string | null {
  const [source, target] = [zoneOf(from), zoneOf(to)];
  if (source === null || target === null) return "one of the two belongs to no zone";
  if (target === "deps" && !knowsAllDeps.test(from))
    return "only server/app knows all dependencies: name what is needed in an interface beside its use";
  if (source === "feature" && target === "feature") return refuseFeature(from, to);
  if (source === target) return null;
  if (source === "lobby" && target === "platform" && to !== "server/platform/errors.ts")
    return "a lobby knows only the error codes";
  if (source === "lobby" && target === "actor-runtime" && to !== "actors/runtime/definition.ts")
    return "a lobby knows only the shape of a definition";
  if (mayLoad[source]?.includes(target)) return null;
  if (isTypeOnly && mayName[source]?.includes(target)) return null;
  return `${source} may not ${isTypeOnly ? "name types of" : "load"} ${target}`;
}

function refuseFeature(from: string, to: string): string | null {
  const [, , ownName] = from.split("/");
  const [, , otherName, file] = to.split("/");
  if (ownName === otherName || file === "service.ts" || file === "deps.ts") return null;
  return "another feature is used through its service.ts, its deps.ts or its domain only";
}
