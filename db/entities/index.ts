import { AddressCollisionSchema } from "./address-collision.ts";
import { ApiKeySchema } from "./api-key.ts";
import { AuditLogSchema } from "./audit-log.ts";
import { AvatarUploadSchema } from "./avatar-upload.ts";
import { AwardDefinitionSchema } from "./award-definition.ts";
import { AwardGrantSchema } from "./award-grant.ts";
import { ChallengeSchema } from "./challenge.ts";
import { CodexAssetSchema } from "./codex-asset.ts";
import { CodexBranchKeySchema } from "./codex-branch-key.ts";
import { CodexBranchSchema } from "./codex-branch.ts";
import { CodexDocumentSchema } from "./codex-document.ts";
import { CodexEntitySchema } from "./codex-entity.ts";
import { CodexGameSchema } from "./codex-game.ts";
import { CodexHeadSchema } from "./codex-head.ts";
import { CodexPatchSchema } from "./codex-patch.ts";
import { CodexSourceChangeSchema, CodexSourceSchema } from "./codex-source.ts";
import { CodexTextSchema } from "./codex-text.ts";
import { CodexUpstreamKeySchema } from "./codex-upstream-key.ts";
import { CodexVersionSchema } from "./codex-version.ts";
import { ContactMessageSchema } from "./contact-message.ts";
import { CredentialRequestSchema } from "./credential-request.ts";
import { EmailVerificationSchema } from "./email-verification.ts";
import { FaultActionSchema } from "./fault-action.ts";
import { FaultGroupDecisionSchema } from "./fault-group-decision.ts";
import { FavoriteSchema } from "./favorite.ts";
import { FeedbackSchema } from "./feedback.ts";
import { LeaderboardChangeSchema, LeaderboardStateSchema } from "./leaderboard-change.ts";
import { LedgerEntrySchema } from "./ledger-entry.ts";
import { LevelSchema } from "./level.ts";
import { LobbyAnswerSchema } from "./lobby-answer.ts";
import { LobbyResultSchema } from "./lobby-result.ts";
import { MessageSchema } from "./message.ts";
import { OauthConnectionSchema } from "./oauth-connection.ts";
import { OAuthClientSchema } from "./oauth-client.ts";
import { OperatorSchema } from "./operator.ts";
import { PasswordResetSchema } from "./password-reset.ts";
import { PhoneCodeSchema } from "./phone-code.ts";
import { PlaySessionSchema } from "./play-session.ts";
import { PlayerCategoryStatsSchema } from "./player-category-stats.ts";
import { PlayerPreferencesSchema } from "./player-preferences.ts";
import { PlayerStatsSchema } from "./player-stats.ts";
import { PlayerSchema } from "./player.ts";
import { ProcessEventSchema } from "./process-event.ts";
import { ProjectionBuildSchema, ProjectionChangeSchema } from "./projection-build.ts";
import { ProjectionFacetSchema } from "./projection-facet.ts";
import { ProjectionStateSchema } from "./projection-state.ts";
import { QuestionAnswerSchema } from "./question-answer.ts";
import { QuestionPromptSchema } from "./question-prompt.ts";
import { QuestionReportSchema } from "./question-report.ts";
import { QuestionSchema } from "./question.ts";
import { RankSnapshotDaySchema, RankSnapshotSchema } from "./rank-snapshot.ts";
import { RealmBrandingSchema } from "./realm-branding.ts";
import { RealmSchema } from "./realm.ts";
import { ReplacedAddressSchema } from "./replaced-address.ts";
import { RestoreSchema } from "./restore.ts";
import { RevocationSchema } from "./revocation.ts";
import { RunSchema } from "./run.ts";
import { SignInCodeSchema } from "./sign-in-code.ts";
import { SubscriberSchema } from "./subscriber.ts";
import { TeamMemberSchema, TeamSchema } from "./team.ts";
import { TokenFamilySchema } from "./token-family.ts";
import { UsedTokenSchema } from "./used-token.ts";
import { WalletDifferenceSchema, WalletRoundSchema } from "./wallet-check.ts";
import { WalletSchema } from "./wallet.ts";
import { WordResultSchema } from "./word-result.ts";
import { projectionTables } from "../projections/tables.ts";

/** The declared entities, whose tables the query builder knows. */
export const tables = [
  PlayerSchema,
  AddressCollisionSchema,
  TokenFamilySchema,
  RealmSchema,
  RealmBrandingSchema,
  ApiKeySchema,
  PhoneCodeSchema,
  OAuthClientSchema,
  OperatorSchema,
  AuditLogSchema,
  LevelSchema,
  AwardDefinitionSchema,
  AwardGrantSchema,
  WalletSchema,
  LedgerEntrySchema,
  WalletRoundSchema,
  WalletDifferenceSchema,
  PlayerStatsSchema,
  PlayerCategoryStatsSchema,
  QuestionSchema,
  QuestionPromptSchema,
  QuestionAnswerSchema,
  QuestionReportSchema,
  PlaySessionSchema,
  PlayerPreferencesSchema,
  FavoriteSchema,
  ChallengeSchema,
  RunSchema,
  LeaderboardChangeSchema,
  LeaderboardStateSchema,
  RankSnapshotSchema,
  RankSnapshotDaySchema,
  TeamSchema,
  TeamMemberSchema,
  WordResultSchema,
  LobbyResultSchema,
  LobbyAnswerSchema,
  CodexAssetSchema,
  CodexBranchKeySchema,
  CodexBranchSchema,
  CodexDocumentSchema,
  CodexEntitySchema,
  CodexGameSchema,
  CodexHeadSchema,
  CodexPatchSchema,
  CodexSourceChangeSchema,
  CodexSourceSchema,
  CodexTextSchema,
  CodexUpstreamKeySchema,
  CodexVersionSchema,
  ProjectionStateSchema,
  ProjectionFacetSchema,
  ProjectionBuildSchema,
  ProjectionChangeSchema,
  MessageSchema,
  EmailVerificationSchema,
  SubscriberSchema,
  ContactMessageSchema,
  FeedbackSchema,
  CredentialRequestSchema,
  SignInCodeSchema,
  PasswordResetSchema,
  UsedTokenSchema,
  OauthConnectionSchema,
  ReplacedAddressSchema,
  RevocationSchema,
  AvatarUploadSchema,
  FaultActionSchema,
  FaultGroupDecisionSchema,
  ProcessEventSchema,
  RestoreSchema,
];

/** Every entity of the service; one that is missing here has no table. */
export const entities = [...tables, ...projectionTables];
