/** What a check found, bounded: a journal that is wrong everywhere does not fill the memory. */
import { asPid, asProcUuid } from "../../abi/ids.ts";
import type { Finding, FindingCode } from "../../kernel/ports/journal-tools.ts";

/** Of each code; then one line says how many more. */
const MAX_OF_A_CODE = 1_000;

type Place = { readonly proc?: string; readonly pid?: number; readonly seq?: number; readonly lsn?: number };

export class Findings {
  readonly #kept: Finding[] = [];
  readonly #counts = new Map<FindingCode, number>();

  notice(code: FindingCode, detail: string, place: Place = {}, repair?: string): void {
    this.#add("notice", code, detail, place, repair);
  }

  damage(code: FindingCode, detail: string, place: Place = {}, repair?: string): void {
    this.#add("damage", code, detail, place, repair);
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

  #add(
    severity: Finding["severity"],
    code: FindingCode,
    detail: string,
    { proc, pid, ...place }: Place,
    repair: string | undefined,
  ): void {
    const count = (this.#counts.get(code) ?? 0) + 1;
    this.#counts.set(code, count);
    if (count > MAX_OF_A_CODE) return;
    this.#kept.push({
      code,
      severity,
      ...(pid === undefined ? {} : { pid: asPid(pid) }),
      ...(proc === undefined ? {} : { proc: asProcUuid(proc) }),
      ...place,
      detail,
      ...(repair === undefined ? {} : { repair }),
    });
  }
}
