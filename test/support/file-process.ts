import { AsyncResource } from "node:async_hooks";
import { resolve } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import { takeFile } from "./file-queue.ts";
import { recordFile } from "./processor-time.ts";
import { loadTestName } from "./reporter.ts";
import { recordLastStarted } from "./silence.ts";

/**
 * A process of the run: loads one file after the other, since loading the service takes as long as several
 * files. Tests of the top level run in order, so a file is loaded when those before it have ended.
 */
const order = JSON.parse(String(process.env["TEST_FILES"])) as string[];
const folder = String(process.env["TEST_RUN_FOLDER"]);
delete process.env["TEST_FILES"];

/** Within the test that loads it, the tests of a file would belong to that test. */
const topLevel = new AsyncResource("test files");

function loadNext(ended?: string): void {
  test(loadTestName, async () => {
    if (ended !== undefined) recordFile(ended);
    const file = takeFile(order, folder);
    if (file !== null) await topLevel.runInAsyncScope(load, null, file);
  });
}

async function load(file: string): Promise<void> {
  recordLastStarted(`the loading of ${file}`);
  try {
    await import(pathToFileURL(resolve(file)).href);
  } catch (error) {
    test(file, () => {
      throw error;
    });
  }
  loadNext(file);
}

loadNext();
