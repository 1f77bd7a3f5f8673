import { floorBenches } from "./floor-benches.ts";
import { isScenario } from "./scenarios.ts";

/** First words of `npm run bench --` that are programs of their own; anything else is a load test. */
const programs: Readonly<Record<string, () => Promise<unknown>>> = {
  /** What the load tests promise. */
  show: async () => (process.argv.splice(2, 1), (await import("./show.ts")).main()),
  /** The bots beside other tools. */
  calibrate: async () => (await import("./calibrate.ts")).main(),
  /** From a clone to the first game. */
  newcomer: async () => (await import("./newcomer.ts")).main(),
  /** Ratios to the floor. */
  floor: () => (process.argv.splice(2, 1), import("./floor.ts")),
};

const [first = ""] = process.argv.slice(2);
/** The name of a bench that is no scenario means the bench. */
const isFloorBench = Object.hasOwn(floorBenches, first) && !isScenario(first);
if (Object.hasOwn(programs, first)) await programs[first]?.();
else await import(isFloorBench ? "./floor.ts" : "./command.ts");
