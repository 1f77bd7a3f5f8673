import type { Archive } from "../features/archive/domain/archive.ts";
import type { AccountDeps } from "../features/accounts/deps.ts";
import type { ArchiveDeps } from "../features/archive/deps.ts";
import type { AvatarDeps } from "../features/avatars/deps.ts";
import type { InboxDeps } from "../features/delivery/deps.ts";
import type { GameDataDeps } from "../features/gamedata/deps.ts";
import type { HubRouteDeps } from "../features/hub/deps.ts";
import type { KeyDeps } from "../features/keys/deps.ts";
import type { LeaderboardDeps } from "../features/leaderboards/deps.ts";
import type { Leaderboards } from "../features/leaderboards/domain/leaderboards.ts";
import type { LobbyDeps } from "../features/lobbies/deps.ts";
import type { OAuthDeps } from "../features/oauth/deps.ts";
import type { PageDeps } from "../features/pages/deps.ts";
import type { ProgressDeps } from "../features/progress/deps.ts";
import type { RealmDeps } from "../features/realms/deps.ts";
import type { RunDeps } from "../features/runs/deps.ts";
import type { SessionDeps } from "../features/sessions/deps.ts";
import type { SocialDeps } from "../features/social/deps.ts";
import type { SystemDeps } from "../features/system/deps.ts";
import type { TeamDeps } from "../features/teams/deps.ts";
import type { VerificationDeps } from "../features/verification/deps.ts";
import type { WalletDeps } from "../features/wallet/deps.ts";
import type { WordGameDeps } from "../features/wordgame/deps.ts";
import type { HttpDeps } from "../http/deps.ts";
import type { JobDeps } from "./job-deps.ts";
import type { RoomKinds, Rooms, RoomsOf } from "./open-rooms.ts";
import type { roomKinds } from "./rooms.ts";

/**
 * Dependencies of all handlers, built by `assembleHttp`. Used in server/app only; other code declares what
 * it needs.
 */
export type Deps = DepsWith<typeof roomKinds>;

/** The same with the rooms of these kinds. */
export type DepsWith<Kinds extends RoomKinds> = CommonDeps & RoomsOf<Kinds>;

interface CommonDeps
  extends
    JobDeps,
    HttpDeps,
    AccountDeps,
    ArchiveDeps,
    AvatarDeps,
    GameDataDeps,
    HubRouteDeps,
    InboxDeps,
    KeyDeps,
    LeaderboardDeps,
    Omit<LobbyDeps, keyof typeof roomKinds>,
    OAuthDeps,
    PageDeps,
    ProgressDeps,
    RealmDeps,
    RunDeps,
    SessionDeps,
    SocialDeps,
    SystemDeps,
    TeamDeps,
    VerificationDeps,
    WalletDeps,
    WordGameDeps {
  leaderboards: Leaderboards;
  rooms: Rooms;
  archive: Archive;
}
