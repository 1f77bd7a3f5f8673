import type { GameList, Manifest, Patch, PatchList } from "../generated/answers.ts";
import { el } from "../dom.ts";
import { resourceOfType } from "./data-resources.ts";
import { ask, query, segment, trail, type QueryValues, type Steps } from "./page.ts";
import { labelled, pageChooser } from "./pieces.ts";

/** The short prefix of the same documents that are also under the realm. */
const api = "/v2";
const archive = `/v1/codex/${document.body.dataset["game"] ?? ""}`;
const languages = new Intl.DisplayNames(["en"], { type: "language" });

/** The requested language and patch; every link of these pages keeps the language. */
export function readPlace() {
  const asked = new URLSearchParams(location.search);
  const locale = asked.get("locale") ?? undefined;
  const patch = asked.get("at_patch") ?? undefined;
  return {
    locale,
    patch,
    ask: <T>(path: string, rest: QueryValues = {}, signal?: AbortSignal) =>
      ask<T>(`${api}/${path}${query({ ...rest, locale })}`, signal),
    page: (path: string, rest: QueryValues = {}) =>
      `/data${path === "" ? "" : `/${path}`}${query({ ...rest, locale })}`,
    /** Link target of an id: its page here, or the archive for types outside the projection. */
    addressOf: (id: string): string => {
      const path = resourceOfType(id.split(".")[1] ?? "")?.path;
      if (path === undefined) return archivePage(id);
      return `/data/${path}/${segment(id)}${query({ locale, at_patch: patch })}`;
    },
  };
}

export type Place = ReturnType<typeof readPlace>;

/** The archive page of an entity, with all its patches and states. */
export const archivePage = (id: string): string => `${archive.replace("/v1", "")}/${segment(id)}`;

/** The archive's manifest of the projected game. */
interface GameManifest extends Manifest {
  name: string;
  patch: Patch;
}

/** Null if the game was never imported. */
export async function readManifest(): Promise<GameManifest | null> {
  const { games } = await ask<GameList>("/v1/codex/games");
  const game = games.find(({ slug }) => `/v1/codex/${slug}` === archive);
  if (game === undefined || game.current_patch === null) return null;
  const manifest = await ask<Manifest>(`${archive}/manifest`);
  return { ...manifest, patch: manifest.patch ?? game.current_patch, name: game.display_name };
}

/** Newest first. */
export const readPatches = async (): Promise<readonly Patch[]> =>
  (await ask<PatchList>(`${archive}/patches`)).patches;

function goWith(name: string, value: string | undefined) {
  const address = new URL(location.href);
  if (value === undefined) address.searchParams.delete(name);
  else address.searchParams.set(name, value);
  location.assign(address);
}

/** The navigation line of a page, with the language and, where possible, the patch. */
export function placeLine(
  place: Place,
  manifest: GameManifest | null,
  steps: Steps,
  patches: readonly Patch[] = [],
): HTMLElement {
  const line = el(
    "div",
    { class: "place-line" },
    trail([["Data", steps.length === 0 ? null : place.page("")], ...steps]),
  );
  const choices = el("div", { class: "row" });
  const [head] = patches;
  if (head && patches.length > 1) {
    const versions = patches.map((one) => [one.version, one.version_raw] as const);
    // A plus typed into an address arrives as a space.
    const asked = place.patch?.replaceAll(" ", "+");
    const chosen =
      patches.find((one) => one.version === asked || one.version_raw === asked) ?? head;
    const go = (version: string) =>
      goWith("at_patch", version === head.version ? undefined : version);
    choices.append(labelled("As of patch", pageChooser(versions, chosen.version, go)));
  }
  const locales = manifest?.locales ?? [];
  if (locales.length > 1) {
    const names = locales.map((code) => [code, languageName(code)] as const);
    const go = (code: string) => goWith("locale", code === "en" ? undefined : code);
    choices.append(
      labelled("Language", pageChooser(names, shownLocale(locales, place.locale), go)),
    );
  }
  line.append(choices);
  return line;
}

/** The displayed language, matched as the service does: case-insensitively, else by the primary subtag. */
function shownLocale(locales: readonly string[], asked = "en"): string {
  const codeOf = (text: string) => text.toLowerCase().replaceAll("_", "-");
  const wanted = codeOf(asked);
  const chain = [wanted, wanted.split("-")[0], "en"];
  return chain.flatMap((code) => locales.filter((one) => codeOf(one) === code))[0] ?? "en";
}

function languageName(code: string) {
  try {
    return languages.of(code) ?? code;
  } catch {
    return code;
  }
}
