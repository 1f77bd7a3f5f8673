import { after, before } from "node:test";
import { startApp, type App } from "../../../support/app.ts";
import { manualClock } from "../../../support/clock.ts";
import { correctIndexOf, fillBank } from "./game.ts";

export let app: App;
const startedAt = Date.parse("2026-05-10T11:00:00Z");
export let clock = manualClock(startedAt);
export const rightFor = (questionId: number) => correctIndexOf(app, questionId);

/** The service with a bank of questions, at a fixed time. */
export function startsRunsApp(): void {
  before(async () => {
    clock = manualClock(startedAt);
    app = await startApp({ clock, hasJobs: false });
    await fillBank(app, 8);
  });
  after(() => app.stop());
}
