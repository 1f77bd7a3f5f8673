import { operatorRoles, type OperatorRole } from "../http/auth/auth.ts";

/** Who may make a change, and whether it needs a reason for the audit log. */
interface Rule {
  role: OperatorRole;
  needsReason: boolean;
}

const byOperator = { role: "operator", needsReason: false } as const satisfies Rule;
const withReason = { role: "operator", needsReason: true } as const satisfies Rule;
/** Changes that lose or alter what is queued, or how queues work. */
const byAdmin = { role: "admin", needsReason: true } as const satisfies Rule;

/**
 * Every change an operator can make, by its name in the audit log (OPS-07). Viewers read. The level of an endpoint, the
 * buttons of a page and the queue board follow from this table.
 */
export const actions = {
  "job:retry": byOperator,
  "job:remove": byOperator,
  "queue:pause": byOperator,
  "queue:resume": byOperator,
  "queue:retry-failed": byOperator,
  "worker:drain": byOperator,
  "failure:note": byOperator,
  "failure:ignored": withReason,
  "failure:open": withReason,
  "failure:resolved": withReason,
  "failure:retry": withReason,
  "failure:remove": withReason,
  "failure:cancel": byOperator,
  "avatar:approve": byOperator,
  "avatar:undo": byOperator,
  "avatar:reject": withReason,
  "account:unlock": withReason,
  "account:restore": withReason,
  "account:sign-out": withReason,
  "question:retire": withReason,
  "question:restore": withReason,
  "question:dismiss-reports": withReason,
  "maintenance:on": byAdmin,
  "maintenance:off": byAdmin,
  "job:add": byAdmin,
  "job:edit": byAdmin,
  "queue:empty": byAdmin,
  "queue:clean": byAdmin,
  "queue:obliterate": byAdmin,
  "queue:concurrency": byAdmin,
  "scheduler:change": byAdmin,
} as const satisfies Record<string, Rule>;

export type Action = keyof typeof actions;

/** The level of an endpoint that makes this change. */
export const roleOf = <A extends Action>(action: A): (typeof actions)[A]["role"] =>
  actions[action].role;

/** Each role includes those before it. */
export const includesRole = (role: OperatorRole, wanted: OperatorRole): boolean =>
  operatorRoles.indexOf(role) >= operatorRoles.indexOf(wanted);

/** True if a page may offer this change. */
export const mayMake = (role: OperatorRole, action: Action): boolean =>
  includesRole(role, actions[action].role);
