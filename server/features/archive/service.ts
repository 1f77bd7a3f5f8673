/** Archive reads for other features: branches, patches, and bodies cached by generation. */
export {
  finishedBody,
  patchOf,
  presentKey,
  readPresent,
  stateKey,
  withGames,
  type Place,
} from "./places.ts";
