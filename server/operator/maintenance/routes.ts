import Type from "typebox";
import type { Maintenance } from "../../features/rooms/domain/maintenance.ts";
import { reply, routesWith } from "../../http/pipeline/route.ts";
import { timestamp, type Clock } from "../../platform/time/clock.ts";
import type { WithAudit } from "../audit.ts";
import { roleOf } from "../roles.ts";
import { ReasonBody } from "../schemas.ts";
import { maintenancePage, maintenancePath } from "./page.ts";
import { defaultRetryAfter, defaultText, MaintenanceBody, TurnOnBody } from "./schemas.ts";

export interface MaintenanceDeps extends WithAudit {
  maintenance: {
    read(): Promise<Maintenance | null>;
    /** Resolves, when every process knows, to what was before. */
    change(next: Maintenance | null): Promise<Maintenance | null>;
  };
  clock: Pick<Clock, "now">;
}

const defineRoute = routesWith<MaintenanceDeps>();
const tag = "Operator";
const target = "new rooms";

const MaintenanceAnswer = Type.Object({
  maintenance: Type.Union([MaintenanceBody, Type.Null()], { description: "null: off" }),
});

const present = (state: Maintenance | null) => ({
  maintenance: state && {
    text: state.text,
    retry_after: state.retryAfter,
    since: timestamp(state.sinceMs),
  },
});

/** Maintenance mode: new rooms of all kinds are refused, open ones go on (BOOT-50). */
export const maintenanceRoutes = [
  defineRoute({
    method: "GET",
    path: maintenancePath,
    tag,
    summary: "Whether new rooms are refused",
    auth: "viewer",
    source: "BOOT-50",
    responses: { 200: MaintenanceAnswer },
    page: maintenancePage,
    errors: [],
    handler: async ({ deps }) => reply(200, present(await deps.maintenance.read())),
  }),
  defineRoute({
    method: "POST",
    path: `${maintenancePath}/on`,
    tag,
    summary: "Refuse new rooms, or change the text that players read; done when every process does",
    auth: roleOf("maintenance:on"),
    source: "BOOT-50, S16",
    body: TurnOnBody,
    pageAfter: () => maintenancePath,
    responses: { 200: MaintenanceAnswer },
    errors: [],
    handler: async ({ deps: { maintenance, audit, clock }, body, ...by }) => {
      const { reason, text = defaultText, retry_after: retryAfter = defaultRetryAfter } = body;
      const next = { text: text.trim(), retryAfter, sinceMs: clock.now() };
      const change = { action: "maintenance:on", target, reason: reason.trim() } as const;
      await audit(by, change, () => maintenance.change(next));
      return reply(200, present(await maintenance.read()));
    },
  }),
  defineRoute({
    method: "POST",
    path: `${maintenancePath}/off`,
    tag,
    summary: "Open rooms again; done when every process does",
    auth: roleOf("maintenance:off"),
    source: "BOOT-50, S16",
    body: ReasonBody,
    pageAfter: () => maintenancePath,
    responses: { 200: MaintenanceAnswer },
    errors: [],
    handler: async ({ deps: { maintenance, audit }, body: { reason }, ...by }) => {
      const change = { action: "maintenance:off", target, reason: reason.trim() } as const;
      await audit(by, change, () => maintenance.change(null));
      return reply(200, present(null));
    },
  }),
];
