import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

/** Preferences stored for a player's clients (document 2, Player state; TRV-10). */
export const PlayerPreferencesSchema = defineEntity({
  name: "PlayerPreferences",
  tableName: "player_preferences",
  properties: {
    player: () => p.oneToOne(PlayerSchema).primary().ref().owner(),
    /** `json` preserves the text as sent: the order of keys, and numbers of any size. */
    preferences: p.json<Record<string, unknown>>().columnType("json"),
  },
});

export type PlayerPreferences = InferEntity<typeof PlayerPreferencesSchema>;
