import { maxRate, trialJobs, usualRate } from "../../features/faults/domain/action-bounds.ts";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { changeButton } from "../forms.ts";
import { html, type Html, type Value } from "../html.ts";
import { marked, page, table, timeCell } from "../layout.ts";
import { mayMake } from "../roles.ts";
import type { ActionBody, PreviewBody } from "./action-schemas.ts";
import { failurePathOf, failuresPath } from "./paths.ts";
import { maxReason } from "./schemas.ts";

type Kind = PreviewBody["action"];

export const actionPathOf = (groupId: string, id: number): string =>
  `${failurePathOf(groupId)}/actions/${id}`;

const previewPathOf = (groupId: string, kind: Kind) =>
  `${failurePathOf(groupId)}/preview?action=${kind}`;

const effects: Readonly<Record<Kind, string>> = {
  retry: `The first ${trialJobs} jobs run again. If all of them fail for the same cause, the others stay failed; else they run again too, each once. Jobs that fail later are not taken.`,
  remove: "These jobs are removed from their queue and never run. Jobs that fail later stay.",
};
export const effectOf = (kind: Kind): string => effects[kind];

interface PreviewView {
  body: { preview: PreviewBody };
  caller: OperatorCaller;
}

const titles: Readonly<Record<Kind, string>> = { retry: "Retry jobs", remove: "Remove jobs" };

/** What an action would take, and the form that starts it (OPS-50). */
export const previewPage = ({ body: { preview }, caller }: PreviewView): Html => {
  const { action, failure_id: id, num_left_out: numLeftOut } = preview;
  return page(
    { title: titles[action], caller },
    html`<h1>${titles[action]}</h1>
      ${table(
        "What it takes",
        ["What", "Value"],
        [
          ["Jobs failed now", preview.num_jobs],
          ...(numLeftOut > 0 ? [["Further ones, not taken", marked(numLeftOut, true)]] : []),
          ["Queue", preview.queue],
          ["Oldest failure", preview.oldest_failed_at && timeCell(preview.oldest_failed_at)],
          ["Players (about)", preview.num_players],
        ],
      )}
      <p>${preview.effect}</p>
      ${startForm(preview, caller)}
      <p><a href="${failurePathOf(id)}">The group</a></p>`,
  );
};

function startForm({ action, failure_id: id }: PreviewBody, { role }: OperatorCaller): Value {
  if (!mayMake(role, `failure:${action}`)) return null;
  const rate =
    action === "retry" &&
    html`<label for="rate">Jobs a second</label
      ><input id="rate" name="rate" type="number" min="1" max="${maxRate}" value="${usualRate}" />`;
  return html`<form method="post" action="${failurePathOf(id)}/${action}">
    <label for="reason">Reason (for the audit log)</label
    ><input id="reason" name="reason" maxlength="${maxReason}" required autofocus />${rate}
    <p><button class="primary">${titles[action]}</button></p>
  </form>`;
}

interface ActionView {
  body: { action: ActionBody };
  caller: OperatorCaller;
}

const isOpen = ({ state }: ActionBody) => state === "queued" || state === "running";

/** One action with its progress and result (OPS-52). */
export const actionPage = ({ body: { action }, caller }: ActionView): Html =>
  page(
    { title: titles[action.action], caller, isLive: isOpen(action) },
    html`<h1>${titles[action.action]}</h1>
      ${table("State", ["What", "Value"], factsOf(action))} ${cancelButton(action, caller)}
      <p>
        <a href="${failurePathOf(action.failure_id)}">The group</a>,
        <a href="${failuresPath}">All failures</a>
      </p>`,
  );

function factsOf(action: ActionBody): Value[][] {
  const retried: Value[][] = [
    ["Succeeded", action.num_succeeded],
    ["Failed again", marked(action.num_failed_again, action.num_failed_again > 0)],
    ["Still waiting or running", action.num_waiting],
  ];
  return [
    ["State", stateText(action)],
    ["Jobs", action.num_jobs],
    ["Not yet taken", action.num_left],
    ...(action.action === "retry" ? retried : [["Removed", action.num_removed]]),
    ["Skipped: no longer failed, or failed anew", action.num_skipped],
    ...(action.num_left_out > 0 ? [["Beyond the bound", marked(action.num_left_out, true)]] : []),
    ["Queue", action.queue],
    ["Jobs a second", action.rate],
    ["Decided by", action.operator],
    ["Reason", action.reason],
    ["Decided", timeCell(action.created_at)],
    ["Started", action.started_at && timeCell(action.started_at)],
    ["Ended", action.ended_at && timeCell(action.ended_at)],
  ];
}

const stateTexts: Readonly<Record<ActionBody["state"], string>> = {
  queued: "waits",
  running: "runs",
  done: "done",
  stopped: `stopped: the first ${trialJobs} failed again for the same cause`,
  cancelled: "cancelled",
  failed: "failed: it could not go on; see its job in the queue group-actions",
};

const stateText = ({ state }: ActionBody) =>
  marked(stateTexts[state], state === "stopped" || state === "failed");

const cancelButton = (action: ActionBody, { role }: OperatorCaller): Value =>
  isOpen(action) &&
  changeButton({
    role,
    action: "failure:cancel",
    to: `${actionPathOf(action.failure_id, action.id)}/cancel`,
    text: "Cancel",
  });

/** Links to the previews, and the actions of a group; null while Postgres is away. */
export function actionsOf(
  { id, num_failed_jobs: numJobs }: { id: string; num_failed_jobs: number },
  actions: readonly ActionBody[] | null,
  { role }: OperatorCaller,
): Value {
  const kinds = (["retry", "remove"] as const).filter((kind) => mayMake(role, `failure:${kind}`));
  return [
    numJobs > 0 &&
      html`<p>
        ${kinds.map(
          (kind) => html`<a href="${previewPathOf(id, kind)}">${titles[kind]}: ${numJobs}</a> `,
        )}
      </p>`,
    actionTable(actions),
  ];
}

export function actionTable(actions: readonly ActionBody[] | null): Html {
  if (actions === null)
    return html`<p class="wrong">Postgres does not respond: actions are unknown.</p>`;
  return actions.length === 0 ? html`` : table("Actions", actionHead, actions.map(actionRow));
}

const actionHead = ["When", "What", "By", "State", "Jobs", "Succeeded", "Failed again", "Removed"];

const actionRow = (action: ActionBody): Value[] => [
  html`<a href="${actionPathOf(action.failure_id, action.id)}">${timeCell(action.created_at)}</a>`,
  action.action,
  action.operator,
  marked(action.state, action.state === "stopped" || action.state === "failed"),
  action.num_jobs,
  action.num_succeeded,
  action.num_failed_again,
  action.num_removed,
];
