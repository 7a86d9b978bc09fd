/**
 * What an earlier daemon left to the children of a supervisor, and to those of supervisors among them: what they had spent
 * stays spent, and what was set aside for calls without a result counts as spent too.
 */
import type { Amounts } from "../abi/budget.ts";
import type { ProcUuid } from "../abi/ids.ts";
import { readSinceState } from "../history/recover/history-reader.ts";
import type { Account } from "../kernel/account/account.ts";
import { isLimited, plus, tokensOnly } from "../kernel/account/amounts.ts";
import { limitsAtSpawn, spentOf } from "../kernel/account/kept-account.ts";
import type { Journal, RecordOwner } from "../kernel/ports/journal.ts";
import { Endowment, keptLimits } from "./endowment.ts";
import { type SupervisorFold, supervisorFacet } from "./facet.ts";
import type { KeptChild, KeptRun } from "./kept-supervisor.ts";

interface Testator {
  readonly owner: RecordOwner;
  readonly fold: SupervisorFold;
  readonly account: Account;
}

export class Bequests {
  readonly #journal: Journal;
  readonly #reservedBelow: (proc: ProcUuid) => Amounts;

  /** `reservedBelow`: for calls that nobody saw the end of, of a process and all below it. */
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

  /** What it counts from here on begins with this. */
  #keepUse({ owner, fold }: Testator, { id, endowment }: KeptChild, used: Amounts): void {
    const { tokens, microUsd: usd } = used;
    if (tokens === endowment.used && usd === (endowment.usd ?? 0)) return;
    const body = { child: id, used: tokens, ...(usd === 0 ? {} : { usd }) };
    fold.change(body);
    this.#journal.note([{ ...owner, kind: "process.checkpoint", v: 1, body }]);
  }

  /** If its newest run was a supervisor. */
  async #fillNested(own: Endowment, { uuid, pid }: KeptRun): Promise<void> {
    const { account } = own;
    if (account === null || (await this.#journal.row(uuid))?.kind !== "supervisor") return;
    const state = (await this.#journal.ofKind(uuid, "process.state")).at(-1);
    if (state === undefined) return;
    const fold = (await readSinceState(this.#journal, state)).of(supervisorFacet);
    if (fold !== null) await this.#fill(own, { owner: { proc: uuid, pid }, fold, account });
  }

  /** Without a limit nothing is written at each call: then its own calls are what is known of its last run. */
  async #usedBy({ endowment, run, isRunning }: KeptChild): Promise<Amounts> {
    if (run === null) return spentOf(endowment);
    const used = plus(spentOf(endowment), this.#reservedBelow(run.uuid));
    // its end was counted, and what was still under way then was not
    if (!isRunning || isLimited(limitsAtSpawn(keptLimits(endowment)))) return used;
    const row = await this.#journal.row(run.uuid);
    return plus(used, tokensOnly(row?.tokensUsed ?? 0));
  }
}
