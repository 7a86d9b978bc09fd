/** The findings of a check, bounded in number, so that a journal damaged everywhere does not fill the memory. */
import { asPid, asProcUuid } from "../../abi/ids.ts";
import type { Finding, FindingCode } from "../../kernel/ports/journal-tools.ts";

/** Most findings per code; one more line counts the rest. */
const MAX_OF_A_CODE = 1_000;

/** A finding as reported; its ids are plain numbers and strings, since they may come from a damaged row. */
interface Found extends Omit<Finding, "severity" | "pid" | "proc"> {
  readonly pid?: number;
  readonly proc?: string;
}

export class Findings {
  readonly #kept: Finding[] = [];
  readonly #counts = new Map<FindingCode, number>();

  notice(found: Found): void {
    this.#add("notice", found);
  }

  damage(found: Found): void {
    this.#add("damage", found);
  }

  all(): readonly Finding[] {
    const more = [...this.#counts].filter(([, count]) => count > MAX_OF_A_CODE);
    return [
      ...this.#kept,
      ...more.map(([code, count]) => {
        const severity = this.#kept.find((finding) => finding.code === code)?.severity ?? "notice";
        return { code, severity, detail: `and ${count - MAX_OF_A_CODE} more of these` } as const;
      }),
    ];
  }

  #add(severity: Finding["severity"], { code, proc, pid, ...rest }: Found): void {
    const count = (this.#counts.get(code) ?? 0) + 1;
    this.#counts.set(code, count);
    if (count > MAX_OF_A_CODE) return;
    this.#kept.push({
      code,
      severity,
      ...(pid === undefined ? {} : { pid: asPid(pid) }),
      ...(proc === undefined ? {} : { proc: asProcUuid(proc) }),
      ...rest,
    });
  }
}
