import { Migration20260101000000_ground } from "./Migration20260101000000_ground.ts";
import { Migration20260102000000_initial } from "./Migration20260102000000_initial.ts";
import { Migration20261121074604_archive } from "./Migration20261121074604_archive.ts";
import { Migration20261121080000_delivery } from "./Migration20261121080000_delivery.ts";
import { Migration20261121084643_identity } from "./Migration20261121084643_identity.ts";
import { Migration20261121084725_accounts } from "./Migration20261121084725_accounts.ts";
import { Migration20261121090805_wallet } from "./Migration20261121090805_wallet.ts";
import { Migration20261121103826_practice } from "./Migration20261121103826_practice.ts";
import { Migration20261121104224_avatars } from "./Migration20261121104224_avatars.ts";
import { Migration20261121105037_boards } from "./Migration20261121105037_boards.ts";
import { Migration20261121111056_branding } from "./Migration20261121111056_branding.ts";
import { Migration20261121111140_projection } from "./Migration20261121111140_projection.ts";
import { Migration20261121114041_oauth } from "./Migration20261121114041_oauth.ts";
import { Migration20261121155900_archive_lists } from "./Migration20261121155900_archive_lists.ts";
import { Migration20261121163500_projection_filters } from "./Migration20261121163500_projection_filters.ts";
import { Migration20261121190046_award_keys } from "./Migration20261121190046_award_keys.ts";
import { Migration20261121200945_archive_sources } from "./Migration20261121200945_archive_sources.ts";
import { Migration20261121204527_answer_indexes } from "./Migration20261121204527_answer_indexes.ts";
import { Migration20261122124900_archive_words } from "./Migration20261122124900_archive_words.ts";
import { Migration20261122130700_archive_upstream_keys } from "./Migration20261122130700_archive_upstream_keys.ts";
import { Migration20261122212125_request_names } from "./Migration20261122212125_request_names.ts";
import { Migration20261123072427_upkeep_indexes } from "./Migration20261123072427_upkeep_indexes.ts";
import { Migration20261123150500_archive_source_changes } from "./Migration20261123150500_archive_source_changes.ts";
import { Migration20261123185857_lead_names } from "./Migration20261123185857_lead_names.ts";
import { Migration20261126101500_guest_upgrades } from "./Migration20261126101500_guest_upgrades.ts";
import { Migration20261126102500_sign_in_times } from "./Migration20261126102500_sign_in_times.ts";
import { Migration20261126110000_name_skeletons } from "./Migration20261126110000_name_skeletons.ts";
import { Migration20261126112000_address_forms } from "./Migration20261126112000_address_forms.ts";
import { Migration20261126112500_address_proofs } from "./Migration20261126112500_address_proofs.ts";
import { Migration20261126113000_branch_upstream_keys } from "./Migration20261126113000_branch_upstream_keys.ts";
import { Migration20261126114500_search_words } from "./Migration20261126114500_search_words.ts";
import { Migration20261126120000_sign_in_numbers } from "./Migration20261126120000_sign_in_numbers.ts";
import { Migration20261126150000_search_marks } from "./Migration20261126150000_search_marks.ts";
import { Migration20261126190000_connection_constraints } from "./Migration20261126190000_connection_constraints.ts";
import { Migration20261128192048_replaced_addresses } from "./Migration20261128192048_replaced_addresses.ts";
import { Migration20261128200000_search_signs } from "./Migration20261128200000_search_signs.ts";
import { Migration20261128200300_award_claims } from "./Migration20261128200300_award_claims.ts";
import { Migration20261128200523_fault_group_decisions } from "./Migration20261128200523_fault_group_decisions.ts";
import { Migration20261128223241_process_events } from "./Migration20261128223241_process_events.ts";
import { Migration20261128223413_fault_actions } from "./Migration20261128223413_fault_actions.ts";
import { Migration20261128223414_audit_outcomes } from "./Migration20261128223414_audit_outcomes.ts";
import { Migration20261128224000_message_origins } from "./Migration20261128224000_message_origins.ts";
import { Migration20261128230000_audit_outcome_check } from "./Migration20261128230000_audit_outcome_check.ts";
import { Migration20261128230001_audit_operators } from "./Migration20261128230001_audit_operators.ts";
import { Migration20261128230002_audit_actions } from "./Migration20261128230002_audit_actions.ts";
import { Migration20261128230003_audit_targets } from "./Migration20261128230003_audit_targets.ts";
import { Migration20261128230004_audit_requests } from "./Migration20261128230004_audit_requests.ts";
import { Migration20261128230005_message_requests } from "./Migration20261128230005_message_requests.ts";
import { Migration20261129090657_restores } from "./Migration20261129090657_restores.ts";

/** In execution order. */
export const migrations = [
  Migration20260101000000_ground,
  Migration20260102000000_initial,
  Migration20261121074604_archive,
  Migration20261121080000_delivery,
  Migration20261121084643_identity,
  Migration20261121084725_accounts,
  Migration20261121090805_wallet,
  Migration20261121103826_practice,
  Migration20261121104224_avatars,
  Migration20261121105037_boards,
  Migration20261121111056_branding,
  Migration20261121111140_projection,
  Migration20261121114041_oauth,
  Migration20261121155900_archive_lists,
  Migration20261121163500_projection_filters,
  Migration20261121190046_award_keys,
  Migration20261121200945_archive_sources,
  Migration20261121204527_answer_indexes,
  Migration20261122124900_archive_words,
  Migration20261122130700_archive_upstream_keys,
  Migration20261122212125_request_names,
  Migration20261123072427_upkeep_indexes,
  Migration20261123150500_archive_source_changes,
  Migration20261123185857_lead_names,
  Migration20261126101500_guest_upgrades,
  Migration20261126102500_sign_in_times,
  Migration20261126110000_name_skeletons,
  Migration20261126112000_address_forms,
  Migration20261126112500_address_proofs,
  Migration20261126113000_branch_upstream_keys,
  Migration20261126114500_search_words,
  Migration20261126120000_sign_in_numbers,
  Migration20261126150000_search_marks,
  Migration20261126190000_connection_constraints,
  Migration20261128192048_replaced_addresses,
  Migration20261128200000_search_signs,
  Migration20261128200300_award_claims,
  Migration20261128200523_fault_group_decisions,
  Migration20261128223241_process_events,
  Migration20261128223413_fault_actions,
  Migration20261128223414_audit_outcomes,
  Migration20261128224000_message_origins,
  Migration20261128230000_audit_outcome_check,
  Migration20261128230001_audit_operators,
  Migration20261128230002_audit_actions,
  Migration20261128230003_audit_targets,
  Migration20261128230004_audit_requests,
  Migration20261128230005_message_requests,
  Migration20261129090657_restores,
] as const;
