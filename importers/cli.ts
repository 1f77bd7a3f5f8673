import { statSync } from "node:fs";
import { extname, resolve } from "node:path";
import type { EntityManager } from "@mikro-orm/postgresql";
import { SingleBar } from "cli-progress";
import { Command, CommanderError } from "commander";
import { createOrm, isMigrated, migrate } from "../db/orm.ts";
import { readUpstreamIds } from "../db/queries/archive/codex-read.ts";
import { projectionOf } from "../db/projections/refresh.ts";
import { startupStep, StartError } from "../server/runtime/boot/start-error.ts";
import { Interrupted, withStores, type RunningStores } from "../server/runtime/boot/stores.ts";
import { ConfigError, loadConfig, type Config } from "../server/platform/config/config.ts";
import { silentLogger } from "../server/platform/log/logger.ts";
import { createQueues } from "../workers/producer.ts";
import { codexImport } from "../workers/queues.ts";
import { readEnvelopes } from "./envelope/envelope-folder.ts";
import { writeTree } from "./adapters/gamedata/tree.ts";
import { adapters } from "./adapters/index.ts";
import { ImportRefused, type ImportEnvelope, type ImportReport, type Target } from "./envelope/contract.ts";
import { openEnvelopeFile } from "./envelope/envelope-file.ts";
import { requireHeader } from "./envelope/header.ts";
import { ImportBusy, importEnvelope, type ImportOptions } from "./pipeline/import.ts";
import { writeEnvelopeFile } from "./envelope/write-envelope.ts";

interface CliOptions {
  source?: string;
  adapter?: string;
  writeSample?: string;
  envelope?: string;
  writeEnvelope?: string;
  dryRun?: boolean;
  allowShrink?: boolean;
  json?: boolean;
  queue?: boolean;
}

/** What the user asked for makes no sense; nothing was started. */
class UsageError extends Error {}

/** Ends a transaction whose work was only to be looked at. */
class TakenBack extends Error {}

/** Changed ids that a dry run prints; the numbers count them all. */
const maxPrinted = 1_000;
const control = new AbortController();
const cancelled = 130;
const expected = [ImportRefused, ImportBusy, ConfigError, StartError, UsageError, Interrupted];
const out = (text: string) => void process.stdout.write(`${text}\n`);

const program = new Command("import")
  .description("Bring game data into the archive; the same data again changes nothing")
  .argument("[game]", "slug of the game")
  .argument("[dir]", "folder with the files of the game, or with envelope files")
  .option("--source <dir>", "the folder, as an option")
  .option(
    "--adapter <name>",
    "read the folder as this game's files are, whatever the game is called",
  )
  .option("--envelope <file>", "import this envelope file (.json or .json.gz)")
  .option("--write-envelope <file>", "only write the envelope, one file per patch")
  .option("--write-sample <dir>", "only write the sample game, as its exporter would")
  .option("--dry-run", "say what would change, write nothing")
  .option("--allow-shrink", "let a patch remove more than half of what its branch has")
  .option("--queue", "let the running service import the envelope file as a job")
  .option("--json", "print one JSON object per patch")
  .exitOverride()
  .action(async (game: string | undefined, dir: string | undefined, options: CliOptions) => {
    if (options.writeSample !== undefined) {
      const { sampleTree } = await import("./samples/cinderhold/sample.ts");
      return out(`${await writeTree(sampleTree(), resolve(options.writeSample))} files`);
    }
    refuseTogether(dir ?? options.source, options);
    const open = sourceOf(game, dir ?? options.source, options);
    if (options.writeEnvelope !== undefined)
      await writeAll(
        open(async () => new Map()),
        options.writeEnvelope,
      );
    else if (options.queue) await enqueue(loadConfig(), game, options);
    else {
      const config = loadConfig();
      const work = (stores: RunningStores) => importAll(config, stores, open, game, options);
      await withStores(config, work, () => control.abort());
    }
  });

// A reader that went away (`npm run import … | head`) must not end the import.
for (const output of [process.stdout, process.stderr]) output.on("error", () => {});
try {
  await program.parseAsync();
  process.exit(0);
} catch (error) {
  process.exit(explain(error));
}

async function* single(file: string): AsyncGenerator<ImportEnvelope> {
  yield await openEnvelopeFile(resolve(file));
}

/** Options of which one would be passed over in silence, and something else done than was asked for. */
function refuseTogether(dir: string | undefined, options: CliOptions): void {
  const { envelope, adapter, queue, dryRun, writeEnvelope, json } = options;
  const pairs = [
    ["--queue", queue, "--dry-run", dryRun],
    ["--queue", queue, "--write-envelope", writeEnvelope],
    ["--queue", queue, "--json", json],
    ["--write-envelope", writeEnvelope, "--dry-run", dryRun],
    ["--envelope", envelope, "a folder", dir],
    ["--envelope", envelope, "--adapter", adapter],
  ] as const;
  for (const [one, isOne, other, isOther] of pairs)
    if (isOne && isOther) throw new UsageError(`${one} and ${other} do not go together`);
}

/** The envelopes, once it is known what the game is made of already. */
type Open = (knownIds: Target["knownIds"]) => AsyncIterable<ImportEnvelope>;

function sourceOf(
  game: string | undefined,
  dir: string | undefined,
  { envelope, queue, adapter: wanted = game }: CliOptions,
): Open {
  if (envelope !== undefined) return () => single(envelope);
  if (queue) throw new UsageError("--queue needs --envelope");
  if (game === undefined || dir === undefined)
    throw new UsageError("give a game and a folder, or --envelope <file>");
  const adapter = adapters.find((one) => one.game === wanted);
  if (adapter === undefined && wanted !== game)
    throw new UsageError(`adapters are ${adapters.map((one) => one.game).join(", ")}`);
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`${dir}: there is no such folder`);
  return (knownIds) =>
    adapter?.read(resolve(dir), { game, knownIds }) ?? readEnvelopes(resolve(dir));
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

async function enqueue(
  config: Config,
  game: string | undefined,
  { envelope = "", allowShrink = false }: CliOptions,
) {
  const path = resolve(envelope);
  if (!statSync(path, { throwIfNoEntry: false })?.isFile())
    throw new UsageError(`${envelope}: there is no such file`);
  const slug = game ?? gameOf(await openEnvelopeFile(path));
  await withStores(config, async ({ redisUrl }) => {
    const queues = createQueues(redisUrl, silentLogger);
    try {
      const wish = { game: slug, envelope: path, stamp: Date.now() };
      out(await queues.enqueue(codexImport, { ...wish, ...(allowShrink && { allowShrink }) }));
    } finally {
      await queues.close();
    }
  });
}

/** The job that an envelope becomes is of its game, so that has to be readable. */
function gameOf(envelope: ImportEnvelope): string {
  requireHeader(envelope);
  return envelope.header.game.slug;
}

async function importAll(
  config: Config,
  stores: RunningStores,
  open: Open,
  game: string | undefined,
  options: CliOptions,
): Promise<void> {
  control.signal.throwIfAborted();
  const orm = await createOrm({ DATABASE_URL: stores.databaseUrl, DATABASE_POOL: 2 });
  try {
    const prepared = options.dryRun === true ? isMigrated(orm) : migrate(orm).then(() => true);
    if (!(await startupStep("the database (DATABASE_URL) cannot be prepared", prepared)))
      throw new UsageError(
        "a dry run needs a database of this version; import or start the service first",
      );
    const em = orm.em.fork();
    const writing = { project: projectionOf(config.GAME_DATA_GAME) };
    if (options.dryRun !== true) await importEach(em, open, game, options, writing);
    else if (options.envelope !== undefined)
      await importEach(em, open, game, options, { isDryRun: true });
    // Each patch is compared with the one before it: all are written, and taken back together.
    else await undone(em, (tx) => importEach(tx, open, game, options, {}));
  } finally {
    await orm.close(true);
  }
}

async function importEach(
  em: EntityManager,
  open: Open,
  game: string | undefined,
  options: CliOptions,
  how: Pick<ImportOptions, "project" | "isDryRun">,
): Promise<void> {
  let count = 0;
  for await (const envelope of open(() => readUpstreamIds(em, game ?? ""))) {
    count++;
    const slug = envelope.header.game?.slug;
    if (game !== undefined && slug !== game)
      throw new UsageError(`${envelope.name} is of ${slug}, not of ${game}`);
    const ui = createUi(options);
    const { allowShrink = false } = options;
    const given = { ...how, ...ui, allowShrink, now: Date.now(), signal: control.signal };
    const report = await importEnvelope(em, envelope, given).finally(ui.stop);
    out(options.json ? JSON.stringify(report) : readable(report, options));
  }
  if (count === 0) throw new UsageError("there is nothing to import");
}

/** Does the work in a transaction that is rolled back. */
async function undone(em: EntityManager, work: (em: EntityManager) => Promise<void>) {
  const attempt = em.transactional(async (tx) => {
    await work(tx);
    throw new TakenBack();
  });
  await attempt.catch((error: unknown) => {
    if (!(error instanceof TakenBack)) throw error;
  });
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
  const { game, branch, patch, added, changed, removed, unchanged, renamed } = report;
  const counts = `${added} added, ${changed} changed, ${removed} removed, ${unchanged} unchanged`;
  const keys = renamed === undefined ? "" : ` (${renamed} with another upstream key)`;
  return `${game} ${branch} ${patch}: ${counts}${keys}${dryRun ? " (dry run, nothing written)" : ""}`;
}

function explain(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 1;
  if (control.signal.aborted) {
    process.stderr.write("import:cancelled nothing of this patch was written\n");
    return cancelled;
  }
  const isExpected = expected.some((kind) => error instanceof kind);
  const text = error instanceof Error ? (isExpected ? error.message : error.stack) : String(error);
  process.stderr.write(`${text}\n`);
  return error instanceof Interrupted ? cancelled : 1;
}
