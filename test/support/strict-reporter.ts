import type { TestEvent } from "node:test/reporters";

/** Node counts tests alone: without this a file that cannot be loaded, or an `after` that fails, would pass. */
// oxlint-disable-next-line import/no-default-export -- as Node asks of a reporter
export default async function* strict(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type } of events) if (type === "test:fail") process.exitCode = 1;
  if (process.exitCode === 1) yield "something has failed, see above\n";
}
