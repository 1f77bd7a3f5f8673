import { floorBenches } from "./floor-benches.ts";
import { isScenario } from "./scenarios.ts";

/**
 * `npm run bench -- <scenario>...`: load tests. `npm run bench -- floor <bench>...`, or the name of a bench that is no
 * scenario: ratios to the floor. `npm run bench -- compare`: two reports. `npm run bench -- show`: what the load tests promise. `npm run bench --
 * calibrate`: the bots beside other tools. `npm run bench -- newcomer`: from a clone to the first game.
 */
const [first = ""] = process.argv.slice(2);
const isFloorBench = Object.hasOwn(floorBenches, first) && !isScenario(first);
if (first === "floor") process.argv.splice(2, 1);
if (first === "compare") {
  process.argv.splice(2, 1);
  await import("./compare/command.ts");
} else if (first === "show") {
  process.argv.splice(2, 1);
  await (await import("./show.ts")).main();
} else if (first === "calibrate") await (await import("./calibrate.ts")).main();
else if (first === "newcomer") await (await import("./newcomer.ts")).main();
else if (first === "floor" || isFloorBench) await import("./floor.ts");
else await import("./command.ts");
