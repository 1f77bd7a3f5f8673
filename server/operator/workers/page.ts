import type { Static } from "typebox";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { changeButton } from "../forms.ts";
import { html, type Html, type Value } from "../html.ts";
import { page, table, timeCell } from "../layout.ts";
import type { ProcessBody } from "./processes.ts";

export const workersPath = "/operator/workers";

export const processHead = ["Role", "Pid", "State", "Restarts", "Up since"] as const;

type Process = Static<typeof ProcessBody>;

interface WorkersView {
  body: { workers: Process[] };
  caller: OperatorCaller;
}

/** The processes, and a button that drains an HTTP worker (OPS-04). */
export const workersPage = ({ body: { workers }, caller }: WorkersView): Html =>
  page(
    { title: "Workers", caller },
    html`<h1>Workers</h1>
      ${table(
        "Processes",
        [...processHead, "Change"],
        workers.map((info) => [...processRow(info), drainButton(info, caller)]),
      )}`,
  );

export function processRow(info: Process): Value[] {
  const since = info.is_ready ? timeCell(info.started_at) : "";
  const state = info.is_ready ? "ready" : "starting";
  return [`${info.role} ${info.index}`, info.pid, state, info.num_restarts, since];
}

const drainButton = ({ role: kind, index, is_ready }: Process, { role }: OperatorCaller): Value =>
  kind === "http" &&
  is_ready &&
  changeButton({
    role,
    action: "worker:drain",
    to: `${workersPath}/${index}/drain`,
    text: "Drain",
  });
