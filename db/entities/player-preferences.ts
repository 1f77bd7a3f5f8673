import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

/** What a player's clients keep for themselves (document 2, Player state; TRV-10). */
export const PlayerPreferencesSchema = defineEntity({
  name: "PlayerPreferences",
  tableName: "player_preferences",
  properties: {
    player: () => p.oneToOne(PlayerSchema).primary().ref().owner(),
    /** `json` keeps the text as it was sent: the order of keys, and numbers of any size. */
    preferences: p.json<Record<string, unknown>>().columnType("json"),
  },
});

export type PlayerPreferences = InferEntity<typeof PlayerPreferencesSchema>;
