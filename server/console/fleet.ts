import { finishUpgrade, UpgradeOpen } from "../runtime/boot/release-order.ts";
import { serviceVersion } from "../platform/version.ts";
import { reasonOf, Refusal, type ConsoleCommand } from "./command.ts";
import { inStores, makeAudited } from "./in-database.ts";
import { restartFleet } from "./rolling-restart.ts";

export const fleetCommands: readonly ConsoleCommand[] = [
  {
    name: "fleet:rolling-restart",
    summary:
      "Replace the HTTP workers of all instances one after the other, up to the first failure; needs OPERATOR_TOKEN",
    required: [["--reason <reason>", "why, for the audit log"]],
    run: (config, options) =>
      restartFleet(config, reasonOf(options, "fleet"), (line) => process.stderr.write(`${line}\n`)),
  },
  {
    name: "fleet:finish-upgrade",
    summary: "After an upgrade: give up the way back to the release before",
    run: (config) =>
      inStores(config, ({ em, redis }) =>
        makeAudited(em, { action: "fleet:finish-upgrade", target: serviceVersion }, async () => {
          const former = await finishUpgrade(redis).catch((error: unknown) => {
            if (error instanceof UpgradeOpen)
              throw new Refusal(`fleet:upgrade_open ${error.message}`);
            throw error;
          });
          return { result: { release: serviceVersion, former }, numChanged: null };
        }),
      ),
  },
];
