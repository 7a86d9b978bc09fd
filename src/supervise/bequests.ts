/**
 * Restores the accounts of a supervisor's children, and of those of nested supervisors, from an earlier daemon: what
 * they had spent stays spent, and the amounts reserved for calls without a result count as spent, too.
 */
import type { Amounts } from "../abi/budget.ts";
import type { ProcUuid } from "../abi/ids.ts";
import { readSinceState } from "../history/recover/history-reader.ts";
import type { Account } from "../kernel/account/account.ts";
import { isLimited, plus, tokensOnly } from "../kernel/account/amounts.ts";
import { limitsAtSpawn, spentOf } from "../kernel/account/kept-account.ts";
import type { Journal, RecordOwner } from "../kernel/ports/journal.ts";
import { Endowment, keptLimits } from "./endowment.ts";
import { type SupervisorFold, supervisorFacet } from "./record/facet.ts";
import type { KeptChild, KeptRun } from "./record/kept-supervisor.ts";

interface Testator {
  readonly owner: RecordOwner;
  readonly fold: SupervisorFold;
  readonly account: Account;
}

export class Bequests {
  readonly #journal: Journal;
  readonly #reservedBelow: (proc: ProcUuid) => Amounts;

  /** `reservedBelow`: the amounts reserved by a process and all its descendants for calls without a result. */
  constructor(journal: Journal, reservedBelow: (proc: ProcUuid) => Amounts) {
    this.#journal = journal;
    this.#reservedBelow = reservedBelow;
  }

  async of(testator: Testator): Promise<Endowment> {
    const endowment = new Endowment();
    await this.#fill(endowment, testator);
    return endowment;
  }

  async #fill(endowment: Endowment, testator: Testator): Promise<void> {
    for (const child of testator.fold.kept.children) {
      const own = endowment.of(child.id);
      const used = await this.#usedBy(child);
      own.restore(child.endowment, testator.account, used);
      this.#keepUse(testator, child, used);
      if (child.run !== null) await this.#fillNested(own, child.run);
    }
  }

  /** Notes the use with which the child's account begins now, if it differs from the kept one. */
  #keepUse({ owner, fold }: Testator, { id, endowment }: KeptChild, used: Amounts): void {
    const { tokens, microUsd: usd } = used;
    if (tokens === endowment.used && usd === (endowment.usd ?? 0)) return;
    const body = { child: id, used: tokens, ...(usd === 0 ? {} : { usd }) };
    fold.change(body);
    this.#journal.note([{ ...owner, kind: "process.checkpoint", v: 1, body }]);
  }

  /** Continues with the children of a child whose newest run was a supervisor. */
  async #fillNested(own: Endowment, { uuid, pid }: KeptRun): Promise<void> {
    const { account } = own;
    if (account === null || (await this.#journal.row(uuid))?.kind !== "supervisor") return;
    const state = (await this.#journal.ofKind(uuid, "process.state")).at(-1);
    if (state === undefined) return;
    const fold = (await readSinceState(this.#journal, state)).of(supervisorFacet);
    if (fold !== null) await this.#fill(own, { owner: { proc: uuid, pid }, fold, account });
  }

  /** Without a limit the use is not recorded at each call: then the tokens in the row of the last run are added. */
  async #usedBy({ endowment, run, isRunning }: KeptChild): Promise<Amounts> {
    if (run === null) return spentOf(endowment);
    const used = plus(spentOf(endowment), this.#reservedBelow(run.uuid));
    // the use was recorded at its end, except for calls still in progress then
    if (!isRunning || isLimited(limitsAtSpawn(keptLimits(endowment)))) return used;
    const row = await this.#journal.row(run.uuid);
    return plus(used, tokensOnly(row?.tokensUsed ?? 0));
  }
}
