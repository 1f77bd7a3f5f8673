import { relativesOf } from "./language-tags.ts";

/** Languages of an account (USR-03). */
const locales: ReadonlySet<string> = new Set(
  "en de fr es it pt nl pl sv da nb fi cs hu ro tr el uk ru ja ko zh".split(" "),
);
/** Languages of the pages. */
const pageLocales: ReadonlySet<string> = new Set(["en", "de"]);
const fallback = "en";
const maxEntries = 16;

/** The supported language that an `Accept-Language` header prefers, or its nearest one, else `en`. */
export const preferredLocale = (header: string | undefined): string => preferred(header, locales);

/** The same for the languages of the pages. */
export const pageLocale = (header: string | undefined): "de" | "en" =>
  preferred(header, pageLocales) === "de" ? "de" : "en";

function preferred(header: string | undefined, offered: ReadonlySet<string>): string {
  if (header === undefined) return fallback;
  const wanted = header
    .split(",", maxEntries)
    .map((entry) => {
      const [tag = "", quality] = entry.split(";", 2);
      const language = relativesOf(tag.trim()).find((one) => offered.has(one));
      const weight = quality === undefined ? 1 : Number(quality.trim().replace(/^q=/i, ""));
      return { language, weight };
    })
    .filter(({ language, weight }) => language !== undefined && weight > 0)
    .toSorted((a, b) => b.weight - a.weight);
  return wanted[0]?.language ?? fallback;
}
