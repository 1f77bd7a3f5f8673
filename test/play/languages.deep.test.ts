import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { before, describe, it } from "node:test";
import { promisify } from "node:util";
import { sharedService } from "../support/process.ts";
import { findRuntime, type Language } from "../support/runtimes.ts";

const root = join(import.meta.dirname, "../..");
const folder = join(root, "test/clients");
const scriptLimitMs = 180_000;

interface Client {
  script: string;
  /** Program and arguments before the script; `path` is that of the runtime. */
  command: (path: string) => string[];
}

const clients: Readonly<Record<Language, Client>> = {
  curl: { script: "sse.sh", command: () => ["bash"] },
  python: { script: "sse.py", command: (path) => [path] },
  go: { script: "sse.go", command: (path) => [path, "run"] },
  java: {
    script: "Sse.java",
    command: (path) => [join(dirname(path), "java"), "-Dfile.encoding=UTF-8"],
  },
  php: { script: "sse.php", command: (path) => [path] },
  ruby: { script: "sse.rb", command: (path) => [path] },
};

const joined = (seq: number, name: string) => `lobby.player_joined ${seq} ${name}`;
/** Odile joins while the client is away: her event comes to the one who returns, and no snapshot. */
const conversation = [
  "lobby.snapshot 0",
  joined(1, "Grace"),
  joined(2, "Łukasz"),
  joined(3, "小林"),
  joined(4, "Odile"),
];

describe("a lobby followed by clients in other languages", () => {
  let url = "";
  before(async () => {
    ({ url } = await sharedService());
  });

  for (const [language, { script, command }] of Object.entries(clients))
    // A script causes an event when it has the one before, and gives up before a heartbeat would end a late one.
    it(`sends its events one by one to ${script}, and the missed ones on reconnection`, async (t) => {
      const runtime = await findRuntime(language as Language);
      if (typeof runtime === "string") return t.skip(runtime);
      const [program, ...args] = [...command(runtime.path), join(folder, script), url];
      const { stdout } = await promisify(execFile)(program, args, {
        timeout: scriptLimitMs,
        env: { ...process.env, GOCACHE: join(root, "node_modules/.cache/go") },
      });
      const events = stdout
        .trim()
        .split("\n")
        .map((line) => line.replace(/ \d+ ms$/, ""));
      assert.deepEqual(events, conversation, runtime.version);
    });

  it("has one README row per script, with a reason for each untested language", () => {
    const readme = readFileSync(join(root, "server/web/README.md"), "utf8");
    const [, table = ""] = readme.split("<!-- clients -->\n\n", 2);
    const rows = table.split("\n\n", 1)[0]?.split("\n").slice(2) ?? [];
    const named = rows.map((row) => /`test\/clients\/([^`]+)`/.exec(row)?.[1]);
    const scripts = Object.values(clients).map(({ script }) => script);
    assert.deepEqual(named, scripts);
    assert.deepEqual(readdirSync(folder).toSorted(), scripts.toSorted());
    for (const row of rows) assert.match(row, /\d+\.\d+|not tried: \w+/);
  });
});
