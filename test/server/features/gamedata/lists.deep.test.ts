import { after, before, describe, it } from "node:test";
import { resources } from "../../../../db/projections/resources/index.ts";
import { startApp, type App } from "../../../support/app.ts";
import { checkAnyValue, importNewestSample } from "./sample-lists.ts";

describe("all lists of the projection", () => {
  let app: App;
  before(async () => {
    app = await startApp({ hasJobs: false });
    await importNewestSample(app);
  });
  after(() => app.stop());

  it("answer any value with rows or with a refusal that names the parameter", () =>
    checkAnyValue(app, resources));
});
