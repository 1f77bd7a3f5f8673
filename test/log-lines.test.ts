import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";

const root = join(import.meta.dirname, "..");
const sources = globSync("{server,workers,actors,importers,db}/**/*.ts", { cwd: root })
  .toSorted()
  .map((file) => ({ file, text: readFileSync(join(root, file), "utf8") }));

/** Calls without an event, each with its reason. */
const exceptions: readonly { file: string; call: string; reason: string }[] = [
  {
    file: "server/http/pipeline/request-record.ts",
    call: "log.info({ id,",
    reason: "the request line, of which a busy process writes thousands a second",
  },
];

const logCall = /\b#?log\??\.(?:debug|info|warn|error|fatal)\(\s*/g;
const event = /\bevent\b/;

interface LogCall {
  file: string;
  line: number;
  /** The call up to its end, joined into one line. */
  call: string;
  isNamed: boolean;
}

/** The object literal that begins at `start`. */
function objectAt(text: string, start: number): string {
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text[at] === "{") depth++;
    if (text[at] === "}" && --depth === 0) return text.slice(start, at + 1);
  }
  return "";
}

/** The object of the nearest `const name = {` before `end`. */
function constantBefore(text: string, name: string, end: number): string {
  const start = text.lastIndexOf(`const ${name} = {`, end);
  return start < 0 ? "" : objectAt(text, text.indexOf("{", start));
}

function namesEvent(text: string, start: number): boolean {
  const literal = text[start] === "{" ? objectAt(text, start) : "";
  const variable = /^(?:\{\s*\.\.\.)?(\w+)/.exec(text.slice(start, start + 80))?.[1] ?? "";
  return event.test(literal) || event.test(constantBefore(text, variable, start));
}

const calls: readonly LogCall[] = sources.flatMap(({ file, text }) =>
  [...text.matchAll(logCall)].map((match) => {
    const start = match.index + match[0].length;
    return {
      file,
      line: text.slice(0, match.index).split("\n").length,
      call: text.slice(match.index, start + 80).replaceAll(/\s+/g, " "),
      isNamed: namesEvent(text, start),
    };
  }),
);

const isExcepted = ({ file, call }: LogCall): boolean =>
  exceptions.some((each) => each.file === file && call.startsWith(each.call));

describe("log lines", () => {
  it("are found in the source files", () => {
    assert.ok(calls.length > 50, `only ${calls.length} calls found`);
  });

  it("name their event, unless a listed exception gives the reason", () => {
    const unnamed = calls.filter((call) => !call.isNamed && !isExcepted(call));
    assert.deepEqual(
      unnamed.map(({ file, line, call }) => `${file}:${line}: ${call}`),
      [],
    );
  });

  it("have an event name in snake_case", () => {
    const wrong = sources.flatMap(({ file, text }) =>
      [...text.matchAll(logCall)].flatMap((match) => {
        const start = match.index + match[0].length;
        const name = /\bevent: "([^"]*)"/.exec(objectAt(text, start))?.[1];
        return name === undefined || /^[a-z]+(?:_[a-z]+)*$/.test(name) ? [] : [`${file}: ${name}`];
      }),
    );
    assert.deepEqual(wrong, []);
  });

  it("use every listed exception", () => {
    const unused = exceptions.filter(
      ({ file, call }) =>
        !calls.some((each) => !each.isNamed && each.file === file && each.call.startsWith(call)),
    );
    assert.deepEqual(unused, []);
  });
});
