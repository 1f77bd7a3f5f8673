import type { Static } from "typebox";
import { maxMaintenanceText } from "../../features/rooms/domain/maintenance.ts";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { html, type Html, type Value } from "../html.ts";
import { page, timeCell } from "../layout.ts";
import { mayMake } from "../roles.ts";
import { maxReason } from "../schemas.ts";
import { defaultRetryAfter, defaultText, type MaintenanceBody } from "./schemas.ts";

export const maintenancePath = "/operator/maintenance";

interface MaintenanceView {
  body: { maintenance: Static<typeof MaintenanceBody> | null };
  caller: OperatorCaller;
}

/** Whether rooms are opened, and the form that changes it (BOOT-50). */
export const maintenancePage = ({ body: { maintenance }, caller }: MaintenanceView): Html =>
  page(
    { title: "Maintenance", caller },
    html`<h1>Maintenance</h1>
      ${
        maintenance === null
          ? html`<p>Off: rooms are opened.</p>`
          : html`<p class="wrong">On since ${timeCell(maintenance.since)}: no room is opened.</p>
              <p>Players read: ${maintenance.text}</p>`
      }
      <p>Rooms that are open go on to their end; their players can join them.</p>
      ${
        mayMake(caller.role, "maintenance:on") && [
          turnOn(maintenance),
          maintenance !== null && turnOff,
        ]
      }`,
  );

const reason = html`<label for="reason">Reason (for the audit log)</label
  ><input id="reason" name="reason" maxlength="${maxReason}" required />`;

const turnOn = (maintenance: Static<typeof MaintenanceBody> | null): Value =>
  html`<h2>${maintenance === null ? "Turn on" : "Change"}</h2>
    <form method="post" action="${maintenancePath}/on">
      <label for="text">What players read</label
      ><input
        id="text"
        name="text"
        maxlength="${maxMaintenanceText}"
        value="${maintenance?.text ?? defaultText}"
        required
      />
      <label for="retry_after">Seconds until they should try again</label
      ><input
        id="retry_after"
        name="retry_after"
        inputmode="numeric"
        value="${maintenance?.retry_after ?? defaultRetryAfter}"
        required
      />
      ${reason}
      <p><button>${maintenance === null ? "Open no new rooms" : "Change"}</button></p>
    </form>`;

const turnOff = html`<h2>Turn off</h2>
  <form method="post" action="${maintenancePath}/off">
    <label for="reason-off">Reason (for the audit log)</label
    ><input id="reason-off" name="reason" maxlength="${maxReason}" required />
    <p><button>Open rooms again</button></p>
  </form>`;
