/** How other parts read the archive: places, patches, and bodies that are kept under a generation. */
export {
  finishedBody,
  patchOf,
  presentKey,
  readPresent,
  stateKey,
  withGames,
  type Place,
} from "./places.ts";
