import { defineEntity, p, type InferEntity } from "@mikro-orm/postgresql";
import { PlayerSchema } from "./player.ts";

/** A named group of 1 to 20 players (LB-05). */
export const TeamSchema = defineEntity({
  name: "Team",
  tableName: "teams",
  properties: {
    id: p.integer().primary(),
    name: p.string().length(32),
    /** Comparison key of the name. */
    nameKey: p.string().length(64).unique("teams_name_unique"),
    /**
     * Confusable skeleton of the name (UTS 39); null if the name had a lookalike before these were refused.
     */
    nameSkeleton: p.text().nullable().unique("teams_name_skeleton_unique"),
    joinCode: p.string().length(8).unique("teams_join_code_unique"),
    ownerId: p.integer(),
    createdAt: p.datetime(),
  },
});

export type Team = InferEntity<typeof TeamSchema>;

/** The player is the primary key, since a player is in at most one team. */
export const TeamMemberSchema = defineEntity({
  name: "TeamMember",
  tableName: "team_members",
  indexes: [{ name: "team_members_team_index", properties: ["team", "joinedAt", "player"] }],
  properties: {
    player: () => p.oneToOne(PlayerSchema).primary().ref().owner(),
    team: () => p.manyToOne(TeamSchema).ref().deleteRule("cascade"),
    joinedAt: p.datetime(),
  },
});

export type TeamMember = InferEntity<typeof TeamMemberSchema>;
