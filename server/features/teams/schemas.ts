import Type, { type Static } from "typebox";
import Format from "typebox/format";
import type { MemberRow, TeamRow } from "../../../db/queries/teams/teams.ts";
import { timestamp } from "../../platform/time/clock.ts";
import { foldName } from "../../platform/text/account-names.ts";
import { isNewName, newNameForm } from "../../platform/text/name-rules.ts";
import { Id, Timestamp } from "../../platform/schemas.ts";

const minName = 3;
const maxName = 32;

Format.Set("team-name", (text) => {
  // Also checked in folded form, because folding may expand or remove a character.
  const lengths = [text.trim(), foldName(text)].map((name) => Array.from(name).length);
  return isNewName(text) && lengths.every((length) => length >= minName && length <= maxName);
});

/** Letters and digits that are hard to confuse. */
export const joinAlphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";
export const joinCodeLength = 8;
export const joinForm = /^[A-HJ-NP-Za-hj-np-z2-9]{8}$/;

export const NameBody = Type.Object({
  name: Type.String({
    format: "team-name",
    description: newNameForm(minName, maxName),
  }),
});

export const JoinBody = Type.Object({
  join_code: Type.String({
    minLength: 1,
    maxLength: 2_048,
    description:
      "8 characters, any case; spaces, dashes and a link or text around them are ignored",
  }),
});

export const TeamParams = Type.Object({ id: Id });
export const MemberParams = Type.Object({ id: Id, playerId: Id });

const shared = {
  id: Type.Integer(),
  name: Type.String(),
  owner_id: Type.Integer(),
  num_members: Type.Integer(),
  created_at: Timestamp,
};
const Team = Type.Object({ ...shared, join_code: Type.String() }, { title: "Team" });
export const OwnTeam = Type.Object({ team: Team });
export const MaybeTeam = Type.Object({ team: Type.Union([Team, Type.Null()]) });

export const TeamWithMembers = Type.Object({
  team: Type.Object({
    ...shared,
    join_code: Type.Optional(Type.String({ description: "for members only" })),
  }),
  members: Type.Array(
    Type.Object(
      {
        player_id: Type.Integer(),
        name: Type.String(),
        avatar_v: Type.Integer(),
        joined_at: Timestamp,
      },
      { title: "TeamMember" },
    ),
  ),
});

/** Public fields. */
export function presentTeam(team: TeamRow) {
  return {
    id: team.id,
    name: team.name,
    owner_id: team.ownerId,
    num_members: team.numMembers,
    created_at: timestamp(team.createdAtMs),
  };
}

/** With the join code: for members. */
export function presentOwnTeam(team: TeamRow): Static<typeof Team> {
  return { ...presentTeam(team), join_code: team.joinCode };
}

export function presentMember(member: MemberRow) {
  return {
    player_id: member.playerId,
    name: member.name,
    avatar_v: member.avatarV,
    joined_at: timestamp(member.joinedAtMs),
  };
}
