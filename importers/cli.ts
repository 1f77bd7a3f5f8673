import { noOrigin } from "../server/platform/origin.ts";
import { statSync } from "node:fs";
import { extname, resolve } from "node:path";
import type { EntityManager } from "@mikro-orm/postgresql";
import { SingleBar } from "cli-progress";
import { Command, CommanderError } from "commander";
import { isMigrated, prepareSchema } from "../db/migrate.ts";
import { createOrm } from "../db/orm.ts";
import { projectionOf } from "../db/projections/refresh.ts";
import { startupStep, StartError } from "../server/runtime/boot/start-error.ts";
import { Interrupted, withStores, type RunningStores } from "../server/runtime/boot/stores.ts";
import { ConfigError, loadConfig, type Config } from "../server/platform/config/config.ts";
import { silentLogger } from "../server/platform/log/logger.ts";
import { createQueues } from "../workers/producer.ts";
import { FileRefused, importableFile } from "./pipeline/import-folder.ts";
import { codexImport } from "../workers/queues.ts";
import { writeTree } from "./adapters/gamedata/tree.ts";
import { adapters } from "./adapters/index.ts";
import { ImportRefused, type ImportEnvelope } from "./envelope/contract.ts";
import { requireHeader } from "./envelope/header.ts";
import { writeEnvelopeFile } from "./envelope/write-envelope.ts";
import { ImportBusy, runImport, type ImportOptions } from "./pipeline/import.ts";
import { readKnownIds } from "./pipeline/known-ids.ts";
import { parse, parseFile, type ImportSource } from "./pipeline/parse.ts";
import { formatChanges, formatPlan, formatReport } from "./pipeline/plan/format-plan.ts";
import { reportOf, type ImportPlan } from "./pipeline/plan/import-plan.ts";

interface CliOptions {
  source?: string;
  adapter?: string;
  writeSample?: string;
  envelope?: string;
  writeEnvelope?: string;
  dryRun?: boolean;
  plan?: boolean;
  allowShrink?: boolean;
  json?: boolean;
  queue?: boolean;
}

/** The arguments make no sense; nothing was started. */
class UsageError extends Error {}

/** Rolls back the transaction of a dry run. */
class RolledBack extends Error {}

const control = new AbortController();
const cancelled = 130;
const expected = [ImportRefused, ImportBusy, ConfigError, StartError, UsageError, Interrupted];
const out = (text: string) => void process.stdout.write(`${text}\n`);

const program = new Command("import")
  .description("Import game data into the archive; the same data again changes nothing")
  .argument("[game]", "slug of the game")
  .argument("[dir]", "folder with the files of the game, or with envelope files")
  .option("--source <dir>", "the folder, as an option")
  .option("--adapter <name>", "read the folder with the adapter of another game")
  .option("--envelope <file>", "import this envelope file (.json or .json.gz)")
  .option("--write-envelope <file>", "only write the envelope, one file per patch")
  .option("--write-sample <dir>", "only write the sample game, as its exporter would")
  .option("--dry-run", "list the ids and counts of all changes, write nothing")
  .option("--plan", "print the plan: changes by type, texts, assets, rebuilds; write nothing")
  .option("--allow-shrink", "let a patch remove more than half of its branch")
  .option("--queue", "let the running service import the envelope file as a job")
  .option("--json", "print one JSON object per patch")
  .exitOverride()
  .action(async (game: string | undefined, dir: string | undefined, options: CliOptions) => {
    if (options.writeSample !== undefined) {
      const { sampleTree } = await import("./samples/cinderhold/sample.ts");
      return out(`${await writeTree(sampleTree(), resolve(options.writeSample))} files`);
    }
    refuseTogether(dir ?? options.source, options);
    const source = sourceOf(game, dir ?? options.source, options);
    if (options.writeEnvelope !== undefined)
      await writeAll(source, game ?? "", options.writeEnvelope);
    else if (options.queue) await enqueue(loadConfig(), game, options);
    else {
      const config = loadConfig();
      const work = (stores: RunningStores) => importAll(config, stores, source, game, options);
      await withStores(config, work, () => control.abort());
    }
  });

// A closed pipe (`npm run import … | head`) must not end the import.
for (const output of [process.stdout, process.stderr]) output.on("error", () => {});
try {
  await program.parseAsync();
  process.exit(0);
} catch (error) {
  process.exit(explain(error));
}

/** Refuses pairs of options of which one would be ignored. */
function refuseTogether(dir: string | undefined, options: CliOptions): void {
  const { envelope, adapter, queue, dryRun, plan, writeEnvelope, json } = options;
  const pairs = [
    ["--queue", queue, "--dry-run", dryRun],
    ["--queue", queue, "--plan", plan],
    ["--queue", queue, "--write-envelope", writeEnvelope],
    ["--queue", queue, "--json", json],
    ["--write-envelope", writeEnvelope, "--dry-run", dryRun],
    ["--write-envelope", writeEnvelope, "--plan", plan],
    ["--envelope", envelope, "a folder", dir],
    ["--envelope", envelope, "--adapter", adapter],
  ] as const;
  for (const [one, isOne, other, isOther] of pairs)
    if (isOne && isOther) throw new UsageError(`${one} and ${other} do not go together`);
}

function sourceOf(
  game: string | undefined,
  dir: string | undefined,
  { envelope, queue, adapter: wanted = game }: CliOptions,
): ImportSource {
  if (envelope !== undefined) return { file: resolve(envelope) };
  if (queue) throw new UsageError("--queue needs --envelope");
  if (game === undefined || dir === undefined)
    throw new UsageError("give a game and a folder, or --envelope <file>");
  const adapter = adapters.find((one) => one.game === wanted) ?? null;
  if (adapter === null && wanted !== game)
    throw new UsageError(`adapters are ${adapters.map((one) => one.game).join(", ")}`);
  if (!statSync(dir, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`${dir}: there is no such folder`);
  return { folder: resolve(dir), adapter };
}

async function writeAll(source: ImportSource, game: string, target: string): Promise<void> {
  const envelopes = parse(source, { game, knownIds: async () => new Map() }, control.signal);
  let count = 0;
  for await (const envelope of envelopes) {
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
  await importableFile(config.IMPORT_DIR, path).catch((error: unknown) => {
    throw error instanceof FileRefused ? new UsageError(error.message) : error;
  });
  const slug = game ?? gameOf(await parseFile(path));
  await withStores(config, async ({ redisUrl }) => {
    const queues = createQueues(redisUrl, silentLogger);
    try {
      const request = { game: slug, envelope: path, stamp: Date.now() };
      const job = { ...request, ...(allowShrink && { allowShrink }) };
      out(await queues.enqueue(codexImport, job, noOrigin));
    } finally {
      await queues.close();
    }
  });
}

/** A job names its game, so the header has to be valid before it is queued. */
function gameOf(envelope: ImportEnvelope): string {
  requireHeader(envelope);
  return envelope.header.game.slug;
}

async function importAll(
  config: Config,
  stores: RunningStores,
  source: ImportSource,
  game: string | undefined,
  options: CliOptions,
): Promise<void> {
  control.signal.throwIfAborted();
  const orm = await createOrm({ DATABASE_URL: stores.databaseUrl, DATABASE_POOL: 2 });
  try {
    const prepared = isReadOnly(options)
      ? isMigrated(orm)
      : prepareSchema(orm, config).then(() => true);
    if (!(await startupStep("the database (DATABASE_URL) cannot be prepared", prepared)))
      throw new UsageError(
        "a dry run needs a database of this version; import or start the service first",
      );
    const em = orm.em.fork();
    const projectedGame = config.GAME_DATA_GAME;
    const importWith = (context: EntityManager, how: Partial<ImportOptions>) =>
      importEach(context, source, game, options, { projectedGame, ...how });
    if (!isReadOnly(options))
      await importWith(em, { project: projectionOf(projectedGame), isServed: true });
    else if ("file" in source) await importWith(em, { isDryRun: true });
    // Each patch is compared with the one before it, so all are written and rolled back together.
    else await rollBackAfter(em, (tx) => importWith(tx, {}));
  } finally {
    await orm.close(true);
  }
}

function isReadOnly({ dryRun, plan }: CliOptions): boolean {
  return dryRun === true || plan === true;
}

async function importEach(
  em: EntityManager,
  source: ImportSource,
  game: string | undefined,
  options: CliOptions,
  how: Partial<ImportOptions>,
): Promise<void> {
  let count = 0;
  const target = { game: game ?? "", knownIds: () => readKnownIds(em, game ?? "") };
  for await (const envelope of parse(source, target, control.signal)) {
    count++;
    const slug = envelope.header.game?.slug;
    if (game !== undefined && slug !== game)
      throw new UsageError(`${envelope.name} is of ${slug}, not of ${game}`);
    const bar = createProgressBar(options);
    const { allowShrink = false } = options;
    const plan = await runImport(em, envelope, {
      ...how,
      allowShrink,
      now: Date.now(),
      signal: control.signal,
      onProgress: bar.onProgress,
    }).finally(bar.stop);
    out(textOf(plan, options));
  }
  if (count === 0) throw new UsageError("there is nothing to import");
}

/** Does the work in a transaction and rolls it back. */
async function rollBackAfter(em: EntityManager, work: (em: EntityManager) => Promise<void>) {
  const attempt = em.transactional(async (tx) => {
    await work(tx);
    throw new RolledBack();
  });
  await attempt.catch((error: unknown) => {
    if (!(error instanceof RolledBack)) throw error;
  });
}

/** A progress bar on a terminal. */
function createProgressBar({ json }: CliOptions) {
  const isShown = json !== true && process.stderr.isTTY;
  const bar = isShown
    ? new SingleBar({ format: "{phase} [{bar}] {value}/{total}", clearOnComplete: true })
    : null;
  let phaseShown = "";
  const onProgress: ImportOptions["onProgress"] = (phase, done, total) => {
    if (phase !== phaseShown) bar?.start(Math.max(total, 1), done, { phase: phase.padEnd(8) });
    else bar?.update(done);
    phaseShown = phase;
  };
  return { onProgress, stop: () => bar?.stop() };
}

function textOf(plan: ImportPlan, { json, plan: isPlan, dryRun }: CliOptions): string {
  const report = reportOf(plan);
  if (json) return JSON.stringify(isPlan ? plan : report);
  if (isPlan) return `${formatPlan(plan)} (nothing written)`;
  if (!dryRun) return formatReport(report);
  return [...formatChanges(plan), `${formatReport(report)} (dry run, nothing written)`].join("\n");
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
