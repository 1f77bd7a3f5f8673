import { existsSync, readFileSync } from "node:fs";
import { basename, extname, join } from "node:path";
import { importsIn } from "./imports.ts";

/** A file on the path of a request. */
export interface Stop {
  file: string;
  /** The declaration to read there. */
  symbol: string;
  /**
   * How a file earlier on the path refers to it; default `symbol(`. After a dot it is a method of a
   * dependency.
   */
  call?: string;
}

export interface Walk {
  request: string;
  /** In reading order, from the declaration of the endpoint or queue to the commit. */
  stops: readonly Stop[];
}

/** The files from a request to its commit, each once. Update the line here when a call changes. */
export const walks: readonly Walk[] = [
  {
    request: "POST /v1/games/trivia/lobbies/{code}/pick",
    stops: [
      { file: "server/features/lobbies/play-routes.ts", symbol: "pick" },
      { file: "server/features/lobbies/service.ts", symbol: "command" },
      { file: "actors/lobbies.ts", symbol: "ask", call: "lobbies.ask(" },
      { file: "actors/runtime/router/router.ts", symbol: "ask", call: "actors.ask(" },
      { file: "actors/runtime/mailbox/mailboxes.ts", symbol: "deliver", call: ".deliver(" },
      { file: "actors/runtime/mailbox/actor.ts", symbol: "runBatch" },
      { file: "actors/lobby/actor.ts", symbol: "decide", call: "definition.decide(" },
      { file: "actors/lobby/decide.ts", symbol: "decide", call: "decide," },
      { file: "actors/lobby/decide-round.ts", symbol: "pick" },
      { file: "actors/lobby/evolve.ts", symbol: "evolve", call: "definition.evolve(" },
      { file: "actors/runtime/storage/journal.ts", symbol: "commit", call: "journal.commit(" },
      { file: "actors/runtime/storage/commit.lua", symbol: "commit", call: '"commit"' },
    ],
  },
  {
    request: "POST /v1/gateway/login",
    stops: [
      { file: "server/features/sessions/routes.ts", symbol: "loginRoute" },
      { file: "server/features/sessions/service.ts", symbol: "login" },
      { file: "server/features/sessions/domain/lockout.ts", symbol: "lockoutOf" },
      {
        file: "server/platform/security/passwords.ts",
        symbol: "verify",
        call: "deps.passwords.verify(",
      },
      { file: "server/features/sessions/sessions.ts", symbol: "openLoginSession" },
      { file: "db/queries/accounts/players.ts", symbol: "recordLoginWithFamily" },
    ],
  },
  {
    request: "a job of the queue codex-import",
    stops: [
      { file: "workers/processors/codex-import.ts", symbol: "importFromFile" },
      { file: "importers/pipeline/parse.ts", symbol: "parseFile" },
      { file: "importers/envelope/envelope-file.ts", symbol: "openEnvelopeFile" },
      { file: "importers/pipeline/import.ts", symbol: "importEnvelope" },
      { file: "importers/pipeline/check.ts", symbol: "check" },
      { file: "importers/pipeline/plan.ts", symbol: "plan" },
      { file: "importers/pipeline/plan/compare.ts", symbol: "compareEntities" },
      { file: "importers/pipeline/apply.ts", symbol: "apply" },
      { file: "db/queries/archive/codex-apply.ts", symbol: "applyStaged" },
      { file: "db/projections/refresh.ts", symbol: "projectionOf" },
    ],
  },
];

/** Steps of a path that the code under `root` does not contain. */
export function problemsOf({ stops }: Walk, root: string): string[] {
  const visited: { file: string; text: string }[] = [];
  const problems: string[] = [];
  for (const stop of stops) {
    const { file, symbol, call = `${symbol}(` } = stop;
    if (visited.some((one) => one.file === file)) problems.push(`${file} is visited twice`);
    if (!existsSync(join(root, file))) {
      problems.push(`${file} does not exist`);
      continue;
    }
    const text = readFileSync(join(root, file), "utf8");
    if (!declares(file, text, symbol)) problems.push(`${file} does not declare ${symbol}`);
    const callers = visited.filter((one) => one.text.includes(call));
    if (visited.length > 0 && callers.length === 0)
      problems.push(`no file before ${file} has ${call}`);
    // A method of a dependency is reached by its type; a script by its name.
    const isImported = /^\w/.test(call) && !call.includes(".");
    if (visited.length > 0 && isImported && !callers.some((one) => imports(one, file)))
      problems.push(`no file that has ${call} imports ${file}`);
    visited.push({ file, text });
  }
  return problems;
}

/** A function, constant, method or member; a Lua script is its file. */
function declares(file: string, text: string, symbol: string): boolean {
  if (extname(file) === ".lua") return basename(file, ".lua") === symbol;
  const form = `\\b(?:function|const) ${symbol}\\b|^ +(?:async )?${symbol}(?:\\(|: |,$)`;
  return new RegExp(form, "m").test(text);
}

const imports = ({ file, text }: { file: string; text: string }, target: string): boolean =>
  importsIn(file, text).some(({ to }) => to === target);
