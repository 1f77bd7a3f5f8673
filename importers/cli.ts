import { extname, resolve } from "node:path";
import { SingleBar } from "cli-progress";
import { Command, CommanderError } from "commander";
import { createOrm, migrate } from "../db/orm.ts";
import { projectionOf } from "../db/projections/refresh.ts";
import { borrowStores } from "../server/boot/stores.ts";
import { announceImports } from "../server/core/archive-news.ts";
import { ConfigError, loadConfig, type Config } from "../server/core/config.ts";
import { silentLogger } from "../server/core/logger.ts";
import { connectRedis, redisReady } from "../server/core/redis.ts";
import { createQueues } from "../workers/producer.ts";
import { codexImport } from "../workers/queues.ts";
import { readEnvelopes } from "./adapters/envelopes.ts";
import { writeTree } from "./adapters/gamedata/tree.ts";
import { adapters } from "./adapters/index.ts";
import { ImportRefused, type ImportEnvelope, type ImportReport } from "./contract.ts";
import { openEnvelopeFile } from "./envelope-file.ts";
import { ImportBusy, importEnvelope, type ImportOptions } from "./run.ts";
import { writeEnvelopeFile } from "./write-envelope.ts";

interface CliOptions {
  source?: string;
  writeSample?: string;
  envelope?: string;
  writeEnvelope?: string;
  dryRun?: boolean;
  json?: boolean;
  queue?: boolean;
}

/** What the user asked for makes no sense; nothing was started. */
class UsageError extends Error {}

/** Changed ids that a dry run prints; the numbers count them all. */
const maxPrinted = 1_000;
const control = new AbortController();
const cancelled = 130;
const out = (text: string) => void process.stdout.write(`${text}\n`);

const program = new Command("import")
  .description("Bring game data into the archive; the same data again changes nothing")
  .argument("[game]", "slug of the game")
  .argument("[dir]", "folder with the files of the game, or with envelope files")
  .option("--source <dir>", "the folder, as an option")
  .option("--envelope <file>", "import this envelope file (.json or .json.gz)")
  .option("--write-envelope <file>", "only write the envelope, one file per patch")
  .option("--write-sample <dir>", "only write the sample game, as its exporter would")
  .option("--dry-run", "say what would change, write nothing")
  .option("--queue", "let the running service import the envelope file as a job")
  .option("--json", "print one JSON object per patch")
  .exitOverride()
  .action(async (game: string | undefined, dir: string | undefined, options: CliOptions) => {
    if (options.writeSample !== undefined) {
      const { sampleTree } = await import("./sample/sample.ts");
      return out(`${await writeTree(sampleTree(), resolve(options.writeSample))} files`);
    }
    const source = sourceOf(game, dir ?? options.source, options);
    if (options.writeEnvelope !== undefined) await writeAll(source, options.writeEnvelope);
    else if (options.queue) await enqueue(loadConfig(), game, options);
    else await importAll(loadConfig(), source, game, options);
  });

process.once("SIGINT", () => control.abort());
process.once("SIGTERM", () => control.abort());
try {
  await program.parseAsync();
  process.exit(0);
} catch (error) {
  process.exit(explain(error));
}

async function* single(file: string): AsyncGenerator<ImportEnvelope> {
  yield await openEnvelopeFile(resolve(file));
}

function sourceOf(
  game: string | undefined,
  dir: string | undefined,
  { envelope, queue }: CliOptions,
): AsyncIterable<ImportEnvelope> {
  if (envelope !== undefined) return single(envelope);
  if (queue) throw new UsageError("--queue needs --envelope");
  if (game === undefined || dir === undefined)
    throw new UsageError("give a game and a folder, or --envelope <file>");
  const adapter = adapters.find((one) => one.game === game);
  return adapter?.read(resolve(dir)) ?? readEnvelopes(resolve(dir));
}

async function writeAll(source: AsyncIterable<ImportEnvelope>, target: string): Promise<void> {
  let count = 0;
  for await (const envelope of source) {
    const file = count++ === 0 ? target : numbered(target, count);
    await writeEnvelopeFile(envelope, resolve(file));
    out(`${file}  ${envelope.header.branch.slug} ${envelope.header.patch.version_raw}`);
  }
  if (count === 0) throw new UsageError("there is no patch to write");
}

/** `a.json.gz`, 2 -> `a-2.json.gz` */
function numbered(file: string, count: number): string {
  const packed = file.endsWith(".gz") ? ".gz" : "";
  const bare = packed === "" ? file : file.slice(0, -packed.length);
  const ending = extname(bare);
  return `${bare.slice(0, bare.length - ending.length)}-${count}${ending}${packed}`;
}

async function enqueue(config: Config, game: string | undefined, { envelope = "" }: CliOptions) {
  const path = resolve(envelope);
  const slug = game ?? (await openEnvelopeFile(path)).header.game.slug;
  const stores = await borrowStores(config, silentLogger);
  const queues = createQueues(stores.redisUrl, silentLogger);
  try {
    out(await queues.enqueue(codexImport, { game: slug, envelope: path, stamp: Date.now() }));
  } finally {
    await queues.close();
    await stores.stop();
  }
}

async function importAll(
  config: Config,
  source: AsyncIterable<ImportEnvelope>,
  game: string | undefined,
  options: CliOptions,
): Promise<void> {
  const stores = await borrowStores(config, silentLogger);
  const orm = await createOrm({ DATABASE_URL: stores.databaseUrl, DATABASE_POOL: 2 });
  const redis = connectRedis(stores.redisUrl, silentLogger, "import");
  try {
    await migrate(orm);
    await redisReady(redis);
    const announce = announceImports(redis, silentLogger);
    let count = 0;
    for await (const envelope of source) {
      count++;
      const slug = envelope.header.game?.slug;
      if (game !== undefined && slug !== game)
        throw new UsageError(`${envelope.name} is of ${slug}, not of ${game}`);
      const ui = createUi(options);
      const report = await importEnvelope(orm.em.fork(), envelope, {
        now: Date.now(),
        isDryRun: options.dryRun === true,
        signal: control.signal,
        announce,
        project: projectionOf(config.GAME_DATA_GAME),
        ...ui,
      }).finally(ui.stop);
      out(options.json ? JSON.stringify(report) : readable(report, options));
    }
    if (count === 0) throw new UsageError("there is nothing to import");
  } finally {
    redis.disconnect();
    await orm.close(true);
    await stores.stop();
  }
}

/** A bar while somebody watches; the changes themselves when nothing is written. */
function createUi({ json, dryRun }: CliOptions) {
  const signs = { added: "+", changed: "~", removed: "-" } as const;
  // On one screen the changes would be written into the bar.
  const isMixed = dryRun === true && process.stdout.isTTY;
  const bar =
    !json && !isMixed && process.stderr.isTTY
      ? new SingleBar({ format: "{phase} [{bar}] {value}/{total}", clearOnComplete: true })
      : null;
  let phaseShown = "";
  let printed = 0;
  const onProgress: ImportOptions["onProgress"] = (phase, done, total) => {
    if (phase !== phaseShown) bar?.start(Math.max(total, 1), done, { phase: phase.padEnd(8) });
    else bar?.update(done);
    phaseShown = phase;
  };
  const onChange: ImportOptions["onChange"] = (op, id) => {
    if (dryRun && !json && printed++ < maxPrinted) out(`${signs[op]} ${id}`);
  };
  return { onProgress, onChange, stop: () => bar?.stop() };
}

function readable(report: ImportReport, { dryRun }: CliOptions): string {
  const { game, branch, patch, added, changed, removed, unchanged } = report;
  const counts = `${added} added, ${changed} changed, ${removed} removed, ${unchanged} unchanged`;
  return `${game} ${branch} ${patch}: ${counts}${dryRun ? " (dry run, nothing written)" : ""}`;
}

function explain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1;
  if (control.signal.aborted) {
    process.stderr.write("import:cancelled nothing of this patch was written\n");
    return cancelled;
  }
  const isExpected = [ImportRefused, ImportBusy, ConfigError, UsageError].some(
    (kind) => error instanceof kind,
  );
  const text = error instanceof Error ? (isExpected ? error.message : error.stack) : String(error);
  process.stderr.write(`${text}\n`);
  return 1;
}
