import type { Static } from "typebox";
import type { OperatorCaller } from "../../http/auth/auth.ts";
import { html, type Html } from "../html.ts";
import { addressWith, moreLink } from "../links.ts";
import { marked, page, table, timeCell } from "../layout.ts";
import { playerLinks, playerPartPath } from "../players/links.ts";
import type { EntryBody, PlayerWalletBody, ReconciliationBody } from "./schemas.ts";

export const walletsPath = "/operator/wallets";

interface ReconciliationPage {
  body: Static<typeof ReconciliationBody>;
  caller: OperatorCaller;
}

/** Wallets that differ from their ledgers, and the runs that compared them (WAL-08). */
export const walletsPage = ({ body, caller }: ReconciliationPage): Html =>
  page(
    { title: "Wallets", caller },
    html`<h1>Wallets</h1>
      <p>
        Wallets that differ from their ledger:
        ${marked(body.num_differences, body.num_differences > 0)}.
      </p>
      ${
        body.differences.length > 0 &&
        table(
          "Differences, the latest",
          ["Player", "Currency", "Wallet and ledger", "Found", "Seen last"],
          body.differences.map((one) => [
            html`<a href="${playerPartPath(one.player_id, "wallet")}">${one.player_id}</a>`,
            one.currency,
            one.problems
              .map(({ what, wallet, ledger }) => `${what} ${wallet} and ${ledger}`)
              .join("; "),
            timeCell(one.found_at),
            timeCell(one.seen_at),
          ]),
        )
      }
      ${table(
        "Runs, the latest",
        ["Started", "Finished", "Wallets", "Entries", "Differences"],
        body.rounds.map((run) => [
          timeCell(run.started_at),
          run.finished_at === null ? "running" : timeCell(run.finished_at),
          run.num_wallets,
          run.num_entries,
          marked(run.num_differences, run.num_differences > 0),
        ]),
      )}`,
  );

interface PlayerWalletPage {
  body: Static<typeof PlayerWalletBody>;
  query: { limit: number };
  caller: OperatorCaller;
}

/** Balances and ledger entries of a player (OPS-80). */
export function playerWalletPage({ body, query: { limit }, caller }: PlayerWalletPage): Html {
  const { player, embers, ingots, entries, next } = body;
  const path = playerPartPath(player.id, "wallet");
  return page(
    { title: `Wallet of ${player.name}`, caller },
    html`<h1>Wallet of ${player.name}</h1>
      ${playerLinks(player.id, "wallet")}
      ${table(
        "Balances",
        ["Currency", "Balance", "Total ever"],
        [
          ["Embers", embers.balance, embers.lifetime],
          ["Ingots", ingots.balance, ingots.purchased],
        ],
      )}
      ${
        entries.length === 0
          ? html`<p>No ledger entries.</p>`
          : table(
              "Ledger, newest first",
              ["Entry", "When", "Currency", "Amount", "Source", "Reason", "Refers to"],
              entries.map(entryRow),
            )
      }
      ${moreLink(next, (cursor) => addressWith(path, { limit, cursor }))}`,
  );
}

const entryRow = (entry: EntryBody) => [
  entry.id,
  timeCell(entry.created_at),
  entry.currency,
  entry.amount,
  entry.source,
  entry.reason,
  `${entry.ref_type} ${entry.ref_id}`.trim(),
];
