import { ask, make, query, segment, trail } from "./page.js";
import { pageChooser, labelled } from "./pieces.js";
import { resourceOfType } from "./data-resources.js";

/** The same documents as under the realm, at the shorter address. */
const api = "/v2";
const archive = `/v1/codex/${document.body.dataset["game"] ?? ""}`;
const languages = new Intl.DisplayNames(["en"], { type: "language" });

/** The language asked for and the patch, as every link of these pages carries the former on. */
export function readPlace() {
  const asked = new URLSearchParams(location.search);
  const locale = asked.get("locale") ?? undefined;
  const patch = asked.get("at_patch") ?? undefined;
  return {
    locale,
    patch,
    /** @param {string} path @param {Record<string, unknown>} [rest] @param {AbortSignal} [signal] */
    ask: (path, rest, signal) => ask(`${api}/${path}${query({ ...rest, locale })}`, signal),
    /** @param {string} path @param {Record<string, unknown>} [rest] */
    page: (path, rest) => `/data${path === "" ? "" : `/${path}`}${query({ ...rest, locale })}`,
    /** Where an id leads: to its own page here, or to the archive when it is not of the projection. @param {string} id */
    addressOf(id) {
      const path = resourceOfType(id.split(".")[1] ?? "")?.path;
      if (path === undefined) return archivePage(id);
      return `/data/${path}/${segment(id)}${query({ locale, at_patch: patch })}`;
    },
  };
}

/** @typedef {ReturnType<typeof readPlace>} Place */

/** All patches and states of an entity are there. @param {string} id */
export const archivePage = (id) => `${archive.replace("/v1", "")}/${segment(id)}`;

/** What the archive says of the projected game, with its `name`; null while it was never imported. @returns {Promise<any>} */
export async function readManifest() {
  const { games } = await ask("/v1/codex/games");
  const game = games.find((/** @type {any} */ one) => `/v1/codex/${one.slug}` === archive);
  if (game === undefined || game.current_patch === null) return null;
  return { ...(await ask(`${archive}/manifest`)), name: game.display_name };
}

/** Newest first. @returns {Promise<any[]>} */
export const readPatches = async () => (await ask(`${archive}/patches`)).patches;

/** @param {string} name @param {string | undefined} value */
function goWith(name, value) {
  const address = new URL(location.href);
  if (value === undefined) address.searchParams.delete(name);
  else address.searchParams.set(name, value);
  location.assign(address);
}

/**
 * The line above a page: where it is, the language, and the patch where one can be chosen.
 * @param {Place} place @param {any} manifest @param {[string, string | null][]} steps @param {any[]} [patches]
 */
export function placeLine(place, manifest, steps, patches = []) {
  const line = make(
    "div",
    { class: "place-line" },
    trail([["Data", steps.length === 0 ? null : place.page("")], ...steps]),
  );
  const choices = make("div", { class: "row" });
  if (patches.length > 1) {
    const head = patches[0].version;
    const versions = patches.map(
      (one) => /** @type {[string, string]} */ ([one.version, one.version_raw]),
    );
    // A plus of an address that was typed is a blank here.
    const asked = place.patch?.replaceAll(" ", "+");
    const chosen =
      patches.find((one) => [one.version, one.version_raw].includes(asked)) ?? patches[0];
    const go = (/** @type {string} */ version) =>
      goWith("at_patch", version === head ? undefined : version);
    choices.append(labelled("As of patch", pageChooser(versions, chosen.version, go)));
  }
  const locales = manifest?.locales ?? [];
  if (locales.length > 1) {
    const names = locales.map((/** @type {string} */ code) => [code, languageName(code)]);
    const go = (/** @type {string} */ code) => goWith("locale", code === "en" ? undefined : code);
    choices.append(
      labelled("Language", pageChooser(names, shownLocale(locales, place.locale), go)),
    );
  }
  line.append(choices);
  return line;
}

/** The language that is shown, found as the service finds it: in any case, else by its first part. @param {string[]} locales */
function shownLocale(locales, asked = "en") {
  const codeOf = (/** @type {string} */ text) => text.toLowerCase().replaceAll("_", "-");
  const wanted = codeOf(asked);
  const chain = [wanted, wanted.split("-")[0], "en"];
  return chain.flatMap((code) => locales.filter((one) => codeOf(one) === code))[0] ?? "en";
}

/** @param {string} code */
function languageName(code) {
  try {
    return languages.of(code) ?? code;
  } catch {
    return code;
  }
}
