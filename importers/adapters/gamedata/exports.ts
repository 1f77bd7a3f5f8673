import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import { ImportRefused, type EnvelopeHeader } from "../../envelope/contract.ts";
import { maxProblems } from "../../envelope/problem-list.ts";
import { shapeProblems } from "../../envelope/shape-problems.ts";
import { textOf } from "../fields.ts";
import { inOrder } from "../../envelope/patch-order.ts";
import { branchOf, readJson, type FileTree } from "./tree.ts";

/** One patch of one branch, as the exporter writes it. */
export interface Export {
  /** Its folder, for messages. */
  name: string;
  tree: FileTree;
  header: EnvelopeHeader;
  mainNamespace: string;
}

/** Default namespace of the game's own texts. */
const defaultNamespace = "DC";
const factsFile = "export.json";
const root = /^(?:(.*)\/)?(?:Data\/Generated\/V2|Content\/Localization)\//;

const OptionalText = Type.Optional(Type.Unsafe<string | null>({ type: ["string", "null"] }));
const Facts = Type.Object(
  {
    version: OptionalText,
    canonical: OptionalText,
    released_at: OptionalText,
    branch: OptionalText,
    parent: OptionalText,
    fork_version: OptionalText,
    game: OptionalText,
    display_name: OptionalText,
    namespace: OptionalText,
  },
  { additionalProperties: false },
);
type Facts = Static<typeof Facts>;
const shape = Compile(Facts);

/**
 * The exports below a folder, in import order: every folder with `Data/Generated/V2`. Its optional `export.json` has
 * `{version, canonical, released_at, branch, parent, fork_version, game, display_name, namespace}`; branch and version
 * default to the path `<branch>/<version>`.
 */
export async function findExports(tree: FileTree, game: string): Promise<Export[]> {
  const folders = new Set<string>();
  for (const path of await tree.paths()) {
    const match = root.exec(path);
    if (match) folders.add(match[1] ?? "");
  }
  const found: Export[] = [];
  for (const folder of folders) found.push(await openExport(branchOf(tree, folder), folder, game));
  return inOrder(found);
}

async function openExport(tree: FileTree, folder: string, game: string): Promise<Export> {
  const facts = (await tree.paths()).includes(factsFile) ? await readFacts(tree) : {};
  const parts = folder.split("/");
  const version = textOf(facts.version) ?? parts.at(-1) ?? "";
  const slug = textOf(facts.branch) ?? parts.at(-2) ?? "main";
  const parent = textOf(facts.parent);
  const fork = textOf(facts.fork_version);
  const canonical = textOf(facts.canonical);
  return {
    name: folder === "" ? version : folder,
    tree,
    mainNamespace: textOf(facts.namespace) ?? defaultNamespace,
    header: {
      format: 1,
      game: { slug: game, display_name: textOf(facts.display_name) ?? "Game data" },
      branch: {
        slug,
        ...(parent === null ? {} : { parent }),
        ...(fork === null ? {} : { fork_version: fork }),
      },
      patch: {
        version_raw: version,
        ...(canonical === null ? {} : { canonical }),
        released_at: textOf(facts.released_at),
      },
    },
  };
}

/** Reads `export.json`. Unknown members and other types are refused, so that a typing error does not count as missing. */
async function readFacts(tree: FileTree): Promise<Facts> {
  const facts = await readJson(tree, factsFile);
  if (shape.Check(facts)) return facts;
  const entity = `${tree.prefix ?? ""}${factsFile}`;
  const found = shapeProblems(shape.Errors(facts), maxProblems);
  throw new ImportRefused(found.map((problem) => ({ entity, ...problem })));
}
