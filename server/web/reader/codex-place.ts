import type { Game, GameList } from "../generated/answers.ts";
import { el } from "../dom.ts";
import { ask, query, segment, trail, type QueryValues, type Steps } from "./page.ts";
import { labelled, pageChooser } from "./pieces.ts";

/** A branch of a game with its page and API addresses. Addresses omit `branch` for the main one. */
export function placeOf(game: string) {
  const branch = new URLSearchParams(location.search).get("branch") ?? "main";
  const asked = branch === "main" ? undefined : branch;
  const home = `/codex/${segment(game)}`;
  const api = `/v1/codex/${segment(game)}`;
  return {
    game,
    branch,
    home: home + query({ branch: asked }),
    feed: `${home}/changelog.atom${query({ branch: asked })}`,
    patches: `${home}/patches${query({ branch: asked })}`,
    patch: (version: string, rest: QueryValues = {}) =>
      `${home}/patches/${segment(version)}${query({ branch: asked, ...rest })}`,
    /** Page of a type or an id. */
    page: (thing: string, rest: QueryValues = {}) =>
      `${home}/${segment(thing)}${query({ branch: asked, ...rest })}`,
    /** Reads a resource below the game. */
    ask: <T>(path: string, rest: QueryValues = {}, signal?: AbortSignal) =>
      ask<T>(`${api}/${path}${query({ branch: asked, ...rest })}`, signal),
  };
}

export type Place = ReturnType<typeof placeOf>;

/** The fields of a game that pages show. */
export type ShownGame = Pick<Game, "slug" | "display_name" | "branches">;

/** The game of this place. */
export async function readGame(place: Place): Promise<ShownGame> {
  const { games } = await ask<GameList>("/v1/codex/games");
  const game = games.find((one) => one.slug === place.game);
  return game ?? { slug: place.game, display_name: place.game, branches: ["main"] };
}

/** The navigation line of a page, with the choice of the branch. */
export function placeLine(place: Place, game: ShownGame, steps: Steps): HTMLElement {
  const line = el(
    "div",
    { class: "place-line" },
    trail([["Codex", "/codex"], [game.display_name, place.home], ...steps]),
  );
  if (game.branches.length > 1) {
    const choices = game.branches.map((slug) => [slug, slug] as const);
    const go = (slug: string) => {
      const address = new URL(location.href);
      if (slug === "main") address.searchParams.delete("branch");
      else address.searchParams.set("branch", slug);
      location.assign(address);
    };
    line.append(labelled("Branch", pageChooser(choices, place.branch, go)));
  }
  return line;
}
