/** @typedef {import("./client/emberline.ts").SeatKey} SeatKey @typedef {{ name: string, key: SeatKey }} Kept */

const storageName = "emberline.seats";
const most = 8;

/** @returns {Kept[]} newest first */
function keptSeats() {
  try {
    const kept = JSON.parse(localStorage.getItem(storageName) ?? "[]");
    return Array.isArray(kept) ? kept : [];
  } catch {
    return [];
  }
}

/** @param {Kept[]} kept */
function save(kept) {
  try {
    localStorage.setItem(storageName, JSON.stringify(kept.slice(0, most)));
  } catch {}
}

/** @param {SeatKey} one @param {SeatKey} other */
const isSame = (one, other) => one.code === other.code && one.playerId === other.playerId;

/** A closed tab takes its seat with it; the browser keeps those of the last games. @param {Kept} seat */
export function keepSeat(seat) {
  save([seat, ...keptSeats().filter(({ key }) => !isSame(key, seat.key))]);
}

/** @param {SeatKey} left */
export function forgetSeat(left) {
  save(keptSeats().filter(({ key }) => !isSame(key, left)));
}

/** The seat this browser had in a game, first of that name: two tabs are two players. @param {string} code @param {string} name */
export function keptSeat(code, name) {
  const inGame = keptSeats().filter(({ key }) => key.code === code.toUpperCase());
  return (inGame.find((one) => one.name === name) ?? inGame[0])?.key ?? null;
}
