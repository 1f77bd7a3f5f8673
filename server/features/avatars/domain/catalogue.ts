import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import Type from "typebox";
import Value from "typebox/value";
import { asset } from "../../../platform/assets.ts";

/** One claimable icon; `author/slug` names it in a selection, the slug alone in an address. */
export interface Icon {
  author: string;
  slug: string;
  tags: string[];
  /** SVG markup of the drawing, 512 x 512, in `currentColor`. */
  body: string;
}

export interface Catalogue {
  /** In the order of their slugs. */
  icons: readonly Icon[];
  bySlug(slug: string): Icon | null;
  /** `author/slug`, or null when there is no such icon. */
  byName(name: string): Icon | null;
}

const IconsFile = Type.Object({
  icons: Type.Record(Type.String(), Type.Object({ body: Type.String() })),
});

/** Author of icons that the list of authors does not name. */
const commonAuthor = "delapouite";
/** Stop words of slugs. */
const emptyWords: ReadonlySet<string> = new Set(["a", "and", "at", "in", "of", "on", "the", "to"]);

let loading: Promise<Catalogue> | null = null;

/** The icons of the package; read on first use, because most processes never draw one. */
export function loadCatalogue(): Promise<Catalogue> {
  loading ??= readCatalogue().catch((error: unknown) => {
    loading = null;
    throw error;
  });
  return loading;
}

async function readCatalogue(): Promise<Catalogue> {
  const packaged = fileURLToPath(import.meta.resolve("@iconify-json/game-icons/icons.json"));
  const [iconsText, authorsText] = await Promise.all([
    readFile(packaged, "utf8"),
    readFile(asset("server/features/avatars/domain/icon-authors.txt"), "utf8"),
  ]);
  const authorOf = readAuthors(authorsText);
  const icons: Icon[] = [];
  const packageData: unknown = JSON.parse(iconsText);
  if (!Value.Check(IconsFile, packageData)) throw new Error("the icon package has another form");
  for (const [slug, { body }] of Object.entries(packageData.icons)) {
    const author = authorOf(slug);
    if (author !== null) icons.push({ author, slug, tags: tagsOf(slug), body });
  }
  icons.sort((a, b) => (a.slug < b.slug ? -1 : 1));
  const slugs = new Map(icons.map((icon) => [icon.slug, icon]));
  return {
    icons,
    bySlug: (slug) => slugs.get(slug) ?? null,
    byName: (name) => {
      const icon = slugs.get(name.slice(name.indexOf("/") + 1));
      return icon !== undefined && nameOf(icon) === name ? icon : null;
    },
  };
}

/** Lines of an author and slugs; `-` is an unknown author. */
function readAuthors(text: string): (slug: string) => string | null {
  const known = new Map<string, string | null>();
  for (const line of text.split("\n")) {
    if (line.startsWith("#")) continue;
    const [author = "", ...slugs] = line.split(" ");
    for (const slug of slugs) known.set(slug, author === "-" ? null : author);
  }
  return (slug) => {
    const author = known.get(slug);
    return author === undefined ? commonAuthor : author;
  };
}

function tagsOf(slug: string): string[] {
  return [...new Set(slug.split(/[-._]/).filter((word) => word !== "" && !emptyWords.has(word)))];
}

/** How a selection names an icon. */
export const nameOf = ({ author, slug }: Pick<Icon, "author" | "slug">): string =>
  `${author}/${slug}`;
