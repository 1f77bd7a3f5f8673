import Type, { type Static } from "typebox";
import { Compile } from "typebox/compile";
import { ImportRefused, type EnvelopeHeader } from "../../envelope/contract.ts";
import { maxProblems } from "../../envelope/problem-list.ts";
import { shapeProblems } from "../../envelope/shape-problems.ts";
import { textOf } from "../fields.ts";
import { inOrder } from "../../envelope/patch-order.ts";
import { branchOf, readJson, type FileTree } from "./tree.ts";

/** One patch of one branch as upstream's exporter writes it. */
export interface Export {
  /** Folder of it, for messages. */
  name: string;
  tree: FileTree;
  header: EnvelopeHeader;
  mainNamespace: string;
}

/** Namespace of the game's own texts, where `export.json` names none. */
const defaultNamespace = "DC";
const facts = "export.json";
const root = /^(?:(.*)\/)?(?:Data\/Generated\/V2|Content\/Localization)\//;

const Said = Type.Optional(Type.Unsafe<string | null>({ type: ["string", "null"] }));
const Facts = Type.Object(
  {
    version: Said,
    canonical: Said,
    released_at: Said,
    branch: Said,
    parent: Said,
    fork_version: Said,
    game: Said,
    display_name: Said,
    namespace: Said,
  },
  { additionalProperties: false },
);
type Facts = Static<typeof Facts>;
const shape = Compile(Facts);

/**
 * The exports below a folder: every folder with `Data/Generated/V2` in it. `export.json` there says
 * `{version, canonical, released_at, branch, parent, fork_version, game, display_name, namespace}`; what it leaves out is
 * read from the path `<branch>/<version>`. In the order they have to be imported.
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
  const said = (await tree.paths()).includes(facts) ? await readFacts(tree) : {};
  const parts = folder.split("/");
  const version = textOf(said.version) ?? parts.at(-1) ?? "";
  const slug = textOf(said.branch) ?? parts.at(-2) ?? "main";
  const parent = textOf(said.parent);
  const fork = textOf(said.fork_version);
  const canonical = textOf(said.canonical);
  return {
    name: folder === "" ? version : folder,
    tree,
    mainNamespace: textOf(said.namespace) ?? defaultNamespace,
    header: {
      format: 1,
      game: { slug: game, display_name: textOf(said.display_name) ?? "Game data" },
      branch: {
        slug,
        ...(parent === null ? {} : { parent }),
        ...(fork === null ? {} : { fork_version: fork }),
      },
      patch: {
        version_raw: version,
        ...(canonical === null ? {} : { canonical }),
        released_at: textOf(said.released_at),
      },
    },
  };
}

/** What `export.json` says. A member that is spelt wrong, or no text, must not be read as one that is not there. */
async function readFacts(tree: FileTree): Promise<Facts> {
  const said = await readJson(tree, facts);
  if (shape.Check(said)) return said;
  const entity = `${tree.prefix ?? ""}${facts}`;
  const found = shapeProblems(shape.Errors(said), maxProblems);
  throw new ImportRefused(found.map((problem) => ({ entity, ...problem })));
}
