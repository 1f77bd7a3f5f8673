import { listenUrl } from "../platform/net/addresses.ts";
import type { Config } from "../platform/config/config.ts";
import { buildWarning, nameOf } from "../http/probe/builds.ts";
import { probe } from "../http/probe/probe.ts";
import { uwsBuild } from "../http/uws/uws.ts";
import { Refusal, textOf, type ConsoleCommand, type Options } from "./command.ts";

export const probeCommands: readonly ConsoleCommand[] = [
  {
    name: "http:probe",
    summary:
      "Send a running service raw requests that are easy to misparse, and report the outcomes",
    argument: [
      "url",
      "where it listens, or a proxy in front; this machine's service when left out",
    ],
    run: probeService,
  },
];

/** One line per request: its outcome and whether that is expected. */
async function probeService(config: Config, options: Options): Promise<Record<string, unknown>> {
  const url = addressOf(textOf(options, "url") ?? listenUrl(config));
  const results = await probe(url).catch((error: unknown) => {
    throw new Refusal(`probe:unreachable ${url.origin}: ${messageOf(error)}`);
  });
  const misread = results.filter(({ isRight }) => !isRight).map(({ name }) => name);
  const build = uwsBuild();
  return {
    ...Object.fromEntries(
      results.map(({ name, outcome, seen, isRight }) => [
        name,
        `${isRight ? "right  " : "MISREAD"}  ${seen} (wanted: ${outcome})`,
      ]),
    ),
    url: url.origin,
    build_here: `${nameOf(build)}${buildWarning(build) === null ? "" : ", never tried"}`,
    num_right: results.length - misread.length,
    misread,
  };
}

function addressOf(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new Refusal("probe:invalid_url give an address as http://127.0.0.1:8080");
  return url;
}

/** A host with several addresses fails with one error per address. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(String).join("; ");
  return error instanceof Error ? error.message : String(error);
}
