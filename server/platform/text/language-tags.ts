/** Longer lists of subtags name no language anybody has texts in. */
const maxTagLength = 35;
/** Tags remembered with their relatives; past it all are forgotten. */
const maxRemembered = 1_000;
const remembered = new Map<string, readonly string[]>();

/** Regions whose Spanish is nearer to that of Latin America than to that of Spain. */
const latinAmerica = new Set(
  "AR BO BR BZ CL CO CR CU DO EC GT HN MX NI PA PE PR PY SV US UY VE".split(" "),
);
/** A language with the one it counts as first (`zh-yue`), which the runtime does not read. */
const extended = /^([a-z]{2,3})(?:-[a-z]{3}){1,3}(?=-|$)/i;
/** Languages that are read as another, where nothing of their own is there. */
const alike: Readonly<Record<string, string>> = { no: "nb", nn: "nb", nb: "no" };

/**
 * Languages in which a reader of `tag` is served, the nearest first, in lower case (RFC 4647, lookup): subtags fall
 * away from the end, and what a tag leaves out is what most of its readers have, script before region. `zh-CN` ->
 * zh-cn, zh-hans-cn, zh-hans, zh. Empty for what is no language tag.
 */
export function relativesOf(tag: string): readonly string[] {
  const known = remembered.get(tag);
  if (known !== undefined) return known;
  const found = find(tag);
  if (tag.length > maxTagLength) return found;
  if (remembered.size >= maxRemembered) remembered.clear();
  remembered.set(tag, found);
  return found;
}

function find(tag: string): readonly string[] {
  const written = tag.trim().replaceAll("_", "-");
  const given = parse(written) ?? parse(written.replace(extended, "$1"));
  if (given === null) return [];
  const { region, baseName } = given;
  const full = given.maximize();
  // `und` says no language, but a script or a region does.
  const language = given.language ?? full.language;
  const likely = [
    [language, full.script, full.region],
    [language, full.script],
    ...(isLikely(full) ? [[language, full.region]] : []),
  ];
  const american = language === "es" && latinAmerica.has(region ?? "") ? [["es", "419"]] : [];
  const other = alike[language];
  // The bare language comes last, after every relative that says more.
  const all = [
    ...shortened(written).slice(0, -1),
    ...shortened(baseName).slice(0, -1),
    ...[...likely, ...american].map((parts) => parts.filter(Boolean).join("-")),
    language,
    // What a language was called before, where its texts still are.
    ...shortened(written).slice(-1),
    ...(other === undefined ? [] : [other]),
  ];
  return [...new Set(all.map((one) => one.toLowerCase()))];
}

/** Whether the region alone says which script is meant. */
const isLikely = ({ language, script, region }: Intl.Locale): boolean =>
  region !== undefined && new Intl.Locale(`${language}-${region}`).maximize().script === script;

/** A tag and what is left as its subtags fall away from the end; single letters go with what follows them. */
function shortened(tag: string): string[] {
  const parts = tag.split("-");
  const all: string[] = [];
  while (parts.length > 0) {
    all.push(parts.join("-"));
    parts.pop();
    if (parts.at(-1)?.length === 1) parts.pop();
  }
  return all;
}

function parse(tag: string): Intl.Locale | null {
  if (tag.length > maxTagLength) return null;
  try {
    return new Intl.Locale(tag);
  } catch {
    return null;
  }
}
