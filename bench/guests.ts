import { newPlayer } from "../test/support/player.ts";

/** Creates guests and returns their access tokens. */
export async function enter(url: string, count: number): Promise<string[]> {
  const tokens: string[] = [];
  for (let n = 0; n < count; n++) tokens.push((await newPlayer(url, `Bench ${n}`)).accessToken);
  return tokens;
}
