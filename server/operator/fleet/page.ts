import type { OperatorCaller } from "../../http/auth/auth.ts";
import { html, type Html, type Value } from "../html.ts";
import { marked, page, table, timeCell } from "../layout.ts";
import { workersPath } from "../workers/page.ts";
import type { FleetBody } from "./schemas.ts";

const head = [
  ...["Host", "Id", "Ready", "Version", "Commit", "Build", "Up since", "Public", "Operator"],
  ...["HTTP workers", "Job workers", "Streams", "Rooms", "Memory", "Loop lag", "Clock"],
];

interface FleetPageView {
  body: FleetBody;
  caller: OperatorCaller;
}

/** The instances of the fleet, and what does not fit between them (BOOT-30). */
export const fleetPage = ({ body, caller }: FleetPageView): Html =>
  page(
    { title: "Fleet", caller, isLive: true },
    html`<h1>Fleet</h1>
      ${body.problems.map(({ text }) => html`<p class="wrong">${text}.</p>`)}
      ${
        body.unregistered.length > 0 &&
        html`<p class="wrong">
          HTTP workers of instances that do not register, as those of an earlier release:
          ${body.unregistered.join(", ")}.
        </p>`
      }
      ${
        body.instances === null
          ? html`<p class="wrong">Redis does not respond: the instances are unknown.</p>`
          : table("Instances", head, body.instances.map(instanceRow))
      }
      <p><a href="${workersPath}">Processes of all instances</a></p>`,
  );

type Instance = NonNullable<FleetBody["instances"]>[number];
type Workers = Instance["http_workers"];

const readyOf = ({ num_ready, num }: Workers): Value =>
  marked(`${num_ready} of ${num} ready`, num_ready < num);

const instanceRow = (instance: Instance): Value[] => [
  ...[instance.host, instance.id, marked(instance.ready, instance.ready !== "ready")],
  ...[instance.version, instance.commit, instance.build, timeCell(instance.started_at)],
  ...[instance.public_address, instance.operator_address],
  ...[readyOf(instance.http_workers), readyOf(instance.job_workers)],
  ...[instance.num_streams, instance.num_rooms],
  `${Math.round(instance.memory_bytes / 1_048_576)} MiB`,
  instance.loop_lag_ms === null ? null : `${instance.loop_lag_ms} ms`,
  `${instance.clock_offset_ms} ms`,
];
