import type { Import } from "./imports.ts";

/**
 * The parts of the project and their allowed imports. The first pattern that matches a file determines its
 * zone, so narrow patterns come before wide ones.
 */
const zones: readonly [zone: string, pattern: RegExp][] = [
  ["platform", /^server\/platform\//],
  ["http", /^server\/http\//],
  ["sse", /^server\/sse\//],
  ["domain", /^server\/features\/[^/]+\/(domain|providers|classifier)\//],
  ["feature", /^server\/features\//],
  ["web", /^server\/web\//],
  ["deps", /^server\/app\/(deps|job-deps|open-rooms)\.ts$/],
  // The two tables of kinds and routes of the service.
  ["routes", /^server\/app\/(routes|rooms)\.ts$/],
  ["queues", /^workers\/queues\.ts$/],
  ["processors", /^workers\/processors\//],
  ["actors", /^actors\/index\.ts$/],
  ["room-runtime", /^actors\/([^/]+\.ts$|(cluster|log|wire)\/)/],
  // One folder per kind of room: its rules, and the files that connect them to the runtime.
  ["joining", /^actors\/[^/]+\/(rooms|keys)\.ts$/],
  ["rules", /^actors\/[^/]+\//],
  ["envelope", /^importers\/envelope\//],
  ["adapters", /^importers\/adapters\//],
  ["samples", /^importers\/samples\//],
  ["pipeline", /^importers\/pipeline\//],
  ["db", /^db\/(?!create-migration\.ts)/],
  ["manifest", /^package\.json$/],
  ["test", /^test\//],
  ["scenario", /^bench\/(scenarios|bots)\//],
  ["bench", /^bench\//],
  // Entry points of processes, and the parts that only they use.
  [
    "process",
    /^(server\/[^/]+\.(ts|mjs)|server\/(app|entries|runtime|operator|console)\/|workers\/[^/]+\.ts|importers\/cli\.ts|db\/create-migration\.ts)/,
  ],
];

const anything = zones.map(([zone]) => zone);
const product = anything.filter((zone) => !["test", "bench", "scenario"].includes(zone));

/** Zones whose code a zone may load. A zone may always load itself, with the exceptions in `refuse`. */
const mayLoad: Readonly<Record<string, readonly string[]>> = {
  platform: ["manifest"],
  db: ["platform"],
  queues: ["platform"],
  // Checked further in `refuse`.
  rules: ["room-runtime"],
  joining: ["rules", "room-runtime", "platform", "queues"],
  // Browsers load it; it knows the service only by the OpenAPI document.
  web: [],
  "room-runtime": ["platform"],
  actors: ["room-runtime", "joining", "rules"],
  // Points are computed by the rules of the lobby, which import nothing.
  domain: ["platform", "db", "queues", "actors", "rules"],
  // Sources of game data do not use the database.
  envelope: ["platform", "domain"],
  adapters: ["platform", "envelope"],
  samples: ["platform", "envelope", "adapters"],
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
  // And the published client, checked in `refuse`.
  scenario: ["bench"],
};

/** Zones from which a zone may additionally import types; no code of them is loaded. */
const mayName: Readonly<Record<string, readonly string[]>> = {
  // The error codes.
  rules: ["platform"],
  // The pipeline passes a stream on in the shape that the route contract defines.
  sse: ["http"],
  // The complete set of dependencies is composed from what every feature and processor declares.
  deps: ["feature", "routes"],
  routes: ["deps"],
  // The shape of an adapter; the command lists the adapters.
  pipeline: ["adapters"],
  db: ["rules"],
};

const publishedClient = "server/web/client/emberline.ts";

/** Both change the same things, so neither has queries of its own. */
const sharesRules = /^server\/(operator|console)\//;
const knowsAllDeps = /^(server\/(app|entries)|test)\//;

export function zoneOf(file: string): string | null {
  return zones.find(([, pattern]) => pattern.test(file))?.[0] ?? null;
}

/** Why an import is not allowed; null if it is. */
export function refuse({ from, to, isTypeOnly }: Import): string | null {
  const [source, target] = [zoneOf(from), zoneOf(to)];
  if (source === null) return missingZone(from);
  if (target === null) return missingZone(to);
  if (target === "deps" && !knowsAllDeps.test(from))
    return "only server/app knows all dependencies: name what is needed in an interface beside its use";
  if (sharesRules.test(from) && to.startsWith("db/queries/"))
    return "the operator listener and the console share rules: call features/*/domain";
  if (source === "feature" && target === "feature") return refuseFeature(from, to);
  if (source === "scenario" && to === publishedClient) return null;
  if (source === "rules") return refuseRules(from, to, isTypeOnly);
  if (source === target) return null;
  if (mayLoad[source]?.includes(target)) return null;
  if (isTypeOnly && mayName[source]?.includes(target)) return null;
  return `${source} may not ${isTypeOnly ? "name types of" : "load"} ${target}`;
}

/** Advice for a file that matches no zone. */
export const missingZone = (file: string): string =>
  `${file} belongs to no zone: put it into a folder that has one, or give it one in test/support/zones.ts`;

/** Rules are pure: they import only their own folder, and what an author of rules writes. */
function refuseRules(from: string, to: string, isTypeOnly: boolean): string | null {
  const [, ownKind] = from.split("/");
  if (to.startsWith(`actors/${ownKind}/`) || to === "actors/rules.ts") return null;
  const isNamed = to === "server/platform/errors.ts" || to === "actors/kind.ts";
  if (isTypeOnly && isNamed) return null;
  return "rules know only their own folder, actors/rules.ts and the types of actors/kind.ts and error codes";
}

function refuseFeature(from: string, to: string): string | null {
  const [, , ownName] = from.split("/");
  const [, , otherName, file] = to.split("/");
  if (ownName === otherName || !file?.endsWith("routes.ts")) return null;
  return "only server/app imports the routes of another feature";
}
