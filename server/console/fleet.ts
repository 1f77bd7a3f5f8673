import { finishUpgrade } from "../runtime/boot/release-order.ts";
import { serviceVersion } from "../platform/version.ts";
import type { ConsoleCommand } from "./command.ts";
import { inStores, makeAudited } from "./in-database.ts";

export const fleetCommands: readonly ConsoleCommand[] = [
  {
    name: "fleet:finish-upgrade",
    summary: "After an upgrade: give up the way back to the release before",
    run: (config) =>
      inStores(config, ({ em, redis }) =>
        makeAudited(em, { action: "fleet:finish-upgrade", target: serviceVersion }, async () => {
          const former = await finishUpgrade(redis);
          return { result: { release: serviceVersion, former }, numChanged: null };
        }),
      ),
  },
];
