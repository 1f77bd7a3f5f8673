/** Maximum characters of a cached tag; longer tags match no text. */
const maxTagLength = 35;
/** Maximum cached tags; beyond it the cache is cleared. */
const maxCached = 1_000;
const cache = new Map<string, readonly string[]>();

/** Regions with Latin American Spanish. */
const latinAmerica = new Set(
  "AR BO BR BZ CL CO CR CU DO EC GT HN MX NI PA PE PR PY SV US UY VE".split(" "),
);
/** Macrolanguage prefixes (`zh-yue`), which the runtime does not map. */
const extended = /^([a-z]{2,3})(?:-[a-z]{3}){1,3}(?=-|$)/i;
/** Fallback languages, for texts that are not available in the language. */
const alike: Readonly<Record<string, string>> = { no: "nb", nn: "nb", nb: "no" };

/**
 * Fallback chain of `tag`, the tag itself first, in lower case (RFC 4647, lookup): drops subtags from the end and adds
 * likely subtags, script before region. `zh-CN` -> zh-cn, zh-hans-cn, zh-hans, zh. `zh` -> zh, zh-hans-cn, zh-hans,
 * zh-cn. Empty for an invalid tag.
 */
export function relativesOf(tag: string): readonly string[] {
  const known = cache.get(tag);
  if (known !== undefined) return known;
  const found = find(tag);
  if (tag.length > maxTagLength) return found;
  if (cache.size >= maxCached) cache.clear();
  cache.set(tag, found);
  return found;
}

function find(tag: string): readonly string[] {
  const written = tag.trim().replaceAll("_", "-");
  const exact = parse(written);
  const given = exact ?? parse(written.replace(extended, "$1"));
  if (given === null) return [];
  const { region, baseName } = given;
  const full = given.maximize();
  // `und` has no language, but its script or region implies one.
  const language = given.language ?? full.language;
  const likely = [
    [language, full.script, full.region],
    [language, full.script],
    ...(isLikely(full) ? [[language, full.region]] : []),
  ];
  const american = language === "es" && latinAmerica.has(region ?? "") ? [["es", "419"]] : [];
  const other = alike[language];
  // A bare language comes first where it is the requested tag, otherwise after all more specific tags.
  const bare = exact === null || exact.baseName.includes("-") ? [] : [exact.baseName];
  const all = [
    ...(bare.length > 0 ? shortened(written) : []),
    ...bare,
    ...shortened(written).slice(0, -1),
    ...shortened(baseName).slice(0, -1),
    ...[...likely, ...american].map((parts) => parts.filter(Boolean).join("-")),
    language,
    // Former code of a language, which texts may still use.
    ...shortened(written).slice(-1),
    ...(other === undefined ? [] : [other]),
  ];
  return [...new Set(all.map((one) => one.toLowerCase()))];
}

/** True when the region alone implies the script. */
const isLikely = ({ language, script, region }: Intl.Locale): boolean =>
  region !== undefined && new Intl.Locale(`${language}-${region}`).maximize().script === script;

/** A tag and its prefixes, longest first; a singleton is dropped with the subtag after it. */
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
