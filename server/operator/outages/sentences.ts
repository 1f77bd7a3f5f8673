import { timestamp } from "../../platform/time/clock.ts";
import { html, type Html } from "../html.ts";
import { renewalOf, timeCell } from "../layout.ts";
import type { Outage, OutagePart } from "./watch.ts";

const names: Readonly<Record<OutagePart, string>> = {
  postgres: "Postgres",
  redis: "Redis",
  primary: "The primary process",
};

/** What pages cannot say without it. */
const contents: Readonly<Record<OutagePart, string>> = {
  postgres: "accounts, messages, wallets, imports, questions, pictures, decisions and changes",
  redis: "queues, jobs, failures, requests and stored rooms",
  primary: "processes, rooms in memory and rates",
};

const isAway = ({ part, sinceMs }: Outage): Html =>
  html`${names[part]} has not responded since ${timeCell(timestamp(sinceMs))}`;

/** One sentence for each outage, above a page that shows the rest (OPS-94). */
export const outageNotice = (outages: readonly Outage[]): Html =>
  html`${outages.map(
    (outage) =>
      html`<p class="wrong" role="alert">
        ${isAway(outage)}: ${contents[outage.part]} are unknown until it does. ${renewalOf()}
      </p>`,
  )}`;

/** The same instead of a page, which would show `content`. */
export const outageSentence = (outages: readonly Outage[], content: string): Html =>
  html`<p class="wrong" role="alert">
    ${outages.map((outage, i) => [i > 0 && "; ", isAway(outage)])}: this page cannot show
    ${content}. ${renewalOf()}
  </p>`;
