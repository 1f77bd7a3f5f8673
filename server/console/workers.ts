import type { Config } from "../platform/config/config.ts";
import { reasonOf, Refusal, textOf, type ConsoleCommand, type Options } from "./command.ts";
import { OperatorApi } from "./operator-api.ts";

export const workerCommands: readonly ConsoleCommand[] = [
  {
    name: "worker:drain",
    summary:
      "Replace an HTTP worker of the running service, whose rooms and streams go on; needs OPERATOR_TOKEN",
    required: [
      ["--index <index>", "its index at /operator/workers"],
      ["--reason <reason>", "why, for the audit log"],
    ],
    optional: [["--instance <id>", "id at /operator/fleet; default: the instance of this machine"]],
    run: drainWorker,
  },
];

/** Only the first process of the service can drain; the operator listener asks it, and writes the audit record (S16). */
async function drainWorker(config: Config, options: Options): Promise<Record<string, unknown>> {
  const reason = reasonOf(options, "worker");
  const index = textOf(options, "index") ?? "";
  if (!/^\d{1,4}$/.test(index)) throw new Refusal("worker:invalid_index an integer from 0");
  const service = textOf(options, "instance");
  const { worker } = await new OperatorApi(config).post<{ worker: { pid: number } }>(
    `/operator/workers/${index}/drain`,
    { reason, ...(service === undefined ? {} : { service }) },
  );
  return { index: Number(index), pid: worker.pid, is_draining: true };
}
