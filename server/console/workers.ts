import type { Config } from "../platform/config/config.ts";
import { listenUrl } from "../platform/net/addresses.ts";
import { knownOperatorToken } from "../runtime/boot/operator-token.ts";
import { splitAddress } from "../runtime/boot/ports.ts";
import { reasonOf, Refusal, textOf, type ConsoleCommand, type Options } from "./command.ts";

/** The operator process may have to start first. */
const answerLimitMs = 20_000;

export const workerCommands: readonly ConsoleCommand[] = [
  {
    name: "worker:drain",
    summary:
      "Replace an HTTP worker of the running service, whose rooms and streams go on; needs OPERATOR_TOKEN",
    required: [
      ["--index <index>", "its index at /operator/workers"],
      ["--reason <reason>", "why, for the audit log"],
    ],
    run: drainWorker,
  },
];

interface Answer {
  body?: { worker?: { pid?: number } };
  flash?: { errors?: { code: string; message?: string }[] };
}

/** Only the first process of the service can drain; the operator listener asks it, and writes the audit record (S16). */
async function drainWorker(config: Config, options: Options): Promise<Record<string, unknown>> {
  const reason = reasonOf(options, "worker");
  const index = textOf(options, "index") ?? "";
  if (!/^\d{1,4}$/.test(index)) throw new Refusal("worker:invalid_index an integer from 0");
  const token = config.OPERATOR_TOKEN || knownOperatorToken(config);
  if (!token) throw new Refusal("worker:no_token set OPERATOR_TOKEN to the token of an operator");
  const { host, port } = splitAddress(config.OPERATOR_LISTEN);
  if (port === 0) throw new Refusal("worker:no_address OPERATOR_LISTEN has no fixed port");
  const url = `${listenUrl({ HOST: host, PORT: port })}/operator/workers/${index}/drain`;
  const response = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ reason }),
    signal: AbortSignal.timeout(answerLimitMs),
  }).catch(() => null);
  if (response === null) throw new Refusal(`worker:unreachable no response from ${url}`);
  const answer = (await response.json().catch(() => null)) as Answer | null;
  if (response.status === 202)
    return { index: Number(index), pid: answer?.body?.worker?.pid ?? null, is_draining: true };
  const [error] = answer?.flash?.errors ?? [];
  throw new Refusal(`${error?.code ?? "worker:failed"} ${error?.message ?? response.status}`);
}
