import { finishUpgrade } from "../runtime/boot/release-order.ts";
import { serviceVersion } from "../platform/version.ts";
import type { ConsoleCommand } from "./command.ts";
import { audit, inStores } from "./in-database.ts";

export const fleetCommands: readonly ConsoleCommand[] = [
  {
    name: "fleet:finish-upgrade",
    summary: "After an upgrade: give up the way back to the release before",
    run: (config) =>
      inStores(config, async ({ em, redis }) => {
        await audit(em, "fleet:finish-upgrade", serviceVersion);
        return { release: serviceVersion, former: await finishUpgrade(redis) };
      }),
  },
];
